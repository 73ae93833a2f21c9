"""The page Attention step by step: Step by step, Toy example."""

from ui.pages.by_hand.page import draw_view as draw_by_hand
from ui.pages.step_by_step.page import draw_view as draw_step_by_step
from ui.show.views import draw_page

draw_page({"step_by_step": draw_step_by_step, "by_hand": draw_by_hand})
