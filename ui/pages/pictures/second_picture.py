"""A comparison of two pictures, or of two models on a picture, at the same head and patch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace

import numpy as np
import streamlit as st

from attention.comparison import same_place
from attention.pictures import Picture
from attention.trace import Trace
from i18n import _
from inference import UserError
from inference.pictures.image_files import MOST_BYTES, open_picture
from inference.pictures.sample_picture import photo
from inference.tasks.picture_outputs import PictureVector
from ui.input.controls import bound_widget
from ui.pages.pictures.figures import draw_picture, selection_of
from ui.pages.pictures.options import PicturesOptions
from ui.pages.pictures.source import OTHER, ShownPicture, of_picture, pick_other, read_picture, say_needs_model
from ui.run.notices import show_error, show_notice
from ui.run.services import get_backend
from ui.show.text import escape_markdown
from viz.components.picture.content import PictureSelection, grid_and_picture, part_of

REFUSED = "picture_beside_refused"


def draw_second_picture(shown: ShownPicture, options: PicturesOptions) -> None:
    """Draw the widget for the second picture or model, then the attention on both pictures."""
    picture = shown.trace.picture
    if not shown.model or picture is None:
        say_needs_model()
        return
    bound_widget(PicturesOptions, "beside", st.segmented_control, required=True)
    if options.beside == "model":
        model = pick_other(options, shown.model)
        other, title = picture, shown.title
    else:
        model, title = shown.model, _("Another image")
        found = _picture(options, picture)
        if found is None:
            return
        other = found
    if not model:
        return
    elsewhere = replace(options, revision="") if options.beside == "model" else options
    changed = read_picture(elsewhere, other, model)
    if changed is None:
        return
    _draw(shown, changed, options, title)
    if options.beside != "model":
        _draw_similarity(options, picture, other, model)


def _picture(options: PicturesOptions, picture: Picture) -> Picture | None:
    """Return the second picture: mirrored, the sample, or uploaded; None until a picture is uploaded."""
    if options.beside == "mirrored":
        return Picture(np.ascontiguousarray(picture.pixels[:, ::-1]))
    if options.beside == "sample":
        return photo()
    st.file_uploader(
        _("Another image"),
        type=["png", "jpg", "jpeg", "webp"],
        key=f"{OTHER}_file",
        max_upload_size=MOST_BYTES // 1_000_000,
        on_change=_open,
        help=_("PNG, JPEG or WebP"),
    )
    if (problem := st.session_state.pop(REFUSED, None)) is not None:
        show_notice(problem)
    other: Picture | None = st.session_state.get(OTHER)
    return other


def _open() -> None:
    uploaded = st.session_state[f"{OTHER}_file"]
    if uploaded is None:
        st.session_state.pop(OTHER, None)
        return
    try:
        st.session_state[OTHER] = open_picture(uploaded.getvalue())
    except UserError as refusal:
        st.session_state[REFUSED] = refusal.message


def _draw(shown: ShownPicture, other: Trace, options: PicturesOptions, title: str) -> None:
    """Draw both views; a click in either changes both."""
    look = selection_of(options, shown.trace)
    there = transfer_selection(look, shown.trace, other)
    left, right = st.columns(2)
    with left:
        st.header(escape_markdown(shown.trace.model.name) if options.beside == "model" else shown.title)
        draw_picture(shown.trace, options, shown.title, shown.cited, "_one", look)
    with right:
        st.header(escape_markdown(other.model.name) if options.beside == "model" else title)
        if (there.layer, there.head) != (look.layer, look.head):
            show_notice(
                _(
                    "No head {layer}-{head} there; showing {other_layer}-{other_head}.",
                    layer=look.layer,
                    head=look.head,
                    other_layer=there.layer,
                    other_head=there.head,
                ),
                role="status",
            )
        cited = shown.cited if options.beside in ("model", "mirrored") else ""
        draw_picture(
            other, options, title, cited, "_other", there, lambda kept: _map_back(kept, there, other, shown.trace)
        )


def transfer_selection(look: PictureSelection, trace: Trace, other: Trace) -> PictureSelection:
    """Return the selection of the same head, and of the same place of the picture, in another trace.

    If ``other`` has fewer layers or heads, its last layer or head is selected.
    """
    records = other.records(part_of(other))
    layer = min(look.layer, len(records) - 1)
    token = same_place(look.token, trace.source, grid_and_picture(trace)[1], other.source, grid_and_picture(other)[1])
    return replace(look, layer=layer, head=min(look.head, records[layer].heads - 1), token=token)


def _map_back(kept: PictureSelection, there: PictureSelection, other: Trace, trace: Trace) -> Mapping[str, object]:
    """Return the options after a click in the second view, in terms of the first view.

    Parts that the click did not change are left out.
    """
    found = asdict(transfer_selection(kept, other, trace))
    stays = [name for name in ("token",) if getattr(kept, name) == getattr(there, name)]
    if (kept.layer, kept.head) == (there.layer, there.head):
        stays += ["layer", "head"]
    return {name: value for name, value in found.items() if name not in stays}


def _draw_similarity(options: PicturesOptions, picture: Picture, other: Picture, model: str) -> None:
    """Show the cosine similarity of the model's vectors of both pictures."""
    try:
        one, two = (
            get_backend().predict(PictureVector(**of_picture(options, each, model))).values[0]
            for each in (picture, other)
        )
    except UserError as refusal:
        show_error(refusal)
        return
    cosine = float(one @ two / (np.linalg.norm(one) * np.linalg.norm(two)))
    show_notice(_("Cosine of the two image vectors: {cosine:.4f}.", cosine=cosine), role="status")
