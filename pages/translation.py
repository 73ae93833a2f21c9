"""The page Translation."""

from ui.pages.translate.page import draw_view
from ui.show.views import draw_page

draw_page({"translate": draw_view})
