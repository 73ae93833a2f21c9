"""Views of a lesson's steps: the microscope, masked-word predictions, a translation, position vectors.

All other pages are only linked; the reader's choices there do not change the lesson.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st

from attention.view import View
from i18n import _, translate
from inference import UserError
from inference.task_heads import MASKED
from inference.tasks.positions import PositionsRequest
from inference.tasks.predictions import MaskedWords
from lessons.answer_key import CheckContext, CheckInput, Unanswerable, place
from lessons.model_checks import cross_attention
from lessons.schema import LessonStep
from lessons.schema import LessonView as Pointed
from lessons.steps import RESULTS, STRONGEST, VIEW
from lessons.steps import withheld_part as withheld_part_of
from ui.input.composing import compose
from ui.run.current_lesson import choice_of, model_and_texts
from ui.run.downloading import offer_or_show
from ui.run.notices import show_notice
from ui.run.page_model import kind_of
from ui.run.services import get_backend
from ui.run.traces import id_of, read_trace
from ui.show.chart import draw_chart, theme
from ui.show.microscope import draw_matrices, draw_microscope
from ui.show.text import escape_markdown
from ui.show.views import link_to_view
from ui.state.navigation import title_of, view_named
from ui.state.session import get_view_state
from ui.state.view_state import DECLARED, DEFAULT_MODEL, PACKED, ViewState, to_query
from viz.components.matrices.matrices import MatrixSpec
from viz.figures.token_bars import bars
from viz.figures.vectors import alignment_map

ROW_CHECKS = ("most_looked_at", "weight", "weight_rank", "preferred")  # checks that a row of a map answers
WITHOUT_MODEL = ("by_hand", "why_attention")  # views that run no model of the reader's choice
WORD = re.compile(r"\w+")
TOP = 8  # guesses for a blank
PLACES, COLUMNS = 64, 128  # positions and dimensions of the drawn position vectors


@dataclass(frozen=True)
class StepView:
    """The state of a step's view, from which the reader's answer is checked.

    ``head`` is the selected (layer, head), and ``clicked`` the index of the selected key; both are None without a
    selection. ``is_own_head`` is True if the reader selected another head than that of the step's link.
    """

    asked: CheckContext
    view: View | None = None
    head: tuple[int, int] | None = None
    clicks: bool = False  # whether the view's words can be clicked
    clicked: int | None = None  # the clicked key, a cell of the view
    is_own_head: bool = False


def with_head_of_link(choice: ViewState, pointed: Pointed) -> ViewState:
    """Return the view state with layer and head of the step's link, if a text of the reader's own deselected them."""
    own = choice_of(pointed)
    if not pointed.yours or choice.layer is not None or choice.model != own.model:
        return choice
    return replace(choice, layer=own.layer, head=own.head)


def reading(choice: ViewState, pointed: Pointed) -> CheckInput:
    """Return the input from which the answer to a step's question is computed.

    It is that of the step's link, whichever stack, words or model the reader looks at. If the step asks for the
    reader's own text, text and model are those of ``choice``.
    """
    own = choice_of(pointed)
    read = choice if pointed.yours else own
    return CheckInput(
        model=read.model,
        text=read.text,
        pair=read.pair,
        target=read.target,
        revision=read.revision,
        part="cross" if view_named(pointed.page) == "translate" else own.part,
        words=own.words,
        special=own.special,
        cut=read.cut,
    )


def empty_view(pointed: Pointed | None) -> StepView:
    """Return the state for a step whose view is not drawn."""
    read = CheckInput(DEFAULT_MODEL, "") if pointed is None else reading(choice_of(pointed), pointed)
    return StepView(CheckContext(get_backend(), read))


def withheld_part(step: LessonStep) -> str:
    """Return the part of a step's view to hide because it shows the answer; "" for none."""
    return "" if step.view is None else withheld_part_of(step, view_named(step.view.page))


def offers_head(step: LessonStep, asking: LessonStep) -> bool:
    """Return True if a step's view would offer the head that ``asking`` asks for: both show the same maps."""
    views = [one.view for one in (step, asking) if one.view is not None and view_named(one.view.page) == "explore"]
    return len(views) == 2 and reading(choice_of(views[0]), views[0]) == reading(choice_of(views[1]), views[1])


def shows_answer(step: LessonStep, asking: LessonStep) -> bool:
    """Return True if a step's view opens on the row that ``asking`` asks about: the same maps, head and word.

    Return False if no row of a map answers ``asking``, or if the model cannot read the text.
    """
    view, check = step.view, asking.question and asking.question.check
    if view is None or not check or check.check not in ROW_CHECKS or view_named(view.page) != "explore":
        return False
    given, choice = dict(check.given), choice_of(view)
    asked = CheckContext(get_backend(), reading(choice, view))
    if (given["layer"], given["head"]) != (choice.layer, choice.head):
        return False
    if empty_view(asking.view).asked.reads(given).reading != asked.reading:
        return False
    try:
        cells = asked.view().queries
        opened = place(cells, view.highlight[0]) if view.highlight and choice.focus is None else None
        wanted = place(cells, given["word"])
    except (Unanswerable, UserError):
        return False
    return wanted == opened or (choice.focus is not None and choice.focus in range(*cells[wanted].pieces))


