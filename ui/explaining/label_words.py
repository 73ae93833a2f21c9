"""What a label rests on, word by word: each left out in turn, and the other ways of telling beside it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from attention.cells import Cell
from attention.trace import Trace
from attention.view import View
from inference.questions.agreement import MOST_TOKENS
from ui.explaining.asked import Asked, about
from ui.explaining.drawn import draw_ways, table, who_agrees
from ui.explaining.ways import EFFECT, Label, Question, Ways, ask
from ui.run.refusals import say
from ui.show.chart import theme
from ui.show.lists import together
from ui.show.numbers import small
from ui.show.saving import save
from viz.components.strip.strip import Chip, mount
from viz.figures.palette import sides
from wording import _, told

WAYS, STRIP = "label_ways", "label_words"


def draw_words(asked: Asked, trace: Trace) -> None:
    """What every word does for the label: left out one by one, and in the other ways."""
    if len(trace.source) > MOST_TOKENS:
        say(
            _(
                "The text has {tokens} tokens; words are weighed in at most {most}.",
                tokens=len(trace.source),
                most=MOST_TOKENS,
            ),
            role="status",
        )
        return
    place = asked.place
    cells = [cell for cell in View(trace, words=True).keys if not cell.special]
    cells = [cell for cell in cells if not asked.of_word or cell.pieces != place.run]
    if not cells:
        say(_("The sentence has no other word that could matter."), role="status")
        return
    runs = tuple(cell.pieces for cell in cells)
    focus = place.run if asked.of_word else place.reads
    ways = ask(Question(trace, asked.request, focus, runs, Label(asked.label, asked.at)))
    for problem in ways.problems:
        say(problem, role="status")
    _verdict(asked, ways, cells)
    if not ways.found:
        return
    origin, (against, for_it) = about(asked), sides(theme())
    draw_ways(ways, cells, WAYS, about=tuple(origin.items()))
    st.caption(
        _(
            "Above, {against}: the word speaks against the label, {for_it}: for it, by what its logit does when nothing"
            " sees the word in any layer. First matrix: rows are ways of asking, columns words; more colour means a"
            " larger share of that row, whichever sign. *Gradients*, *integrated gradients* and *left out* are about"
            " the label's logit, the other rows about what {reader} takes from the words. Second: one cell is one"
            " pair of ways, the framed row and column the causal effect.",
            against=told(against),
            for_it=told(for_it),
            reader=_reader(asked),
        )
    )
    save(_("Save the table"), table(ways, cells), "headlight-label-words.csv",
         _("Every word's number and share by every way as CSV, all digits"), key="label_save_words",
         provenance=origin)  # fmt: skip


def _reader(asked: Asked) -> str:
    """What the head reads, in words."""
    first, stop = asked.place.reads
    return f"“{asked.word}”" if asked.of_word else asked.said.row.pieces[first] if stop - first == 1 else _("the text")


def _verdict(asked: Asked, ways: Ways, cells: Sequence[Cell]) -> None:
    """The word that matters most, and all of them shaded."""
    falls = ways.values(EFFECT)
    if falls is None:
        return
    best, most = int(np.abs(falls).argmax()), float(np.abs(falls).max()) or 1.0
    values = {"word": cells[best].text, "number": asked.what, "change": small(abs(float(falls[best])))}
    first = (
        _("Without “{word}” {number} falls by {change}, the most of all words.", **values)
        if falls[best] > 0
        else _("Without “{word}” {number} rises by {change}, the most of all words.", **values)
    )
    say(together(first, who_agrees(ways)), role="status")
    chips = [
        Chip(
            cell.text,
            shade=float(fall) / most,
            label=_signed(fall),
            title=_("left out: it changes by {change:+.3f}", change=-fall),
        )
        for cell, fall in zip(cells, falls, strict=True)
    ]
    mount(chips, STRIP, title=_("How far {number} falls without each word", number=asked.what), diverging=True)


def _signed(fall: float) -> str:
    return f"{fall:+.2f}" if abs(fall) >= 0.005 else "0"
