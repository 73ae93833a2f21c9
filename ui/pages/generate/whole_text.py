"""Prompt and generated tokens in a single pass: all heads, attention sinks, a check of the cache."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from attention.mask import FloatArray
from attention.roles import MOST_ROWS, observe
from attention.trace import Trace
from i18n import _, ngettext
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
    with st.spinner(_("Reading the whole text at once"), show_time=True):
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
    show_notice(
        _(
            "Every head of the prompt and of what was written: a token looks back only, and what it looks at is what "
            "the model knows when it chooses the next one."
        ),
        role="status",
    )
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
        show_notice(
            _("No word comes after the first token, so none looks back at it; write or type more."), role="status"
        )
        return
    evidence = observe(trace)
    shares = evidence.strength("first").astype(np.float32)
    layer, head = head_of(choice, shares)
    show_notice(sink_summary(trace, shares, float(np.nanmean(evidence.uniform_share("first")))), role="status")
    name = head_name(layer, head).capitalize()
    show_notice(
        _(
            "{head} gives it {share:.2f}; {rank}.",
            head=name,
            share=shares[layer, head],
            rank=rank_of(shares, layer, head),
        ),
        role="status",
    )
    figure = head_maps.head_map(
        shares, theme(), _("On the first token"), _("share of attention"), selected=(layer, head), limit=1
    )
    left, right = st.columns([3, 2])
    draw_chart(figure, SINKS, place=left, on_click=keep_on_text)
    with right:
        st.caption(
            _(
                "Each cell a head: its weight on the first token, mean over the tokens that come after it, special "
                "ones left out, of more than {most_rows} evenly spaced ones. A softmax has to put its weight "
                "somewhere; where nothing fits, many models learn to put it on the first tokens, whatever these say: "
                "attention sinks ([arXiv:2309.17453](https://arxiv.org/abs/2309.17453)). Click one to see it on the "
                "text.",
                most_rows=MOST_ROWS,
            )
        )
        by_value = evidence.value_share("first")
        if by_value is not None:
            st.caption(
                _(
                    "Counted by the length of the value vectors that the weights bring along, the first token is "
                    "{by_value:.2f} of what the heads pass on, not {mean:.2f} "
                    "([arXiv:2004.10102](https://arxiv.org/abs/2004.10102)).",
                    by_value=np.nanmean(by_value),
                    mean=np.nanmean(shares),
                )
            )
        first_switch()


def sink_summary(trace: Trace, shares: FloatArray, even: float) -> str:
    """Describe the attention to the first token.

    ``shares`` is (layer, head); ``even`` is the share under uniform attention.
    """
    many = int((shares > HALF).sum())
    several = ngettext(
        "{number} of {heads} heads gives it more than half",
        "{number} of {heads} heads give it more than half",
        many,
        number=many,
        heads=int(np.isfinite(shares).sum()),
    )
    return _(
        "“{token}”, the first token, has {mean:.2f} of the attention of the tokens after it; "
        "spread evenly, it would have {even:.2f}. {several}.",
        token=trace.tokens[0],
        mean=np.nanmean(shares),
        even=even,
        several=several,
    )


def same_numbers(request: NextToken, step: DecodingStep) -> None:
    """Draw the comparison of step-by-step maps with those of a single pass, once the expander is open."""
    folded = st.expander(_("Is this the same as reading it at once?"), key="generate_law", on_change="rerun")
    if not folded.open:
        return
    with folded:
        trace, length = read_whole(request), prompt_length(step, request)
        worst, later, cached, seen = 0.0, 0.0, 0, 0
        many = len(request.written) + 1
        for at in stoppable_steps(f"law {request.key}", many, _("Comparing")):
            one = get_backend().predict(replace(request, written=request.written[:at]))
            if one.looks is None:
                continue
            rows, place = trace.rows(length + at - 1), len(one.row)
            worst = max(worst, float(np.abs(rows[:, :, :place] - one.looks).max()))
            later = max(later, float(np.abs(rows[:, :, place:]).max(initial=0)))
            cached, seen = cached + one.cached, seen + 1
        show_notice(law_summary(worst, later, cached, seen, many), role="status")
        st.caption(
            _(
                "While a text is written, keys and values of the tokens before the newest are kept from the steps "
                "before, and only the newest token is computed. Since no token looks ahead, one pass over the finished "
                "text must give the same weights, but for rounding."
            )
        )


def law_summary(worst: float, later: float, cached: int, seen: int, many: int) -> str:
    """Describe the largest differences between step-by-step maps and those of a single pass."""
    if seen == 0:
        return _("This architecture does not give its attention step by step, so there is nothing to compare.")
    steps = (
        ngettext("{steps} step", "{steps} steps", seen, steps=seen)
        if seen == many
        else ngettext("{steps} step of {many}", "{steps} steps of {many}", seen, steps=seen, many=many)
    )
    return _(
        "In {steps}, {cached} of them from kept keys and values, the largest difference of a weight from one "
        "pass over the whole text is {worst:.1g}; there, tokens that came later get {later:.1g} at most.",
        steps=steps,
        cached=cached,
        worst=worst,
        later=later,
    )
