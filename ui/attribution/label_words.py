"""What a label rests on, word by word: each left out in turn, and the other ways of telling beside it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from attention.display_tokens import DisplayToken
from attention.trace import Trace
from attention.view import View
from i18n import _, translate
from inference.tasks.word_influence import MOST_TOKENS
from ui.attribution.comparison import describe_agreement, draw_methods, words_csv
from ui.attribution.explained_label import ExplainedLabel, label_provenance
from ui.attribution.methods import EFFECT, AttributionRequest, AttributionSet, TargetLabel, compute_attributions
from ui.run.notices import show_notice
from ui.show.chart import theme
from ui.show.download import download_button
from ui.show.format_list import join_sentences
from ui.show.numbers import format_small
from viz.components.token_strip.token_strip import TokenChip, mount
from viz.figures.palette import sides

WAYS, STRIP = "label_ways", "label_words"


def draw_words(asked: ExplainedLabel, trace: Trace) -> None:
    """What every word does for the label: left out one by one, and in the other ways."""
    if len(trace.source) > MOST_TOKENS:
        show_notice(
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
        show_notice(_("The sentence has no other word that could matter."), role="status")
        return
    runs = tuple(cell.pieces for cell in cells)
    focus = place.run if asked.of_word else place.reads
    ways = compute_attributions(
        AttributionRequest(trace, asked.request, focus, runs, TargetLabel(asked.label, asked.at))
    )
    for problem in ways.problems:
        show_notice(problem, role="status")
    _verdict(asked, ways, cells)
    if not ways.attributions:
        return
    origin, (against, for_it) = label_provenance(asked), sides(theme())
    draw_methods(ways, cells, WAYS, about=tuple(origin.items()))
    st.caption(
        _(
            "Above, {against}: the word speaks against the label, {for_it}: for it, by what its logit does when nothing"
            " sees the word in any layer. First matrix: rows are ways of asking, columns words; more colour means a"
            " larger share of that row, whichever sign. *Gradients*, *integrated gradients* and *left out* are about"
            " the label's logit, the other rows about what {reader} takes from the words. Second: one cell is one"
            " pair of ways, the framed row and column the causal effect.",
            against=translate(against),
            for_it=translate(for_it),
            reader=_reader(asked),
        )
    )
    download_button(_("Save the table"), words_csv(ways, cells), "headlight-label-words.csv",
         _("Every word's number and share by every way as CSV, all digits"), key="label_save_words",
         provenance=origin)  # fmt: skip


def _reader(asked: ExplainedLabel) -> str:
    """What the head reads, in words."""
    first, stop = asked.place.reads
    return (
        f"“{asked.word}”"
        if asked.of_word
        else asked.prediction.row.pieces[first]
        if stop - first == 1
        else _("the text")
    )


def _verdict(asked: ExplainedLabel, ways: AttributionSet, cells: Sequence[DisplayToken]) -> None:
    """The word that matters most, and all of them shaded."""
    falls = ways.values(EFFECT)
    if falls is None:
        return
    best, most = int(np.abs(falls).argmax()), float(np.abs(falls).max()) or 1.0
    values = {"word": cells[best].text, "number": asked.what, "change": format_small(abs(float(falls[best])))}
    first = (
        _("Without “{word}” {number} falls by {change}, the most of all words.", **values)
        if falls[best] > 0
        else _("Without “{word}” {number} rises by {change}, the most of all words.", **values)
    )
    show_notice(join_sentences(first, describe_agreement(ways)), role="status")
    chips = [
        TokenChip(
            cell.text,
            shade=float(fall) / most,
            label=_format_signed(fall),
            title=_("left out: it changes by {change:+.3f}", change=-fall),
        )
        for cell, fall in zip(cells, falls, strict=True)
    ]
    mount(chips, STRIP, title=_("How far {number} falls without each word", number=asked.what), diverging=True)


def _format_signed(fall: float) -> str:
    return f"{fall:+.2f}" if abs(fall) >= 0.005 else "0"
