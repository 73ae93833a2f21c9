"""The page Image attention."""

from ui.pages.pictures.page import draw_view
from ui.show.views import draw_page

draw_page({"pictures": draw_view})
