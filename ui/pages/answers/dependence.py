"""The dependence of an answer on the words of its passage and on the model's heads, for the view Question answering."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import streamlit as st

from attention.answer_windows import NOWHERE, token_span
from attention.edits import Ablate, EditSet, as_head_map, places_of
from attention.mask import FloatArray
from attention.trace import Trace
from attention.view import View, flow
from i18n import _, translate
from inference import TraceRequest
from inference.tasks.answers import BOTH, END, START, AnswerSpan, PassageAnswers
from inference.tasks.edit_effects import SpanEffects
from ui.ablation.effects import head_effects_computation, heads_csv, measure_changes
from ui.attribution.methods import AttributionRequest, TargetSpan, compute_attributions
from ui.attribution.views import draw_methods, draw_word_effects, words_csv
from ui.input.controls import bound_widget, control_row, head_of, keep_head, rank_of
from ui.pages.answers.options import CHOSEN, PASSAGE, PLACES, QUESTION, AnswersOptions
from ui.run.notices import show_notice
from ui.run.page_model import PageModel
from ui.run.services import get_backend
from ui.show.chart import draw_chart, theme
from ui.show.microscope import draw_microscope
from ui.show.tables import download_button, download_table, texts_provenance
from ui.show.text import percent
from ui.state.params import get_params
from ui.state.session import get_view_state
from ui.state.view_state import ViewState
from viz.figures.head_maps import head_map
from viz.figures.theme import sides, truncate
from viz.paper.notebook import flow_computation


@dataclass(frozen=True, eq=False)
class ExplainedAnswer:
    """An answer to explain, with the trace of the question and the part of the passage around the answer.

    This part is the window of tokens in which the model found the answer. ``span`` is the (first, last) token of the
    answer in the trace, or None if the model gives no answer.
    """

    request: TraceRequest
    trace: Trace
    text: str = ""
    span: tuple[int, int] | None = None

    def tokens(self, place: str) -> list[int]:
        """Return the indices of the tokens in ``place``, which is QUESTION, PASSAGE or CHOSEN (the answer)."""
        if place == CHOSEN and self.span is not None:
            return list(range(self.span[0], self.span[1] + 1))
        row, segment = self.trace.source, 0 if place == QUESTION else 1
        return [at for at in range(len(row)) if row.words[at] is not None and row.segments[at] == segment]


def pick_answer(found: PassageAnswers) -> AnswerSpan | None:
    """Draw the widget that selects the answer to explain, and return the answer; None if there is none."""
    if not found.spans:
        return None
    shown = min(max(0, get_params(AnswersOptions).answer), min(10, len(found.spans)) - 1)
    labels = [
        _("{name} ({detail})", name=truncate(span.text, 40), detail=percent(span.probability))
        for span in found.spans[:10]
    ]
    with control_row("answers"):
        bound_widget(
            AnswersOptions, "answer", st.selectbox, options=list(range(len(labels))), shown=shown,
            format_func=labels.__getitem__,
        )  # fmt: skip
        bound_widget(AnswersOptions, "ends", st.segmented_control, required=True)
    return found.spans[shown]


def read_answer(
    who: PageModel, texts: tuple[str, str], found: PassageAnswers | None, span: AnswerSpan | None
) -> ExplainedAnswer:
    """Trace the question with the window of the passage that contains the answer."""
    question, passage = texts
    start, end = (0, len(passage)) if found is None else found.windows[0 if span is None else span.window].letters
    cut = None if found is not None else CUT
    request = TraceRequest(who.model, question, passage[start:end], revision=who.revision, cut=cut)
    with st.spinner(_("Running the model"), show_time=True):
        trace = get_backend().trace(request)
    if span is None:
        return ExplainedAnswer(request, trace)
    letters = (span.letters[0] - start, span.letters[1] - start)
    return ExplainedAnswer(request, trace, span.text, token_span(_passage_letters(trace), letters))


CUT = 256  # Tokens of both texts that are read if no window is known.


def _passage_letters(trace: Trace) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """Return the letters of each passage token, (token, 2); NOWHERE for others."""
    row = trace.source
    spans = [
        span if span is not None and word is not None and segment == 1 else NOWHERE
        for span, word, segment in zip(row.spans, row.words, row.segments, strict=True)
    ]
    found: np.ndarray[tuple[int, int], np.dtype[np.int64]] = np.array(spans, np.int64).reshape((len(spans), 2))
    return found


def draw_attention(choice: ViewState, asked: ExplainedAnswer) -> None:
    """Draw each head's attention between two parts of the text, then the microscope on the selected head.

    Widgets select both parts among the question, the passage and the answer. A head's number is the share of attention
    that tokens of the first part give to the second part. The microscope is the interactive view of all heads' maps.
    """
    st.header(_("Attention between both texts"))
    options = get_params(AnswersOptions)
    names = {place: name for place, name in PLACES.items() if place != CHOSEN or asked.span is not None}
    looks = options.looks if options.looks in names else PASSAGE
    at = options.at if options.at in names else QUESTION
    with control_row("answers_attention"):
        for field, shown in (("looks", looks), ("at", at)):
            bound_widget(
                AnswersOptions, field, st.segmented_control, options=list(names), shown=shown, required=True,
                format_func=names.__getitem__,
            )  # fmt: skip
    shares = flow(asked.trace, asked.tokens(looks), asked.tokens(at))
    layer, head = head_of(choice, shares)
    values = {"looks": translate(names[looks]), "at": translate(names[at]), "layer": layer, "head": head}
    show_notice(
        _(
            "Head {layer}-{head}: {looks} gives {at} {share:.0%} of its attention; {rank}.",
            **values,
            share=shares[layer, head],
            rank=rank_of(shares, layer, head),
        ),
        role="status",
    )
    title = _("From {looks} to {at}", looks=values["looks"], at=values["at"])
    figure = head_map(shares, theme(), title, _("share of attention"), selected=(layer, head))
    computation = flow_computation(asked.request, asked.tokens(looks), asked.tokens(at))
    about = partial(texts_provenance, asked.request.text, asked.request.pair)
    draw_chart(figure, "answers_attention_map", on_click=keep_head, about=about, computation=computation)
    st.caption(_("Click a cell to select its head."))
    focus = next(iter(asked.tokens(looks)), None) if choice.focus is None else choice.focus
    draw_microscope(
        replace(choice, layer=layer, head=head, focus=focus), asked.trace, lambda: _shown_trace_id(asked.request)
    )


def _shown_trace_id(request: TraceRequest) -> str:
    """Return the id of the trace; "" if the page shows another text."""
    now = get_view_state()
    return request.key if now.text == request.text or not now.pair.strip() else ""


def draw_dependence(choice: ViewState, asked: ExplainedAnswer) -> None:
    """Draw the effect of each word (next to attribution methods) and of each head on the answer's logits."""
    if asked.span is None:
        return
    st.header(_("The answer depends on"))
    ends = get_params(AnswersOptions).ends
    origin = texts_provenance(asked.request.text, asked.request.pair)
    _draw_words(asked, ends, origin)
    _draw_heads(choice, asked, ends, origin)


