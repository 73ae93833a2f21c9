"""A step's view, drawn in the lesson: the microscope, a blank with its guesses, a translation with its source.

Any other page of the app is a link, and what the reader has chosen there does not change the lesson.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st

from attention.view import View
from inference import EMBEDDED, Refusal
from inference.heads import MASKED
from inference.questions.masked import MaskedWords
from inference.questions.positions import PositionsRequest
from lessons.asking import aligned
from lessons.schema import Step
from lessons.schema import View as Pointed
from lessons.truth import Asked, Reading, Unanswerable, place
from ui.input.composing import compose
from ui.input.models import kind_of
from ui.places import ROOT
from ui.run.downloading import offer_or_show
from ui.run.reading import id_of, read
from ui.run.refusals import say
from ui.run.shelf import backend
from ui.show.chart import draw_chart, theme
from ui.show.matrices import draw_matrices
from ui.show.microscope import microscope
from ui.state.choice import PACKED, TYPES, Choice, parse, to_query
from ui.state.session import current, is_followed, is_lending, lend
from viz.components.matrices.matrices import Sheet
from viz.figures.alignment import alignment_map
from viz.figures.bars import bars
from wording import _

ADDRESSES = {"bertviz": "bertviz_views"}  # pages whose address is not their file's name
AT = "lesson_view"  # (lesson, step, view) that was opened last
TOP = 8  # guesses for a blank
VIEW, RESULTS = "view", "results"  # what is held back until the question is answered
BLANKS = (None, "guess", "guess_rank", "guess_chance", "likelier")  # checks whose answers the bars of a blank show
PLACES, COLUMNS = 64, 128  # of the vectors of positions that are drawn


@dataclass(frozen=True)
class Seen:
    """What is on the screen that a question can be answered with."""

    asked: Asked
    view: View | None = None
    head: tuple[int, int] | None = None
    clicks: bool = False  # whether words of it can be clicked
    clicked: int | None = None  # the key of the view that was clicked


def choice_of(pointed: Pointed) -> Choice:
    """What a view's link chooses."""
    return parse(dict(pointed.query))[0]


def reading(choice: Choice, pointed: Pointed) -> Reading:
    """What decides the numbers of a choice."""
    part = "cross" if pointed.page == "translate" else choice.part
    return Reading(
        model=choice.model,
        text=choice.text,
        pair=choice.pair,
        target=choice.target,
        revision=choice.revision,
        part=part,
        words=choice.words,
        special=choice.special,
        cut=choice.cut,
    )


def open_step(key: tuple[str, int], pointed: Pointed) -> None:
    """The shared choice becomes the view's: when the step is entered, and when another text came from elsewhere.

    An address that was followed into the step keeps its head and words. What the reader had comes back when the lesson
    is left.
    """
    wanted, now = choice_of(pointed), current()
    entered = st.session_state.get(AT) != (key, pointed) or not is_lending()
    same = pointed.yours or _read(now) == _read(wanted)
    arrived = entered and is_followed() and same and now != Choice()
    if (entered and not arrived) or (not pointed.yours and _read(now) != _read(wanted)):
        lend(wanted)
    elif arrived:
        lend(now)
    st.session_state[AT] = (key, pointed)


def unseen(pointed: Pointed | None) -> Seen:
    """What a question is answered with before anything is drawn, or where nothing is."""
    read = Reading(EMBEDDED, "") if pointed is None else reading(choice_of(pointed), pointed)
    return Seen(Asked(backend(), read))


def withheld_part(step: Step) -> str:
    """Return what of a step's view would give the answer away: VIEW, RESULTS of it, or "" for nothing.

    A question for a head is answered by looking through the maps, and a free answer has nothing to give away.
    """
    question, view = step.question, step.view
    if question is None or view is None or question.kind in ("head", "text"):
        return ""
    check = question.check.check if question.check is not None else None
    if check is None and question.right is None:
        return ""
    if (view.page == "masked_words" and check in BLANKS) or check == "preferred":
        return VIEW
    return RESULTS if view.page in ("explore", "translate") else ""


def draw(pointed: Pointed, held: str = "") -> Seen:
    """Draw the view, if it can be drawn here, and the way to its page; without what is ``held`` back."""
    choice = current()
    asked = Asked(backend(), reading(choice, pointed))
    if pointed.yours:
        compose(choice, kind_of(choice))
    seen = Seen(asked)
    if held == VIEW:
        say(_("The view opens after your first answer: say what you expect."), role="status")
        return seen
    try:
        if pointed.page == "explore":
            seen = _maps(pointed, choice, asked, held == RESULTS)
        elif pointed.page == "masked_words":
            _blank(choice)
        elif pointed.page == "translate":
            seen = _translation(choice, asked, held == RESULTS)
        elif pointed.page == "positions" and dict(pointed.query).get("show") == "vectors":
            _places(choice)
    except Refusal as refusal:
        offer_or_show(refusal, choice)
    if held != RESULTS:
        _way(pointed, choice)
    return seen


