"""The sentences behind a head's score: of the relation that it finds, of its role, or of another."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from attention.roles import ROLES
from probing.corpus import UNCOUNTED
from probing.naming import FEWEST, Head
from probing.ready_sets import ready
from probing.rows import Row, rule
from probing.tally import Counts
from ui.input.picking import control
from ui.pages.roles.evidence import WORDS
from ui.pages.roles.known import Known
from ui.pages.roles.options import Roles
from ui.pages.roles.relations import Relations
from ui.pages.roles.role_sentences import role_sentences
from ui.show.leaves import TITLE
from ui.show.relation_names import in_words
from ui.show.scored_links import Score, scored_links
from ui.state.choice import Choice
from wording import _, sentence, told

LISTED = sentence(
    "What the head is scored for: where it looks, or a relation. At first what it is named after. A click on the map"
    " picks the head."
)


def opened(known: Known, roles: list[list[list[str]]], relations: Relations, options: Roles, choice: Choice) -> None:
    """A head's texts or links, hits and misses."""
    sets = _sets(relations)
    head = looked_at(relations.told, choice, *known.shape)
    scores = [*ROLES, *sets]
    shown = options.relation if options.relation in scores else named_after(head, roles, relations)
    st.subheader(told(TITLE))
    control(Roles, "relation", st.selectbox, _("What is scored"), scores, shown=shown, format_func=_in_words,
            help=told(LISTED))  # fmt: skip
    if shown in ROLES:
        role_sentences(known, shown, head, options, choice)
    else:
        scored_links(_score(sets[shown], relations, shown, head), Roles, options, choice)


def looked_at(told: Mapping[Head, Row], choice: Choice, layers: int, heads: int) -> Head:
    """The chosen (layer, head) where there is one, else the one whose relation is the least doubtful."""
    if choice.layer is not None and choice.head is not None and choice.layer < layers and choice.head < heads:
        return choice.layer, choice.head
    return min(told, key=lambda head: (not told[head].more, told[head].p), default=(0, 0))


def named_after(head: Head, roles: list[list[list[str]]], relations: Relations) -> str:
    """The relation that a head is known to find, else its strongest role, else what it was chosen for.

    >>> named_after((0, 1), [[["first"], ["broad"]]], Relations()), named_after((0, 0), [[[]]], Relations())
    ('broad', 'previous')
    """
    row = relations.told.get(head)
    own = roles[head[0]][head[1]]
    return relations.name(*head) or (own[0] if own else row.relation if row is not None else ROLES[0])


def _in_words(score: str) -> str:
    return _("It looks at {place}", place=WORDS[score]) if score in ROLES else in_words(score)


def _score(found: tuple[str, Counts], relations: Relations, relation: str, head: Head) -> Score:
    name, counts = found
    corpus, own = ready(name), relations.told.get(head)
    first = relations.tallies[name].of(relation, 0) or counts  # on which the rule and the direction were chosen
    direction = int(first.found[: len(corpus.directions), *head].argmax())
    if own is not None and own.relation == relation:
        direction = corpus.directions.index(own.direction)
    return Score(corpus, counts, relation, (direction, *head), rule(first, corpus, counts))


def _sets(relations: Relations) -> dict[str, tuple[str, Counts]]:
    """By relation, the set of sentences that it was scored on, and its links."""
    found = {}
    for name, tally in relations.tallies.items():
        for relation in tally.relations():
            counts = tally.of(relation)
            if counts is not None and counts.n >= FEWEST and relation not in UNCOUNTED:
                found[relation] = name, counts
    return found
