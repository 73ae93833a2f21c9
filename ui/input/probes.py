"""Prepared questions of the form "Which head links these words?", called probes, from the app or from a file.

The candidates for a pronoun come from annotations if the sentence is one of the app's. In any other text they are
guessed by lists of words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from attention.annotations import Span
from attention.view import View
from i18n import gettext_lazy, translate
from probing.formats import load_ready_set
from probing.pronoun_heads import PRONOUNS
from ui.paths import ASSETS

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


# Pronouns that refer to another word, by which a new text opens (English, French, Chinese).
SUBJECTS = frozenset(
    (
        *("it", "he", "she", "they", "him", "her", "them", "his", "its", "their"),
        *("himself", "herself", "itself", "themselves"),
        *("il", "elle", "ils", "elles", "lui", "eux"),
        *("他", "她", "它", "他们", "她们", "它们"),
    )
)
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
        *("red", "blue", "green", "yellow", "black", "white", "brown", "grey", "gray", "pink", "purple"),
        *("dark", "bright", "wooden", "friendly", "other", "same", "many", "few", "several"),
        *("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    )
)
# English verbs that may follow a subject, besides VERBS.
AUXILIARIES = frozenset(
    (
        *("am", "is", "are", "was", "were", "be", "been", "has", "have", "had", "do", "does", "did", "can"),
        *("could", "would", "shall", "should", "might", "must"),
    )
)
# Function words of English, French and Chinese, and the parts of words such as "didn't".
FUNCTION_WORDS = frozenset(
    (
        *("i", "me", "you", "we", "us", "who", "whom", "whose", "which", "what", "there", "here", "and", "or"),
        *("but", "because", "so", "if", "when", "while", "as", "than", "then", "that", "where", "why", "of", "in"),
        *("on", "at", "by", "for", "to", "with", "from", "into", "about", "after", "before", "until", "since"),
        *("although", "though", "up", "down", "out", "off", "over", "under", "near", "without", "through", "not"),
        *("no", "too", "very", "also", "just", "only", "never", "always", "now", "still", "even", "both", "all"),
        *AUXILIARIES,
        *("t", "s", "re", "ve", "ll", "d", "m", "don", "doesn", "didn", "isn", "aren", "wasn", "weren"),
        *("couldn", "hasn", "hadn", "wouldn", "shouldn", "won"),
        *("le", "la", "les", "un", "une", "des", "du", "ce", "cette", "ces", "sa", "ses", "et", "mais", "donc"),
        *("parce", "que", "qu", "qui", "quand", "ne", "pas", "est", "était", "sont", "ont", "avait", "de", "dans"),
        *("sur", "trop"),
        *("因为", "因", "为", "所以", "但是", "当", "时", "和", "在", "把", "被"),
        *("了", "的", "地", "得", "是", "不", "没", "没有", "很", "也", "都"),
        *("就", "说"),
    )
)
# Frequent English verbs, in forms without "-ed".
VERBS = frozenset(
    (
        *("said", "told", "thought", "knew", "says", "say", "saw", "heard", "felt", "left", "lost", "found", "got"),
        *("went", "came", "ran", "fell", "slept", "ate", "sat", "stood", "met", "gave", "took", "brought"),
        *("bought", "sold", "made", "let", "put", "kept", "held", "read", "wrote", "sang", "broke", "hit", "threw"),
        *("hid", "forgot", "began", "became", "grew", "spoke", "fed", "paid", "sent", "taught", "likes", "loves"),
        *("wants", "go", "come", "see", "know", "get", "take", "give", "make", "tell", "want", "eat", "fit"),
    )
)
PAST = re.compile("..[^e]ed$")  # the past tense of a regular verb, as in "stopped" but not in "bed" or "seed"
ADVERB = re.compile("(?:ab|ib|ed|ing|ous|ful|ive)ly$")  # not "family" or "assembly"
SHORTEST = 3  # letters of a word that is guessed to be a noun, if no determiner precedes it


def guess_nouns(view: View, source: int) -> list[int]:
    """Return the indices of words that a pronoun may refer to, the likeliest first.

    ``source`` is the index of the pronoun. Words before the pronoun precede words after it. Within each group the order
    is: words after a determiner, of which ADJECTIVES before another word are skipped; capitalised words; capitalised
    words before the subject of a sentence (such as "Yesterday"); other words; and words of less than SHORTEST letters.
    After both groups come words that are no nouns: adjectives, verbs, function words.
    """

    def place(at: int) -> tuple[int, bool, int, int]:
        kind = _noun_kind(view, at)
        return 0 if kind < OTHER_WORD else _word_class(view.keys[at].text), at > source, kind, at

    return sorted((at for at in range(len(view.keys)) if is_word(view, at) and at != source), key=place)


def is_likely_noun(view: View, cell: int) -> bool:
    """Return True if a word is capitalised or the noun after a determiner, and is not a function word."""
    return is_word(view, cell) and _noun_kind(view, cell) < OTHER_WORD


def is_clear_noun(view: View, cell: int) -> bool:
    """Return True if a word is the noun after a determiner, or a capitalised name without digits.

    A word that begins a sentence is a name only if a verb or "and" follows, so that "Suddenly" and "Look" are none.
    """
    text = view.keys[cell].text
    if not is_word(view, cell) or _word_class(text) != 0 or any(letter.isdigit() for letter in text):
        return False
    if _follows_determiner(view, cell):
        return True
    return written_word(view, cell)[:1].isupper() and (not _begins_sentence(view, cell) or _is_subject(view, cell))


OTHER_WORD = 3  # kind of a word without the mark of a noun
FUNCTION = 3  # class of function words, pronouns and determiners


def _word_class(text: str) -> int:
    """Return the class of a word: 0 if it may be a noun, 1 for an adjective or adverb, 2 for a verb, or FUNCTION.

    >>> [_word_class(word) for word in "The tired driver needed a seed when his bed broke".split()]
    [3, 1, 0, 2, 3, 0, 3, 3, 0, 2]
    >>> [_word_class(word) for word in ("unbelievably", "family")]
    [1, 0]
    """
    word = text.casefold()
    if word in FUNCTION_WORDS or word in DETERMINERS or word in SUBJECTS:
        return FUNCTION
    if word in ADJECTIVES or ADVERB.search(word):
        return 1
    return 2 if word in VERBS or PAST.search(word) else 0


def _noun_kind(view: View, cell: int) -> int:
    """Return the kind of a word, from 0 for the likeliest noun; ``guess_nouns`` lists the kinds."""
    word = written_word(view, cell)
    if _word_class(view.keys[cell].text) == FUNCTION:
        return OTHER_WORD
    if _follows_determiner(view, cell):
        is_skipped = _is_adjective(view, cell) and cell + 1 < len(view.keys) and is_word(view, cell + 1)
        return OTHER_WORD if is_skipped else 0
    if word[:1].isupper():
        return 1 + _opens_sentence(view, cell)
    return OTHER_WORD + (len(word) < SHORTEST)


def _follows_determiner(view: View, cell: int) -> bool:
    """Return True if a determiner precedes a word, with only adjectives and adverbs in between."""
    before = cell - 1
    while before >= 0 and _is_adjective(view, before):
        before -= 1
    return before >= 0 and _is_determiner(view, before)


def _is_adjective(view: View, cell: int) -> bool:
    return _word_class(view.keys[cell].text) == 1


def _is_determiner(view: View, cell: int) -> bool:
    return view.keys[cell].text.casefold() in DETERMINERS


def _opens_sentence(view: View, cell: int) -> bool:
    """Return True if a word opens a sentence before its subject, as "Yesterday" does in "Yesterday Maria sang".

    The next cell is then a punctuation mark, a determiner, a pronoun or a capitalised word.
    """
    if not _begins_sentence(view, cell) or cell + 1 == len(view.keys):
        return False
    following = view.keys[cell + 1].text.casefold()
    is_subject = following in DETERMINERS or following in SUBJECTS or written_word(view, cell + 1)[:1].isupper()
    return is_subject or not is_word(view, cell + 1)


def _begins_sentence(view: View, cell: int) -> bool:
    """Return True for the first word of the text, and for a word after a mark that ends a sentence."""
    before = [one.text for one in view.keys[:cell] if not one.special]
    return not before or before[-1] in (".", "!", "?")


def _is_subject(view: View, cell: int) -> bool:
    """Return True if a verb of the lists, a regular past tense or "and" follows a word."""
    following = view.keys[cell + 1].text.casefold() if cell + 1 < len(view.keys) else ""
    return following == "and" or following in AUXILIARIES or _word_class(following) == 2


def earlier_nouns(view: View, source: int) -> list[int]:
    """Return the indices of tokens or words before a pronoun that may belong to a noun of the same text.

    Such a word is in none of the lists of this module and does not end in "ed". ``source`` is the index of the pronoun.
    The result is empty for cross-attention.
    """
    if view.crosses:
        return []
    return list(
        cells_before(view, source, lambda words, at: is_word(words, at) and not _word_class(words.keys[at].text))
    )


def cells_before(view: View, source: int, is_wanted: Callable[[View, int], bool]) -> dict[int, str]:
    """Return the indices of cells before a query that belong to certain words, each with its word as written.

    ``is_wanted`` gets a view of whole words and the index of a word in it.
    """
    words = View(view.trace, view.part, words=True)
    start = view.queries[source].pieces[0]
    found = {
        token: written_word(words, at)
        for at, word in enumerate(words.keys)
        if word.pieces[1] <= start and is_wanted(words, at)
        for token in range(*word.pieces)
    }
    return {at: found[cell.pieces[0]] for at, cell in enumerate(view.keys) if cell.pieces[0] in found}


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
