"""Roles page: a map of similar heads, and their clusters."""

from __future__ import annotations

from collections import Counter
from functools import partial

import numpy as np
import streamlit as st

from attention.head_names import head_label
from attention.vectors import flat, groups
from i18n import _, translate
from ui.input.controls import bound_widget, keep_head
from ui.pages.roles.evidence import SHORT, evidence_provenance
from ui.pages.roles.gathering import HeadEvidence
from ui.pages.roles.options import RolesOptions
from ui.run.notices import show_notice
from ui.show.chart import draw_chart, theme
from ui.show.tables import draw_table
from ui.show.text import format_comma_list
from ui.state.view_state import ViewState
from viz.figures.head_maps import SHAPES, similarity_map

KEY = "roles_likeness"
Place = tuple[int, int]  # (layer, head)


def draw_similarity(
    known: HeadEvidence, choice: ViewState, options: RolesOptions, roles: list[list[list[str]]]
) -> None:
    """Draw the 2-D map of the heads, the table of clusters and the summary."""
    distances = known.likeness.distances()
    most = min(len(SHAPES), len(distances))
    count = max(1, min(options.groups, most))
    bound_widget(RolesOptions, "groups", st.number_input, min_value=1, max_value=most, shown=count, width=160)
    points, kept = flat(distances)
    labels = groups(distances, count)
    heads = [(int(layer), int(head)) for layer, head in np.ndindex(*known.shape)]
    notes = [
        format_comma_list([translate(SHORT[role]) for role in roles[layer][head]] or [_("no role")])
        for layer, head in heads
    ]
    show_notice(summary(distances, labels, heads, kept), role="status")
    chosen = None if choice.layer is None or choice.head is None else (choice.layer, choice.head)
    figure = similarity_map(points, labels.tolist(), heads, notes, theme(), _("Similarity of heads"), selected=chosen)
    left, right = st.columns([3, 2])
    draw_chart(figure, KEY, place=left, on_click=keep_head, about=partial(evidence_provenance, known))
    draw_table(place=right, columns=_groups(distances, labels, heads, roles), key="roles_groups")
    st.caption(
        _(
            "Each mark is a head; near heads have similar attention (Jensen–Shannon distance, projected to 2-D). "
            "Colour and shape: clusters of the full distances. Click a head to select it."
        )
    )


def _groups(
    distances: np.ndarray, labels: np.ndarray, heads: list[Place], roles: list[list[list[str]]]
) -> dict[str, list[object]]:
    """Return the table of clusters: size, mean distance, most frequent role and members."""
    names = _("group"), _("heads"), _("mean distance"), _("most frequent role"), _("which")
    lines: list[tuple[object, ...]] = []
    for number in range(labels.max() + 1):
        mine = np.flatnonzero(labels == number)
        within = distances[np.ix_(mine, mine)][np.triu_indices(len(mine), 1)]
        counted = Counter(role for at in mine for role in roles[heads[at][0]][heads[at][1]][:1])
        [(role, times)] = counted.most_common(1) or [("", 0)]
        mean = round(float(within.mean()), 2) if len(within) else None
        which = format_comma_list([f"{heads[at][0]}-{heads[at][1]}" for at in mine])
        lines.append((number + 1, len(mine), mean, f"{translate(SHORT[role])} ({times})" if times else "", which))
    return {name: [line[at] for line in lines] for at, name in enumerate(names)}


def summary(distances: np.ndarray, labels: np.ndarray, heads: list[Place], kept: float) -> str:
    """Return a sentence on the closest pair, the most isolated head and the distortion of the map."""
    if len(heads) < 2:
        return _("There is only one head.")
    apart = distances + np.where(np.eye(len(heads), dtype=bool), np.inf, 0)
    one, other = (int(at) for at in np.unravel_index(apart.argmin(), apart.shape))
    lone = int(apart.min(axis=1).argmax())
    name = [head_label(layer, head) for layer, head in heads]
    largest = int((labels == 0).sum())
    return _(
        "Heads {one} and {other} are most similar (distance {apart:.2f} of at most 1); head {lone} is most "
        "distinct ({nearest:.2f} from the nearest). The projection keeps {kept:.0%} of the squared distances. "
        "The largest of {groups} clusters has {largest} heads.",
        one=name[one],
        other=name[other],
        apart=apart[one, other],
        lone=name[lone],
        nearest=apart[lone].min(),
        kept=kept,
        groups=labels.max() + 1,
        largest=largest,
    )
