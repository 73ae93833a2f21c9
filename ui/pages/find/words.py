"""The words of the question: a source and two candidates."""

from __future__ import annotations

from attention.view import View
from i18n import ngettext
from ui.input.probes import Probe
from ui.run.head_answers import Words
from ui.show.text import format_comma_list
from ui.state.selection import find_word, select
from ui.state.view_state import ViewState


def words_of(choice: ViewState, against: int | None, view: View, probe: Probe | None) -> tuple[Words, list[str]]:
    """Return the three words of the question, and notes on missing words.

    Each word is the reader's, else that of the probe, else the most attended word. ``against`` is the second
    candidate as a token of the trace, like ``choice.focus`` and ``choice.to``.
    """
    example = None if probe is None else {"focus": probe.source, "target": probe.candidates[0]}
    selection, notes = select(choice, view, example)
    source, first, second = selection["focus"], selection["target"], _cell_of_token(view, against)
    missing = (
        []
        if probe is None
        else [word for word in (probe.source, *probe.candidates) if find_word(view.keys, word) is None]
    )
    if missing:
        notes.append(
            ngettext(
                "The model reads this text without the word {words}; pick words below, or a model of the text's"
                " language.",
                "The model reads this text without the words {words}; pick words below, or a model of the text's"
                " language.",
                len(missing),
                words=format_comma_list([_quote(word) for word in missing]),
            )
        )
    if second is None and probe is not None and first == find_word(view.keys, probe.candidates[0]):
        second = find_word(view.keys, probe.candidates[1])
    ordered = _most_attended(view, source)
    taken = [source]
    if first is None or first == source:
        first = next(cell for cell in ordered if cell not in taken)
    taken.append(first)
    if second is None or second in taken:
        second = next(cell for cell in ordered if cell not in taken)
    return Words(source, first, second), notes


def has_enough_words(view: View) -> bool:
    """Return whether the text has at least three words."""
    return sum(not cell.special for cell in view.keys) >= 3


def _most_attended(view: View, source: int) -> list[int]:
    """Return the words sorted by the largest weight that any head gives them from the source."""
    largest = view.rows(source).max(axis=(0, 1))
    words = [at for at, cell in enumerate(view.keys) if not cell.special]
    return sorted(words, key=lambda at: -float(largest[at]))


def _cell_of_token(view: View, token: int | None) -> int | None:
    if token is None:
        return None
    return next((at for at, cell in enumerate(view.keys) if cell.pieces[0] <= token < cell.pieces[1]), None)


def _quote(word: str) -> str:
    return f"“{word}”"
