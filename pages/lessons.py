"""The page Lessons."""

from ui.pages.lessons.page import draw_view
from ui.show.views import draw_page

draw_page({"lessons": draw_view})
