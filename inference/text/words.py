"""Words of a text in any script, and the spans of tokens in the text."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from typing import Any

from attention.tokens import TokenRow
from attention.trace import Trace
from inference.text.pieces import ReadablePiece

Span = tuple[int, int]
_JOINER = "\u200d"
# In scripts without spaces, each character (with its marks) is a word, as BERT does for Chinese.
_UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN", "YI ", "BOPOMOFO")


def number_words(text: str) -> list[int | None]:
    """Return the word number of every character; None for white space.

    A run of letters and digits, with combining marks, is a word. Every other symbol is a separate word, and so is
    an emoji sequence. In scripts without spaces every character is a word.

    >>> number_words("I'm ok")
    [0, 1, 2, None, 3, 3]
    """
    numbers: list[int | None] = []
    word, previous = -1, ""  # previous: the class of the previous character
    for place, character in enumerate(text):
        kind = _script_kind(character)
        if kind == "space":
            numbers.append(None)
            previous = "space"
            continue
        joined = kind == "mark" or (place > 0 and text[place - 1] == _JOINER)
        starts = previous in ("", "space") or not (joined or (kind == previous == "letter"))
        if kind == "flag" and previous == "flag":
            starts = False  # two regional indicators form a flag
            kind = "flag done"
        if starts:
            word += 1
        numbers.append(word)
        previous = previous if kind == "mark" and previous not in ("", "space") else kind
    return numbers


def _script_kind(character: str) -> str:
    if character.isspace():
        return "space"
    category = unicodedata.category(character)
    if category[0] == "M" or character == _JOINER or "\U0001f3fb" <= character <= "\U0001f3ff":
        return "mark"
    if "\U0001f1e6" <= character <= "\U0001f1ff":
        return "flag"
    if category[0] in "LN":
        ascii_or_latin = ord(character) < 0x0E00
        unspaced = not ascii_or_latin and unicodedata.name(character, "").startswith(_UNSPACED)
        return "sign" if unspaced else "letter"
    return "sign"


def words_of_spans(text: str, spans: Sequence[Span | None], roles: Sequence[str]) -> list[int]:
    """Return the word number of each token, counted from 0 without gaps.

    ``spans`` are the character spans of the tokens. ``roles`` are their roles in the vocabulary: "start" of a word,
    "inside" a word, or only "space". White space belongs to the next word, unless it ends a line. A token without a
    span (None) is assigned by its role.

    >>> words_of_spans("a bee", [(0, 1), (1, 4), (4, 5)], ["start", "start", "inside"])
    [0, 1, 1]
    """
    numbers = number_words(text)
    keys: list[object] = [None] * len(spans)
    after: object = None
    for place in range(len(spans) - 1, -1, -1):
        after = keys[place] = _key(text, numbers, spans[place], roles[place], after, place)
    result: list[int] = []
    for place, key in enumerate(keys):
        span = spans[place]
        unplaced = isinstance(key, tuple) and (span is None or span[0] == span[1])
        same = place > 0 and ((unplaced and roles[place] == "inside") or key == keys[place - 1])
        result.append(0 if not result else result[-1] + (0 if same else 1))
    return result


def _key(text: str, numbers: list[int | None], span: Span | None, role: str, after: object, place: int) -> object:  # noqa: PLR0913  # the inputs that determine the word
    """Return a word number, or (place,) for a token that belongs to no word."""
    start, end = span or (0, 0)
    inside = next((numbers[at] for at in range(start, end) if numbers[at] is not None), None)
    if inside is not None:
        return inside
    blank = role == "space" or start < end
    return after if blank and after is not None and "\n" not in text[start:end] else (place,)


HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")
_LOCK = threading.Lock()


def is_chinese(text: str) -> bool:
    """Return True if a text contains a Chinese character.

    >>> is_chinese("BERT 模型"), is_chinese("The cat")
    (True, False)
    """
    return HAN.search(text) is not None


def chinese_words(text: str) -> list[tuple[int, int]]:
    """Return the spans of Chinese words of several characters, as found by jieba.

    jieba uses a dictionary and a model of unknown words.

    >>> [text[start:stop] for text in ["那只动物没有过马路。"] for start, stop in chinese_words(text)]
    ['动物', '没有', '马路']
    """
    found = []
    with _LOCK:
        cut = _cutter().tokenize
        for run in HAN.finditer(text):
            found += [(run.start() + start, run.start() + stop) for _, start, stop in cut(run[0]) if stop - start > 1]
    return found


def by_chinese_words(trace: Trace) -> Trace:
    """Return the trace with the tokens of each Chinese word (as found by jieba) grouped into a word.

    Return an equal trace if the texts have no Chinese words.
    """
    source = regroup_words(trace.source, (trace.text, trace.pair or ""))
    target = trace.target and regroup_words(trace.target, (trace.target_text or "",))
    return replace(trace, source=source, target=target)


def regroup_words(row: TokenRow, texts: Sequence[str]) -> TokenRow:
    """Renumber the words of a token row: tokens that begin in the same Chinese word get the same number.

    ``texts`` are the texts of the row's segments, in order.
    """
    spans = [chinese_words(text) if is_chinese(text) else [] for text in texts]
    if not any(spans):
        return row
    starts = [{at: start for start, stop in found for at in range(start, stop)} for found in spans]
    words: list[int | None] = []
    numbers: dict[int, int] = {}  # the number of the previous word, by segment
    before: dict[int, object] = {}
    for word, segment, span in zip(row.words, row.segments, row.spans, strict=True):
        if word is None:
            words.append(None)
            continue
        inside = starts[segment].get(span[0]) if span is not None and segment < len(starts) else None
        here = ("word", word) if inside is None else ("chinese", inside)
        numbers[segment] = numbers.get(segment, -1) + (before.get(segment) != here)
        before[segment] = here
        words.append(numbers[segment])
    return replace(row, words=tuple(words))


@cache
def _cutter() -> Any:
    """Load jieba with the dictionary of its package, not with its cache in a shared folder."""
    import jieba

    cutter = jieba.Tokenizer()
    cutter.FREQ, cutter.total = cutter.gen_pfdict(cutter.get_dict_file())
    cutter.initialized = True
    return cutter


_FAR = 64  # the number of characters in which the next token is searched


def places(text: str, pieces: Sequence[ReadablePiece], unknown: Sequence[bool]) -> list[Span | None]:
    """Return the character span of each subword in the text, searched from left to right.

    Unknown tokens get the span between their known neighbours, or None.

    >>> known = [ReadablePiece(word, word) for word in ("the", "<unk>", "sat")]
    >>> places("The \\u732b sat", known, [False, True, False])
    [(0, 3), (4, 5), (6, 9)]
    """
    spans: list[Span | None] = []
    lowered = text.lower() if len(text.lower()) == len(text) else text
    cursor = 0
    for piece, lacking in zip(pieces, unknown, strict=True):
        at = -1 if lacking or not piece.bare else _find(text, lowered, piece.bare, cursor)
        spans.append((at, at + len(piece.bare)) if at >= 0 else None)
        if at >= 0:
            cursor = at + len(piece.bare) - piece.goes_on  # the next subword continues the last character
    if any(unknown):
        for number, span in _locate_unknown(text, pieces, unknown).items():
            spans[number] = span
    return spans


def _find(text: str, lowered: str, piece: str, start: int) -> int:
    end = start + len(piece) + _FAR
    at = text.find(piece, start, end)
    return at if at >= 0 else lowered.find(piece.lower(), start, end)


@dataclass(frozen=True)
class _Run:
    """A run of adjacent tokens: known tokens with the characters that they spell, or a gap."""

    pieces: tuple[int, ...]
    spelled: str  # "" if the run is a gap


def _locate_unknown(text: str, pieces: Sequence[ReadablePiece], unknown: Sequence[bool]) -> dict[int, Span]:
    """Return the spans of unknown tokens if the known tokens can be placed in the text in only one way.

    The known runs are placed as far left as possible, and as far right as possible. All other placements lie
    between, so a run with equal placements is certain. White space is ignored, as in tokenizers.
    """
    seen = [at for at, character in enumerate(text) if not character.isspace()]
    squeezed = _fold_case(text[at] for at in seen)
    runs = _runs(squeezed, pieces, unknown)
    front, back = (
        _leftmost_starts(squeezed, runs),
        _leftmost_starts(squeezed[::-1], [_Run((), run.spelled[::-1]) for run in runs[::-1]]),
    )
    if front is None or back is None:
        return {}
    fixed = [(at, at + len(run.spelled)) for run, at in zip(runs, front, strict=True)]
    sure = [
        at == len(squeezed) - other - len(run.spelled)
        for run, at, other in zip(runs, front, reversed(back), strict=True)
    ]
    found: dict[int, Span] = {}
    for number, run in enumerate(runs):
        neighbours = [at for at in (number - 1, number + 1) if 0 <= at < len(runs)]
        if run.spelled or not all(sure[at] for at in neighbours) or not all(unknown[at] for at in run.pieces):
            continue
        start = fixed[number - 1][1] if number else 0
        end = fixed[number + 1][0] if number + 1 < len(runs) else len(squeezed)
        found |= dict(
            zip(run.pieces, _share_stretch(text, (seen[start], seen[end - 1] + 1), len(run.pieces)), strict=False)
        )
    return found


def _runs(squeezed: str, pieces: Sequence[ReadablePiece], unknown: Sequence[bool]) -> list[_Run]:
    """Group tokens by their presence in the text; tokens that the tokenizer changed count as gaps."""
    spelled = {at: _fold_case(piece.bare[: len(piece.bare) - piece.goes_on]) for at, piece in enumerate(pieces)}
    kept = [at for at in spelled if unknown[at] or spelled[at].strip("␣")]
    known = {at for at in kept if not unknown[at] and spelled[at] in squeezed}
    runs = []
    for holds, run in groupby(kept, key=known.__contains__):
        mine = tuple(run)
        runs.append(_Run(mine, "".join(spelled[at] for at in mine) if holds else ""))
    return runs


def _leftmost_starts(squeezed: str, runs: Sequence[_Run]) -> list[int] | None:
    """Return the starts of the runs in the leftmost placement, or None if there is no placement.

    A gap takes at least a character.
    """
    found: list[int] = []
    free = 0  # the first free position
    for number, run in enumerate(runs):
        if not run.spelled:
            at, free = free, free + 1
        else:
            last = number + 1 == len(runs)
            at = squeezed.find(run.spelled, free) if number else 0
            at = len(squeezed) - len(run.spelled) if last and at >= 0 else at
            if at < free or not squeezed.startswith(run.spelled, at):
                return None
            free = at + len(run.spelled)
        found.append(at)
    return found if free <= len(squeezed) else None


def _share_stretch(text: str, span: Span, pieces: int) -> list[Span]:
    """Divide a span among unknown tokens.

    A single token gets all of it; several tokens get a word each if there are as many words.
    """
    if pieces == 1:
        return [span]
    found: list[Span] = []
    for blank, run in groupby(range(*span), key=lambda at: text[at].isspace()):
        mine = list(run)
        if not blank:
            found.append((mine[0], mine[-1] + 1))
    return found if len(found) == pieces else []


def _fold_case(characters: Iterable[str]) -> str:
    return "".join(low if len(low := one.lower()) == 1 else one for one in characters)
