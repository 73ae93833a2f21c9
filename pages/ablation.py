"""The page Ablation & patching."""

from ui.pages.cause.page import draw_view
from ui.show.views import draw_page

draw_page({"cause": draw_view})
