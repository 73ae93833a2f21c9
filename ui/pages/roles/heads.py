"""Roles and similarity of all heads: sentences, maps, a table and clusters."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from attention.head_names import head_label
from attention.mask import BoolArray
from attention.roles import EVEN, FEWEST, ROLES, SINKS, names, observe
from attention.vectors import compare, flat, groups
from i18n import _, translate
from probing.formats import READY
from ui.input.controls import bound_widget, keep_head
from ui.pages.roles.evidence import ROLE_NAMES, HeadEvidence, Relations, RolesOptions
from ui.pages.roles.evidence import describe_relations as of_relations
from ui.run.notices import show_notice
from ui.show.chart import draw_chart, theme
from ui.show.tables import csv_table, data_provenance, download_table, draw_table, page_provenance
from ui.show.text import format_comma_list, format_semicolon_list, join_sentences
from ui.state.view_state import ViewState
from viz.figures.head_maps import SHAPES, SIGNS, role_map, similarity_map
from viz.paper.notebook import Computation

MAP = "roles_map"


def head_roles(known: HeadEvidence, options: RolesOptions) -> list[list[list[str]]]:
    """Return the roles of each head as lists by layer and head, the strongest role first.

    A head has a role if at least ``options.share`` percent of its attention goes to the keys of the role.
    """
    layers, heads = known.shape
    share = options.share / 100
    return [[names(known.evidence, layer, head, share) for head in range(heads)] for layer in range(layers)]


def draw_map(
    known: HeadEvidence, choice: ViewState, options: RolesOptions, roles: list[list[list[str]]], relations: Relations
) -> None:
    """Draw the summary, the role map and its caption; a click selects a head."""
    show_notice(describe_roles(known, roles, options), role="status")
    strengths = {role: known.evidence.strength(role) for role in ROLES}
    shares = np.full(known.shape, np.nan)
    for layer, head in np.ndindex(*known.shape):
        if roles[layer][head]:
            shares[layer, head] = strengths[roles[layer][head][0]][layer, head]
    first = [[some[0] if some else "" for some in row] for row in roles]
    found = [[relations.name(layer, head) for head in range(len(roles[layer]))] for layer in range(len(roles))]
    chosen = None if choice.layer is None or choice.head is None else (choice.layer, choice.head)
    figure = role_map(shares, first, found, theme(), _("Role of each head"), selected=chosen)
    notes = join_sentences(*describe_signs(options.share, relations=any(any(row) for row in found)))
    draw_chart(
        figure, MAP, on_click=keep_head, about=partial(evidence_provenance, known),
        computation=_shares(known, options), test=notes)  # fmt: skip
    if relations.row_of_head:
        show_notice(of_relations(relations, len(roles) * len(roles[0])), role="status")
    for note in sinks(known, roles):
        show_notice(note, role="status")
    st.caption(join_sentences(notes, _("Click a head.")))


def _shares(known: HeadEvidence, options: RolesOptions) -> Computation | None:
    """Return the computation of the share of each head's first role; None for an opened file."""
    code = (
        "numbers = np.full(evidence.strength('broad').shape, np.nan)\n"
        "for place in np.ndindex(*numbers.shape):\n"
        f"    if found := names(evidence, *place, {options.share / 100}):\n"
        "        numbers[place] = evidence.strength(found[0])[place]"
    )
    return _evidence(known, "observe(trace, part)", code, observe=observe, names=names)


def _evidence(known: HeadEvidence, seen: str, code: str, **names: Any) -> Computation | None:
    """Return notebook code that runs ``code`` on ``evidence``, a sum over texts; None for an opened file.

    ``seen`` is an expression for the evidence from ``trace``, and ``names`` are the names that both use.
    """
    if not known.requests:
        return None
    begun = f"first, *rest = [{seen} for trace in backend.traces(requests)]\nevidence = sum(rest, first)\n"
    return Computation(begun + code, requests=list(known.requests), part=known.part, **names)


def evidence_provenance(known: HeadEvidence) -> dict[str, str]:
    """Return the provenance of roles: the model, and the text or the number of annotated sentences it read."""
    if known.trace is not None:
        return page_provenance()
    return data_provenance(f"{len(known.each)} annotated sentences ({', '.join(READY)})")


def describe_signs(share: int, *, relations: bool) -> list[str]:
    """Return sentences that explain the symbols and colours of the map of roles.

    ``share`` is the threshold of a role in percent. If ``relations`` is True, add a sentence on the relation names.
    """
    said = [
        _(
            "Sign: the place with at least {share}% of the head's attention: {signs} (entropy at "
            "least {even:.0%} of the maximum). Colour: that share, or the entropy for {broad}.",
            share=share,
            signs=format_comma_list([f"{SIGNS[role]} {translate(ROLE_NAMES[role])}" for role in ROLES]),
            even=EVEN,
            broad=SIGNS["broad"],
        )
    ]
    if relations:
        said.append(
            _(
                "Name: a relation found significantly more often than the baseline (two-sided, paired by "
                "sentence, Holm, 5%)."
            )
        )
    last = _("A role needs {fewest} tokens. Special tokens are no neighbours.", fewest=FEWEST)
    return [*said, last]


