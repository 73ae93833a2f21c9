"""The page Class."""

from ui.pages.classroom.page import draw_view
from ui.show.views import draw_page

draw_page({"classroom": draw_view})
