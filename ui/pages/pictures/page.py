"""The view Pictures: the patches of a picture, and the attention of a vision transformer."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import streamlit as st

from i18n import _
from inference.tasks.score_decomposition import PictureScoreRequest
from ui.input.controls import bound_widget
from ui.pages.pictures.ablation import draw_ablation
from ui.pages.pictures.figures import (
    draw_picture,
    draw_region_links,
    draw_weights_menu,
    offer_files,
    roles,
    selection_of,
)
from ui.pages.pictures.options import ASKING, SIDES, PicturesOptions
from ui.pages.pictures.prediction import draw_prediction
from ui.pages.pictures.second_picture import draw_second_picture
from ui.pages.pictures.source import (
    NO_MODEL,
    ShownPicture,
    at_hand,
    draw_upload,
    get_shown_picture,
    of_picture,
    pick_vision,
    picture_of,
    say_installing,
    say_needs_model,
)
from ui.show.microscope import draw_microscope
from ui.show.sections import draw_reading_help
from ui.show.text import join_sentences
from ui.show.why_head import Explained, ExplainedLink, draw_why
from ui.state.params import get_params, set_params
from ui.state.session import get_view_state, opened_picture, set_view_state
from ui.state.view_state import ViewState
from viz.components.picture.content import PictureSelection, grid_and_picture, part_of

PARTS = {"without": draw_ablation, "links": draw_region_links, "roles": roles, "beside": draw_second_picture}
RECORDED = "DINOv2-small"  # model of the recorded sample


def how_to_read() -> None:
    """Draw the help text."""
    draw_reading_help(
        _(
            "- A vision transformer treats **patches** as tokens "
            "([arXiv:2010.11929](https://arxiv.org/abs/2010.11929)). Brightness: square root of the weight "
            "relative to the largest.\n"
            "- **[CLS]** represents the whole image; in DINO its heads often outline objects "
            "([arXiv:2104.14294](https://arxiv.org/abs/2104.14294)). **Registers** absorb attention from "
            "uninformative patches ([arXiv:2309.16588](https://arxiv.org/abs/2309.16588)).\n"
            "- **Rollout** multiplies the layers' mean maps, half identity "
            "([arXiv:2005.00928](https://arxiv.org/abs/2005.00928)). **Weights × value norm** omits W_O "
            "([arXiv:2004.10102](https://arxiv.org/abs/2004.10102) includes it)."
        )
    )


def controls(options: PicturesOptions) -> None:
    """Draw the widgets that select the picture, the model and the resolution."""
    live = picture_of(options) is not None or bool(options.vision)
    file, model, size = st.columns([5, 3, 2])
    with file:
        draw_upload(options)
    if opened_picture() is not None:
        return
    with model:
        pick_vision(options, None if picture_of(options) is not None else RECORDED)
    if live:
        bound_widget(PicturesOptions, "side", size.selectbox, options=list(SIDES), format_func=_size)


def _size(side: int) -> str:
    return _("whole, {side} pixels", side=side) if side else _("Model's own size")


def draw(shown: ShownPicture, options: PicturesOptions) -> None:
    """Draw the chosen view of the picture."""
    bound_widget(PicturesOptions, "show", st.segmented_control, required=True, label_visibility="collapsed")
    if options.show == "says":
        draw_model_output(shown, options)
        return
    if options.show in PARTS:
        PARTS[options.show](shown, options)
        return
    if options.show == "matrix":
        look = draw_matrix(shown, options)
    else:
        look = draw_picture(shown.trace, options, shown.title, shown.cited)
        draw_weights_menu(shown, options, look)
    offer_files(shown.trace, look, shown.title, shown.cited)


def draw_matrix(shown: ShownPicture, options: PicturesOptions) -> PictureSelection:
    """Draw the maps of all heads, and the sources of the selected score; return the selection.

    The sources are the parts of the model whose outputs sum to the score of a query and a key. They need a model, so
    that a recorded trace has none.
    """
    look, part, before = selection_of(options, shown.trace), part_of(shown.trace), get_view_state()
    there = replace(
        before,
        opened="",
        layer=look.layer,
        head=look.head,
        focus=look.token,
        to=options.to,
        pins="",
        words=False,
        special=True,
        part=part,
    )
    drawn = draw_microscope(
        there, shown.trace, lambda: shown.trace.id, part, partial(keep_selection, before), key="picture_maps"
    )
    if drawn is not None and shown.model and shown.trace.picture is not None:
        view, _summary, selection = drawn
        asked = Explained(partial(score_question, shown, options), lambda **found: keep_selection(before, found))
        draw_why(view, selection, asked)
    return look


def score_question(shown: ShownPicture, options: PicturesOptions, link: ExplainedLink) -> PictureScoreRequest:
    """Return the request that decomposes the score of a link between two tokens of the picture into sources."""
    picture = shown.trace.picture
    assert picture is not None
    return PictureScoreRequest(
        **of_picture(options, picture, shown.model),
        layer=link.layer,
        head=link.head,
        query_token=link.query,
        key_token=link.key,
    )


def draw_model_output(shown: ShownPicture, options: PicturesOptions) -> None:
    """Draw the model's prediction for the picture, or a notice if no model is installed."""
    if shown.model and shown.trace.picture is not None:
        draw_prediction(options, shown.trace.picture, shown.model)
    else:
        say_needs_model()


def keep_selection(before: ViewState, found: Mapping[str, object]) -> None:
    """Store a clicked head and token in this page's options, and restore the shared view state.

    ``before`` is the view state before the click, and ``found`` has the fields of the click.
    """
    set_view_state(**{name: getattr(before, name) for name in found})
    set_params(PicturesOptions, layer=found["layer"], head=found["head"], token=found["focus"], to=found["to"])


def draw_view() -> None:
    """Draw the view Pictures in the page."""
    st.caption(_("Tap or hover over a patch; click to keep it."))
    chosen = get_params(PicturesOptions)
    controls(chosen)
    found = get_shown_picture(chosen)
    if found is not None:
        draw(found, chosen)
        grid, picture = grid_and_picture(found.trace)
        if grid.box != (0, 0, picture.width, picture.height):
            st.caption(_("Hatched: cropped, not read by the model."))
        if found.cited:
            st.caption(join_sentences(found.cited, found.note))
        if not at_hand() and not found.model and picture_of(chosen) is None and chosen.show not in ASKING:
            say_installing(NO_MODEL)
    how_to_read()