def by_first(roles: list[list[list[str]]], role: str) -> BoolArray:
    """Return a boolean map of heads, (layer, head): True if ``role`` is the strongest role of the head.

    >>> by_first([[["first", "broad"], ["broad"], []]], "broad").tolist()
    [[False, True, False]]
    """
    return np.array([[some[:1] == [role] for some in row] for row in roles])


def describe_roles(known: HeadEvidence, roles: list[list[list[str]]], options: RolesOptions) -> str:
    """Return sentences on the number of heads for each role, with the clearest head of each role.

    Every head counts for its strongest role only.
    """
    counts: dict[str, int] = {}
    clearest: dict[str, str] = {}
    for role in ROLES:
        mine = by_first(roles, role)
        counts[role] = int(mine.sum())
        if mine.any():
            strength = np.where(mine, known.evidence.strength(role), -1)
            layer, head = np.unravel_index(int(strength.argmax()), strength.shape)
            clearest[role] = f"{head_label(int(layer), int(head))}, {strength[layer, head]:.2f}"
    heads, texts, broad = len(roles) * len(roles[0]), known.evidence.texts, counts.pop("broad")
    some = sum(counts.values())
    places = [
        _("{place}: {many} ({clearest})", place=ROLE_NAMES[role], many=many, clearest=clearest[role])
        for role, many in counts.items()
        if many
    ]
    named = _(
        "{some} of {heads} heads give at least {share}% of their attention to one place (texts: {texts}): {places}.",
        texts=texts,
        some=some,
        heads=heads,
        share=options.share,
        places=format_semicolon_list(places) if places else "–",
    )
    rest = _(
        "Of the other {others} heads, {broad} attend broadly and {neither} have no role.",
        others=heads - some,
        broad=broad,
        neither=heads - some - broad,
    )
    return join_sentences(named, rest)


def sinks(known: HeadEvidence, roles: list[list[list[str]]]) -> list[str]:
    """Describe attention sinks: the mean attention that they get, and the length of their value vectors.

    Sinks are the first token and separators. The length is relative to that of other tokens; short value vectors add
    little to the output.
    """
    said = []
    for sink in SINKS:
        mine = by_first(roles, sink)
        by_value, length = known.evidence.value_share(sink), known.evidence.value_length(sink)
        if mine.any() and by_value is not None and length is not None:
            share = known.evidence.strength(sink)[mine].mean()
            said.append(
                _(
                    "Attention sink ({place}): {heads} heads give it {share:.0%} on average. Its value vectors "
                    "are {times:.2f} times as long as others', so it adds {passed_on:.2f} of the weight × value norms.",
                    place=ROLE_NAMES[sink],
                    heads=mine.sum(),
                    share=share,
                    times=length[mine].mean(),
                    passed_on=by_value[mine].mean(),
                )
            )
    return said


def table(known: HeadEvidence, options: RolesOptions, roles: list[list[list[str]]], relations: Relations) -> None:
    """Draw a filterable table of all heads with their roles, relations and shares, and its CSV export."""
    bound_widget(RolesOptions, "only", st.selectbox)
    columns = [_("Layer"), _("Head"), _("Roles"), _("Finds"), _("Chosen for"), _("% found"), _("Rule finds")]
    columns += [
        _("p (Holm)"),
        *map(translate, ROLE_NAMES.values()),
        _("first token by value"),
        _("its value's length"),
    ]
    every = [_row(known, roles, relations, layer, head) for layer, head in np.ndindex(*known.shape)]
    kept = [
        [round(cell, 3) if isinstance(cell, float) else cell for cell in row]
        for row, (layer, head) in zip(every, np.ndindex(*known.shape), strict=True)
        if _passes_filter(options.only, roles[layer][head], relations.name(layer, head))
    ]
    shown = {name: [row[at] for row in kept] for at, name in enumerate(columns)}
    draw_table(shown, key="roles_table")
    st.caption(
        _(
            "{shown} of {heads} heads. “chosen for”: best relation on half of the sentences, scored "
            "on the rest. “first token by value”: attention × value norm.",
            shown=len(kept),
            heads=len(every),
        )
    )
    download_table(csv_table(columns, every), "headlight-roles.csv", provenance=evidence_provenance(known))


def _row(
    known: HeadEvidence, roles: list[list[list[str]]], relations: Relations, layer: int, head: int
) -> list[object]:
    """Return the table row of a head."""
    evidence = known.evidence
    arrays = [
        *(evidence.strength(role) for role in ROLES),
        evidence.value_share("first"),
        evidence.value_length("first"),
    ]
    numbers = [None if array is None or np.isnan(array[layer, head]) else float(array[layer, head]) for array in arrays]
    words = format_comma_list([translate(ROLE_NAMES[role]) for role in roles[layer][head]] or [""])
    row = relations.row_of_head.get((layer, head))
    found = [None] * 4 if row is None else [row.relation, row.accuracy, row.baseline, row.p]
    return [layer, head, words, relations.name(layer, head), *found, *numbers]


