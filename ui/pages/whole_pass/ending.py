"""The output of a pass: its likeliest tokens or classes, or a notice that it has no probabilities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attention.stages.terms import flat
from i18n import _
from inference.files.embedded import BERT
from inference.tasks.whole_pass import PROBABILITIES
from ui.pages.whole_pass.inspector import PassInspector
from ui.pages.whole_pass.options import WholePassOptions
from ui.run.notices import show_notice
from ui.show.chart import draw_chart, theme
from ui.show.text import format_comma_list
from ui.show.views import link_to_view
from ui.state.view_state import ViewState, to_query
from viz.figures.token_bars import bars

BLANKS = ("[MASK]", "<mask>")
GUESSED = "Paris is the [MASK] of France."
TOP = 6
LEAST = 0.0005  # smallest probability in a sentence; smaller values round to 0.000
Likely = Sequence[tuple[str, float]]


def end_row(asked: PassInspector, side: str, row: int | None = None) -> int:
    """Return the row of the described output: a decoder's last token, else a blank, else ``row`` or 1."""
    tokens = asked.tokens(side)
    if side == "decoder":
        return len(tokens) - 1
    blank = next((at for at, token in enumerate(tokens) if token in BLANKS), None)
    return min((1 if row is None else row) if blank is None else blank, len(tokens) - 1)


def likely_end(asked: PassInspector, options: WholePassOptions) -> tuple[int, Likely]:
    """Return the row of the output and its likeliest (name, probability) pairs, at most TOP.

    The pairs are empty if the last stage has no probabilities.
    """
    last = asked.result.stages[-1]
    at = end_row(asked, last.side, options.row)
    if last.part != PROBABILITIES:
        return at, ()
    array, names = asked.numbers(last)
    rows = flat(array)
    mine = rows[min(at, len(rows) - 1)]
    best = np.argsort(-mine, kind="stable")[:TOP].tolist()
    return at, [(names.get(one, _("number {number}", number=one)), float(mine[one])) for one in best]


def describe_end(asked: PassInspector, at: int, found: Likely) -> str:
    """Return a sentence with up to three of the likeliest outputs."""
    first, *others = (f"“{name}” {chance:.3f}" for name, chance in found if chance >= LEAST or chance == found[0][1])
    if not others:
        return _("{of_what} {first}.", of_what=_end_phrase(asked, at), first=first)
    return _(
        "{of_what} {first}, then {others}.",
        of_what=_end_phrase(asked, at),
        first=first,
        others=format_comma_list(others[:2]),
    )


def of_rows(asked: PassInspector) -> bool:
    """Return True if the last stage has several rows, one for each token."""
    return len(asked.result.spread[asked.result.stages[-1].number]) > 1


def _end_phrase(asked: PassInspector, at: int) -> str:
    tokens = asked.tokens(asked.result.stages[-1].side)
    if not of_rows(asked):
        return _("Output for the whole text:")
    if asked.result.stages[-1].side == "decoder":
        return _("Most likely after “{token}”, the last token:", token=tokens[at])
    if asked.head == "masked" and tokens[at] in BLANKS:
        return _("Most likely for the masked token {at}:", at=at)
    return _("Output at token {at} “{token}”:", at=at, token=tokens[at])


def draw_end(asked: PassInspector, choice: ViewState, at: int, found: Likely) -> None:
    """Draw a sentence on the output, or its shape and a link to an example if it has no probabilities."""
    if found:
        show_notice(describe_end(asked, at, found), role="status")
        return
    last = asked.result.stages[-1]
    show_notice(
        _(
            "The output is {shape} numbers, not probabilities: no task head reads them.",
            shape=" × ".join(map(str, last.shape)),
        ),
        role="status",
    )
    if choice.model != BERT:
        link_to_view(
            "whole_pass",
            _("Try {model}: “{text}”", model=BERT, text=GUESSED).replace("[", "\\["),
            icon=":material/psychology_alt:",
            query=to_query(ViewState(model=BERT, text=GUESSED)),
            help=_("This page with a masked language model"),
        )


def picture(asked: PassInspector, at: int, found: Likely) -> None:
    """Draw the likeliest outputs as bars, if there are any."""
    if found:
        names, chances = zip(*found, strict=True)
        title = _("Output")
        if of_rows(asked):
            token = asked.tokens(asked.result.stages[-1].side)[at]
            title = _("Output at token {at} “{token}”", at=at, token=token)
        draw_chart(bars(names, chances, theme(), title), "pass_end")
