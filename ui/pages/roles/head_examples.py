"""Roles page: the sentences behind the score of a head for a role or a relation."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from attention.roles import ROLES
from i18n import _, translate
from probing.corpus import UNCOUNTED
from probing.formats import load_ready_set
from probing.results import FEWEST, Head, RelationRow, rule
from probing.score import RelationCounts
from ui.input.controls import bound_widget
from ui.pages.roles.gathering import HeadEvidence
from ui.pages.roles.options import WORDS, RolesOptions
from ui.pages.roles.relations import Relations
from ui.pages.roles.role_sentences import role_sentences
from ui.show.scored_links import TITLE, LinkScore, describe_relation, scored_links
from ui.state.view_state import ViewState


def draw_examples(
    known: HeadEvidence, roles: list[list[list[str]]], relations: Relations, options: RolesOptions, choice: ViewState
) -> None:
    """Draw a selector of role or relation, and the head's hits and misses for it."""
    sets = _sets(relations)
    head = selected_head(relations.row_of_head, choice, *known.shape)
    scores = [*ROLES, *sets]
    shown = options.relation if options.relation in scores else default_evidence(head, roles, relations)
    st.subheader(translate(TITLE))
    bound_widget(RolesOptions, "relation", st.selectbox, options=scores, shown=shown, format_func=_in_words)
    if shown in ROLES:
        role_sentences(known, shown, head, options, choice)
    else:
        scored_links(_score(sets[shown], relations, shown, head), RolesOptions, options, choice)


def selected_head(told: Mapping[Head, RelationRow], choice: ViewState, layers: int, heads: int) -> Head:
    """Return the selected (layer, head), else the head with the most significant relation."""
    if choice.layer is not None and choice.head is not None and choice.layer < layers and choice.head < heads:
        return choice.layer, choice.head
    return min(told, key=lambda head: (not told[head].more, told[head].p), default=(0, 0))


def default_evidence(head: Head, roles: list[list[list[str]]], relations: Relations) -> str:
    """Return the evidence that is shown first for a head: the name of a relation or a role.

    It is the head's confirmed relation, else its strongest role, else its unconfirmed relation, else the first of
    ROLES.

    >>> default_evidence((0, 1), [[["first"], ["broad"]]], Relations()), default_evidence((0, 0), [[[]]], Relations())
    ('broad', 'previous')
    """
    row = relations.row_of_head.get(head)
    own = roles[head[0]][head[1]]
    return relations.name(*head) or (own[0] if own else row.relation if row is not None else ROLES[0])


def _in_words(score: str) -> str:
    return _("Attends to {place}", place=WORDS[score]) if score in ROLES else describe_relation(score)


def _score(found: tuple[str, RelationCounts], relations: Relations, relation: str, head: Head) -> LinkScore:
    name, counts = found
    corpus, own = load_ready_set(name), relations.row_of_head.get(head)
    # The baseline rule and the direction were chosen on half 0.
    first = relations.tallies[name].counts_of(relation, 0) or counts
    direction = int(first.hits_by_head[: len(corpus.directions), *head].argmax())
    if own is not None and own.relation == relation:
        direction = corpus.directions.index(own.direction)
    return LinkScore(corpus, counts, relation, (direction, *head), rule(first, corpus, counts))


def _sets(relations: Relations) -> dict[str, tuple[str, RelationCounts]]:
    """Return for each relation the name of its sentence set and its counts.

    Relations with fewer than FEWEST links are left out.
    """
    found = {}
    for name, tally in relations.tallies.items():
        for relation in tally.relations():
            counts = tally.counts_of(relation)
            if counts is not None and counts.n >= FEWEST and relation not in UNCOUNTED:
                found[relation] = name, counts
    return found
