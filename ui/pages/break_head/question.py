"""The question of the view Break the head: its options, its three words, and other sentences to test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from attention.counterexamples import LinkTest, LinkWords, measure_links, reword, swap_words
from attention.head_search import counterparts
from attention.view import View
from i18n import gettext_lazy
from inference import UserError
from ui.input.probes import Probe
from ui.run.services import get_backend
from ui.run.traces import request_of
from ui.state.selection import find_word, pronoun_in
from ui.state.view_state import ViewState
from viz.options import option

ROLES = {
    "source": gettext_lazy("Pronoun"),
    "right": gettext_lazy("Right noun"),
    "other": gettext_lazy("Other noun"),
}


@dataclass(frozen=True)
class BreakHeadOptions:
    """Options of the view Break the head; each word is one of the text, and "" means a guess."""

    source: str = ""
    right: str = ""
    other: str = ""
    clicking: str = option(
        "source",
        label=gettext_lazy("A click sets"),
        help=gettext_lazy("Choose what to set, then click a word of the sentence."),
        choices=ROLES,
    )
    rewordings: str = option(
        "",
        label=gettext_lazy("Rewording"),
        help=gettext_lazy("One per line, with the same meaning. Empty: made by rules."),
    )


# English words after which a noun is expected.
DETERMINERS = frozenset(
    (
        *("the", "a", "an", "this", "that", "these", "those", "every", "some", "one"),
        *("my", "your", "his", "her", "its", "our", "their"),
    )
)
SHORTEST = 3  # letters of a word that is guessed to be a noun, if no determiner precedes it


def find_words(view: View, options: BreakHeadOptions, probe: Probe | None) -> LinkWords | None:
    """Return the words of the question, or None if the text has fewer than three words.

    Without a pronoun, the last word takes its place.
    """
    named = ("", "", "") if probe is None else (probe.source, *probe.candidates)
    source = find_word(view.keys, options.source)
    if source is None:
        source = find_word(view.keys, named[0])
    if source is None:
        source = pronoun_in(view)
    if source is None:
        source = next((at for at in reversed(range(len(view.keys))) if _is_word(view, at)), None)
    if source is None:
        return None
    guessed = guess_nouns(view, source)
    taken = [source]
    for chosen, known in ((options.right, named[1]), (options.other, named[2])):
        wanted = [find_word(view.keys, chosen), find_word(view.keys, known), *guessed]
        noun = next((cell for cell in wanted if cell is not None and cell not in taken), None)
        if noun is None:
            return None
        taken.append(noun)
    return LinkWords(*taken)


def guess_nouns(view: View, source: int) -> list[int]:
    """Return the words that may be nouns, likeliest first.

    Words after a determiner come first, then capitalised words, then all others. In each group, words before the
    pronoun precede those after it.
    """
    cells = [at for at in range(len(view.keys)) if _is_word(view, at) and at != source]

    def rank(at: int) -> tuple[bool, int, int]:
        word = written_word(view, at)
        follows = at > 0 and view.keys[at - 1].text.casefold() in DETERMINERS
        is_name = word[:1].isupper() and word.casefold() not in DETERMINERS
        kind = 0 if follows else 1 if is_name else 2 if len(word) >= SHORTEST else 3
        return at > source, kind, at

    determiners = [at for at in cells if view.keys[at].text.casefold() in DETERMINERS]
    return [*sorted(set(cells) - set(determiners), key=rank), *determiners]


def _is_word(view: View, at: int) -> bool:
    """Return whether a cell is a word, not a special token or a punctuation mark."""
    return not view.keys[at].special and view.keys[at].text[:1].isalnum()


def span_of(view: View, cell: int) -> tuple[int, int] | None:
    """Return the character span of a word in the text, (start, stop); None for a special token."""
    start, stop = view.keys[cell].pieces
    first, last = view.trace.source.spans[start], view.trace.source.spans[stop - 1]
    return None if first is None or last is None else (first[0], last[1])


def written_word(view: View, cell: int) -> str:
    """Return a word as written in the text, because the tokens of an uncased model have no capitals."""
    span = span_of(view, cell)
    return view.keys[cell].text if span is None else view.trace.text[slice(*span)].strip()


MOST_REWORDINGS = 12
Kind = Literal["swapped", "reworded"]


@dataclass(frozen=True)
class Trial:
    """Another sentence, with the head's weights on the same words.

    The weights are None if the model could not read the sentence or a word is missing. In a swapped sentence, ``right``
    is still the word that was right in the visitor's sentence.
    """

    kind: Kind
    text: str
    test: LinkTest | None


def run_trials(choice: ViewState, view: View, words: LinkWords, head: tuple[int, int], typed: str) -> list[Trial]:
    """Run the swapped sentence and the rewordings in one batch; ``typed`` has the visitor's own, one per line."""
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
