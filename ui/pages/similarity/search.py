"""A search of a file for the sentences that are most similar to the text, each explained by its largest pair."""

from __future__ import annotations

from typing import Any

import streamlit as st

from i18n import _
from inference.tasks.hidden_states import Pooled
from probing.sentence_search import PART, SentenceSearch
from ui.input.sentence_upload import from_file
from ui.pages.similarity.options import SimilarityOptions
from ui.pages.similarity.table import WordTable, largest_pair, measure_table
from ui.run.notices import show_notice
from ui.run.progress import may_begin, stoppable_steps
from ui.run.services import get_backend
from ui.show.tables import csv_table, download_button, draw_table, model_provenance
from ui.state.params import set_params
from ui.state.view_state import ViewState
from viz.figures.theme import truncate

HITS, SEARCH = "similarity_hits", "similarity_search"


def draw_search(choice: ViewState, found: WordTable) -> None:
    """Draw the upload, the progress and the hits; a click makes a hit the second text. Raise UserError."""
    texts = from_file("similarity")
    if not texts:
        return
    asked = found.request
    pooled = Pooled(asked.model, asked.revision, texts, pooling=found.answer.pooling)
    mark = f"search:{pooled.key}:{hash(asked.a)}"
    if not may_begin(mark, len(texts), _("Search the file")):
        return
    search = _run(mark, SentenceSearch(asked.a, pooled))
    if not search.hits:
        return
    _describe(search)
    tables = [measure_table(choice, texts[at], found.answer.pooling) for _cosine, at in search.hits]
    rows = [
        {
            _("cosine"): round(value, 4),
            _("number"): at + 1,
            _("sentence"): texts[at],
            _("largest pair"): " · ".join(largest_pair(table)[:2]),
        }
        for (value, at), table in zip(search.hits, tables, strict=True)
    ]
    draw_table(rows, key=HITS, on_select=lambda: _open(search), selection_mode="single-row")
    st.caption(_("Select a row to compare its sentence with the text."))
    download_button(
        _("Save as CSV"),
        csv_table(["cosine", "number", "sentence"], [[value, at + 1, texts[at]] for value, at in search.hits]),
        "headlight-hits.csv",
        _("These sentences, all digits"),
        key="similarity_save_hits",
        provenance={**model_provenance(), "text": asked.a, "pooling": found.answer.pooling},
    )


def _run(mark: str, fresh: SentenceSearch) -> SentenceSearch:
    """Return the search, complete or up to the step at which the visitor stopped it; the session keeps its state."""
    kept: tuple[str, SentenceSearch] | None = st.session_state.get(SEARCH)
    search = kept[1] if kept is not None and kept[0] == mark else fresh
    st.session_state[SEARCH] = (mark, search)
    for at in stoppable_steps(mark, search.steps, _("Searching")):
        while search.done <= at:
            search.step(get_backend().inspect)
    return search


def _describe(search: SentenceSearch) -> None:
    value, at = search.hits[0]
    read = min(search.done * PART, len(search.asked.texts)) - search.refused
    show_notice(
        _(
            "Of {n:,} sentences, “{nearest}” is the most similar, with a cosine of {cosine:.3f}.",
            n=read,
            nearest=truncate(search.asked.texts[at], 80),
            cosine=value,
        ),
        role="status",
    )


def _open(search: SentenceSearch) -> None:
    """Make the selected hit the second text, and show its table."""
    event: Any = st.session_state[HITS]
    rows = event["selection"]["rows"]
    if rows:
        set_params(SimilarityOptions, other=search.asked.texts[search.hits[rows[0]][1]], show="matrix")
