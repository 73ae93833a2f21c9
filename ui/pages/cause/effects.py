"""Effects of ablation: the answer before and after, each head, other edits, and later heads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from attention.edits import Ablate, Uniform, as_head_map, heads_moved, random_sets
from attention.mask import FloatArray
from attention.trace import Trace
from attention.view import View
from i18n import _
from inference.tasks.edit_effects import Effect
from ui.ablation.edits import Head, describe_edits
from ui.ablation.effects import RANDOM_SETS, SEED, ComparedEdits, answers_computation, heads_csv
from ui.pages.cause.metric import AblationExperiment
from ui.pages.cause.options import CauseOptions, head_picked
from ui.run.notices import show_notice
from ui.run.services import get_backend
from ui.show.chart import About, draw_chart, theme
from ui.show.tables import csv_table, download_table
from ui.show.text import factor, format_small, join_sentences, times
from ui.state.params import set_params
from viz.components.token_strip.token_strip import TokenChip, mount
from viz.figures.evaluation import random_sets as random_figure
from viz.figures.head_maps import head_map, mark_heads, picked_head
from viz.figures.token_bars import bars
from viz.paper.notebook import Computation

ALL = "cause_all"


def one_at_a_time(case: AblationExperiment) -> None:
    """Draw the effect of ablating each head as a map on which the reader picks heads."""
    places = case.places
    found = case.watch.changes([(Ablate(*place),) for place in places], case.view.trace, _("Ablating each head"))
    if not len(found):
        return
    found = case.watch.effects(found)
    sizes = np.abs(found)
    most = places[int(sizes.argmax())]
    show_notice(
        _(
            "Ablating head {head} has the largest effect: {change}. {few} of {all} heads have under a tenth of it.",
            head=case.name(most),
            change=_describe_change(case, found[int(sizes.argmax())]),
            few=int((sizes < sizes.max() / 10).sum()),
            all=len(found),
        ),
        role="status",
    )
    figure = head_map(
        as_head_map(places, found),
        theme(),
        _("Ablation effect"),
        case.watch.effect,
        diverging=bool(case.watch.names),
        selected=case.head,
    )
    for kind, symbol, column in ((Ablate, "x", "ablated"), (Uniform, "circle-open", "uniform weights")):
        mark_heads(figure, [(e.layer, e.head) for e in case.edits if isinstance(e, kind)], symbol, theme(), column)
    computation = case.watch.computation(
        "((Ablate(*head),) for head in heads)", "as_head_map(heads, effects)", Ablate=Ablate, as_head_map=as_head_map
    )
    about = partial(case.provenance, is_edited=False, heads=len(found))
    test = _("Heads are ablated one at a time: their outputs are zero.")
    note = join_sentences(test, _("Frame: selected; cross: ablated; ring: uniform weights."))
    draw_chart(figure, ALL, on_click=partial(_on_click, case), about=about, computation=computation, test=note)
    st.caption(note)
    rows = heads_csv(places, found, case.watch.effect)
    download_table(rows, "headlight-every-head.csv", key="cause_save_heads", provenance=about())


def _on_click(case: AblationExperiment, key: str) -> None:
    place = picked_head(st.session_state[key])
    if place is not None:
        head_picked(case.options, case.edits, place)


def _describe_change(case: AblationExperiment, change: float) -> str:
    """Describe a change of the metric in words."""
    if not case.watch.names:
        return _("the sentence vector moves by {change} (1 − cosine)", change=format_small(change))
    first, second = case.watch.names
    by = factor(change) if change >= 0 else f"1/{factor(change)}"
    return _("the odds of “{first}” against “{second}” change by a factor of {times}",
             first=first, second=second, times=by)  # fmt: skip


def before_after(case: AblationExperiment) -> None:
    """Describe and draw the answer without edits and with the edits."""
    effect = case.watch.ask([(), case.edits])
    before, after = case.watch.numbers(effect)
    what = describe_edits(case.edits, case.view)
    if case.edits:
        if case.watch.names:
            after_edits, without = (times(value, *case.watch.names) for value in (after, before))
            result = _("With {edits}, {after}; before, {before}.", edits=what, after=after_edits, before=without)
        else:
            result = _("With {edits}, {change}.", edits=what, change=_describe_change(case, 1 - after))
        # Without edits in the address, the page ablates the selected head.
        head = case.name(case.head)
        origin = "" if case.options.edits else _("Head {head} is ablated because it is selected.", head=head)
        show_notice(join_sentences(result, origin), role="status")
    if case.watch.names:
        _bars(case, effect)


def _bars(case: AblationExperiment, effect: Effect) -> None:
    """Draw the probabilities of the likeliest answers before and after, the compared answers marked."""
    shown: list[list[tuple[str, float]]] = []
    for at in range(2):
        watched = [(name, float(np.exp(log))) for name, log in zip(case.watch.names, effect.values[at], strict=True)]
        top = list(effect.top[at]) if effect.top else []
        shown.append([*top, *(pair for pair in watched if pair[0] not in dict(top))])
    end = 1.2 * max(value for top in shown for _, value in top)
    for at, (column, title) in enumerate(zip(st.columns(2), (_("Before"), _("After")), strict=True)):
        names, values = zip(*shown[at], strict=True)
        marked = [place for place, name in enumerate(names) if name in case.watch.names]
        figure = bars(names, values, theme(), title, marked=marked)
        figure.update_xaxes(range=[0, end])
        about = partial(case.provenance, is_edited=bool(at))
        draw_chart(figure, f"cause_bars_{at}", place=column, about=about, computation=_answers_of(case, at))
    rows = [(when, name, value) for when, top in zip(("before", "after"), shown, strict=True) for name, value in top]
    st.caption(_("Likeliest answers; the two compared are highlighted."))
    both = csv_table(["when", "answer", "probability"], rows)
    download_table(both, "headlight-before-after.csv", key="cause_save_both", provenance=case.provenance())


def _answers_of(case: AblationExperiment, at: int) -> Computation | None:
    """Return the computation of the probabilities before (0) or after the edits (1); None for labels."""
    if case.watch.labels is not None:
        return None
    return answers_computation(replace(case.watch.question, edits=((), case.edits)), case.watch.names, at)


def chance(case: AblationExperiment) -> None:
    """Draw a histogram of the effects of other edits, and the effect of the chosen edits as a line.

    The other edits are of the same kinds and number as the chosen edits: a random sample, or all if these are few.
    """
    if not case.edits:
        return
    row = case.view.trace.source
    words = [at for at, special in enumerate(row.special) if not special]
    others = random_sets(case.edits, case.places, words, RANDOM_SETS, SEED)
    if len(others) < 2:
        show_notice(_("No other sets have this size."), role="status")
        return
    found = case.watch.changes(others, case.view.trace, _("Computing the comparison"))
    before, after = case.watch.numbers(case.watch.ask([(), case.edits]))
    if len(found) < 2:
        return
    compared = ComparedEdits(case.edits, others, found, float(after - before))
    chosen = float(case.watch.effects(np.array([compared.chosen]))[0])
    computation = case.watch.computation(
        "random_sets(edits, heads, words, count, seed)",
        "effects",
        random_sets=random_sets,
        edits=case.edits,
        words=words,
        count=RANDOM_SETS,
        seed=SEED,
    )
    compared.draw(
        "cause_random",
        compared.result(),
        random_figure(case.watch.effects(found), chosen, theme(), case.watch.effect),
        partial(case.provenance, **compared.provenance()),
        computation,
    )


LATER = "cause_later"


def later_heads(case: AblationExperiment) -> None:
    """Draw how much the edits change the attention of each head, and a head's rows before and after."""
    plain = case.watch.request
    before, after = get_backend().traces([plain, replace(plain, edits=case.edits)])
    moved = heads_moved(before, after)
    first = min((edit.layer for edit in case.edits), default=0)
    layer, head = (int(at) for at in np.unravel_index(int(moved.argmax()), moved.shape))
    st.header(_("Later heads"))
    if not moved.any():
        show_notice(_("No attention changes: all edits are in the last layer."), role="status")
        return
    start = min(first + 1, len(moved) - 1)
    show_notice(
        _(
            "Head {head} changes most: {moved:.0f}% of its attention moves. Mean from layer {layer} on: {mean:.1f}%.",
            head=case.name((layer, head)),
            moved=100 * moved[layer, head],
            layer=start,
            mean=100 * moved[start:].mean(),
        ),
        role="status",
    )
    shown = _shown_head(case, moved.shape, (layer, head))
    left, right = st.columns(2)
    with left:
        _map(moved, shown, Computation("before, after = backend.traces([reading, edited])\n"
             "numbers = 100 * heads_moved(before, after)", reading=plain, edited=replace(plain, edits=case.edits),
             heads_moved=heads_moved), case.provenance)  # fmt: skip
    with right:
        _strips(case, before, after, shown)


