"""The page Text generation."""

from ui.pages.generate.page import draw_view
from ui.show.views import draw_page

draw_page({"generate": draw_view})
