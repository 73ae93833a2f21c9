"""Where pieces stand in a text, for tokenizers that do not tell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from inference.text.byte_pieces import ReadablePiece
from inference.text.word_segmentation import Span

_FAR = 64  # characters within which the next piece is looked for


def places(text: str, pieces: Sequence[ReadablePiece], unknown: Sequence[bool]) -> list[Span | None]:
    """Each piece is looked for after the one before it; what is unknown stands between what is known, or nowhere.

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
            cursor = at + len(piece.bare) - piece.goes_on  # the next piece is of the same character
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
    """Neighbouring pieces: known ones with the characters that they spell together, or a gap."""

    pieces: tuple[int, ...]
    spelled: str  # "" for a gap


def _locate_unknown(text: str, pieces: Sequence[ReadablePiece], unknown: Sequence[bool]) -> dict[int, Span]:
    """Characters of the unknown pieces, where there is one way only to lay the known ones on the text.

    The known runs are laid as far to the front as they go, and as far to the back; all other ways lie between, so a
    run that does not move is where it is. White space is left out, as tokenizers do.
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
    """Pieces that spell something, by whether it is in the text: what a tokenizer has changed is no hold."""
    spelled = {at: _fold_case(piece.bare[: len(piece.bare) - piece.goes_on]) for at, piece in enumerate(pieces)}
    kept = [at for at in spelled if unknown[at] or spelled[at].strip("␣")]
    known = {at for at in kept if not unknown[at] and spelled[at] in squeezed}
    runs = []
    for holds, run in groupby(kept, key=known.__contains__):
        mine = tuple(run)
        runs.append(_Run(mine, "".join(spelled[at] for at in mine) if holds else ""))
    return runs


def _leftmost_starts(squeezed: str, runs: Sequence[_Run]) -> list[int] | None:
    """Where each run begins when all stand as far to the front as they can, a gap having a character at least."""
    found: list[int] = []
    free = 0  # the first place that may be taken
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
    """A stretch for some unknown pieces: one has it all; of several each has a word if there are as many words."""
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
