"""The question of the view Break the head: a pronoun, two nouns, the options, and more test sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from attention.counterexamples import LinkTest, LinkWords, measure_links, reword, swap_words
from attention.head_search import counterparts
from attention.view import View
from i18n import gettext_lazy
from inference import UserError
from ui.input.probes import guess_nouns, is_word, known_words, span_of, written_word
from ui.run.services import get_backend
from ui.run.traces import request_of
from ui.state.params import drop_place
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
    """Options of the view Break the head: the three words of the question, and the rewordings.

    ``source`` is the pronoun, ``right`` the noun that it means, and ``other`` the wrong noun. Each is a word of the
    text, or "" to guess it. If the text changes, both nouns are reset to guesses, because another sentence may mean
    another noun. ``clicking`` selects which word a click sets.
    """

    source: str = ""
    right: str = option("", of_text=drop_place)
    other: str = option("", of_text=drop_place)
    clicking: str = option(
        "source",
        label=gettext_lazy("A click sets"),
        choices=ROLES,
    )
    rewordings: str = option(
        "",
        label=gettext_lazy("Rewording"),
        help=gettext_lazy("One per line, with the same meaning. Empty: made by rules."),
    )


@dataclass(frozen=True)
class NounQuestion:
    """The pronoun and the two nouns of a text on which a head is tested.

    If ``is_known`` is False, nobody has stated which noun is right, and ``words.right`` is only a guess. If
    ``has_pronoun`` is False, the text has no known pronoun, and ``words.source`` is a word that nobody has chosen.
    """

    words: LinkWords
    is_known: bool  # if the app's annotations or the visitor state the right noun
    has_pronoun: bool = True


def find_words(view: View, options: BreakHeadOptions) -> NounQuestion | None:
    """Return the pronoun and the two nouns of a text, or None if the text has fewer than three words.

    If the text has no pronoun and the visitor has chosen none, its last word is in its place.
    """
    known = known_words(view.trace.text)
    named = ("", "", "") if known is None else (known.source, known.right, known.other)
    source = find_word(view.keys, options.source)
    if source is None:
        source = find_word(view.keys, named[0])
    if source is None:
        source = pronoun_in(view)
    has_pronoun = source is not None
    if source is None:
        source = next((at for at in reversed(range(len(view.keys))) if is_word(view, at)), None)
    if source is None:
        return None
    guessed = guess_nouns(view, source)
    taken = [source]
    rights, others = (
        [find_word(view.keys, chosen), find_word(view.keys, annotated)]
        for chosen, annotated in ((options.right, named[1]), (options.other, named[2]))
    )
    for wanted in (rights, others):
        noun = next((cell for cell in (*wanted, *guessed) if cell is not None and cell not in taken), None)
        if noun is None:
            return None
        taken.append(noun)
    return NounQuestion(LinkWords(*taken), taken[1] in rights, has_pronoun)


MOST_REWORDINGS = 12
Kind = Literal["swapped", "reworded"]


@dataclass(frozen=True)
class Trial:
    """The test of a head on another sentence: the visitor's sentence with swapped nouns, or reworded.

    ``kind`` is "swapped" or "reworded". ``test`` has the head's weights on the same three words; it is None if the
    model cannot read the sentence or a word is missing. The right noun after a swap is unknown, because it depends on
    the meaning. ``test.right`` is then the weight of the noun that was right before the swap.
    """

    kind: Kind
    text: str
    test: LinkTest | None


def run_trials(choice: ViewState, view: View, words: LinkWords, head: tuple[int, int], typed: str) -> list[Trial]:
    """Test a head on the sentence with swapped nouns and on rewordings, all in a single batch.

    ``typed`` has the visitor's own rewordings, a line each; if it is empty, rules reword the sentence.
    """
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
