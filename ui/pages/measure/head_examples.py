"""The sentences behind the score of a head."""

from __future__ import annotations

import streamlit as st

from i18n import translate
from probing.results import RelationRow, rule
from ui.pages.measure.corpus_scores import CorpusScores
from ui.pages.measure.maps import way_of
from ui.pages.measure.options import MeasureOptions
from ui.show.scored_links import TITLE, LinkScore, scored_links
from ui.state.view_state import ViewState


def selected_head(found: CorpusScores, best: RelationRow, choice: ViewState) -> tuple[int, int]:
    """Return the selected (layer, head) if the scores contain it, else the best head."""
    counts = found.state.tally.counts_of(best.relation)
    assert counts is not None
    _, layers, heads = counts.shape
    if choice.layer is not None and choice.head is not None and choice.layer < layers and choice.head < heads:
        return choice.layer, choice.head
    return best.layer, best.head


def draw_examples(
    found: CorpusScores, options: MeasureOptions, relation: str, head: tuple[int, int], choice: ViewState
) -> None:
    """Draw the links that a head was scored on, in the direction that the map shows."""
    counts = found.state.tally.counts_of(relation)
    assert counts is not None
    basis = (found.chooser.counts_of(relation) if found.chooser else None) or counts
    ways = {"out": 0, "in": 1, "best": int(basis.hits_by_head[: len(found.corpus.directions), *head].argmax())}
    st.subheader(translate(TITLE))
    place = (ways[way_of(options, found.corpus)], *head)
    bar = rule(basis, found.corpus, counts)
    scored_links(LinkScore(found.corpus, counts, relation, place, bar), MeasureOptions, options, choice)
