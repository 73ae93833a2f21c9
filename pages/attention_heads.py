"""The page Attention heads: All heads, Which head links two words?, Break the head, BertViz."""

from ui.pages.bertviz_views.page import draw_view as draw_bertviz_views
from ui.pages.break_head.page import draw_view as draw_break_head
from ui.pages.explore.page import draw_view as draw_explore
from ui.pages.find.page import draw_view as draw_find
from ui.show.views import draw_page

draw_page(
    {
        "explore": draw_explore,
        "find": draw_find,
        "break_head": draw_break_head,
        "bertviz_views": draw_bertviz_views,
    }
)
