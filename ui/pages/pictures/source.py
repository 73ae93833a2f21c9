"""The picture and its model: uploads, the selection of a model, and traces, which the session stores."""

from __future__ import annotations

from base64 import b64decode, b64encode
from dataclasses import dataclass, replace
from functools import lru_cache
from io import BytesIO
from typing import Any

import streamlit as st
from PIL import Image

from attention.edits import EditSet
from attention.pictures import Picture
from attention.trace import Trace
from i18n import _, gettext_lazy, translate
from inference import TraceRequest, UserError
from inference.catalogue.listing import ModelCard
from inference.pictures.image_files import MOST_BYTES, open_picture
from inference.pictures.sample_picture import CREDIT, TITLE, difference, photo, sample
from inference.tasks.picture_outputs import PictureRequest
from ui.input.model_chip import label_of
from ui.pages.pictures.options import ASKING, ELSEWHERE, SHOWS, PicturesOptions
from ui.run.counters import REFUSALS
from ui.run.downloading import offer_or_show, show_command
from ui.run.network import hub_in_reach, note_hub_failure
from ui.run.notices import show_notice
from ui.run.services import get_backend, get_trace_store
from ui.show.text import escape_markdown, format_and_list, join_sentences
from ui.state.params import set_params
from ui.state.session import close_picture, get_view_state, opened_picture
from viz.paper.notebook import Computation

ANY = gettext_lazy("A hub id of ViT, DeiT, BEiT, DINOv2, DINOv3, I-JEPA, SigLIP or CLIP")
NO_MODEL = gettext_lazy("No image model is installed. Run this, then restart the app:")
RECORDING = gettext_lazy("A recording cannot answer this. Choose a model above.")
OR_DOWNLOAD = gettext_lazy("Or choose a model above to download.")
WITHOUT_MODEL = gettext_lazy("Without a model, the sample works in {views}.")


def at_hand() -> dict[str, ModelCard]:
    """Return the vision models that are available without a network, by id.

    Models that were installed as extras come first.
    """
    return {name: card for name, card in _vision_cards().items() if card.downloaded}


def default_model() -> str:
    """Return the first vision model that is available without a network, else the first in the list."""
    return next(iter(at_hand()), next(iter(_vision_cards())))


def _vision_cards() -> dict[str, ModelCard]:
    return {card.id: card for card in get_backend().seeing()}


def pick_vision(options: PicturesOptions, recorded: str | None) -> None:
    """Draw the widget that selects a vision model.

    ``recorded`` is the model of the recorded sample, if the page can show that sample without a model.
    """
    cards, here = _vision_cards(), at_hand()
    names = [*([""] if recorded else []), *cards]
    shown = options.vision if options.vision or recorded else default_model()
    reachable = hub_in_reach()

    def label(name: str) -> str:
        if not name:
            return _("{model} (recorded)", model=recorded)
        return label_of(cards, name, reachable)

    st.session_state["vision_model"] = shown
    st.selectbox(
        _("Image model"),
        names if shown in names else [*names, shown],
        key="vision_model",
        format_func=label,
        accept_new_options=True,
        on_change=lambda: _set_model((st.session_state["vision_model"] or "").strip()),
        help=translate(ANY),
    )
    if shown in cards:
        st.caption(escape_markdown(translate(cards[shown].summary)))
    if options.vision and options.vision not in here:
        st.session_state["vision_revision"] = options.revision
        st.text_input(
            _("Revision"),
            key="vision_revision",
            placeholder="main",
            on_change=lambda: set_params(PicturesOptions, revision=st.session_state["vision_revision"].strip()),
            help=_("Branch, tag or commit; empty means main."),
        )


def pick_other(options: PicturesOptions, model: str) -> str:
    """Draw the selector of the second model and return its id; "" if there is none.

    The default is the next model that is available without a network, else the first other model in the list.
    """
    cards, reachable = _vision_cards(), hub_in_reach()
    others = [name for name in cards if name != model]
    shown = options.other_vision or next((name for name in at_hand() if name != model), others[0] if others else "")
    st.session_state["other_vision_model"] = shown or None
    st.selectbox(
        _("Another model"),
        others if shown in others or not shown else [*others, shown],
        key="other_vision_model",
        format_func=lambda name: label_of(cards, name, reachable),
        accept_new_options=True,
        on_change=lambda: set_params(
            PicturesOptions, other_vision=(st.session_state["other_vision_model"] or "").strip()
        ),
        help=translate(ANY),
    )
    return shown


def _set_model(name: str) -> None:
    set_params(PicturesOptions, vision=name, revision="", **ELSEWHERE)


