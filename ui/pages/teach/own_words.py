"""What a label rests on, word by word: each left out in turn, and the other ways of telling beside it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from attention.trace import Trace
from attention.view import Cell, View
from inference import TraceRequest
from inference.questions.agreement import MOST_TOKENS
from ui.explaining.drawn import draw_ways, table, who_agrees
from ui.explaining.ways import EFFECT, Label, Question, Ways, ask
from ui.pages.teach.own_asked import Asked, about
from ui.run.refusals import say
from ui.show.numbers import small
from ui.show.provenance import captioned
from ui.show.saving import save
from viz.components.strip.strip import Chip, mount

WAYS, STRIP = "teach_ways", "teach_words"


def draw_words(asked: Asked, trace: Trace) -> None:
    """What every word does for the label: left out one by one, and in the other ways."""
    if len(trace.source) > MOST_TOKENS:
        say(f"The text has {len(trace.source)} tokens; words are weighed in at most {MOST_TOKENS}.", role="status")
        return
    place = asked.said.places[asked.place]
    cells = [cell for cell in View(trace, words=True).keys if not cell.special]
    cells = [cell for cell in cells if asked.at is None or cell.pieces != place.run]
    if not cells:
        say("The sentence has no other word that could matter.", role="status")
        return
    runs = tuple(cell.pieces for cell in cells)
    request = TraceRequest(asked.model, asked.text)
    focus = place.reads if asked.at is None else place.run
    ways = ask(Question(trace, request, focus, runs, Label(asked.label, asked.at)))
    for problem in ways.problems:
        say(problem, role="status")
    _verdict(asked, ways, cells)
    if not ways.found:
        return
    told = about(asked)
    draw_ways(ways, cells, WAYS, about=tuple(told.items()))
    st.caption(
        "Above: orange and violet say whether a word speaks for the label or against it, by what its logit does when"
        " nothing sees the word in any layer. First matrix: rows are ways of asking, columns words; more colour means a"
        " larger share of that row, whichever sign. *Gradients*, *integrated gradients* and *left out* are about the"
        f" label's logit, the other rows about what {_reader(asked)} takes from the words. Second: one cell is one"
        " pair of ways, the framed row and column the causal effect."
    )
    save("Save the table", captioned(table(ways, cells), told), "headlight-label-words.csv",
         "Every word's number and share by every way as CSV, all digits", key="teach_save_words")  # fmt: skip


def _reader(asked: Asked) -> str:
    """What the head reads, in words."""
    place, row = asked.said.places[asked.place], asked.said.row
    if asked.at is not None:
        return f"“{asked.word}”"
    return row.pieces[place.reads[0]] if place.reads[1] - place.reads[0] == 1 else "the whole text"


def _verdict(asked: Asked, ways: Ways, cells: Sequence[Cell]) -> None:
    """The word that matters most, and all of them shaded."""
    falls = ways.values(EFFECT)
    if falls is None:
        return
    best, most = int(np.abs(falls).argmax()), float(np.abs(falls).max()) or 1.0
    way = "falls" if falls[best] > 0 else "rises"
    say(f"Without “{cells[best].text}” {asked.what} {way} by {small(abs(float(falls[best])))}, the most of all words."
        f"{who_agrees(ways)}", role="status")  # fmt: skip
    chips = [
        Chip(cell.text, shade=float(fall) / most, label=f"{fall:+.2f}", title=f"left out: it changes by {-fall:+.3f}")
        for cell, fall in zip(cells, falls, strict=True)
    ]
    mount(chips, STRIP, title=f"How far {asked.what} falls without each word", diverging=True)
