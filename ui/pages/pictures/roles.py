"""What each head of a vision transformer is for, as far as its map on the grid tells."""

from __future__ import annotations

import numpy as np
import streamlit as st

from attention.patch_roles import PATCH_ROLES, PatchEvidence, observe_patches
from attention.record import Unavailable
from ui.input.picking import control
from ui.pages.pictures.drawing import look_of
from ui.pages.pictures.options import Pictures
from ui.pages.pictures.subject import Subject
from ui.run.refusals import say
from ui.show.chart import draw_chart, theme
from ui.show.csv_table import csv_table
from ui.show.lists import commas
from ui.show.provenance import named
from ui.show.saving import save
from ui.state.options import choose_own
from viz.components.picture.content import part_of
from viz.figures.head_map import head_map, picked
from wording import _, said_by, sentence, told

WORDS = {
    "itself": sentence("itself"),
    "left": sentence("the patch to the left"),
    "right": sentence("the patch to the right"),
    "up": sentence("the patch above"),
    "down": sentence("the patch below"),
    "neighbours": sentence("the eight patches around it"),
    "row": sentence("others of its row"),
    "column": sentence("others of its column"),
    "alone": sentence("tokens without a patch"),
    "broad": sentence("everything, about evenly"),
}
MOST_NAMED = 12  # heads of one role that are named


def roles(shown: Subject, options: Pictures) -> None:
    """A map of one role's share, and which heads are named after which."""
    try:
        found = observe_patches(shown.trace, part_of(shown.trace))
    except Unavailable as reason:
        say(said_by(reason), role="status")
        return
    control(Pictures, "role", st.selectbox, _("Where patches look"), list(PATCH_ROLES), format_func=WORDS.get)
    look = look_of(options, shown.trace)
    share = found.shares[options.role]
    known = np.isfinite(share)
    if not known.any():
        say(_("This picture has no patch that could look there."), role="status")
        return
    left, right = st.container(key="stacks").columns(2)
    with left:
        title = _("Look at: {what}", what=told(WORDS[options.role]))
        unit = _("entropy over that of even attention") if options.role == "broad" else _("share of attention")
        chart = head_map(share.astype(np.float32), theme(), title, unit, limit=1.0, selected=(look.layer, look.head))
        draw_chart(chart, "picture_roles", on_click=_clicked)
    with right:
        _named(found)
    st.caption(
        _(
            "Means over patches that have such a place; even attention would give {chance:.3f}. A head is named after "
            "the narrowest role that gets at least half of its attention, or is called even where its entropy is at "
            "least 85 % of the most. Heads that look at one shift do what a convolution does "
            "([arXiv:1911.03584](https://arxiv.org/abs/1911.03584)); how near they look differs by layer "
            "([arXiv:2108.08810](https://arxiv.org/abs/2108.08810)). The names and thresholds are this page's own.",
            chance=found.chance[options.role],
        )
    )
    save(_("Save the table"), _table(found), "headlight-picture-roles.csv",
         _("Every head's shares as CSV, all digits"),
         provenance={**named(shown.trace.model), "picture": shown.title})  # fmt: skip


def _named(found: PatchEvidence) -> None:
    """Which heads are named after which role."""
    layers, heads = found.shares["itself"].shape
    names = {(layer, head): found.role(layer, head) for layer in range(layers) for head in range(heads)}
    st.markdown(_("**Heads by what they look at**"))
    lines = []
    for role in PATCH_ROLES:
        mine = [f"{layer}-{head}" for (layer, head), name in names.items() if name == role]
        if mine:
            shown = commas(mine[:MOST_NAMED]) + (" …" if len(mine) > MOST_NAMED else "")
            lines.append(_("- {what} ({many}): {heads}", what=told(WORDS[role]), many=len(mine), heads=shown))
    rest = sum(not name for name in names.values())
    lines.append(_("- none of these: {many} of {all} heads", many=rest, all=len(names)))
    st.markdown("\n".join(lines))


def _table(found: PatchEvidence) -> str:
    layers, heads = found.shares["itself"].shape
    places = [(layer, head) for layer in range(layers) for head in range(heads)]
    rows = [(*place, *(float(found.shares[role][place]) for role in PATCH_ROLES), found.role(*place))
            for place in places]  # fmt: skip
    return csv_table(["layer", "head", *PATCH_ROLES, "role"], rows)


def _clicked(key: str) -> None:
    place = picked(st.session_state[key])
    if place is not None:
        choose_own(Pictures, layer=place[0], head=place[1])
