"""Pairs of recipient and donor tokens for activation patching from another text."""

from __future__ import annotations

from attention.comparison import align
from attention.edits import Pairs, paired_tokens
from attention.view import View
from i18n import gettext_lazy
from inference import TraceRequest, UserError
from ui.input.unknown_words import require_readable
from ui.pages.whole_pass.inspector import PassInspector
from ui.run.services import get_backend


def pairs_of(asked: PassInspector, side: str, rows: int, lender: str, row: int | None) -> Pairs:
    """Return pairs of positions (recipient, donor) for a stage with ``rows`` rows.

    Tokens are paired by aligned words. Each row is paired with the same row if the rows are not tokens, or belong
    to the decoder of an encoder-decoder model. If ``row`` is given, only its pair is returned. Raise UserError if
    no pair is left.
    """
    tokens = asked.tokens(side)
    written = asked.two and side == "decoder"  # both passes read the same target tokens
    pairs = _words(asked, lender) if rows == len(tokens) and not written else tuple((at, at) for at in range(rows))
    mine = pairs if row is None else tuple(pair for pair in pairs if pair[0] == row)
    if not mine:
        raise UserError(
            gettext_lazy(
                "“{token}” (token {row}) has no aligned word in the donor text. Choose another token or text.",
                token=tokens[row or 0],
                row=row or 0,
            ),
            way_out="text",
        )
    return mine


def _words(asked: PassInspector, lender: str) -> Pairs:
    """Return the positions (recipient, donor) of tokens in aligned words."""
    request = asked.request
    lending = TraceRequest(
        model=request.model, revision=request.revision, text=lender, pair=request.pair, cut=request.cut
    )
    other = require_readable(get_backend().trace(lending))
    part = "encoder" if asked.two else None
    views = View(asked.trace, part, words=True), View(other, part, words=True)
    return tuple(pair for word in paired_tokens(*views, align(*views)[0]) for pair in word)
