"""Prepared questions of the form "Which head links these words?", called probes, from the app or from a file.

The candidates for a pronoun come from annotations if the sentence is one of the app's. In any other text they are
guessed.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, replace
from typing import Any

from attention.annotations import Span
from attention.view import View
from i18n import gettext_lazy, translate
from probing.formats import load_ready_set
from probing.pronoun_heads import PRONOUNS
from ui.paths import ASSETS
from ui.state.selection import PRONOUNS as SUBJECTS

MOST_BYTES = 1_000_000  # bytes of a file of probes
MOST_PROBES = 500
LONGEST = 2_000  # characters of each text of a probe
HALF = re.compile("[\ud800-\udfff]")
OWN = gettext_lazy("Your own")  # default family of a reader's probes


@dataclass(frozen=True)
class Probe:
    """A prepared question about heads: to which of two candidates does a head link the source word?

    ``other`` is a changed version of the text, such as with another right candidate. ``neutral`` are rewordings that
    should not change the answer. In the library of the app, the first candidate is right in ``text``.
    """

    name: str
    text: str
    source: str
    candidates: tuple[str, str]
    other: str = ""
    neutral: tuple[str, ...] = ()
    family: str = OWN
    language: str = ""
    note: str = ""
    other_right: str = ""  # the candidate that is right in ``other``, if that is known

    def title(self) -> str:
        """Return the translated name of the question, with the family of questions that it belongs to."""
        return f"{translate(self.family)} · {translate(self.name)}"


def parse_probes(data: bytes) -> tuple[Probe, ...]:
    """Return the prepared questions in a file that ``dump_probes`` wrote; raise ValueError if the file is invalid.

    >>> parse_probes(dump_probes([Probe("cat", "The cat sat.", "sat", ("cat", "the"))]))[0].source
    'sat'
    """
    if len(data) > MOST_BYTES:
        raise ValueError(
            gettext_lazy(
                "The file has {size:,} bytes; the limit is {most:,}. Split it.", size=len(data), most=MOST_BYTES
            )
        )
    try:
        entries = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ValueError(gettext_lazy("The file is not JSON. Open one saved here.")) from error
    if not isinstance(entries, list) or len(entries) > MOST_PROBES:
        raise ValueError(gettext_lazy("Expected a list of at most {most} probes, as saved here.", most=MOST_PROBES))
    return tuple(_probe(entry, at) for at, entry in enumerate(entries, 1))


def dump_probes(probes: list[Probe]) -> bytes:
    """Return prepared questions (probes) as a JSON file for ``parse_probes``."""
    return json.dumps([asdict(probe) for probe in probes], ensure_ascii=False, indent=1).encode()


def _probe(entry: Any, at: int) -> Probe:
    fields = entry if isinstance(entry, dict) else {}
    names = ("name", "text", "source", "other", "other_right", "family", "language", "note")
    texts = {name: fields.get(name, "") for name in names}
    candidates, neutral = fields.get("candidates", []), fields.get("neutral", [])
    lists = isinstance(candidates, list) and isinstance(neutral, list)
    words = [*candidates, *neutral] if lists else [None]
    wrong = gettext_lazy(
        "Probe {number} needs name, text, source and two candidates (other and neutral are optional), each up to "
        "{most:,} characters.",
        number=at,
        most=LONGEST,
    )
    if not lists or len(candidates) != 2 or not all(map(_fits, (*texts.values(), *words))):
        raise ValueError(wrong)
    if not (texts["name"] and texts["text"] and texts["source"]):
        raise ValueError(wrong)
    family = texts.pop("family") or OWN
    return Probe(**texts, family=family, candidates=(candidates[0], candidates[1]), neutral=tuple(neutral))


def _fits(text: Any) -> bool:
    """Return whether a value is a text that a page can show.

    JSON may contain a lone surrogate, which no page can show.
    """
    return isinstance(text, str) and len(text) <= LONGEST and not HALF.search(text)


LIBRARY: tuple[Probe, ...] = tuple(
    replace(probe, family=gettext_lazy(probe.family), name=gettext_lazy(probe.name), note=gettext_lazy(probe.note))
    for probe in parse_probes((ASSETS / "probes.json").read_bytes())
)


def probe_of(text: str, probes: tuple[Probe, ...]) -> Probe | None:
    """Return the prepared question (probe) about this text, or None."""
    return next((probe for probe in probes if probe.text == text), None)


@dataclass(frozen=True)
class KnownWords:
    """The pronoun of an annotated sentence, the noun that it stands for, and another noun."""

    source: str
    right: str
    other: str


def known_words(text: str) -> KnownWords | None:
    """Return the pronoun, its noun and another noun of a sentence that the app has annotated, or None.

    >>> known_words("The animal didn't cross the street because it was too wide.")
    KnownWords(source='it', right='street', other='animal')
    """
    for probe in LIBRARY:
        if text == probe.text:
            return KnownWords(probe.source, *probe.candidates)
        if text == probe.other and probe.other_right:
            wrong = next(word for word in probe.candidates if word != probe.other_right)
            return KnownWords(probe.source, probe.other_right, wrong)
    for item in load_ready_set(PRONOUNS).items:
        if text == item.text:
            link = item.links[0]
            units = (link.source, link.target, *(link.others or ()))
            return KnownWords(*(text[slice(*item.units[unit])] for unit in units))
    return None


# English words after which a noun is expected.
DETERMINERS = frozenset(
    (
        *("the", "a", "an", "this", "that", "these", "those", "every", "some", "one"),
        *("my", "your", "his", "her", "its", "our", "their"),
    )
)
# Frequent English adjectives, which may be between a determiner and its noun, and seldom are nouns.
ADJECTIVES = frozenset(
    (
        *("old", "young", "new", "big", "small", "little", "large", "tall", "short", "long", "tiny", "huge"),
        *("good", "bad", "nice", "great", "beautiful", "famous", "important", "clever", "smart", "brave"),
        *("happy", "sad", "angry", "tired", "hungry", "lazy", "quick", "slow", "strong"),
        *("hot", "warm", "cool", "wet", "dirty", "clean", "empty", "full", "heavy", "hard", "soft", "loud", "quiet"),
        *("red", "blue", "green", "yellow", "black", "white", "brown", "grey", "gray", "dark", "bright", "wooden"),
    )
)
SHORTEST = 3  # letters of a word that is guessed to be a noun, if no determiner precedes it


def guess_nouns(view: View, source: int) -> list[int]:
    """Return the indices of words that a pronoun may refer to, the likeliest first.

    ``source`` is the index of the pronoun. Words before the pronoun precede words after it. Within each group the order
    is: words after a determiner, of which ADJECTIVES before another word are skipped; capitalised words; capitalised
    words before the subject of a sentence (such as "Yesterday"); other words; and words of less than SHORTEST letters.
    Determiners come last.
    """
    cells = [at for at in range(len(view.keys)) if is_word(view, at) and at != source]
    determiners = [at for at in cells if _is_determiner(view, at)]
    nouns = sorted(set(cells) - set(determiners), key=lambda at: (at > source, _noun_kind(view, at), at))
    return [*nouns, *determiners]


def is_likely_noun(view: View, cell: int) -> bool:
    """Return True if a word is capitalised or the noun after a determiner, and is not a determiner."""
    return is_word(view, cell) and not _is_determiner(view, cell) and _noun_kind(view, cell) < OTHER_WORD


OTHER_WORD = 3  # kind of a word without the mark of a noun


def _noun_kind(view: View, cell: int) -> int:
    """Return the kind of a word, from 0 for the likeliest noun; ``guess_nouns`` lists the kinds."""
    word = written_word(view, cell)
    if _follows_determiner(view, cell):
        is_skipped = _is_adjective(view, cell) and cell + 1 < len(view.keys) and is_word(view, cell + 1)
        return OTHER_WORD if is_skipped else 0
    if word[:1].isupper() and word.casefold() not in DETERMINERS:
        return 1 + _opens_sentence(view, cell)
    return OTHER_WORD + (len(word) < SHORTEST)


def _follows_determiner(view: View, cell: int) -> bool:
    """Return True if a determiner precedes a word, with only ADJECTIVES in between."""
    before = cell - 1
    while before >= 0 and _is_adjective(view, before):
        before -= 1
    return before >= 0 and _is_determiner(view, before)


def _is_adjective(view: View, cell: int) -> bool:
    return view.keys[cell].text.casefold() in ADJECTIVES


def _is_determiner(view: View, cell: int) -> bool:
    return view.keys[cell].text.casefold() in DETERMINERS


def _opens_sentence(view: View, cell: int) -> bool:
    """Return True if a word opens a sentence before its subject, as "Yesterday" does in "Yesterday Maria sang".

    The next cell is then a punctuation mark, a determiner, a pronoun or a capitalised word.
    """
    before = [one.text for one in view.keys[:cell] if not one.special]
    if (before and before[-1] not in (".", "!", "?")) or cell + 1 == len(view.keys):
        return False
    following = view.keys[cell + 1].text.casefold()
    is_subject = following in DETERMINERS or following in SUBJECTS or written_word(view, cell + 1)[:1].isupper()
    return is_subject or not is_word(view, cell + 1)


def is_word(view: View, at: int) -> bool:
    """Return whether a cell is a word, not a special token or a punctuation mark."""
    return not view.keys[at].special and view.keys[at].text[:1].isalnum()


def span_of(view: View, cell: int) -> Span | None:
    """Return the character span of a word in the text, (start, stop); None for a special token."""
    start, stop = view.keys[cell].pieces
    first, last = view.trace.source.spans[start], view.trace.source.spans[stop - 1]
    return None if first is None or last is None else (first[0], last[1])


def written_word(view: View, cell: int) -> str:
    """Return a word as written in the text, because the tokens of an uncased model have no capitals."""
    span = span_of(view, cell)
    return view.keys[cell].text if span is None else view.trace.text[slice(*span)].strip()