def _name(ends: str) -> str:
    """Return the phrase for the explained number."""
    names = {BOTH: _("the score"), START: _("the start logit"), END: _("the end logit")}
    return names[ends]


def _draw_heads(choice: ViewState, asked: ExplainedAnswer, ends: str, origin: dict[str, str]) -> None:
    """Draw the change of the explained number if each head is ablated alone."""
    if asked.span is None or not asked.trace.has_qkv():
        return
    request, (first, last) = asked.request, asked.span
    places = places_of(asked.trace)
    effects = SpanEffects(
        request.model, request.revision, text=request.text, pair=request.pair or "", first=first, last=last
    )

    def numbers(sets: Sequence[EditSet]) -> FloatArray:
        asked_sets = replace(effects, edits=tuple(map(tuple, sets)))
        return TargetSpan(first, last, ends).score(get_backend().predict(asked_sets).values)

    mark = f"answers_heads:{request.key}:{asked.span}:{ends}"
    sets = [(Ablate(*place),) for place in places]
    found = measure_changes(mark, sets, len(asked.trace.source), _("Ablating each head"), numbers)
    if not len(found):
        return
    most = int(np.abs(found).argmax())
    show_notice(
        _(
            "Without head {layer}-{head}, {number} changes most: by {change:+.2f}.",
            layer=places[most][0],
            head=places[most][1],
            number=_name(ends),
            change=float(found[most]),
        ),
        role="status",
    )
    figure = head_map(
        as_head_map(places, found), theme(), _("Ablation effect"), _("change of the logit"),
        diverging=True, selected=(choice.layer or 0, choice.head or 0) if choice.layer is not None else None,
    )  # fmt: skip
    ends_read = {BOTH: "values.sum(axis=1)", START: "values[:, 0]", END: "values[:, 1]"}[ends]
    computation = head_effects_computation(request, effects, len(asked.trace.source), ends_read)
    draw_chart(figure, "answers_heads_map", on_click=keep_head, about=lambda: origin, computation=computation)
    st.caption(_("Cells: heads, ablated one at a time; the answer keeps its span."))
    download_button(
        _("Save as CSV"), heads_csv(places, found, _("change of the logit")), "headlight-answer-heads.csv",
        _("All digits"), key="answers_save_heads", provenance=origin,
    )  # fmt: skip


def _draw_words(asked: ExplainedAnswer, ends: str, origin: dict[str, str]) -> None:
    """Draw the attribution of the explained number to each word by all methods; ablated words as a strip."""
    assert asked.span is not None  # the caller has checked it
    first, last = asked.span
    cells = [cell for cell in View(asked.trace, words=True).keys if not cell.special]
    runs = tuple(cell.pieces for cell in cells)
    ways = compute_attributions(
        AttributionRequest(asked.trace, asked.request, (first, last + 1), runs, TargetSpan(first, last, ends))
    )
    for problem in ways.problems:
        show_notice(problem, role="status")
    if not ways.attributions:
        return
    draw_word_effects(ways, cells, _name(ends), "answers_words")
    draw_methods(ways, cells, "answers_ways", about=tuple(origin.items()))
    above, below = map(translate, sides(theme()))
    st.caption(
        _(
            "{for_it}: the word raises the logit; {against}: it lowers it (masked in every layer). "
            "*Gradient*, *Integrated gradients* and *Ablated* explain the logit, other methods the vector of "
            "{reader}.",
            against=above,
            for_it=below.capitalize(),
            reader=_("the answer"),
        )
    )
    download_table(words_csv(ways, cells), "headlight-answer-words.csv", key="answers_save_words", provenance=origin)
