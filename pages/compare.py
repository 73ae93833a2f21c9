"""The page Compare."""

from ui.pages.compare.page import draw_view
from ui.show.views import draw_page

draw_page({"compare": draw_view})
