"""Prompt and generated tokens in a single pass: all heads, attention sinks, a check of the cache."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from attention.mask import FloatArray
from attention.roles import MOST_ROWS, observe
from attention.trace import Trace
from i18n import _
from inference import TraceRequest
from inference.tasks.decoding import DecodingStep, NextToken
from ui.input.controls import head_name, head_of, rank_of
from ui.pages.generate.options import GenerateOptions
from ui.pages.generate.prompt import on_path, prompt_length
from ui.pages.generate.step_attention import StepAttention, first_switch, keep_on_text
from ui.run.notices import show_notice
from ui.run.progress import stoppable_steps
from ui.run.services import get_backend
from ui.show.chart import draw_chart, theme
from ui.show.microscope import draw_microscope
from ui.state.params import get_params
from ui.state.session import get_view_state
from ui.state.view_state import ViewState
from viz.figures import head_maps

SINKS = "sink_map"
HALF = 0.5  # share of attention above which a head is counted


def read_whole(request: NextToken) -> Trace:
    """Return the trace of the prompt with the generated tokens. Raise UserError if it cannot be read."""
    with st.spinner(_("Asking the model"), show_time=True):
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
    """Draw the microscope on prompt and generated tokens, initially with the shown step's head and token."""
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


def sink(choice: ViewState, request: NextToken) -> None:
    """Draw the share of attention that each head gives to the first token."""
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
            "{head}: {share:.2f}; {rank}.",
            head=name,
            share=shares[layer, head],
            rank=rank_of(shares, layer, head),
        ),
        role="status",
    )
    figure = head_maps.head_map(
        shares, theme(), _("Attention to the first token"), _("share of attention"), selected=(layer, head), limit=1
    )
    left, right = st.columns([3, 2])
    draw_chart(figure, SINKS, place=left, on_click=keep_on_text)
    with right:
        st.caption(
            _(
                "Each cell is a head: its mean weight on the first token, over at most {most_rows} later tokens"
                " without special ones. Many models learn such attention sinks"
                " ([arXiv:2309.17453](https://arxiv.org/abs/2309.17453)). Click a cell to shade the text.",
                most_rows=MOST_ROWS,
            )
        )
        by_value = evidence.value_share("first")
        if by_value is not None:
            st.caption(
                _(
                    "Weighted by the norms of the value vectors, its share is {by_value:.2f}"
                    " ([arXiv:2004.10102](https://arxiv.org/abs/2004.10102)).",
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
        "The first token, “{token}”, gets {mean:.2f} of the later tokens' attention (uniform: {even:.2f})."
        " {number} of {heads} heads give it more than half.",
        token=trace.tokens[0],
        mean=np.nanmean(shares),
        even=even,
        number=many,
        heads=int(np.isfinite(shares).sum()),
    )


def same_numbers(request: NextToken, step: DecodingStep) -> None:
    """Draw the comparison of step-by-step maps with those of a single pass, once the expander is open."""
    folded = st.expander(_("Check the cache"), key="generate_law", on_change="rerun")
    if not folded.open:
        return
    with folded:
        trace, length = read_whole(request), prompt_length(step, request)
        worst, later, cached, seen = 0.0, 0.0, 0, 0
        many = len(request.written) + 1
        for at in stoppable_steps(f"law {request.key}", many, _("Asking the model")):
            one = get_backend().predict(replace(request, written=request.written[:at]))
            if one.looks is None:
                continue
            rows, place = trace.rows(length + at - 1), len(one.row)
            worst = max(worst, float(np.abs(rows[:, :, :place] - one.looks).max()))
            later = max(later, float(np.abs(rows[:, :, place:]).max(initial=0)))
            cached, seen = cached + one.cached, seen + 1
        show_notice(law_summary(worst, later, cached, seen, many), role="status")
        st.caption(_("With the causal mask, step by step (key–value cache) and a single pass must agree."))


def law_summary(worst: float, later: float, cached: int, seen: int, many: int) -> str:
    """Describe the largest differences between step-by-step maps and those of a single pass."""
    if seen == 0:
        return _("This architecture returns no attention step by step; “All heads” reads the whole text.")
    return _(
        "Compared: {steps} of {many} steps, {cached} of them from the key–value cache. Largest difference from a single"
        " pass: {worst:.1g}; largest weight on a later token: {later:.1g}.",
        steps=seen,
        many=many,
        cached=cached,
        worst=worst,
        later=later,
    )
