"""The page Compare."""

from ui.pages.compare.page import draw_view as draw_comparison
from ui.pages.similarity.page import draw_view as draw_similarity
from ui.show.views import draw_page

draw_page({"compare": draw_comparison, "similarity": draw_similarity})