def _read(choice: Choice) -> tuple[str, ...]:
    return choice.text, choice.pair, choice.target, choice.model


def _maps(pointed: Pointed, choice: Choice, asked: Asked, quiet: bool) -> Seen:
    """Draw the microscope, with the words that are pointed at; ``quiet`` leaves out its results."""
    trace = read(choice)
    if trace is None:
        return Seen(asked)
    pointing: dict[str, Any] = {}
    if choice.focus is None and pointed.highlight:
        try:
            view = asked.view()
            cells = (view.queries, view.keys)
            words = zip(("focus", "to"), cells, pointed.highlight, strict=False)
            pointing = {name: among[place(among, word)].pieces[0] for name, among, word in words}
        except Unanswerable:
            pointing = {}  # the reader's own text, or the author's mistake: nothing is pointed at
    shown = microscope(replace(choice, **pointing), trace, lambda: id_of(current()), key="lesson_maps", quiet=quiet)
    if shown is None:
        return Seen(asked)
    view, _survey, selection = shown
    own = choice_of(pointed)
    clicked = None if choice.focus in (None, own.focus) else choice.focus
    key = next(
        (at for at, cell in enumerate(view.keys) if clicked is not None and clicked in range(*cell.pieces)), None
    )
    return Seen(asked, view, (selection["layer"], selection["head"]), True, key)


def _blank(choice: Choice) -> None:
    """The likeliest pieces of the text's first blank."""
    say(choice.text, role="status")
    with st.spinner(_("Filling the blanks")):
        filled = backend().predict(
            MaskedWords(model=choice.model, revision=choice.revision or None, text=choice.text,
                        pair=choice.pair or None, cut=choice.cut, top=TOP)
        )  # fmt: skip
    guesses = filled.blanks[0].guesses
    title = _("The likeliest pieces")
    draw_chart(bars([one.piece for one in guesses], [one.probability for one in guesses], theme(), title), MASKED)
    st.caption(_("Bars: the probability of each piece, of {all:,} that could stand there.", all=filled.vocabulary))


def _translation(choice: Choice, asked: Asked, quiet: bool) -> Seen:
    """Draw what each word of the translation attends to, in one head or in a layer's; ``quiet`` marks no strongest."""
    trace = read(choice)
    if trace is None:
        return Seen(asked)
    if "cross" not in trace.parts:
        say(_("This model does not translate; a link of this lesson should name one that does."), role="status")
        return Seen(asked)
    records = trace.records("cross")
    layer = choice.layer if choice.layer is not None and choice.layer < len(records) else len(records) - 1
    head = choice.head if choice.layer is not None and choice.head is not None else -1
    weights, found = aligned(asked, layer, head if head < records[layer].heads else -1)
    say(_("“{source}” becomes “{target}”", source=trace.text, target=trace.target_text or ""), role="status")
    title = (
        _("Layer {layer} · all heads together", layer=layer)
        if head < 0
        else _("Layer {layer} · head {head}", layer=layer, head=head)
    )
    strongest = [found.strongest(row) for row in range(len(found.target))] if head >= 0 and not quiet else []
    target, source = ([cell.label for cell in cells] for cells in (found.target, found.source))
    draw_chart(alignment_map(weights, target, source, theme(), title, strongest=strongest), "lesson_alignment")
    st.caption(
        _("Each row is what the step that writes this word gives to the words of the source; a row sums to one.")
    )
    return Seen(asked, asked.view(), None if head < 0 else (layer, head))


def _places(choice: Choice) -> None:
    """The model's vectors of places as a picture."""
    tables = backend().inspect(PositionsRequest(model=choice.model, revision=choice.revision or None)).tables
    if not tables:
        say(_("The model adds no vectors of positions."), role="status")
        return
    shown = tables[0].vectors[:PLACES, :COLUMNS].astype(np.float64)
    name = _("The first {rows} positions, {columns} numbers of each", rows=shown.shape[0], columns=shown.shape[1])
    draw_matrices([Sheet(name, shown, limit=float(np.quantile(np.abs(shown), 0.99)) or 1.0)], "lesson_places")
    st.caption(_("Each row is a position, each column a number of its vector; the two colours are its two signs."))


def _way(pointed: Pointed, choice: Choice) -> None:
    """The same view on its own page."""
    page = ADDRESSES.get(pointed.page, pointed.page)
    if not (ROOT / "pages" / f"{page}.py").is_file():
        say(_("The app has no page “{page}”.", page=pointed.page))
        return
    own = {name: raw for name, raw in pointed.query if name not in TYPES and name not in (PACKED, "lang")}
    drawn = pointed.page in ("explore", "masked_words", "translate")
    there = choice if drawn else choice_of(pointed)
    label = _("Open in Explore") if page == "explore" else _("Open this view on its own page")
    st.page_link(
        f"../../pages/{page}.py",
        label=label,
        icon=":material/arrow_forward:",
        query_params={**own, **to_query(there)},
        help=_("The browser's back button, or Lessons in the sidebar, leads back to this step."),
    )
