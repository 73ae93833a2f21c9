"""The table of the pairs of words that make up the cosine of two texts, with its options, sentences and CSV file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from attention.similarity import FIRST, LAST, MAX, MEAN, WORDS, Numbers, Runs, sum_runs
from attention.tokens import TokenRow, word_runs
from attention.view import cell_of
from i18n import _, gettext_lazy, translate
from inference.tasks.similarity import SimilarityAnswer, SimilarityRequest
from ui.input.unknown_words import refuse_unreadable
from ui.run.page_model import kind_of
from ui.run.services import get_backend
from ui.show.tables import csv_table, texts_provenance
from ui.show.text import number_duplicates
from ui.state.view_state import ViewState
from viz.options import option
from viz.paper.notebook import Computation

SHOWS = {
    "matrix": gettext_lazy("Matrix"),
    "lines": gettext_lazy("Lines"),
    "words": gettext_lazy("Per word"),
    "removal": gettext_lazy("Delete words"),
    "heads": gettext_lazy("Ablate heads"),
    "search": gettext_lazy("Search"),
}
POOLED = {
    "": gettext_lazy("The model's own"),
    MEAN: gettext_lazy("Mean"),
    WORDS: gettext_lazy("Mean of words"),
    FIRST: gettext_lazy("First token ([CLS])"),
    MAX: gettext_lazy("Maximum"),
    LAST: gettext_lazy("Last token"),
}


@dataclass(frozen=True)
class SimilarityOptions:
    """Options of the view Similarity; the first text is that of the shared view state."""

    other: str = ""  # the second text; "" is the ready counterpart of the first, if any
    show: str = option("matrix", label=gettext_lazy("View"), choices=SHOWS)
    pooling: str = option(
        "",
        label=gettext_lazy("Pooling"),
        help=gettext_lazy("How token vectors become one; the mean, unless modules.json specifies another."),
        choices=POOLED,
    )


MOST_WORDS = 60  # words of a text in the lines and bars, those with the largest shares
ONE_TOKEN = gettext_lazy("A single token makes each vector: one cell holds the cosine.")
CELLS = {
    FIRST: ONE_TOKEN,
    LAST: ONE_TOKEN,
    MAX: gettext_lazy("Each channel belongs to its largest token. A cell sums the channels of its row and column."),
}
MEANS = gettext_lazy("A cell: the part of the cosine from one word of each text; all cells sum to it.")


@dataclass(frozen=True, eq=False)
class WordTable:
    """The cosine similarity of two texts as a table (word of A, word of B) that sums to it.

    ``names`` are the numbered labels of the words (or tokens) of A and of B, and ``runs`` their token ranges (start,
    stop).
    """

    request: SimilarityRequest  # with the pooling that was used
    answer: SimilarityAnswer
    names: tuple[tuple[str, ...], tuple[str, ...]]
    runs: tuple[Runs, Runs]
    table: Numbers

    @property
    def cosine(self) -> float:
        """Return the cosine of both texts."""
        return self.answer.found.cosine

    @property
    def special_share(self) -> float:
        """Return the part of the cosine that comes from pairs with a special token."""
        return self.answer.found.special_share(self.answer.row_a.special, self.answer.row_b.special)


def measure_table(choice: ViewState, other: str, pooling: str) -> WordTable:
    """Return the table of the text and ``other``; raise UserError if a text cannot be read."""
    asked = SimilarityRequest(choice.model, choice.revision or None, choice.text, other, pooling or None)
    answer = get_backend().inspect(asked)
    rows = answer.row_a, answer.row_b
    for row in rows:
        refuse_unreadable(row, choice.model, kind_of(choice))
    runs = [_runs(row, choice.words) for row in rows]
    table = sum_runs(answer.found.table, runs[0], runs[1])
    names = [
        tuple(number_duplicates([cell_of(row, run, (text,)).text for run in mine]))
        for row, mine, text in zip(rows, runs, (choice.text, other), strict=True)
    ]
    used = SimilarityRequest(asked.model, asked.revision, asked.a, asked.b, answer.pooling)
    return WordTable(used, answer, (names[0], names[1]), (runs[0], runs[1]), table)


def table_computation(found: WordTable) -> Computation:
    """Return notebook code that computes ``table``, the parts of the cosine by words."""
    code = "table = sum_runs(backend.inspect(request).found.table, *runs)"
    return Computation(code, request=found.request, runs=found.runs, sum_runs=sum_runs)


def _runs(row: TokenRow, words: bool) -> list[tuple[int, int]]:
    return word_runs(row.words, row.segments) if words else [(at, at + 1) for at in range(len(row))]


def largest_pair(found: WordTable) -> tuple[str, str, float]:
    """Return the (word of A, word of B, part) with the largest absolute part of the cosine."""
    row, column = np.unravel_index(int(np.abs(found.table).argmax()), found.table.shape)
    return found.names[0][row], found.names[1][column], float(found.table[row, column])


def describe_table(found: WordTable) -> str:
    """Return the result sentence: the cosine, the largest pair and the share of special tokens."""
    a, b, value = largest_pair(found)
    return _(
        "Cosine: {cosine:.3f}. “{a}” and “{b}” contribute most: {value}; pairs with special tokens: {special}.",
        cosine=found.cosine,
        a=a,
        b=b,
        value=f"{value:.3f}",
        special=f"{found.special_share:.3f}",
    )


def describe_pooling(found: WordTable) -> str:
    """Return a sentence on how the vectors of tokens were pooled, and on the numbers in the table."""
    used = translate(POOLED[found.answer.pooling])
    return _("Pooling: {pooling}. {cells}", pooling=used, cells=translate(CELLS.get(found.answer.pooling, MEANS)))


def table_csv(found: WordTable) -> str:
    """Return a CSV row for each pair of words with all digits; the numbers sum to the cosine."""
    rows = [
        [one, other, float(found.table[row, column])]
        for row, one in enumerate(found.names[0])
        for column, other in enumerate(found.names[1])
    ]
    return csv_table(["word of A", "word of B", "part of the cosine"], rows)


def largest_words(sizes: Numbers) -> list[int]:
    """Return the indices of the MOST_WORDS largest sizes, in the order of the text.

    >>> largest_words(np.array([0.5, 2.0, 1.0]))
    [0, 1, 2]
    """
    return sorted(int(at) for at in np.argsort(-sizes, kind="stable")[:MOST_WORDS])


def note_omitted(found: WordTable) -> None:
    """Draw a caption if a text has more words than the bar chart shows."""
    if max(map(len, found.names)) > MOST_WORDS:
        st.caption(_("The {shown} largest words are drawn.", shown=MOST_WORDS))


def table_provenance(found: WordTable) -> dict[str, Any]:
    """Return the provenance of a table: the model, both texts, the pooling and the cosine."""
    pooling = {"pooling": found.answer.pooling, "cosine": found.cosine}
    return {**texts_provenance(found.request.a), "second_text": found.request.b, **pooling}
