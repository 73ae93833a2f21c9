"""The page Ablation & patching."""

from ui.pages.cause.page import draw_view as draw_ablation
from ui.pages.patching.page import draw_view as draw_patching
from ui.show.views import draw_page

draw_page({"cause": draw_ablation, "patching": draw_patching})
