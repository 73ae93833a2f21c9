"""Cosine similarity of a word's vectors in several contexts, by layer, with a baseline.

The baseline is the mean over pairs of different words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, groupby

import numpy as np
import streamlit as st

from attention.mask import FloatArray
from attention.vectors import along_levels, different_words, merge
from i18n import _, gettext_lazy, translate
from i18n.lists import format_comma_list
from inference import UserError
from inference.tasks.hidden_states import HiddenStates, States
from ui.input.controls import bound_widget
from ui.input.unknown_words import refuse_unreadable
from ui.pages.vectors.levels import level_names
from ui.pages.vectors.options import VectorsOptions
from ui.run.notices import show_error, show_notice
from ui.run.page_model import kind_of
from ui.run.services import get_backend
from ui.show.chart import draw_chart, theme
from ui.show.tables import model_provenance
from ui.state.view_state import ViewState
from viz.figures.vectors import context_lines

FIELDS = ("first", "second", "third")
MARKS = gettext_lazy(
    "Each line: cosine of the word's vectors in two sentences. Dotted: mean over all pairs of different "
    "words at that level, the baseline. Embeddings do not depend on the context."
)


@dataclass(frozen=True, eq=False)
class SentenceVectors:
    """The words of a sentence without special tokens, and their vectors."""

    number: int  # counted from 1
    names: tuple[str, ...]
    levels: FloatArray  # (level, word, channel)

    def vectors_of(self, term: str) -> FloatArray:
        """Return the vectors of the first occurrence of ``term``, shape (level, channel)."""
        vectors: FloatArray = self.levels[:, [name.casefold() for name in self.names].index(term)]
        return vectors


def contexts(choice: ViewState, options: VectorsOptions) -> None:
    """Draw the comparison of contexts; an unreadable sentence shows an error and is left out."""
    st.caption(_("Sentences that share a word; the text above is not used."))
    for number, field in enumerate(FIELDS, 1):
        bound_widget(VectorsOptions, field, st.text_input, _("Sentence {number}", number=number),
                help=_("Leave empty to compare the others only"))  # fmt: skip
    texts = [getattr(options, field) for field in FIELDS]
    read = [one for at, text in enumerate(texts, 1) if text.strip() and (one := _read(choice, text, at)) is not None]
    shared = shared_words(read)
    if not shared:
        show_notice(_("No two sentences share a word. Write one word in both."), role="status")
        return
    term = options.term.casefold() if options.term.casefold() in shared else shared[0]
    bound_widget(VectorsOptions, "term", st.selectbox, options=shared, shown=term)
    having = [one for one in read if term in {name.casefold() for name in one.names}]
    pairs = {
        _("sentences {one} and {other}", one=one.number, other=other.number): along_levels(
            one.vectors_of(term), other.vectors_of(term)
        )
        for one, other in combinations(having, 2)
    }
    names = [name.casefold() for one in having for name in one.names]
    baseline = different_words(np.concatenate([one.levels for one in having], axis=1), names)
    levels = level_names(len(baseline))
    show_notice(summary(term, pairs, baseline, levels), role="status")
    ticks = [levels[0], *(_("Layer {layer}", layer=at) for at in range(len(levels) - 1))]
    figure = context_lines(pairs, baseline, ticks, theme(), term)
    draw_chart(figure, "vectors_contexts", about=model_provenance)
    st.caption(translate(MARKS))


def summary(term: str, pairs: dict[str, FloatArray], baseline: FloatArray, levels: Sequence[str]) -> str:
    """Return sentences with the cosines at the last level and the level at which the pairs differ most.

    >>> summary("bank", {"sentences 1 and 2": np.array([1, 0.5])}, np.array([0, 0.25]), ["Embeddings", "After layer 0"])
    'After layer 0, the cosine of “bank” is 0.50 in sentences 1 and 2; different words average 0.25.'
    """
    cosines = [_("{cosine:.2f} in {sentences}", cosine=values[-1], sentences=name) for name, values in pairs.items()]
    first = _(
        "{level}, the cosine of “{term}” is {cosines}; different words average {baseline:.2f}.",
        level=levels[-1],
        term=term,
        cosines=format_comma_list(cosines),
        baseline=baseline[-1],
    )
    if len(pairs) < 2:
        return first
    stacked = np.stack(list(pairs.values()))
    apart = np.ptp(stacked, axis=0)
    at = int(apart.argmax())
    least = list(pairs)[int(stacked[:, at].argmin())]
    lowest = stacked[:, at].min()
    return _(
        "{first} The pairs differ most {where}: lowest {lowest:.2f} in {sentences}.",
        first=first,
        where=levels[at][0].lower() + levels[at][1:] if at else _("in the embeddings"),
        sentences=least,
        lowest=lowest,
    )


def _read(choice: ViewState, text: str, number: int) -> SentenceVectors | None:
    try:
        with st.spinner(_("Reading the sentences")):
            states = get_backend().inspect(HiddenStates(choice.model, choice.revision or None, text))
        refuse_unreadable(states.row, choice.model, kind_of(choice))
    except UserError as refusal:
        show_error(refusal)
        return None
    names, groups = words_of(states, text)
    if not names:
        return None
    return SentenceVectors(number, names, np.stack([merge(level, groups) for level in states.levels]))


def words_of(states: States, text: str) -> tuple[tuple[str, ...], list[tuple[int, int]]]:
    """Return the words of a text and their token ranges (start, stop), without special tokens."""
    row = states.row
    groups = [list(at) for word, at in groupby(range(len(row)), key=lambda at: row.words[at]) if word is not None]
    names = []
    for group in groups:
        first, last = row.spans[group[0]], row.spans[group[-1]]
        whole = text[first[0] : last[1]].strip() if first and last else ""
        names.append(whole or "".join(row.pieces[at] for at in group))
    return tuple(names), [(group[0], group[-1] + 1) for group in groups]


def shared_words(read: Sequence[SentenceVectors]) -> list[str]:
    """Return the words with letters or digits that at least two sentences share, the longest first."""
    count = Counter(name for one in read for name in {name.casefold() for name in one.names})
    found = [name for name, times in count.items() if times > 1 and any(letter.isalnum() for letter in name)]
    return sorted(found, key=lambda name: (-len(name), name))
