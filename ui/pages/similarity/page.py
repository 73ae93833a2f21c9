"""The view Similarity: the cosine of two texts, split over pairs of words, and a search of sentences."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from i18n import _, gettext_lazy
from inference import UserError
from inference.tasks.hidden_states import Pooled
from probing.sentence_search import PART, SentenceSearch
from ui.input.composing import compose
from ui.input.controls import bound_widget, control_row
from ui.input.second_text import pick_second_text, settle_second_text
from ui.input.sentence_upload import describe_file, from_file
from ui.pages.similarity.effects import draw_heads, draw_removal
from ui.pages.similarity.table import (
    SimilarityOptions,
    WordTable,
    describe_pooling,
    describe_table,
    largest_pair,
    largest_words,
    measure_table,
    note_omitted,
    table_computation,
    table_csv,
    table_provenance,
)
from ui.run.downloading import offer_or_show
from ui.run.notices import show_notice
from ui.run.page_model import kind_of
from ui.run.progress import may_begin, stoppable_steps
from ui.run.services import get_backend
from ui.show.chart import draw_chart, theme
from ui.show.microscope import draw_matrices
from ui.show.sections import reading_help
from ui.show.tables import csv_table, download_button, draw_table, model_provenance
from ui.state.params import get_params, set_params
from ui.state.session import get_view_state
from ui.state.view_state import ViewState
from viz.components.matrices.matrices import MatrixSpec
from viz.export import format_value
from viz.figures.theme import sides, truncate
from viz.figures.token_bars import source_terms
from viz.figures.vectors import MOST_LINES, word_lines

HITS, SEARCH = "similarity_hits", "similarity_search"


def draw_search(choice: ViewState, found: WordTable) -> None:
    """Draw the upload, the progress and the most similar sentences; a click makes a sentence the second text.

    May raise UserError.
    """
    texts = from_file("similarity")
    if not texts:
        return
    asked = found.request
    pooled = Pooled(asked.model, asked.revision, texts, pooling=found.answer.pooling)
    mark = f"search:{pooled.key}:{hash(asked.a)}"
    if not may_begin(mark, len(texts), _("Search")):
        return
    search = _run(mark, SentenceSearch(asked.a, pooled))
    if not search.hits:
        return
    _describe(search)
    tables = [measure_table(choice, texts[at], found.answer.pooling) for _cosine, at in search.hits]
    rows = [
        {
            _("Cosine"): round(value, 4),
            _("Number"): at + 1,
            _("Sentence"): texts[at],
            _("Largest pair"): " · ".join(largest_pair(table)[:2]),
        }
        for (value, at), table in zip(search.hits, tables, strict=True)
    ]
    draw_table(rows, key=HITS, on_select=lambda: _open(search), selection_mode="single-row")
    st.caption(_("Select a row to compare it."))
    download_button(
        _("Save as CSV"),
        csv_table(["cosine", "number", "sentence"], [[value, at + 1, texts[at]] for value, at in search.hits]),
        "headlight-hits.csv",
        _("All digits"),
        key="similarity_save_hits",
        provenance={
            **model_provenance(),
            "text": asked.a,
            "data": describe_file("similarity", texts),
            "sentences_read": _count_read(search),
            "pooling": found.answer.pooling,
            "measure": "cosine with the text",
        },
    )


def _run(mark: str, fresh: SentenceSearch) -> SentenceSearch:
    """Return the search, complete or up to the step at which the visitor stopped it; the session keeps its state."""
    kept: tuple[str, SentenceSearch] | None = st.session_state.get(SEARCH)
    search = kept[1] if kept is not None and kept[0] == mark else fresh
    st.session_state[SEARCH] = (mark, search)
    for at in stoppable_steps(mark, search.steps, _("Running the model")):
        while search.done <= at:
            search.step(get_backend().inspect)
    return search


def _count_read(search: SentenceSearch) -> int:
    """Return the number of sentences that were compared so far, without the refused ones."""
    return min(search.done * PART, len(search.asked.texts)) - search.refused


def _describe(search: SentenceSearch) -> None:
    value, at = search.hits[0]
    show_notice(
        _(
            "Most similar of {n:,} sentences: “{nearest}”, cosine {cosine:.3f}.",
            n=_count_read(search),
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


SECOND = gettext_lazy("Second text")


def draw_view() -> None:
    """Draw the view Similarity in the page."""
    choice, options = get_view_state(), get_params(SimilarityOptions)
    compose(choice, kind_of(choice), pairs=False)
    if choice.opened:
        show_notice(_("A saved trace has attention only. Close it to run its text."), role="status")
        return
    row = control_row("similarity")
    settled = settle_second_text(SimilarityOptions, choice, options.other)
    other = pick_second_text(SimilarityOptions, choice, settled, row, SECOND)
    bound_widget(SimilarityOptions, "pooling", row.selectbox, width=230)
    bound_widget(SimilarityOptions, "show", st.segmented_control, required=True, label_visibility="collapsed")
    if not other and options.show != "search":
        show_notice(_("Type a second text, or pick a ready pair."), role="status")
        return
    try:
        with st.spinner(_("Running the model"), show_time=True):
            found = measure_table(choice, other or choice.text, options.pooling)
        _draw(choice, found, options)
    except UserError as refusal:
        offer_or_show(refusal, choice)
        return
    _how_to_read()


def _draw(choice: ViewState, found: WordTable, options: SimilarityOptions) -> None:
    """Draw the result sentence, the chosen figure and the download."""
    if options.show == "search":
        draw_search(choice, found)
        return
    show_notice(describe_table(found), role="status")
    if options.show == "heads":
        draw_heads(choice, found)
        return
    if options.show == "removal":
        draw_removal(found)
        return
    if options.show == "lines":
        _lines(found)
    elif options.show == "words":
        _per_word(found)
    else:
        _matrix(found)
    st.caption(describe_pooling(found))
    download_button(
        _("Save as CSV"),
        table_csv(found),
        "headlight-similarity.csv",
        _("All digits"),
        key="similarity_save",
        provenance=table_provenance(found),
    )


def _matrix(found: WordTable) -> None:
    below, above = sides(theme())
    meanings = (above, _("more similar")), (below, _("less similar"))
    note = " · ".join(_("{name}: {text}", name=side, text=text) for side, text in meanings)
    draw_matrices(
        [MatrixSpec(_("Part of the cosine"), found.table, *found.names, note=note)],
        "similarity_matrix",
        about=tuple((name, format_value(value)) for name, value in table_provenance(found).items()),
        computation=table_computation(found).then("numbers = table"),
    )


def _lines(found: WordTable) -> None:
    """Draw the largest pairs as lines between the words with the largest shares."""
    rows, columns = (largest_words(np.abs(found.table).sum(axis=axis)) for axis in (1, 0))
    names = [found.names[0][at] for at in rows], [found.names[1][at] for at in columns]
    table = found.table[np.ix_(rows, columns)]
    draw_chart(
        word_lines(table, names, theme(), _("Part of the cosine")),
        "similarity_lines",
        about=partial(table_provenance, found),
    )
    st.caption(
        _(
            "The {shown} largest of {all:,} pairs. Width: size; dashed: less similar.",
            shown=min(MOST_LINES, table.size),
            all=found.table.size,
        )
    )


def _per_word(found: WordTable) -> None:
    """Draw the share of each word: the sum of its row or column."""
    for place, axis, title in zip(
        st.columns(2), (1, 0), [_("Words of {text}", text=name) for name in "AB"], strict=True
    ):
        shares, names = found.table.sum(axis=axis), found.names[1 - axis]
        kept = largest_words(np.abs(shares))
        figure = source_terms(
            {names[at]: [float(shares[at])] for at in kept},
            [title],
            theme(),
            title,
            _("Part of the cosine"),
        )
        draw_chart(
            figure,
            f"similarity_words_{axis}",
            place=place,
            about=partial(table_provenance, found),
            computation=table_computation(found).then(f"numbers = table.sum(axis={axis})[kept]", kept=kept),
        )  # fmt: skip
    note_omitted(found)


def _how_to_read() -> None:
    with reading_help():
        st.markdown(
            _(
                "- The **cosine** compares the directions of two text vectors, from −1 to 1, within one "
                "model.\n"
                "- A text vector is **pooled** from token vectors "
                "([arXiv:1908.10084](https://arxiv.org/abs/1908.10084)), so the cosine is an exact sum "
                "over token pairs.\n"
                "- A large cell does not prove that its words cause the similarity: each vector also "
                "contains the rest of its text."
            )
        )
