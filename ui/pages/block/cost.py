"""Cost of attention, which grows with n²: the operations of each part by formula, and measured time and memory."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from attention.complexity import CostSizes, fit
from i18n import _
from inference.tasks.anatomy import Build, CostRequest, MeasuredCost, Stack
from ui.pages.block.plan import SIDES, amount
from ui.run.notices import show_notice
from ui.run.progress import stoppable_steps
from ui.run.services import get_backend
from ui.show.chart import draw_chart, theme
from ui.show.tables import download_button, frame_csv, model_provenance
from ui.show.text import join_sentences
from viz.figures.formulas import POINTS, memory, operation_shares, seconds
from viz.paper.notebook import Computation

SHORTEST, MOST = 16, 32768  # tokens
LONGEST_PASS = 1.0  # seconds; longer passes are not measured
SHARES = """\
n = np.geomspace(1, longest, points)
operations = np.array([sizes.feed_forward(n), sizes.projections(n), sizes.pairs(n)])
numbers = 100 * operations / operations.sum(axis=0)"""  # code of a notebook
AGAIN = "cost_again"  # session key: {(model, revision): number of the current measurement}


def lengths(limit: int) -> list[int]:
    """Return the lengths to measure, in tokens, from SHORTEST to ``limit`` in steps of about √2.

    The largest length is at most MOST.

    >>> lengths(100)
    [16, 23, 32, 45, 64, 91, 100]
    """
    most = min(limit, MOST)
    steps = (round(SHORTEST * 2 ** (at / 2)) for at in range(40))
    return sorted({*(n for n in steps if n < most), most})


def expected_seconds(done: Sequence[MeasuredCost], tokens: int) -> float:
    """Return an upper estimate of the seconds of a pass over ``tokens`` tokens; 0 before any measurement.

    The last measurement is scaled as if all of its time grew with the square of the length.
    """
    return done[-1].busy * (tokens / done[-1].tokens) ** 2 if done else 0.0


def sizes_of(stack: Stack) -> CostSizes:
    """Return the sizes of a layer that the cost formulas need."""
    heads, forward = stack.attention, stack.feed_forward
    width = forward.inputs if forward else heads.heads * heads.width
    return CostSizes(
        width=width,
        heads=heads.heads,
        kv_heads=heads.kv_heads,
        head_width=heads.width,
        value_width=heads.value_width,
        hidden=forward.hidden if forward else 0,
        gated=bool(forward and forward.gated),
        experts_used=forward.experts_used if forward else 1,
    )


def map_bytes(build: Build, tokens: int) -> float:
    """Return the bytes of all attention maps in float32; encoder and decoder read ``tokens`` tokens each."""
    looks = [(stack.layers, heads.heads) for stack in build.stacks for heads in (stack.attention, stack.cross) if heads]
    return float(sum(4 * layers * heads * tokens**2 for layers, heads in looks))


def costs(build: Build, model: str, revision: str | None, tokens: int) -> None:
    """Draw the cost of attention in a layer: its share of operations by formula, then measured costs.

    The measured costs are time and memory. ``tokens`` is the length of the text. Raise UserError if the model fails on
    a length that is measured.
    """
    stack = build.stacks[0]
    sizes = sizes_of(stack)
    share = sizes.pairs(np.array([float(tokens)]))[0]
    rest = (sizes.projections(np.array([float(tokens)])) + sizes.feed_forward(np.array([float(tokens)])))[0]
    show_notice(
        _(
            "For {tokens}, {share:.1%} of the operations in each {side} layer are for token pairs. Pairs equal "
            "the feed-forward part at n = {forward:,.0f}, all the rest at n = {rest:,.0f}.",
            tokens=amount(tokens, "token"),
            share=share / (share + rest),
            side=SIDES[stack.part],
            forward=sizes.pairs_meet_feed_forward,
            rest=sizes.pairs_meet_rest,
        ),
        "status",
    )
    longest = int(max(100_000, 3 * sizes.pairs_meet_rest))
    computation = Computation(SHARES, longest=longest, points=POINTS, sizes=sizes)
    figure = operation_shares(sizes, longest, tokens, theme())
    draw_chart(figure, "cost_shares", about=model_provenance, computation=computation)
    st.caption(
        _(
            "Operations per layer: 4 · n² · h · d_k for pairs, 2 · n per weight; softmax, norms, additions, "
            "masks and windows are omitted."
        )
    )
    measure(build, model, revision)


def measure(build: Build, model: str, revision: str | None) -> None:
    """Draw the button that starts the measurement, and the results once the reader has started it.

    The lengths are measured in turn. A length is skipped if its pass may take more than LONGEST_PASS seconds.
    """
    number = st.session_state.setdefault(AGAIN, {}).get((model, revision))
    st.button(
        _("Measure"),
        key="cost_measure",
        on_click=_begin,
        args=(model, revision),
        help=_("Measures ever longer texts until a pass takes one second"),
    )
    if number is None:
        return
    wanted = lengths(build.limit)
    done: list[MeasuredCost] = []
    for at in stoppable_steps(f"cost:{model}:{revision}:{number}", len(wanted), _("Running the model")):
        if expected_seconds(done, wanted[at]) <= LONGEST_PASS:
            asked = CostRequest(model=model, revision=revision, tokens=wanted[at], again=number)
            done.append(get_backend().inspect(asked))
    if done:
        _draw_measurements(build, done)


def _begin(model: str, revision: str | None) -> None:
    """Give the next measurement a random number, so that the backend's cached answers are not reused."""
    st.session_state[AGAIN][model, revision] = secrets.randbits(31)


