"""Schematic drawings of an encoder, a decoder and an encoder–decoder, with their masks."""

from __future__ import annotations

import streamlit as st

from i18n import _, gettext_lazy, translate
from inference.tasks.anatomy import Build
from ui.pages.block.names import TITLES
from viz.components.block import block
from viz.components.block.block import ENTERS, WIDTH, LayerBox, LayerTower, PartBox

SIZE = 5  # tokens in the picture of a mask
ALL = tuple(tuple(True for _ in range(SIZE)) for _ in range(SIZE))
BACK = tuple(tuple(key <= query for key in range(SIZE)) for query in range(SIZE))
NAMES = {**TITLES, "encoder-decoder": gettext_lazy("Encoder and decoder")}
DIFFERS = {
    "encoder": gettext_lazy("Each token attends to all tokens: for understanding a text."),
    "decoder": gettext_lazy("Each token attends to itself and earlier tokens: for predicting the next token."),
    "encoder-decoder": (gettext_lazy("The decoder also attends to the encoder's output, by cross-attention.")),
}


def kinds(build: Build) -> None:
    """Draw the three schematics, and mark the model's own kind."""
    row = st.container(horizontal=True)  # wraps on narrow screens
    for place, kind in (
        (row.container(width=WIDTH), "encoder"),
        (row.container(width=WIDTH), "decoder"),
        (st.container(), "encoder-decoder"),
    ):
        with place:
            st.markdown(f"**{translate(NAMES[kind])}**" + (_(" (this model)") if kind == build.kind else ""))
            block.mount(block.payload(schematic(kind), _("Schematic: {kind}", kind=NAMES[kind]), kind), f"kind_{kind}")
            st.caption(translate(DIFFERS[kind]))
    st.caption(
        _(
            "Rows attend to columns; filled: a weight may be nonzero "
            "([arXiv:1706.03762](https://arxiv.org/abs/1706.03762), sections 3.1 and 3.2.3). Additions and "
            "norms are omitted."
        )
    )


def schematic(kind: str) -> list[LayerTower]:
    """Return the towers of a kind of model, with masks and without sizes."""
    if kind == "encoder-decoder":
        return [_tower("encoder", cross=False), _tower("decoder", cross=True)]
    return [_tower(kind, cross=False)]


def _tower(part: str, cross: bool) -> LayerTower:
    looks = BACK if part == "decoder" else ALL
    title = _("Masked self-attention") if part == "decoder" else _("Self-attention")
    steps = [LayerBox(PartBox(f"{part} looks", "attention", title, cells=looks), (ENTERS,))]
    if cross:
        steps.append(LayerBox(PartBox("crosses", "cross-attention", _("Cross-attention"), cells=ALL), (0,)))
    steps.append(LayerBox(PartBox(f"{part} forwards", "feed-forward", _("Feed-forward")), (len(steps) - 1,)))
    reads = _("its text so far") if part == "decoder" else _("the text")
    return LayerTower(translate(TITLES[part]), reads, (), (), "N ×", tuple(steps), len(steps) - 1, (), "")
