"""The page Inside the Transformer: Layers and blocks, Forward pass, Why attention?."""

from ui.pages.block.page import draw_view as draw_block
from ui.pages.whole_pass.page import draw_view as draw_whole_pass
from ui.pages.why_attention.page import draw_view as draw_why_attention
from ui.show.views import draw_page

draw_page({"block": draw_block, "whole_pass": draw_whole_pass, "why_attention": draw_why_attention})
