"""The page Attention heads: All heads, Which head links two words?, BertViz."""

from ui.pages.bertviz_views.page import draw_view as draw_bertviz_views
from ui.pages.explore.page import draw_view as draw_explore
from ui.pages.find.page import draw_view as draw_find
from ui.show.views import draw_page

draw_page({"explore": draw_explore, "find": draw_find, "bertviz_views": draw_bertviz_views})
