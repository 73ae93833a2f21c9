"""The sentences behind a head's relation: the one that it was chosen for, or another."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from probing.corpus import UNCOUNTED
from probing.naming import FEWEST, Head
from probing.rows import Row, rule
from probing.tally import Counts
from ui.input.picking import control
from ui.pages.roles.options import Roles
from ui.pages.roles.relations import Relations
from ui.run.ready_sets import ready
from ui.show.relation_names import in_words
from ui.show.scored_links import TITLE, Score, scored_links
from ui.state.choice import Choice

LISTED = (
    "Whose links are listed; at first the relation that the head was chosen for. A click on the map picks the head."
)


def opened(relations: Relations, options: Roles, choice: Choice) -> None:
    """A head's links of one relation, hits and misses."""
    sets = _sets(relations)
    if not sets:
        return
    [(layers, heads)] = {counts.shape[1:] for _, counts in sets.values()}
    head = looked_at(relations.told, choice, layers, heads)
    own = relations.told.get(head)
    known = options.relation if options.relation in sets else own.relation if own is not None else next(iter(sets))
    st.subheader(TITLE)
    control(Roles, "relation", st.selectbox, "Relation", list(sets), shown=known, format_func=in_words, help=LISTED)
    name, counts = sets[known]
    corpus = ready(name)
    first = relations.tallies[name].of(known, 0) or counts  # on which the rule and the direction were chosen
    direction = int(first.found[: len(corpus.directions), *head].argmax())
    if own is not None and own.relation == known:
        direction = corpus.directions.index(own.direction)
    scored_links(Score(corpus, counts, known, (direction, *head), rule(first, corpus)), Roles, options, choice)


def looked_at(told: Mapping[Head, Row], choice: Choice, layers: int, heads: int) -> Head:
    """The chosen (layer, head) where there is one, else the one whose relation is the least doubtful."""
    if choice.layer is not None and choice.head is not None and choice.layer < layers and choice.head < heads:
        return choice.layer, choice.head
    return min(told, key=lambda head: told[head].p_more, default=(0, 0))


def _sets(relations: Relations) -> dict[str, tuple[str, Counts]]:
    """By relation, the set of sentences that it was scored on, and its links."""
    found = {}
    for name, tally in relations.tallies.items():
        for relation in tally.relations():
            counts = tally.of(relation)
            if counts is not None and counts.n >= FEWEST and relation not in UNCOUNTED:
                found[relation] = name, counts
    return found
