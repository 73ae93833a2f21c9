"""Pictures page: the spatial roles of the heads of a vision transformer."""

from __future__ import annotations

import numpy as np
import streamlit as st

from attention.head_names import head_label
from attention.patch_roles import PATCH_ROLES, PatchEvidence, observe_patches
from attention.record import Unavailable
from i18n import _, error_message, translate
from ui.input.controls import bound_widget
from ui.pages.pictures.drawing import selection_of
from ui.pages.pictures.options import ROLE_NAMES, PicturesOptions
from ui.pages.pictures.shown_picture import ShownPicture
from ui.run.notices import show_notice
from ui.show.chart import draw_chart, theme
from ui.show.tables import csv_table, download_button, model_fields
from ui.show.text import format_comma_list
from ui.state.params import set_params
from viz.components.picture.content import part_of
from viz.figures.head_maps import head_map, picked_head

MOST_NAMED = 12  # The list names at most so many heads of a role.


def roles(shown: ShownPicture, options: PicturesOptions) -> None:
    """Draw a map of the heads' share for a role, and the list of heads by role."""
    try:
        found = observe_patches(shown.trace, part_of(shown.trace))
    except Unavailable as reason:
        show_notice(error_message(reason), role="status")
        return
    bound_widget(PicturesOptions, "role", st.selectbox)
    look = selection_of(options, shown.trace)
    share = found.shares[options.role]
    known = np.isfinite(share)
    if not known.any():
        show_notice(_("No patch of this image has such a place."), role="status")
        return
    left, right = st.container(key="stacks").columns(2)
    with left:
        title = _("Attention to {what}", what=translate(ROLE_NAMES[options.role]))
        unit = _("entropy relative to uniform") if options.role == "broad" else _("share of attention")
        chart = head_map(share.astype(np.float32), theme(), title, unit, limit=1.0, selected=(look.layer, look.head))
        draw_chart(
            chart,
            "picture_roles",
            on_click=_on_click,
            about=lambda: {**model_fields(shown.trace.model), "picture": shown.title},
        )
    with right:
        _draw_named_heads(found)
    st.caption(
        _(
            "Means over patches with such a place; uniform attention gives {chance:.3f}. A head's role is "
            "the narrowest with half of its attention, or even from 85 % of maximal entropy (our "
            "thresholds). Fixed shifts act like convolutions "
            "([arXiv:1911.03584](https://arxiv.org/abs/1911.03584)); attention distance differs by layer "
            "([arXiv:2108.08810](https://arxiv.org/abs/2108.08810)).",
            chance=found.chance[options.role],
        )
    )
    download_button(_("Save the table"), _table(found), "headlight-picture-roles.csv",
         _("All heads, all digits"),
         provenance={**model_fields(shown.trace.model), "picture": shown.title})  # fmt: skip


def _draw_named_heads(found: PatchEvidence) -> None:
    """Draw a list of the roles, each with its heads."""
    layers, heads = found.shares["itself"].shape
    names = {(layer, head): found.role(layer, head) for layer in range(layers) for head in range(heads)}
    st.markdown(_("**Heads by role**"))
    lines = []
    for role in PATCH_ROLES:
        mine = [head_label(layer, head) for (layer, head), name in names.items() if name == role]
        if mine:
            shown = format_comma_list(mine[:MOST_NAMED]) + (" …" if len(mine) > MOST_NAMED else "")
            lines.append(_("- {what} ({many}): {heads}", what=translate(ROLE_NAMES[role]), many=len(mine), heads=shown))
    rest = sum(not name for name in names.values())
    lines.append(_("- none of these: {many} of {all} heads", many=rest, all=len(names)))
    st.markdown("\n".join(lines))


def _table(found: PatchEvidence) -> str:
    layers, heads = found.shares["itself"].shape
    places = [(layer, head) for layer in range(layers) for head in range(heads)]
    rows = [(*place, *(float(found.shares[role][place]) for role in PATCH_ROLES), found.role(*place))
            for place in places]  # fmt: skip
    return csv_table(["layer", "head", *PATCH_ROLES, "role"], rows)


def _on_click(key: str) -> None:
    place = picked_head(st.session_state[key])
    if place is not None:
        set_params(PicturesOptions, layer=place[0], head=place[1])