def say_installing(reason: str) -> None:
    """Show ``reason`` and the command that installs a model, and mention the download if the hub responds."""
    show_notice(reason, role="status")
    show_command()
    if hub_in_reach():
        show_notice(OR_DOWNLOAD, role="status")


def say_needs_model() -> None:
    """Explain that the current view needs a model; show how to install one if none is available."""
    if at_hand():
        show_notice(RECORDING, role="status")
        return
    say_installing(NO_MODEL)
    show_notice(
        _(WITHOUT_MODEL, views=format_and_list([translate(SHOWS[name]) for name in SHOWS if name not in ASKING])),
        role="status",
    )


HELD = "picture_traces"  # Session key: the latest traces, by id.
MOST = 4


def hold_trace(trace: Trace) -> Trace:
    """Keep a picture's trace in the session, and add it to the trace store.

    The session keeps at most MOST traces; older traces are dropped.
    """
    held: dict[str, Trace] = st.session_state.setdefault(HELD, {})
    held[trace.id] = trace
    while len(held) > MOST:
        del held[next(iter(held))]
    return get_trace_store().add_picture_trace(trace)


def forget_traces() -> None:
    """Drop all traces of pictures from the session."""
    st.session_state.pop(HELD, None)


def of_picture(options: PicturesOptions, picture: Picture, model: str) -> dict[str, Any]:
    """Return the fields of a model request that describe the picture, its resolution and the model."""
    revision, side = options.revision or None, options.side or None
    return {"model": model, "revision": revision, "picture": picture, "side": side}


def read_picture(options: PicturesOptions, picture: Picture, model: str, edits: EditSet = ()) -> Trace | None:
    """Return the trace of the picture under ``edits``; if it fails, show a notice and return None.

    If no model is chosen or available, the only notice is the offer to download one; the page explains the rest.
    """
    request = TraceRequest(text="", edits=edits, **of_picture(options, picture, model))
    held: dict[str, Trace] = st.session_state.get(HELD, {})
    if request.key in held:
        return hold_trace(held[request.key])
    try:
        with st.spinner(_("Running the model"), show_time=True):
            return hold_trace(get_backend().trace(request))
    except UserError as refusal:
        if refusal.way_out == "retry":
            note_hub_failure()
        if _lacks_model(options) and refusal.way_out != "download":
            REFUSALS.labels(refusal.way_out or "none").inc()
        elif refusal.way_out == "retry":
            _say_unreached(options, refusal)
        elif refusal.way_out == "embedded":  # The model reads texts, not pictures.
            show_notice(refusal.message)
        else:
            offer_or_show(refusal, replace(get_view_state(), model=model, revision=options.revision))
        return None


def _lacks_model(options: PicturesOptions) -> bool:
    """Return True if no vision model is chosen, and none is available without a network."""
    return not options.vision and not at_hand()


def _say_unreached(options: PicturesOptions, refusal: UserError) -> None:
    """Show that the hub delivered no model, and how to install a vision model if none is available."""
    REFUSALS.labels(refusal.way_out or "none").inc()
    show_notice(refusal.message)
    if options.vision and not at_hand():
        say_installing(NO_MODEL)
    st.button(_("Try again"))


GIVEN, PROBLEM, ROUND = "picture_given", "picture_problem", "picture_round"
OTHER = "picture_beside"  # Session key: the second picture of a comparison.
DIGITS = 12  # The address contains so many digits of the picture's key.
NOT_KEPT = gettext_lazy(
    "Drag or paste an image. It stays in memory; above 1 MB it passes through an unnamed temporary file."
)
GIVE_AGAIN = gettext_lazy("A link has no image. Add it again; now the sample is shown.")


def draw_upload(options: PicturesOptions) -> None:
    """Draw the uploader, its errors, and the button that returns to the sample."""
    box = f"picture_file_{st.session_state.get(ROUND, 0)}"
    st.file_uploader(
        _("Add an image"),
        type=["png", "jpg", "jpeg", "webp"],
        key=box,
        max_upload_size=MOST_BYTES // 1_000_000,
        on_change=_open,
        args=(box,),
        help=_("PNG, JPEG or WebP"),
    )
    st.caption(translate(NOT_KEPT))
    for problem in st.session_state.pop(PROBLEM, []):
        show_notice(problem)
    if opened_picture() is not None or picture_of(options) is not None:
        st.button(_("Show sample"), on_click=_forget_picture, help=_("Your image is removed"))
    elif options.given:
        show_notice(GIVE_AGAIN, role="status")


def picture_of(options: PicturesOptions) -> Picture | None:
    """Return the uploaded picture if it is the one whose key is in the options, else None."""
    picture: Picture | None = st.session_state.get(GIVEN)
    return picture if picture is not None and options.given == picture.key[:DIGITS] else None