def draw(pointed: Pointed, held: str = "", *, polled: bool = False) -> StepView:
    """Draw the view of a step and the link to its page, and return the state of the view.

    ``held`` is the part to hide until the reader answers: VIEW, RESULTS, STRONGEST, or "" for none. ``polled`` is True
    while the class answers the step's question; a notice at the question then states when the view opens. A view that
    the lesson does not draw has no such notice: after the answer, a link leads to its page.
    """
    choice = with_head_of_link(get_view_state(), pointed)
    asked = CheckContext(get_backend(), reading(choice, pointed))
    if pointed.yours:
        compose(choice, kind_of(choice), chip=False)
    seen = StepView(asked)
    if held == VIEW:
        for text in () if pointed.yours else texts_of(pointed, choice):
            show_notice(text, role="status")  # a question may ask about the text
        if is_drawn(pointed) and not polled:
            show_notice(_("The view opens after your first answer: say what you expect."), role="status")
        return seen
    if view_named(pointed.page) not in WITHOUT_MODEL:
        help = None
        if choice.model != DEFAULT_MODEL:
            default = model_title(DEFAULT_MODEL)
            help = _("Other models give other numbers; Attention heads opens with {model}.", model=default)
        st.caption(_("Model: {name}", name=escape_markdown(model_title(choice.model))), help=help)
    name = view_named(pointed.page) if is_drawn(pointed) else None
    try:
        if name == "explore":
            seen = _maps(pointed, choice, asked, held)
        elif name == "masked_words":
            _blank(choice)
        elif name == "translate":
            seen = _translation(choice, asked, held == RESULTS)
        elif name == "positions":
            _places(choice)
    except UserError as refusal:
        offer_or_show(refusal, choice)
    own = choice_of(pointed)
    seen = replace(seen, is_own_head=(choice.layer, choice.head) != (own.layer, own.head))
    if not held:
        _draw_page_links(pointed, choice)
    return seen


def texts_of(pointed: Pointed, choice: ViewState) -> tuple[str, ...]:
    """Return the one or two texts that a step's view reads; none if the view is not drawn and its link has no text."""
    reads_text = is_drawn(pointed) or "text" in dict(pointed.query)
    return tuple(text for text in (choice.text, choice.pair) if text) if reads_text else ()


def model_title(name: str) -> str:
    """Return the title of a model's card, or the model's name if it has no card."""
    return next((translate(card.title) for card in get_backend().models() if card.id == name), name)


def _maps(pointed: Pointed, choice: ViewState, asked: CheckContext, held: str) -> StepView:
    """Draw the microscope with the highlighted words, without the part ``held``."""
    trace = read_trace(choice)
    if trace is None:
        return StepView(asked)
    pointing: dict[str, Any] = {}
    if choice.focus is None and pointed.highlight:
        try:
            view = asked.view()
            cells = (view.queries, view.keys)
            words = zip(("focus", "to"), cells, pointed.highlight, strict=False)
            pointing = {name: among[place(among, word)].pieces[0] for name, among, word in words}
        except Unanswerable:
            pointing = {}  # the reader's own text may lack the words, or the author erred
    shown = draw_microscope(
        replace(choice, **pointing),
        trace,
        lambda: id_of(get_view_state()),
        key="lesson_maps",
        quiet=held == RESULTS,
        asks_head=held == STRONGEST,
    )
    if shown is None:
        return StepView(asked)
    drawn, _survey, selection = shown
    try:
        view = asked.view()  # The reader may look at another stack, or at words instead of tokens.
    except Unanswerable:
        view = drawn
    own = choice_of(pointed)
    clicked = None if choice.focus in (None, own.focus) or _stack(drawn) != _stack(view) else choice.focus
    key = next(
        (at for at, cell in enumerate(view.keys) if clicked is not None and clicked in range(*cell.pieces)), None
    )
    return StepView(asked, view, (selection["layer"], selection["head"]), True, key)


def _stack(view: View) -> str:
    return view.part or view.trace.part


def _blank(choice: ViewState) -> None:
    """Draw the likeliest tokens of the text's first blank."""
    show_notice(choice.text, role="status")
    with st.spinner(_("Running the model")):
        filled = get_backend().predict(
            MaskedWords(model=choice.model, revision=choice.revision or None, text=choice.text,
                        pair=choice.pair or None, cut=choice.cut, top=TOP)
        )  # fmt: skip
    guesses = filled.blanks[0].guesses
    title = _("Likeliest tokens")
    draw_chart(
        bars([one.piece for one in guesses], [one.probability for one in guesses], theme(), title), MASKED, about=dict
    )
    st.caption(_("Bars: probability of each token, of {all:,}.", all=filled.vocabulary))


