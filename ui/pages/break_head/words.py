"""The pronoun and the two nouns of a sentence: chosen by the visitor, named by a probe, or guessed."""

from __future__ import annotations

from attention.counterexamples import LinkWords
from attention.view import View
from ui.input.probes import Probe
from ui.pages.break_head.options import BreakHeadOptions
from ui.state.selection import find_word, pronoun_in

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

    Words after a determiner come first, then words with a capital, then all others; those before the pronoun precede
    those after it.
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
    """Return the characters of a word in the text, (start, stop); None for a special token."""
    start, stop = view.keys[cell].pieces
    first, last = view.trace.source.spans[start], view.trace.source.spans[stop - 1]
    return None if first is None or last is None else (first[0], last[1])


def written_word(view: View, cell: int) -> str:
    """Return a word as the text has it; the tokens of an uncased model have no capitals."""
    span = span_of(view, cell)
    return view.keys[cell].text if span is None else view.trace.text[slice(*span)].strip()