def _open(box: str) -> None:
    uploaded = st.session_state[box]
    if uploaded is not None:
        store_picture(uploaded.getvalue())


def store_picture(content: bytes) -> None:
    """Open a picture file and show it; close a trace that was opened before.

    If the file is invalid, drop the picture before it, and store the error message, which the page shows when it is
    drawn next.
    """
    try:
        picture = open_picture(content)
    except UserError as refusal:
        st.session_state[PROBLEM] = [refusal.message]
        st.session_state.pop(GIVEN, None)
        set_params(PicturesOptions, given="", **ELSEWHERE)
        return
    close_picture()
    st.session_state[GIVEN] = picture
    set_params(PicturesOptions, given=picture.key[:DIGITS], **ELSEWHERE)


def _forget_picture() -> None:
    """Close an opened file, drop the uploaded pictures and their traces, and reset the uploader."""
    close_picture()
    st.session_state.pop(GIVEN, None)
    st.session_state.pop(OTHER, None)
    st.session_state[ROUND] = st.session_state.get(ROUND, 0) + 1
    forget_traces()
    set_params(PicturesOptions, given="", **ELSEWHERE)


WAITS = gettext_lazy("Your image needs a model; now the recorded sample is shown.")


@dataclass(frozen=True)
class ShownPicture:
    """A trace of a picture with its title, its credit (``cited``), a note to show, and its model.

    ``model`` is the model for further requests, or "" if the trace is a recording.
    """

    trace: Trace
    title: str
    cited: str = ""
    note: str = ""
    model: str = ""  # The model for further requests; "" for a recording.


def get_shown_picture(options: PicturesOptions) -> ShownPicture | None:
    """Return the trace to show; if it cannot be computed, show a notice and return None.

    If no model is installed, the recorded sample is shown instead of an uploaded picture.
    """
    if (opened := opened_picture()) is not None:
        return ShownPicture(hold_trace(opened), _("Your image"))
    given = picture_of(options)
    if given is None:
        return _sample(options)
    model = options.vision or default_model()
    missing = _lacks_model(options)
    trace = None if missing and not hub_in_reach() else read_picture(options, given, model)
    if trace is None and missing:
        if options.show in ASKING:  # the view says how to install a model
            show_notice(WAITS, role="status")
        else:
            say_installing(join_sentences(WAITS, NO_MODEL))
        return _sample(options)
    return None if trace is None else ShownPicture(trace, _("Your image"), model=model)


def _sample(options: PicturesOptions) -> ShownPicture | None:
    if not options.vision:
        stored = difference()
        note = _(
            "Recorded and compressed: weights are off by up to {largest:.3f}; on average, {moved:.1%} of "
            "a row's attention is misplaced.",
            largest=stored.largest,
            moved=stored.moved,
        )
        return ShownPicture(hold_trace(sample()), translate(TITLE), translate(CREDIT), note)
    trace = read_picture(options, photo(), options.vision)
    return None if trace is None else ShownPicture(trace, translate(TITLE), translate(CREDIT), model=options.vision)


def request_computation(
    request: PictureRequest[Any] | TraceRequest, picture: Picture, code: str, **names: Any
) -> Computation:
    """Return notebook code that runs ``code`` on ``request``, a request about ``picture``.

    The notebook contains the pixels of an uploaded picture as a PNG file. ``names`` are the other names that the code
    uses.
    """
    if picture == photo():
        pixels = Computation("picture = photo()", photo=photo)
    else:
        pixels = Computation(
            "picture = open_picture(b64decode(content))",
            open_picture=open_picture,
            b64decode=b64decode,
            content=_encode(picture),
        )
    bare = replace(request, picture=None)
    return pixels.then(f"request = replace(bare, picture=picture)\n{code}", replace=replace, bare=bare, **names)


@lru_cache(maxsize=2)
def _encode(picture: Picture) -> str:
    """Return the picture as a PNG file in base64; a page run reuses the last results."""
    file = BytesIO()
    Image.fromarray(picture.pixels).save(file, "PNG")
    return b64encode(file.getvalue()).decode()


def trace_computation(shown: ShownPicture, options: PicturesOptions, code: str, **names: Any) -> Computation | None:
    """Return notebook code that traces the picture and then runs ``code``; None for a trace from a file.

    ``code`` may use the name ``trace`` and the other ``names``.
    """
    picture = shown.trace.picture
    if shown.model and picture is not None:
        request = TraceRequest(text="", **of_picture(options, picture, shown.model))
        return request_computation(request, picture, f"trace = backend.trace(request)\n{code}", **names)
    if shown.trace.id == sample().id:
        return Computation(f"trace = sample()\n{code}", sample=sample, **names)
    return None
