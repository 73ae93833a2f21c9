"""The view Similarity: the cosine of two texts, split over pairs of their words."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from i18n import _, gettext_lazy
from inference import UserError
from ui.input.composing import compose
from ui.input.controls import bound_widget, control_row
from ui.input.second_text import pick_second_text, settle_second_text
from ui.pages.similarity.heads import draw_heads
from ui.pages.similarity.options import SimilarityOptions
from ui.pages.similarity.removal import draw_removal
from ui.pages.similarity.search import draw_search
from ui.pages.similarity.table import (
    WordTable,
    describe_pooling,
    describe_table,
    largest_words,
    measure_table,
    note_omitted,
    table_csv,
    table_provenance,
)
from ui.run.downloading import offer_or_show
from ui.run.notices import show_notice
from ui.run.page_model import kind_of
from ui.show.chart import draw_chart, theme
from ui.show.microscope import draw_matrices
from ui.show.reading_help import reading_help
from ui.show.tables import download_button
from ui.state.params import get_params
from ui.state.session import get_view_state
from ui.state.view_state import ViewState
from viz.components.matrices.matrices import MatrixSpec
from viz.figures.similarity import MOST_LINES, word_lines
from viz.figures.theme import sides
from viz.figures.token_bars import source_terms

SECOND = gettext_lazy("The text that is compared with the first.")


def draw_view() -> None:
    """Draw the view."""
    choice, options = get_view_state(), get_params(SimilarityOptions)
    compose(choice, kind_of(choice), pairs=False)
    if choice.opened:
        show_notice(_("A saved trace contains attention only. Close it to run the model on its text."), role="status")
        return
    row = control_row("similarity")
    settled = settle_second_text(SimilarityOptions, choice, options.other)
    other = pick_second_text(SimilarityOptions, choice, settled, row, SECOND)
    bound_widget(SimilarityOptions, "pooling", row.selectbox, width=190)
    bound_widget(SimilarityOptions, "show", st.segmented_control, required=True, label_visibility="collapsed")
    if not other and options.show != "search":
        show_notice(_("Type a second text, or pick a ready pair."), role="status")
        return
    try:
        with st.spinner(_("Asking the model"), show_time=True):
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
        _("Save the table"),
        table_csv(found),
        "headlight-similarity.csv",
        _("Every pair of words as CSV"),
        key="similarity_save",
        provenance={**table_provenance(found), "cosine": found.cosine},
    )  # fmt: skip


def _matrix(found: WordTable) -> None:
    below, above = sides(theme())
    note = _("{above}: makes the texts more similar; {below}: less similar.", above=above, below=below)
    draw_matrices(
        [MatrixSpec(_("Part of the cosine"), found.table, *found.names, note=note[0].upper() + note[1:])],
        "similarity_matrix",
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
            "Lines: the {shown} largest of {all:,} pairs. Width: size. Dashed: less similar.",
            shown=min(MOST_LINES, table.size),
            all=found.table.size,
        )
    )


def _per_word(found: WordTable) -> None:
    """Draw the share of each word: the sum of its row or column."""
    for place, axis, title in zip(st.columns(2), (1, 0), (_("Words of A"), _("Words of B")), strict=True):
        shares, names = found.table.sum(axis=axis), found.names[1 - axis]
        figure = source_terms(
            {names[at]: [float(shares[at])] for at in largest_words(np.abs(shares))},
            [title],
            theme(),
            title,
            _("part of the cosine"),
        )
        draw_chart(
            figure,
            f"similarity_words_{axis}",
            place=place,
            about=partial(table_provenance, found),
        )
    note_omitted(found)


def _how_to_read() -> None:
    with reading_help():
        st.markdown(
            _(
                "- The **cosine** compares the directions of two text vectors, from −1 to 1. Compare it only with "
                "cosines of the same model.\n"
                "- A text vector is **pooled** from token vectors, as in Sentence-BERT "
                "([arXiv:1908.10084](https://arxiv.org/abs/1908.10084)). So the cosine is a sum over pairs of tokens, "
                "without approximation.\n"
                "- A large cell does not prove that its words cause the similarity: each vector also contains the rest "
                "of its text."
            )
        )
