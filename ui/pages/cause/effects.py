"""Effects of ablation: the answer before and after, the effect of each head, and random baselines."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from attention.edits import Ablate, Uniform, random_sets
from i18n import _, gettext_lazy
from inference.tasks.edit_effects import Effect
from ui.ablation.edits import describe_edits
from ui.ablation.effects import RANDOM_SETS, SEED, as_head_map, heads_csv
from ui.pages.cause.controls import head_picked
from ui.pages.cause.experiment import AblationExperiment
from ui.run.notices import show_notice
from ui.show.chart import draw_chart, theme
from ui.show.tables import csv_table, download_button, page_provenance
from ui.show.text import factor, format_small, times
from viz.figures.evaluation import random_sets as random_figure
from viz.figures.head_maps import head_map, mark_heads, picked_head
from viz.figures.token_bars import bars

ALL = "cause_all"
OF_SETS = gettext_lazy(
    "Of {n} other sets like it, drawn at random, {less:.0f} % change the answer less (their median: {median})."
)
OF_HEADS = gettext_lazy(
    "Of {n} other heads, drawn at random, {less:.0f} % change the answer less (their median: {median})."
)
OF_EDITS = gettext_lazy(
    "Of {n} other edits like it, drawn at random, {less:.0f} % change the answer less (their median: {median})."
)


def one_at_a_time(case: AblationExperiment) -> None:
    """Draw the effect of ablating each head as a map on which the reader picks heads."""
    places = case.places
    found = case.watch.changes([(Ablate(*place),) for place in places], case.tokens, _("Ablating each head"))
    if not len(found):
        return
    found = case.watch.effects(found)
    sizes = np.abs(found)
    most = places[int(sizes.argmax())]
    show_notice(
        _(
            "Alone, head {head} matters most: without it {change}. {few} of {all} heads have less than a tenth of that"
            " effect.",
            head=case.name(most),
            change=_describe_change(case, found[int(sizes.argmax())]),
            few=int((sizes < sizes.max() / 10).sum()),
            all=len(found),
        ),
        role="status",
    )
    vector = not case.watch.names
    figure = head_map(
        as_head_map(places, found),
        theme(),
        _("Effect of ablating each head"),
        case.watch.effect,
        diverging=not vector,
        meaning=None
        if vector
        else (_("“{word}” loses", word=case.watch.names[0]), _("“{word}” gains", word=case.watch.names[0])),
        selected=case.head,
    )
    for kind, symbol in ((Ablate, "x"), (Uniform, "circle-open")):
        mark_heads(figure, [(e.layer, e.head) for e in case.edits if isinstance(e, kind)], symbol, theme())
    draw_chart(figure, ALL, on_click=partial(_on_click, case))
    scale = (
        _("Colour: change of the sentence vector (1 − cosine), from 0 to 1.")
        if vector
        else _(
            "Colour: change of the log-odds of “{first}” against “{second}”; 0.7 doubles the odds.",
            first=case.watch.names[0],
            second=case.watch.names[1],
        )
    )
    st.caption(
        _(
            "Each cell is a head, ablated alone. {scale} Frame: selected; cross: ablated; ring: averaged.",
            scale=scale,
        )
    )
    rows = heads_csv(places, found, case.watch.effect)
    about = _("Every head's effect as CSV")
    download_button(
        _("Save the table"),
        rows,
        "headlight-every-head.csv",
        about,
        key="cause_save_heads",
        provenance=page_provenance(),
    )


def _on_click(case: AblationExperiment, key: str) -> None:
    place = picked_head(st.session_state[key])
    if place is not None:
        head_picked(case.options, case.edits, place)


def _describe_change(case: AblationExperiment, change: float) -> str:
    """Describe a change of the metric in words."""
    if not case.watch.names:
        return _("the sentence vector moves by {change}", change=format_small(change))
    first, second = case.watch.names
    if change < 0:
        return _(
            "“{first}” becomes {times} times less likely beside “{second}”",
            first=first,
            times=factor(change),
            second=second,
        )
    return _(
        "“{first}” becomes {times} times more likely beside “{second}”",
        first=first,
        times=factor(change),
        second=second,
    )


def before_after(case: AblationExperiment) -> None:
    """Describe and draw the answer without edits and with the edits."""
    effect = case.watch.ask([(), case.edits])
    before, after = case.watch.numbers(effect)
    what = describe_edits(case.edits, case.view)
    if case.edits and case.watch.names:
        first, second = case.watch.names
        show_notice(
            _(
                "With {edits}, {after}; before, {before}.",
                edits=what,
                after=times(after, first, second),
                before=times(before, first, second),
            ),
            role="status",
        )
    elif case.edits:
        show_notice(
            _(
                "With {edits}, the sentence vector moves by {size}, on a scale from 0 (not at all) to 1 (nothing of it"
                " is left).",
                edits=what,
                size=format_small(1 - after),
            ),
            role="status",
        )
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
        draw_chart(figure, f"cause_bars_{at}", place=column)
    rows = [(when, name, value) for when, top in zip(("before", "after"), shown, strict=True) for name, value in top]
    st.caption(_("Probabilities of the most likely answers; the two compared are highlighted."))
    both = csv_table(["when", "answer", "probability"], rows)
    about = _("These numbers as CSV")
    download_button(
        _("Save the table"),
        both,
        "headlight-before-after.csv",
        about,
        key="cause_save_both",
        provenance=page_provenance(),
    )


def chance(case: AblationExperiment) -> None:
    """Draw the effects of random edits of the same kinds and number, with the chosen edits among them."""
    if not case.edits:
        return
    row = case.view.trace.source
    words = [at for at, special in enumerate(row.special) if not special]
    others = random_sets(case.edits, case.places, words, RANDOM_SETS, SEED)
    if len(others) < 2:
        show_notice(_("There are no other sets of this size to compare with."), role="status")
        return
    found = case.watch.changes(others, case.tokens, _("Computing the random baseline"))
    before, after = case.watch.numbers(case.watch.ask([(), case.edits]))
    change = float(after - before)
    if len(found) < 2:
        return
    less = float((np.abs(found) < abs(change)).mean())
    of = OF_SETS if len(case.edits) > 1 else OF_HEADS if isinstance(case.edits[0], Ablate) else OF_EDITS
    show_notice(
        _(of, n=len(found), less=100 * less, median=format_small(float(np.median(np.abs(found))))), role="status"
    )
    chosen = float(case.watch.effects(np.array([change]))[0])
    figure = random_figure(case.watch.effects(found), chosen, theme(), case.watch.effect)
    draw_chart(figure, "cause_random")
    st.caption(
        _(
            "Bars: random edits of the same size (seed {seed}). Line: the chosen edits.",
            seed=SEED,
        )
    )
