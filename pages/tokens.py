"""The page Tokens & embeddings: Tokens, Positional encoding, Word vectors."""

from ui.pages.positions.page import draw_view as draw_positions
from ui.pages.tokens.page import draw_view as draw_tokens
from ui.pages.vectors.page import draw_view as draw_vectors
from ui.show.views import draw_page

draw_page({"tokens": draw_tokens, "positions": draw_positions, "vectors": draw_vectors})