def _translation(choice: ViewState, asked: CheckContext, quiet: bool) -> StepView:
    """Draw the cross-attention of a head, or of a layer's heads together.

    ``quiet`` does not mark the strongest links.
    """
    trace = read_trace(choice)
    if trace is None:
        return StepView(asked)
    if "cross" not in trace.parts:
        show_notice(_("This model does not translate; the link should name one that does."), role="status")
        return StepView(asked)
    records = trace.records("cross")
    layer = choice.layer if choice.layer is not None and choice.layer < len(records) else len(records) - 1
    head = choice.head if choice.layer is not None and choice.head is not None else -1
    weights, found = cross_attention(asked, layer, head if head < records[layer].heads else -1)
    show_notice(f"“{trace.text}” → “{trace.target_text or ''}”", role="status")
    title = (
        _("Layer {layer} · all heads together", layer=layer)
        if head < 0
        else _("Head {layer}-{head}", layer=layer, head=head)
    )
    strongest = [found.strongest(row) for row in range(len(found.target))] if head >= 0 and not quiet else []
    target, source = ([cell.label for cell in cells] for cells in (found.target, found.source))
    draw_chart(
        alignment_map(weights, target, source, theme(), title, strongest=strongest), "lesson_alignment", about=dict
    )
    st.caption(_("Rows: the step that writes a word; columns: source words. A row sums to one."))
    return StepView(asked, asked.view(), None if head < 0 else (layer, head))


def _places(choice: ViewState) -> None:
    """Draw the model's position vectors as a matrix."""
    tables = get_backend().inspect(PositionsRequest(model=choice.model, revision=choice.revision or None)).tables
    if not tables:
        show_notice(_("The model adds no vectors of positions."), role="status")
        return
    shown = tables[0].vectors[:PLACES, :COLUMNS].astype(np.float64)
    name = _("First {rows} positions, {columns} numbers each", rows=shown.shape[0], columns=shown.shape[1])
    draw_matrices([MatrixSpec(name, shown, limit=float(np.quantile(np.abs(shown), 0.99)) or 1.0)], "lesson_places")
    st.caption(_("Rows: positions; columns: dimensions; colours: signs."))


def _draw_page_links(pointed: Pointed, choice: ViewState) -> None:
    """Draw the link to the same view on its own page, and the links to the step's other views."""
    view = view_named(pointed.page)
    if view is None:
        show_notice(_("The app has no page “{page}”.", page=pointed.page))
        return
    there = choice if is_drawn(pointed) or pointed.yours else choice_of(pointed)
    label = _("Open Attention heads") if view == "explore" else translate(title_of(view))
    with st.container(horizontal=True):
        link_to_view(
            view,
            label,
            icon=":material/arrow_forward:",
            query={**own_fields(pointed, there), **to_query(there)},
            help=_("The browser's back button returns here."),
        )
        used = [label]
        for other in pointed.also:
            if (view := view_named(other.page)) is not None:
                found = choice_of(other)
                label = distinct_label(
                    translate(title_of(view)), used, found.model if found.model != there.model else ""
                )
                used.append(label)
                query = {**own_fields(other, found), **to_query(found)}
                link_to_view(view, label, icon=":material/arrow_forward:", query=query)


def distinct_label(title: str, used: Sequence[str], model: str) -> str:
    """Return a link's label that no link before it has, with its other ``model``, if any, or else with a number.

    >>> [distinct_label("Tokens", ("Translate", *used), "") for used in ((), ("Tokens",), ("Tokens", "Tokens (2)"))]
    ['Tokens', 'Tokens (2)', 'Tokens (3)']
    """
    named = (f"{title} · {model_title(model)}",) if model else ()
    numbered = (f"{title} ({number})" for number in range(2, len(used) + 2))
    free: str = next(label for label in (title, *named, *numbered) if label not in used)
    return free


def own_fields(pointed: Pointed, choice: ViewState) -> dict[str, str]:
    """Return the fields of a view's link that are options of its page.

    If ``choice`` has other texts than the link, fields that name a word of the link's texts are left out: they were
    set for that sentence, even if the reader's sentence contains the word.
    """
    own = choice_of(pointed)
    words = (
        set()
        if model_and_texts(choice) == model_and_texts(own)
        else set(WORD.findall(f"{own.text} {own.pair} {own.target}"))
    )
    not_options = (*DECLARED, PACKED, "lang")
    return {name: raw for name, raw in pointed.query if name not in not_options and raw not in words}


def is_drawn(pointed: Pointed) -> bool:
    """Return whether the step contains the view itself; a masked text is drawn unless the link names another tab."""
    view, shows = view_named(pointed.page), dict(pointed.query).get("show")
    if view == "positions":
        return shows == "vectors"
    return view in ("explore", "translate") or (view == "masked_words" and shows in (None, "guesses"))