def _map(moved: FloatArray, shown: Head, computation: Computation, about: About) -> None:
    """Draw the share of each head's attention that moves, as a map on which the reader picks a head.

    ``about`` returns the provenance of the shares.
    """
    figure = head_map(100 * moved, theme(), _("Attention that moves"), "%", selected=shown)
    note = _("Cells: heads, mean over queries.")
    click = partial(_on_pick, moved.shape[1])
    draw_chart(figure, LATER, on_click=click, about=about, computation=computation, test=note)
    st.caption(join_sentences(note, _("Click a cell to select its head.")))
    rows = [(at, one, float(moved[at, one])) for at in range(moved.shape[0]) for one in range(moved.shape[1])]
    table = csv_table(["layer", "head", "share of attention that moves"], rows)
    download_table(table, "headlight-later-heads.csv", key="cause_save_later", provenance=about())


def _shown_head(case: AblationExperiment, shape: tuple[int, ...], most: Head) -> Head:
    later = case.options.later
    return most if later is None or later >= shape[0] * shape[1] else divmod(later, shape[1])


def _on_pick(heads: int, key: str) -> None:
    place = picked_head(st.session_state[key])
    if place is not None:
        set_params(CauseOptions, later=place[0] * heads + place[1])


def _strips(case: AblationExperiment, before: Trace, after: Trace, shown: Head) -> None:
    """Draw the sentence shaded by a head's weights before and after, for the word whose row changes most."""
    views = [View(trace, words=True) for trace in (before, after)]
    focus = _moved_most(views, shown)
    rows = [view.weights(*shown)[focus] for view in views]
    cells = views[0].keys
    gone, come = int((rows[1] - rows[0]).argmin()), int((rows[1] - rows[0]).argmax())
    show_notice(
        _(
            "In head {head}, “{word}” changes most (before → after): “{less}” {less_before:.0%} → {less_after:.0%}, "
            "“{more}” {more_before:.0%} → {more_after:.0%}.",
            head=case.name(shown),
            word=cells[focus].text,
            less=cells[gone].text,
            less_before=rows[0][gone],
            less_after=rows[1][gone],
            more=cells[come].text,
            more_before=rows[0][come],
            more_after=rows[1][come],
        ),
        role="status",
    )
    for key, title, row in zip(("before", "after"), (_("Before"), _("After")), rows, strict=True):
        chips = [
            TokenChip(
                cell.text,
                shade=float(weight),
                mark="chosen" if at == focus else "",
                special=cell.special,
                title=f"{weight:.2f}",
            )
            for at, (cell, weight) in enumerate(zip(cells, row, strict=True))
        ]
        mount(chips, f"cause_{key}", title=title)
    st.caption(_("Shade: attention of the outlined word."))


def _moved_most(views: Sequence[View], shown: Head) -> int:
    """Return the cell of the word with the largest change of its row."""
    one, other = (view.weights(*shown) for view in views)
    rows: FloatArray = np.abs(other - one).sum(axis=1)
    return int(rows.argmax())
