"""The page Attribution methods."""

from ui.pages.agreement.page import draw_view
from ui.show.views import draw_page

draw_page({"agreement": draw_view})
