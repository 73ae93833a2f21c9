"""The view Head atlas: a list of heads to search, and a head with sampled texts, top tokens and gold relations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import streamlit as st

from i18n import _, translate
from inference.errors import UserError
from inference.request import TraceRequest
from inference.tasks.atlas import ATLAS_MEASURES, offsets
from probing.atlas.heads import (
    measure_values,
    relation_values,
    sample_windows,
    similar_heads,
    strongest_links,
    top_forms,
)
from probing.atlas.labels import LEAST_SHARE, SHARES, SINKS, HeadLabel, head_labels, local_index, relation_rows
from probing.atlas.store import Atlas
from probing.statistics import verdict
from ui.input.controls import bound_widget, keep_head
from ui.pages.head_atlas.ablation import draw_ablation
from ui.pages.head_atlas.options import AXES, HeadAtlasOptions
from ui.run.notices import show_error, show_notice
from ui.run.services import get_backend
from ui.show.atlases import (
    DIRECTIONS,
    RANDOM,
    atlas_computation,
    atlas_provenance,
    atlas_titles,
    describe_atlas,
    draw_links,
    label_direction,
    label_name,
    label_text,
    open_atlas,
    pick_atlas,
    read_windows,
)
from ui.show.chart import draw_chart, theme
from ui.show.sections import draw_reading_help, open_section
from ui.show.tables import csv_table, download_table, draw_table
from ui.show.text import VERDICTS, p_value
from ui.state.params import get_params
from ui.state.session import get_view_state
from viz.figures.head_scatter import head_scatter
from viz.figures.theme import sentence_case
from viz.figures.token_bars import bars
from viz.paper.notebook import Computation

SHOWN_FORMS, SHOWN_RELATIONS, SHOWN_SIMILAR, SHOWN_LINKS = 12, 6, 5, 12
# Definitions of the columns of the saved table of labels, for its provenance.
LABEL_COLUMNS = {
    "percent": "links that the head finds, or its attention to such tokens, on texts that had no part in the choice",
    "low, high": "95% interval of percent",
    "n": "held-out links, or held-out texts for a share of attention",
    "best rule": "accuracy of the best rule without a model",
    "random weights, largest": "largest accuracy of any head with random weights; for a share, its upper end",
}


def draw_view() -> None:
    """Draw the view Head atlas in the page."""
    first, second, third = st.columns(3)
    atlas = pick_atlas(HeadAtlasOptions, first)
    if atlas is None:
        return
    bound_widget(HeadAtlasOptions, "x", second.selectbox)
    bound_widget(HeadAtlasOptions, "y", third.selectbox)
    labels = {label.head: label for label in head_labels(atlas)}
    chosen = _chosen_head(atlas)
    _draw_finder(atlas, labels, chosen)
    _draw_labels(atlas, labels)
    _draw_head(atlas, chosen, labels.get(chosen))
    how_to_read(atlas)


def _chosen_head(atlas: Atlas) -> int:
    """Return the number of the selected head, or of the head with the largest mean excess."""
    view = get_view_state()
    numbers = [at for at, head in enumerate(atlas.heads) if (head.layer, head.head) == (view.layer, view.head)]
    return numbers[0] if numbers else int(np.nanargmax(measure_values(atlas, "excess")))


def _draw_finder(atlas: Atlas, labels: dict[int, HeadLabel], chosen: int) -> None:
    """Draw the scatter plot of all heads, and the number of heads with a label."""
    options = get_params(HeadAtlasOptions)
    show_notice(
        _(
            "{labelled} of {heads} heads have a label that holds on held-out texts and beats random "
            "weights. {sinks} of them give at least {least:.0%} of attention to special tokens, the first "
            "token or punctuation.",
            least=LEAST_SHARE,
            labelled=len(labels),
            sinks=sum(label.kind in SINKS for label in labels.values()),
            heads=len(atlas.heads),
        ),
        "status",
    )
    x, y = (_axis(atlas, name) for name in (options.x, options.y))
    figure = head_scatter(
        x,
        y,
        (translate(AXES[options.x]), translate(AXES[options.y])),
        [(head.layer, head.head) for head in atlas.heads],
        [label_text(labels[at]) if at in labels else "" for at in range(len(atlas.heads))],
        theme(),
        _("All heads"),
        selected=(atlas.heads[chosen].layer, atlas.heads[chosen].head),
    )
    draw_chart(
        figure,
        "atlas_finder",
        on_click=keep_head,
        about=partial(atlas_provenance, atlas),
        computation=_finder_computation(atlas, options, chosen),
    )
    st.caption(_("Click a head to see its windows."))


def _finder_computation(atlas: Atlas, options: HeadAtlasOptions, chosen: int) -> Computation | None:
    """Return the computation of the vertical places in the scatter plot, that of the selected head last."""
    values = [f"{_reader(name).__name__}(atlas, {name!r})" for name in (options.x, options.y)]
    code = f"x, y = {', '.join(values)}\nknown = np.isfinite(x) & np.isfinite(y)\nnumbers = [*y[known], y[chosen]]"
    used = {"measure_values": measure_values, "relation_values": relation_values}
    return atlas_computation(atlas, code, chosen=chosen, **used)


def _reader(name: str) -> Callable[[Atlas, str], npt.NDArray[Any]]:
    return measure_values if name in (*ATLAS_MEASURES, "excess", "random") else relation_values


def _axis(atlas: Atlas, name: str) -> npt.NDArray[Any]:
    """Return the values of an axis, (head,)."""
    return _reader(name)(atlas, name)


def _draw_labels(atlas: Atlas, labels: Mapping[int, HeadLabel]) -> None:
    """Draw the table of the labelled heads, sorted by label, with its download."""
    section = open_section(_("Labelled heads"), "atlas_labels_open")
    if section is None:
        return
    order = sorted(labels.values(), key=lambda label: (label.kind in SHARES, label.kind, -label.value))
    columns = {
        _("Label"): [label_name(label) for label in order],
        _("Head"): [atlas.heads[label.head].label for label in order],
        _("Direction"): [label_direction(label) for label in order],
        _("Percent"): [_percent(label.value) for label in order],
        _("Low"): [_percent(label.low) for label in order],
        _("High"): [_percent(label.high) for label in order],
        "n": [label.n for label in order],
        _("Best rule"): [None if label.rule is None else _percent(label.rule) for label in order],
        translate(RANDOM): [_percent(label.random) for label in order],
    }
    with section:
        draw_table(columns, key="atlas_labels")
        st.caption(_("Direction: the attending word comes first. n: held-out links or texts."))
        rows = csv_table(list(columns), zip(*columns.values(), strict=True))
        download_table(
            rows,
            "headlight-atlas-labels.csv",
            key="atlas_labels_save",
            provenance=atlas_provenance(atlas) | LABEL_COLUMNS,
        )


def _percent(share: float) -> float:
    """Return a share in percent, without the rounding error of the product."""
    return round(100 * share, 10)


def _draw_head(atlas: Atlas, head: int, label: HeadLabel | None) -> None:
    """Draw everything about a head."""
    name = atlas.heads[head]
    st.header(_("Head {layer}-{head}", layer=name.layer, head=name.head))
    if label is not None:
        st.markdown(label_text(label))
    _draw_measures(atlas, head)
    _draw_windows(atlas, head)
    _draw_own_text(atlas, head)
    left, right = st.columns(2)
    _draw_links(atlas, head, "links", _("Strongest links by excess"), left)
    _draw_links(atlas, head, "written", _("Strongest links by weight × ‖value · W_O‖"), right)
    left, right = st.columns(2)
    _draw_forms(atlas, head, "queries", _("Top query tokens"), left)
    _draw_forms(atlas, head, "keys", _("Top key tokens"), right)
    _draw_distances(atlas, head)
    _draw_relations(atlas, head)
    draw_ablation(atlas, head)
    _draw_similar(atlas, head)


def _draw_distances(atlas: Atlas, head: int) -> None:
    """Draw the share of a head's attention at each distance."""
    section = open_section(_("Attention by distance"), "atlas_distances_open")
    if section is None:
        return
    part, own = local_index(atlas, head)
    shares = atlas.arrays[f"{part}.distances"][own]
    ticks = [str(step) for step in offsets()]
    ticks[0], ticks[-1] = f"≤ {ticks[0]}", f"≥ {ticks[-1]}"
    with section:
        figure = bars(ticks, shares.tolist(), theme(), _("Attention by distance"), _("share"))
        about = partial(atlas_provenance, atlas, f"head {atlas.heads[head].label}")
        computation = atlas_computation(atlas, f"numbers = atlas.arrays['{part}.distances'][{own}]")
        draw_chart(figure, "atlas_distances", about=about, computation=computation)