def _draw_measurements(build: Build, done: Sequence[MeasuredCost]) -> None:
    """Draw the measurements as a sentence, two figures and a CSV file."""
    n = np.array([float(one.tokens) for one in done])
    busy = np.array([one.busy for one in done])
    fitted = fit(n, busy) if len(n) >= 4 and busy.min() > 0 else None
    first, last = done[0], done[-1]
    text = [
        _(
            "Measured (threads: {threads}): {short:.1f} ms of processor time for {few} tokens, "
            "{long:.1f} ms for {many:,} (fastest {best:.1f} ms): {more:.3g} times the tokens, "
            "{longer:.3g} times the time.",
            threads=last.threads,
            short=1e3 * first.busy,
            few=first.tokens,
            long=1e3 * last.busy,
            many=last.tokens,
            best=1e3 * last.best,
            more=last.tokens / first.tokens,
            longer=last.busy / max(first.busy, 1e-9),
        )
    ]
    if fitted is not None:
        text.append(
            _(
                "Fitted: {a:.3g} ms + {b:.3g} ms · n + {c:.3g} µs · n².",
                a=1e3 * fitted.a,
                b=1e3 * fitted.b,
                c=1e6 * fitted.c,
            )
        )
        if fitted.meet:
            text.append(_("The n² term exceeds the n term from n ≈ {meet:,.0f}.", meet=fitted.meet))
    maps = map_bytes(build, last.tokens)
    text.append(
        _(
            "The attention maps of {tokens:,} tokens would take {maps:,.1f} MB; the pass peaked at {peak:,.1f} MB.",
            tokens=last.tokens,
            maps=maps / 1e6,
            peak=last.peak_bytes / 1e6,
        )
    )
    show_notice(join_sentences(*text), "status")
    left, right = st.columns(2)
    draw_chart(seconds(n, busy, fitted, theme()), "cost_seconds", place=left, about=model_provenance)
    peak = np.array([float(one.peak_bytes) for one in done])
    kept = np.array([map_bytes(build, one.tokens) for one in done])
    draw_chart(memory(n, peak, kept, theme()), "cost_memory", place=right, about=model_provenance)
    st.caption(
        _(
            "Dots: mean of several passes over random tokens (one if slow). Line: least relative error. If "
            "memory is linear in n, maps are never stored whole "
            "([arXiv:2205.14135](https://arxiv.org/abs/2205.14135))."
        )
    )
    table = pd.DataFrame(
        {
            "tokens": [one.tokens for one in done],
            "processor milliseconds": [1e3 * one.busy for one in done],
            "fastest by the clock": [1e3 * one.best for one in done],
            "passes": [len(one.seconds) for one in done],
            "bytes of tensors": [one.peak_bytes for one in done],
            "bytes of all maps": [int(map_bytes(build, one.tokens)) for one in done],
        }
    )
    download_button(
        _("Save as CSV"),
        frame_csv(table),
        "cost.csv",
        _("All digits"),
        provenance=model_provenance(),
    )