def _passes_filter(only: str, roles: list[str], relation: str) -> bool:
    """Return whether a head with these roles and this relation passes the filter ``only``.

    >>> (
    ...     _passes_filter("first", ["first", "broad"], ""),
    ...     _passes_filter("broad", ["first", "broad"], ""),
    ...     _passes_filter("none", [], "det"),
    ... )
    (True, False, False)
    """
    if only == "relation":
        return bool(relation)
    if only == "none":
        return not roles and not relation
    return not only or roles[:1] == [only]


KEY = "roles_likeness"
Place = tuple[int, int]  # (layer, head)


def draw_similarity(
    known: HeadEvidence, choice: ViewState, options: RolesOptions, roles: list[list[list[str]]]
) -> None:
    """Draw the heads on a 2-D map by the similarity of their attention, with a table of clusters and a summary."""
    distances = known.likeness.distances()
    most = min(len(SHAPES), len(distances))
    count = max(1, min(options.groups, most))
    bound_widget(RolesOptions, "groups", st.number_input, min_value=1, max_value=most, shown=count, width=160)
    points, kept = flat(distances)
    labels = groups(distances, count)
    heads = [(int(layer), int(head)) for layer, head in np.ndindex(*known.shape)]
    notes = [
        format_comma_list([translate(ROLE_NAMES[role]) for role in roles[layer][head]] or [_("no role")])
        for layer, head in heads
    ]
    show_notice(describe_similarity(distances, heads, kept), role="status")
    chosen = None if choice.layer is None or choice.head is None else (choice.layer, choice.head)
    figure = similarity_map(points, labels.tolist(), heads, notes, theme(), _("Similarity of heads"), selected=chosen)
    left, right = st.columns([3, 2])
    computation = _projection(known, count)
    note = _(
        "Near heads have similar attention (Jensen–Shannon distance, projected to 2-D). Colour, shape: "
        "clusters of full distances."
    )
    draw_chart(
        figure, KEY, place=left, on_click=keep_head, about=partial(evidence_provenance, known),
        computation=computation, test=note)  # fmt: skip
    draw_table(place=right, columns=_groups(distances, labels, heads, roles), key="roles_groups")
    st.caption(join_sentences(note, _("Click a head.")))


def _projection(known: HeadEvidence, count: int) -> Computation | None:
    """Return the computation of the heads' heights, by cluster; None for an opened file."""
    code = (
        "distances = evidence.distances()\n"
        f"order = np.argsort(groups(distances, {count}), kind='stable')\n"
        "numbers = flat(distances)[0][order, 1]"
    )
    return _evidence(known, "compare(trace, part)", code, compare=compare, groups=groups, flat=flat)


def _groups(
    distances: np.ndarray, labels: np.ndarray, heads: list[Place], roles: list[list[list[str]]]
) -> dict[str, list[object]]:
    """Return the table of clusters: size, mean distance, most frequent role and members."""
    names = _("Group"), _("Heads"), _("Mean distance"), _("Most frequent role"), _("Members")
    lines: list[tuple[object, ...]] = []
    for number in range(labels.max() + 1):
        mine = np.flatnonzero(labels == number)
        within = distances[np.ix_(mine, mine)][np.triu_indices(len(mine), 1)]
        counted = Counter(role for at in mine for role in roles[heads[at][0]][heads[at][1]][:1])
        [(role, times)] = counted.most_common(1) or [("", 0)]
        mean = round(float(within.mean()), 2) if len(within) else None
        which = format_comma_list([f"{heads[at][0]}-{heads[at][1]}" for at in mine])
        lines.append((number + 1, len(mine), mean, f"{translate(ROLE_NAMES[role])} ({times})" if times else "", which))
    return {name: [line[at] for line in lines] for at, name in enumerate(names)}


def describe_similarity(distances: np.ndarray, heads: list[Place], kept: float) -> str:
    """Describe the closest pair of heads, the most isolated head, and the precision of the projection.

    ``distances`` (head, head) are from 0 to 1. ``kept`` is the share of squared distances that the 2-D projection
    keeps.
    """
    if len(heads) < 2:
        return _("There is only one head.")
    apart = distances + np.where(np.eye(len(heads), dtype=bool), np.inf, 0)
    one, other = (int(at) for at in np.unravel_index(apart.argmin(), apart.shape))
    lone = int(apart.min(axis=1).argmax())
    name = [head_label(layer, head) for layer, head in heads]
    return _(
        "Heads {one} and {other} are most similar (distance {apart:.2f} of at most 1); {lone} is most distinct "
        "({nearest:.2f} from the nearest). The projection keeps {kept:.0%} of squared distances.",
        one=name[one],
        other=name[other],
        apart=apart[one, other],
        lone=name[lone],
        nearest=apart[lone].min(),
        kept=kept,
    )