def _draw_measures(atlas: Atlas, head: int) -> None:
    """Draw the measures of a head with intervals, its rank, and random weights."""
    section = open_section(_("Measures"), "atlas_measures_open")
    if section is None:
        return
    part, own = local_index(atlas, head)
    arrays = atlas.arrays
    rows = []
    for at, measure in enumerate(ATLAS_MEASURES):
        values = measure_values(atlas, measure)
        random = arrays.get(f"{part}.control.high")
        rows.append(
            {
                _("Measure"): translate(AXES[measure]),
                _("Mean"): round(float(arrays[f"{part}.mean"][own, at]), 3),
                _("95% interval"): " – ".join(f"{arrays[f'{part}.{end}'][own, at]:.3f}" for end in ("low", "high")),
                _("Rank"): f"{1 + int((values > values[head]).sum())} / {len(values)}",
                translate(RANDOM): None if random is None else round(float(random[:, at].max()), 3),
            }
        )
    with section:
        draw_table(rows, key="atlas_measures")


def _draw_windows(atlas: Atlas, head: int) -> None:
    """Draw sampled windows of every stratum."""
    seed = get_params(HeadAtlasOptions).seed
    sampled = sample_windows(atlas, head, seed=seed)
    traces = read_windows(atlas, [window.window for window in sampled])
    if traces is None:
        return
    names = [_("largest excess"), *(_("random, fifth {number} of 5", number=at) for at in range(1, 6))]
    for at, (window, trace) in enumerate(zip(sampled, traces, strict=True)):
        title = _("{stratum}: excess {excess:.2f}", stratum=names[window.stratum], excess=window.excess)
        draw_links(trace, atlas.heads[head], f"atlas_window_{at}", title, (window.query, window.key))
    bound_widget(HeadAtlasOptions, "seed", st.number_input, min_value=0, max_value=9999, width=160)
    st.caption(_("Windows around the link with the largest excess; they rarely show what a head does elsewhere."))


