"""Tokens page: the steps that split a single word into tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from i18n import _, translate
from inference import UserError
from inference.tasks.tokenizer_steps import BestPrefix, Match, Merge, Steps, Word, WordSteps, WordWalk
from ui.pages.tokens.rows import WALK, headings
from ui.run.notices import show_error, show_notice
from ui.run.services import get_backend
from ui.show.tables import draw_table
from ui.show.text import join_sentences
from viz.figures.theme import truncate

TRIED = 12  # A table row lists at most so many rejected prefixes.


def first_pick(steps: Steps) -> tuple[int, int]:
    """Return the (text, word) with the most tokens."""
    sizes = {
        (side, at): word.tokens[1] - word.tokens[0]
        for side, one in enumerate(steps.sides)
        for at, word in enumerate(one.words)
    }
    return max(sizes, key=lambda place: sizes[place])


def word_at(steps: Steps, side: int, span: tuple[int, int]) -> Word | None:
    """Return the first word of text ``side`` that overlaps the character range ``span``."""
    words = steps.sides[side].words if side < len(steps.sides) else ()
    return next((word for word in words if word.span[0] < span[1] and span[0] < word.span[1]), None)


def walk(steps: Steps, word: Word | None, revision: str | None, model: str) -> None:
    """Draw the steps by which ``word`` is split into tokens; show a notice if they are not available."""
    st.text(steps.model)
    if word is None:
        show_notice(steps.why or _("Nothing of this word is left after normalising."), role="status")
        return
    pieces = [token.shown for token in steps.tokens[slice(*word.tokens)]]
    if word.whole:
        show_notice(_("“{word}” is in the vocabulary whole.", word=truncate(word.shown, 40)), role="status")
        return
    try:
        found = get_backend().inspect(WordWalk(model=model, revision=revision, word=word.text))
    except UserError as refusal:
        show_notice(
            _("“{word}” becomes {pieces}.", word=truncate(word.shown, 40), pieces=_join_pieces(pieces)), role="status"
        )
        show_error(refusal)
        return
    show_notice(summary(word.shown, found), role="status")
    if found.steps:
        draw_table(rows(found), column_config=headings(WALK))


def summary(word: str, walk: WordSteps) -> str:
    """Return a sentence on the split of ``word``, specific to the tokenizer's algorithm.

    >>> summary("playing", WordSteps("WordPiece", (Match("playing", ("playing",), "playin"), Match("##g", (), "##g")),
    ...       ("playin", "##g"), (1, 2)))
    '“playing” becomes playin · ##g, after 3 look-ups of the longest remaining beginning.'
    """
    becomes = {"word": truncate(word, 40), "pieces": _join_pieces(walk.pieces)}
    if walk.note:
        return join_sentences(_("“{word}” becomes {pieces}.", **becomes), translate(walk.note))
    if len(walk.pieces) == 1 and len(walk.steps) < 2:
        return _("“{word}” is in the vocabulary whole.", word=truncate(word, 40))
    if walk.algorithm == "WordPiece":
        looked = sum(len(step.tried) + 1 for step in walk.steps if isinstance(step, Match))
        return _(
            "“{word}” becomes {pieces}, after {looked} look-ups of the longest remaining beginning.",
            **becomes,
            looked=looked,
        )
    if walk.algorithm == "BPE":
        return _("“{word}” becomes {pieces}; merges: {merges}.", **becomes, merges=len(walk.steps))
    total = next((step.total for step in reversed(walk.steps) if isinstance(step, BestPrefix)), 0.0)
    return _(
        "“{word}” becomes {pieces}, the likeliest way: log probability {total:.2f}.",
        **becomes,
        total=total,
    )


def rows(walk: WordSteps) -> list[dict[str, Any]]:
    """Return the steps that split a word into tokens as rows of a table."""
    return [_row(number, step) for number, step in enumerate(walk.steps, 1)]


def _row(number: int, step: Match | Merge | BestPrefix) -> dict[str, Any]:
    if isinstance(step, Match):
        tried = " ".join(step.tried[:TRIED])
        if len(step.tried) > TRIED:
            tried += " …"
        return {
            "step": number,
            "left to cut": step.rest,
            "not in the vocabulary": tried,
            "taken": step.taken or "–",
        }
    if isinstance(step, Merge):
        pair = f"{step.before[step.at]} + {step.before[step.at + 1]}"
        return {"step": number, "symbols": " · ".join(step.before), "joined": pair, "learnt as merge": step.rank + 1}
    return {
        "characters": step.end,
        "last piece of the best way": step.piece,
        "its log probability": round(step.score, 2),
        "of the whole way": round(step.total, 2),
    }


def _join_pieces(pieces: Sequence[str]) -> str:
    return " · ".join(truncate(piece, 40) for piece in pieces)
