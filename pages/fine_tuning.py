"""The page Fine-tune a model."""

from ui.pages.teach.page import draw_view
from ui.show.views import draw_page

draw_page({"teach": draw_view})