def _draw_own_text(atlas: Atlas, head: int) -> None:
    """Draw the visitor's text with the links of the head."""
    text = get_view_state().text
    if not text:
        return
    try:
        trace = get_backend().trace(TraceRequest(atlas.manifest["model"], text, revision=atlas.manifest["revision"]))
    except UserError as refusal:
        show_error(refusal)
        return
    st.caption(_("Your text from other pages"))
    draw_links(trace, atlas.heads[head], "atlas_own", _("Links with an excess of at least 0.1"))


def _draw_links(atlas: Atlas, head: int, kind: str, title: str, place: st.delta_generator.DeltaGenerator) -> None:
    """Draw the strongest links of a head by a measure; nothing if there are none."""
    rows = strongest_links(atlas, head, kind, SHOWN_LINKS)
    if not rows:
        return
    place.caption(title)
    strength = _("Excess") if kind == "links" else _("Weighted norm")
    columns = {
        _("From"): [row["query"] for row in rows],
        _("To"): [row["key"] for row in rows],
        strength: [round(row["strength"], 3) for row in rows],
        _("Weight"): [round(row["weight"], 3) for row in rows],
    }
    draw_table(columns, place=place, key=f"atlas_{kind}")


def _draw_forms(atlas: Atlas, head: int, side: str, title: str, place: st.delta_generator.DeltaGenerator) -> None:
    forms = top_forms(atlas, head, side)[:SHOWN_FORMS]
    place.caption(title)
    columns = {
        _("Token"): [form for form, *_rest in forms],
        _("Occurrences"): [count for _form, count, *_rest in forms],
        _("This head"): [round(mean, 3) for *_rest, mean, _usual in forms],
        sentence_case(_("the mean of all heads")): [round(usual, 3) for *_rest, usual in forms],
    }
    draw_table(columns, place=place, key=f"atlas_{side}")


def _draw_relations(atlas: Atlas, head: int) -> None:
    """Draw the gold relations that the head finds best, next to the best rule and random weights."""
    rows = relation_rows(atlas, head)[:SHOWN_RELATIONS]
    if not rows:
        return
    st.caption(_("Gold relations on held-out sentences, in percent"))
    draw_table(
        [
            {
                _("Relation"): row["relation"],
                _("Direction"): translate(DIRECTIONS.get(row["direction"], row["direction"])),
                _("Head"): round(row["accuracy"], 1),
                _("95% interval"): f"{row['low']:.1f} – {row['high']:.1f}",
                _("Best rule"): round(row["baseline"], 1),
                _("Than the rule"): translate(VERDICTS[verdict(row["p"], row["accuracy"] - row["baseline"])]),
                _("p (Holm)"): p_value(row["p"]).removeprefix("= "),
                _("Random weights"): None if row["random"] is None else round(row["random"], 1),
                _("Links"): row["n"],
            }
            for row in rows
        ],
        key="atlas_relations",
    )


def _draw_similar(atlas: Atlas, head: int) -> None:
    """Draw the most similar heads of an atlas."""
    section = open_section(_("Similar heads"), "atlas_similar_open")
    if section is None:
        return
    options = get_params(HeadAtlasOptions)
    titles = atlas_titles(options.atlas, options.other)
    shown = options.other if options.other in titles else options.atlas
    shown = shown if shown in titles else next(iter(titles))
    with section:
        bound_widget(HeadAtlasOptions, "other", st.selectbox, options=list(titles), shown=shown, format_func=titles.get)
        try:
            other = open_atlas(shown)
        except UserError as refusal:
            show_error(refusal)
            return
        columns = {
            _("Head"): [other.heads[at].label for at, _distance in similar_heads(atlas, head, other, SHOWN_SIMILAR)],
            _("Distance"): [round(distance, 3) for _at, distance in similar_heads(atlas, head, other, SHOWN_SIMILAR)],
        }
        draw_table(columns, key="atlas_similar")


def how_to_read(atlas: Atlas) -> None:
    """Draw the help text."""
    rules = _(
        "- Excess: weight minus the mean weight of the other words on the same key. Special tokens and the key itself "
        "do not count as words. Mean peak excess: the mean of each window's largest excess."
    )
    draw_reading_help(f"{describe_atlas(atlas)}\n\n{rules}")
