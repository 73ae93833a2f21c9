"""The fall of the cosine if a word is deleted from its text, next to the word's share in the table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st

from attention.mask import FloatArray
from attention.vectors import cosine
from i18n import _
from inference.tasks.hidden_states import Pooled
from ui.pages.similarity.table import WordTable, largest_words, note_omitted, table_provenance
from ui.run.notices import show_notice
from ui.run.progress import stoppable_steps
from ui.run.services import get_backend
from ui.show.chart import draw_chart, theme
from ui.show.tables import csv_table, download_button
from viz.figures.token_bars import source_terms

PART = 64  # texts in a request


@dataclass(frozen=True, eq=False)
class TextDeletions:
    """The deletions of a text: the places of its words, their shares, and the falls of the cosine, all (word,)."""

    names: tuple[str, ...]
    shares: FloatArray
    falls: FloatArray  # NaN for a word that is the whole text, or that was not reached


def draw_removal(found: WordTable) -> None:
    """Draw both numbers of each word of both texts."""
    both = measure_deletions(found)
    if both is None:
        return
    show_notice(describe_deletions(both), role="status")
    titles = _("Words of A"), _("Words of B")
    for place, text, title in zip(st.columns(2), both, titles, strict=True):
        kept = largest_words(np.abs(text.shares))
        values = {text.names[at]: [float(text.shares[at]), float(text.falls[at])] for at in kept}
        names = _("in the table"), _("fall without it")
        draw_chart(
            source_terms(values, names, theme(), title, _("part of the cosine")),
            f"removal_{title}",
            place=place,
            about=partial(table_provenance, found),
        )
    note_omitted(found)
    st.caption(
        _("Each word is deleted from its text, and the text is read again. The other text stays; special tokens too.")
    )
    rows = [
        [side, name, float(share), None if np.isnan(fall) else float(fall)]
        for side, text in zip("AB", both, strict=True)
        for name, share, fall in zip(text.names, text.shares, text.falls, strict=True)
    ]
    download_button(
        _("Save the table"),
        csv_table(["text", "word", "share in the table", "fall without it"], rows),
        "headlight-deletions.csv",
        _("Both numbers of each word as CSV"),
        key="similarity_save_removal",
        provenance=table_provenance(found),
    )


def measure_deletions(found: WordTable) -> tuple[TextDeletions, TextDeletions] | None:
    """Return the deletions of A and of B; None if the visitor stopped before the first. Raise UserError."""
    words = [_words(found, side) for side in (0, 1)]
    texts = [found.request.a, found.request.b]
    shorter = [texts[side][:start] + texts[side][stop:] for side in (0, 1) for _at, start, stop in words[side]]
    vectors = _pool_texts(found, (*texts, *shorter))
    if len(vectors) < 2:
        return None
    split = 2 + len(words[0])
    cosines = [cosine(vectors[2:split], vectors[1:2])[:, 0], cosine(vectors[split:], vectors[:1])[:, 0]]
    whole = float(cosine(vectors[:1], vectors[1:2])[0, 0])
    both = []
    for side, mine in enumerate(cosines):
        falls = np.full(len(words[side]), np.nan, np.float32)
        falls[: len(mine)] = whole - mine
        empty = [not (texts[side][:start] + texts[side][stop:]).strip() for _at, start, stop in words[side]]
        falls[np.array(empty, bool)] = np.nan
        places = [at for at, _start, _stop in words[side]]
        shares = found.table.sum(axis=1 - side)[places].astype(np.float32)
        both.append(TextDeletions(tuple(found.names[side][at] for at in places), shares, falls))
    return both[0], both[1]


def _words(found: WordTable, side: int) -> list[tuple[int, int, int]]:
    """Return (place in the table, start, stop in the text) of each word that is in the text."""
    row = (found.answer.row_a, found.answer.row_b)[side]
    spans = [(row.spans[start], row.spans[stop - 1]) for start, stop in found.runs[side]]
    return [
        (at, first[0], last[1])
        for at, (first, last) in enumerate(spans)
        if first is not None and last is not None and first[0] < last[1]
    ]


def _pool_texts(found: WordTable, texts: tuple[str, ...]) -> FloatArray:
    """Return a vector for each text, (text, channel), zeros for an empty text; fewer if the visitor stops."""
    asked = Pooled(found.request.model, found.request.revision, texts, pooling=found.answer.pooling)
    starts = range(0, len(texts), PART)
    parts = []
    for at in stoppable_steps(f"deletions:{asked.key}", len(starts), _("Deleting each word")):
        some = texts[starts[at] : starts[at] + PART]
        parts.append(
            get_backend().inspect(Pooled(asked.model, asked.revision, some, pooling=found.answer.pooling)).vectors
        )
    return np.concatenate(parts) if parts else np.zeros((0, 1), np.float32)


def describe_deletions(both: tuple[TextDeletions, TextDeletions]) -> str:
    """Return a sentence with the word of the largest effect, and the reason why it differs from its share."""
    text = max(both, key=lambda one: float(np.nanmax(np.abs(one.falls), initial=0)))
    if not np.isfinite(text.falls).any():
        return _("Each text is a single word, so none can be deleted.")
    at = int(np.nanargmax(np.abs(text.falls)))
    return _(
        "Without “{word}” the cosine changes most, by {change:+.3f}; its share in the table is {share:.3f}. "
        "They differ because the vectors of the other words change too.",
        word=text.names[at],
        change=-float(text.falls[at]),
        share=float(text.shares[at]),
    )
