"""The sentences behind one head's score: the head that was looked at last, or the best."""

from __future__ import annotations

import streamlit as st

from probing.rows import Row, rule
from ui.pages.measure.maps import way_of
from ui.pages.measure.measured import Measured
from ui.pages.measure.options import Measure
from ui.show.leaves import TITLE
from ui.show.scored_links import Score, scored_links
from ui.state.choice import Choice
from wording import told


def looked_at(found: Measured, best: Row, choice: Choice) -> tuple[int, int]:
    """The chosen (layer, head) where the scores have it, else the best one's."""
    counts = found.state.tally.of(best.relation)
    assert counts is not None
    _, layers, heads = counts.shape
    if choice.layer is not None and choice.head is not None and choice.layer < layers and choice.head < heads:
        return choice.layer, choice.head
    return best.layer, best.head


def opened(found: Measured, options: Measure, relation: str, head: tuple[int, int], choice: Choice) -> None:
    """Its links, in the direction that the map shows."""
    counts = found.state.tally.of(relation)
    assert counts is not None
    basis = (found.chooser.of(relation) if found.chooser else None) or counts
    ways = {"out": 0, "in": 1, "best": int(basis.found[: len(found.corpus.directions), *head].argmax())}
    st.subheader(told(TITLE))
    place = (ways[way_of(options, found.corpus)], *head)
    bar = rule(basis, found.corpus, counts)
    scored_links(Score(found.corpus, counts, relation, place, bar), Measure, options, choice)
