"""Prompt and generated tokens in a single pass: heads, attention sinks, cache check and induction heads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from attention.mask import FloatArray
from attention.roles import MOST_ROWS, observe
from attention.tokens import bits
from attention.trace import Trace
from i18n import _, gettext_lazy, translate
from inference import TraceRequest
from inference.tasks.decoding import DecodingStep, NextToken
from inference.tasks.heads import InductionHeads, InductionScores
from ui.input.controls import bound_widget, head_name, head_of, rank_of
from ui.pages.generate.options import (
    REPEATED_NAME,
    GenerateOptions,
    new_prompt,
    on_path,
    prompt_length,
    step_provenance,
)
from ui.pages.generate.step_attention import NO_STEPS, StepAttention, first_switch, keep_on_text
from ui.run.notices import show_notice
from ui.run.page_model import ask_model
from ui.run.progress import stoppable_steps
from ui.run.services import get_backend
from ui.show.chart import draw_chart, theme
from ui.show.microscope import draw_microscope
from ui.show.sections import open_section
from ui.show.tables import csv_table, data_provenance, download_button, draw_table
from ui.state.params import get_params, set_params
from ui.state.session import get_view_state, set_view_state
from ui.state.view_state import ViewState
from viz.figures import head_maps
from viz.paper.notebook import Computation

MAP, CONTROL = "induction_map", "induction_control"
LENGTH, SHORTEST = 25, 2  # tokens in each copy: default and minimum
HALF = 0.5  # share of attention above which a head is counted
LISTED = 10


def draw_induction(choice: ViewState, request: NextToken, step: DecodingStep, options: GenerateOptions) -> None:
    """Draw the scores of the induction test as two maps and a table; raise UserError if the model cannot answer."""
    longest = (len(step.row) + step.room - 1) // 2  # the model reads two copies and perhaps a start token
    length = max(SHORTEST, min(LENGTH, longest))
    question = InductionHeads(model=request.model, revision=request.revision, length=length, seed=options.sample)
    found = ask_model(question, _("Running the model"))
    layer, head = head_of(choice, found.matching)
    show_notice(summary(found), role="status")
    name = head_name(layer, head).capitalize()
    show_notice(
        _(
            "{head}: {share}; {rank}.",
            head=name,
            share=f"{found.matching[layer, head]:.0%} ({_('Not repeated')}: {found.control[layer, head]:.0%})",
            rank=rank_of(found.matching, layer, head),
        ),
        role="status",
    )
    *columns, right = st.columns([3, 3, 4])
    _maps(columns, found, (layer, head), question)
    st.caption(
        _(
            "{count} texts of {length} distinct random tokens, repeated once: mean weight of the "
            "second copy on the token after the earlier copy "
            "([arXiv:2209.11895](https://arxiv.org/abs/2209.11895)).",
            count=question.count,
            length=length,
        )
    )
    with right:
        _buttons(found)
        _table(found, question)


def summary(found: InductionScores) -> str:
    """Describe the result of the induction test: best head, number of induction heads, and surprisal.

    The model reads a random text twice in a row. An induction head attends to the token after the earlier copy of the
    current token. The surprisal is the mean in the first copy and in the last.
    """
    layer, head = np.unravel_index(int(np.nanargmax(found.matching)), found.matching.shape)
    name = head_name(int(layer), int(head)).capitalize()
    many = int((found.matching > HALF).sum())
    return _(
        "{head} gives {matching:.0%} of its attention to the token after the earlier copy (uniform: "
        "{even:.0%}); {number} of {heads} heads give over half. Surprisal: {first:.1f} bits in the "
        "first copy, {second:.1f} in the second.",
        head=name,
        matching=found.matching[layer, head],
        even=found.even,
        number=many,
        heads=int(np.isfinite(found.matching).sum()),
        first=bits(-found.losses[0]),
        second=bits(-found.losses[-1]),
    )


def _maps(columns: Sequence[Any], found: InductionScores, selected: tuple[int, int], question: InductionHeads) -> None:
    given: list[tuple[str, str, FloatArray, str]] = [
        (MAP, _("Induction heads"), found.matching, "matching"),
        (CONTROL, _("Not repeated"), found.control, "control"),
    ]
    for column, (key, title, values, name) in zip(columns, given, strict=True):
        computation = Computation(f"numbers = backend.predict(request).{name}", request=question)
        figure = head_maps.head_map(values, theme(), title, _("weight"), selected=selected, limit=1)
        about = partial(_provenance, question)
        draw_chart(figure, key, place=column, on_click=keep_on_text, about=about, computation=computation)


def _provenance(question: InductionHeads) -> dict[str, str]:
    """Return the provenance of induction scores: the model and the random texts."""
    drawn = f"{question.count} texts of {question.repeats} × {question.length} random tokens"
    return data_provenance(f"{drawn}, and as many without repetition (seed {question.seed})")


def _buttons(found: InductionScores) -> None:
    layer, head = np.unravel_index(int(np.nanargmax(found.matching)), found.matching.shape)

    def try_it() -> None:
        new_prompt(REPEATED_NAME)
        set_view_state(layer=int(layer), head=int(head))
        set_params(GenerateOptions, show="next", over="head")

    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.button(
            _("Try induction head"),
            on_click=try_it,
        )
        bound_widget(GenerateOptions, "sample", st.number_input, min_value=0, max_value=9_999_999, step=1, width=110)


def _table(found: InductionScores, question: InductionHeads) -> None:
    order = np.argsort(-found.matching, axis=None)[: int(np.isfinite(found.matching).sum())]  # NaN comes last
    names = (
        gettext_lazy("Layer"),
        gettext_lazy("Head"),
        gettext_lazy("Score"),
        gettext_lazy("Not repeated"),
        gettext_lazy("the token before"),
        gettext_lazy("first token"),
    )
    values = (found.matching, found.control, found.previous, found.first)
    rows = [
        (int(layer), int(head), *(float(value[layer, head]) for value in values))
        for layer, head in zip(*np.unravel_index(order, found.matching.shape), strict=True)
    ]
    draw_table(
        {translate(name): [row[at] for row in rows[:LISTED]] for at, name in enumerate(names)},
        key="induction_table",
    )
    download_button(
        _("Save as CSV"),
        csv_table(names, rows),
        "headlight-induction.csv",
        _("All digits"),
        provenance=_provenance(question),
    )


SINKS = "sink_map"


def read_whole(request: NextToken) -> Trace:
    """Return the trace of the prompt with the generated tokens. Raise UserError if it cannot be read."""
    with st.spinner(_("Running the model"), show_time=True):
        return get_backend().trace(trace_request(request))


def trace_request(request: NextToken) -> TraceRequest:
    """Return the request for a trace of the same text."""
    return TraceRequest(
        request.model,
        request.text,
        revision=request.revision,
        cut=request.cut,
        edits=request.edits,
        written=request.written,
    )


def heads(choice: ViewState, request: NextToken, seen: StepAttention | None) -> None:
    """Draw the microscope (the interactive maps of all heads) on the prompt and the generated tokens.

    By default it shows the head of the step ``seen``, and the last token that this step reads.
    """
    trace = read_whole(request)
    if seen is not None:
        focus = seen.place - 1 if choice.focus is None else choice.focus
        choice = replace(choice, layer=seen.layer, head=seen.head, focus=focus)
    choice = replace(choice, part="")  # the choice may name a stack of another model; a decoder has a single stack
    draw_microscope(choice, trace, lambda: _shown_trace_id(choice, request))


def _shown_trace_id(choice: ViewState, request: NextToken) -> str:
    """Return the id of the trace that the page shows now; "" if the text or the model has changed."""
    now = get_view_state()
    same = (now.text, now.model, now.revision, now.cut) == (choice.text, choice.model, choice.revision, choice.cut)
    return trace_request(on_path(request, get_params(GenerateOptions))).key if same else ""


def sink(choice: ViewState, request: NextToken, step: DecodingStep) -> None:
    """Draw the share of attention that each head gives to the first token; ``step`` is the prediction at the end."""
    trace = read_whole(request)
    if all(trace.source.special[1:]):
        show_notice(_("No word follows the first token. Write or type more."), role="status")
        return
    evidence = observe(trace)
    shares = evidence.strength("first").astype(np.float32)
    layer, head = head_of(choice, shares)
    show_notice(sink_summary(trace, shares, float(np.nanmean(evidence.uniform_share("first")))), role="status")
    name = head_name(layer, head).capitalize()
    show_notice(
        _(
            "{head}: {share}; {rank}.",
            head=name,
            share=f"{shares[layer, head]:.0%}",
            rank=rank_of(shares, layer, head),
        ),
        role="status",
    )
    figure = head_maps.head_map(
        shares, theme(), _("Attention sink"), _("share of attention"), selected=(layer, head), limit=1
    )
    left, right = st.columns([3, 2])
    code = "numbers = observe(backend.trace(request)).strength('first')"
    computation = Computation(code, request=trace_request(request), observe=observe)
    queries = f"later tokens that are not special, at most {MOST_ROWS}"
    about = partial(step_provenance, request, step, queries=queries, key=f"0 “{trace.tokens[0]}”")
    draw_chart(figure, SINKS, place=left, on_click=keep_on_text, about=about, computation=computation)
    with right:
        st.caption(
            _(
                "Mean weight on the first token, over up to {most_rows} later tokens that are not "
                "special ([arXiv:2309.17453](https://arxiv.org/abs/2309.17453)).",
                most_rows=MOST_ROWS,
            )
        )
        by_value = evidence.value_share("first")
        if by_value is not None:
            st.caption(
                _(
                    "Weighted by value norms, its share is {by_value:.2f} "
                    "([arXiv:2004.10102](https://arxiv.org/abs/2004.10102)).",
                    by_value=np.nanmean(by_value),
                )
            )
        first_switch()


def sink_summary(trace: Trace, shares: FloatArray, even: float) -> str:
    """Describe the attention to the first token.

    ``shares`` is (layer, head); ``even`` is the share under uniform attention.
    """
    many = int((shares > HALF).sum())
    return _(
        "The first token, “{token}”, gets {mean:.0%} of later tokens' attention (uniform: "
        "{even:.0%}); {number} of {heads} heads give it over half.",
        token=trace.tokens[0],
        mean=np.nanmean(shares),
        even=even,
        number=many,
        heads=int(np.isfinite(shares).sum()),
    )


def same_numbers(request: NextToken, step: DecodingStep) -> None:
    """Draw a check of the key–value cache: generation must have the same attention as a single pass.

    The attention of each generation step is compared with the same row of a pass over the whole text. Nothing is
    computed while the section is closed.
    """
    section = open_section(_("Check the cache"), "generate_law")
    if section is None:
        return
    with section:
        trace, length = read_whole(request), prompt_length(step, request)
        worst, later, cached, seen = 0.0, 0.0, 0, 0
        many = len(request.written) + 1
        for at in stoppable_steps(f"law {request.key}", many, _("Running the model")):
            one = get_backend().predict(replace(request, written=request.written[:at]))
            if one.looks is None:
                continue
            rows, place = trace.rows(length + at - 1), len(one.row)
            worst = max(worst, float(np.abs(rows[:, :, :place] - one.looks).max()))
            later = max(later, float(np.abs(rows[:, :, place:]).max(initial=0)))
            cached, seen = cached + one.cached, seen + 1
        show_notice(law_summary(worst, later, cached, seen, many), role="status")


def law_summary(worst: float, later: float, cached: int, seen: int, many: int) -> str:
    """Describe the largest differences between the attention of single steps and that of a single pass.

    ``worst`` is the largest difference of a weight, and ``later`` the largest weight on a later token. Of ``many``
    steps, ``seen`` were compared and ``cached`` used the key–value cache.
    """
    if seen == 0:
        return translate(NO_STEPS)
    return _(
        "Compared: {steps} of {many} steps, {cached} from the key–value cache. Largest difference "
        "from a single pass: {worst:.1g}; largest weight on a later token: {later:.1g}.",
        steps=seen,
        many=many,
        cached=cached,
        worst=worst,
        later=later,
    )
