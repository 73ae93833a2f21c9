"""What another text lends the pass: which of its tokens stand beside which, as where two texts are compared."""

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
    """Tokens (here, there), of row ``row`` alone where one is named; of ``rows`` that are no tokens each its own.

    Raises Refusal where nothing stands beside what was asked for.
    """
    tokens = asked.tokens(side)
    written = asked.two and side == "decoder"  # what was written stands in both passes
    pairs = _words(asked, lender) if rows == len(tokens) and not written else tuple((at, at) for at in range(rows))
    mine = pairs if row is None else tuple(pair for pair in pairs if pair[0] == row)
    if not mine:
        raise UserError(
            gettext_lazy(
                "In the other text no word stands beside “{token}”, token {row}. Pick another token or another text.",
                token=tokens[row or 0],
                row=row or 0,
            ),
            way_out="text",
        )
    return mine


def _words(asked: PassInspector, lender: str) -> Pairs:
    """The tokens of words that stand beside each other."""
    request = asked.request
    lending = TraceRequest(
        model=request.model, revision=request.revision, text=lender, pair=request.pair, cut=request.cut
    )
    other = require_readable(get_backend().trace(lending))
    part = "encoder" if asked.two else None
    views = View(asked.trace, part, words=True), View(other, part, words=True)
    return tuple(pair for word in paired_tokens(*views, align(*views)[0]) for pair in word)
