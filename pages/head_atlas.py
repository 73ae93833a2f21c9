"""The page Head atlas: Heads, Word pairs, Compare, Build."""

from ui.pages.atlas_build.page import draw_view as draw_build
from ui.pages.atlas_compare.page import draw_view as draw_compare
from ui.pages.atlas_search.page import draw_view as draw_search
from ui.pages.head_atlas.page import draw_view as draw_atlas
from ui.show.views import draw_page

draw_page(
    {"head_atlas": draw_atlas, "atlas_search": draw_search, "atlas_compare": draw_compare, "atlas_build": draw_build}
)
