"""The same question in other sentences: with the nouns swapped, and in rewordings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from attention.counterexamples import LinkTest, LinkWords, measure_links, reword, swap_words
from attention.head_search import counterparts
from attention.view import View
from inference import UserError
from ui.pages.break_head.words import span_of, written_word
from ui.run.services import get_backend
from ui.run.traces import request_of
from ui.state.view_state import ViewState

MOST_REWORDINGS = 12
Kind = Literal["swapped", "reworded"]


@dataclass(frozen=True)
class Trial:
    """Another sentence, with the head's weights; None if the model could not read it or a word is missing.

    In a swapped sentence, ``right`` is still the word that was right in the visitor's sentence.
    """

    kind: Kind
    text: str
    test: LinkTest | None


def run_trials(choice: ViewState, view: View, words: LinkWords, head: tuple[int, int], typed: str) -> list[Trial]:
    """Run the swapped sentence and the rewordings in one batch; ``typed`` are the visitor's own, one per line."""
    text = view.trace.text
    spans = [span_of(view, cell) for cell in (words.right, words.other)]
    nouns = [written_word(view, cell) for cell in (words.right, words.other)]
    own = tuple(line.strip() for line in typed.splitlines() if line.strip())
    texts: list[tuple[Kind, str]] = [("reworded", one) for one in (own or reword(text, nouns))[:MOST_REWORDINGS]]
    if spans[0] is not None and spans[1] is not None:
        texts.insert(0, ("swapped", swap_words(text, spans[0], spans[1])))
    views = _read(choice, [text for _kind, text in texts], view.part)
    return [
        Trial(kind, text, None if other is None else _test(view, other, words, head, swapped=kind == "swapped"))
        for (kind, text), other in zip(texts, views, strict=True)
    ]


def _read(choice: ViewState, texts: Sequence[str], part: str | None) -> list[View | None]:
    """Return the views of some texts; None for each of them if the model cannot read one."""
    requests = [replace(request_of(choice), text=text, pair=None, cut=None) for text in texts]
    try:
        return [View(trace, part, words=True) for trace in get_backend().traces(requests)]
    except UserError:
        return [None] * len(texts)


def _test(view: View, other: View, words: LinkWords, head: tuple[int, int], *, swapped: bool) -> LinkTest | None:
    """Return the weights of the same words in another sentence, or None if a word is missing there."""
    places = (words.source, words.right, words.other)
    found: tuple[int, ...] | None
    if swapped:  # The nouns have changed places; the other words keep theirs.
        found = (words.source, words.other, words.right) if len(view.keys) == len(other.keys) else None
    else:
        found = counterparts(places, [cell.text for cell in view.keys], [cell.text for cell in other.keys])
    if found is None:
        return None
    right, wrong = measure_links(other, LinkWords(*found))[:, head[0], head[1]]
    return LinkTest(float(right), float(wrong))
