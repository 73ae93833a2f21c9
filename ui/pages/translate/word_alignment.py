"""Word alignment from cross-attention, read at the step that predicts each target word."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from attention.alignment import Alignment, CrossRowConvention, alignment
from attention.head_names import head_label
from attention.trace import Trace
from i18n import _
from ui.input.controls import bound_widget
from ui.pages.translate.options import CrossHead, TranslateOptions
from ui.pages.translate.translation import Translation, matrix_computation
from ui.run.notices import show_notice
from ui.show.chart import draw_chart, theme
from ui.show.tables import csv_table, download_button
from ui.show.text import join_sentences
from ui.state.params import set_params
from ui.state.view_state import ViewState
from viz.figures.vectors import alignment_map, picked_pair

MATRIX = "translate_matrix"


@dataclass(frozen=True, eq=False)
class AlignmentOptions:
    """Options of the alignment matrix: words or tokens, special tokens, and the convention for rows.

    ``read_at`` is the decoder step whose attention is read for a target token (CrossRowConvention).
    """

    words: bool
    special: bool
    read_at: CrossRowConvention

    def alignment(self, trace: Trace, head: CrossHead) -> Alignment:
        """Return the alignment matrix of a head, or the mean over all cross-attention heads."""
        given: dict[str, Any] = {"by_words": self.words, "read_at": self.read_at, "special": self.special}
        if not head.mean:
            return alignment(trace, head.layer, head.head, **given)
        records = trace.records("cross")
        every = [
            alignment(trace, layer, at, **given) for layer, found in enumerate(records) for at in range(found.heads)
        ]
        return replace(every[0], weights=np.mean([one.weights for one in every], axis=0, dtype=np.float32))


def get_alignment_options(choice: ViewState, options: TranslateOptions) -> AlignmentOptions:
    """Return the view options of the alignment matrix: those in the popover, and those below the matrix."""
    return AlignmentOptions(
        choice.words, choice.special, CrossRowConvention.OWN if options.late else CrossRowConvention.WRITING
    )


def matrix(choice: ViewState, translation: Translation, head: CrossHead, at: int, options: TranslateOptions) -> None:
    """Draw the alignment matrix of a head with a sentence, its widgets and its file."""
    drawn = get_alignment_options(choice, options)
    found = drawn.alignment(translation.trace, head)
    if not found.target or not found.source:
        show_notice(
            _("The text has only special tokens. Show them in View options."),
            role="status",
        )
        return
    # Special tokens often get the most attention, so the sentence counts them even if the matrix hides them.
    complete = found if drawn.special else replace(drawn, special=True).alignment(translation.trace, head)
    show_notice(summary(translation, complete, head, at), "status")
    figure = alignment_map(
        found.weights,
        [translation.cell_label(cell) for cell in found.target],
        [cell.label for cell in found.source],
        theme(),
        _("Attention of {head} to the source", head=head.description),
        chosen=row_of(found, at),
        strongest=[found.strongest(row) for row in range(len(found.target))],
    )

    def keep(key: str) -> None:
        place = picked_pair(st.session_state[key])
        step = -1 if place is None or place[0] >= len(found.target) else step_at(found, place[0])
        if step >= 0:
            set_params(TranslateOptions, step=step)

    computation = matrix_computation(translation, head, drawn.words, drawn.special, drawn.read_at)
    about = partial(_provenance, translation, found, head)
    draw_chart(figure, MATRIX, on_click=keep, about=about, computation=computation)
    _draw_legend(translation, found, head)


def row_of(found: Alignment, at: int) -> int | None:
    """Return the row of the alignment matrix for the token that step ``at`` writes; None if it is hidden."""
    token = at + (found.read_at is CrossRowConvention.OWN)
    return next((row for row, cell in enumerate(found.target) if cell.pieces[0] <= token < cell.pieces[1]), None)


def step_at(found: Alignment, row: int) -> int:
    """Return the step that writes the first token of a row; -1 for the start token."""
    return found.target[row].pieces[0] - (found.read_at is CrossRowConvention.OWN)


def summary(translation: Translation, found: Alignment, head: CrossHead, at: int) -> str:
    """Describe the source words to which the word of step ``at`` attends, and the head's rank.

    ``found`` is the alignment with the special tokens. Heads are ranked by their source coverage (``covering_heads``).
    """
    row = row_of(found, at)
    said = "" if row is None else _describe_row(translation, found, head, row)
    if not head.covering.any():
        return said or _("The translation is empty. Type another text or your own translation.")
    if head.mean:
        return said
    mine = head.covering[head.layer, head.head]
    rank = _(
        "Coverage: {weight:.2f}, rank {rank} of {heads} heads.",
        weight=mine,
        rank=int((head.covering > mine).sum()) + 1,
        heads=head.covering.size,
    )
    return join_sentences(said, rank)


def _describe_row(translation: Translation, found: Alignment, head: CrossHead, row: int) -> str:
    """Return sentences with the source token of a row's largest weight, and the word if that is a special token."""
    largest, best = int(found.weights[row].argmax()), found.strongest(row)
    values = {
        "written": translation.cell_label(found.target[row]),
        "head": head.description,
        "word": found.source[largest].text,
        "weight": found.weights[row, largest],
    }
    said = (
        _("Before writing “{written}”, {head} attends most to “{word}” ({weight:.0%}).", **values)
        if found.read_at is CrossRowConvention.WRITING
        else _("After reading “{written}”, {head} attends most to “{word}” ({weight:.0%}).", **values)
    )
    if best is None or not found.source[largest].special:
        return said
    words = _(
        "Among words, “{word}” gets most ({weight:.0%}).", word=found.source[best].text, weight=found.weights[row, best]
    )
    return join_sentences(said, words)


def _provenance(translation: Translation, found: Alignment, head: CrossHead) -> dict[str, Any]:
    """Return the provenance of an alignment: that of the translation, the head, and the state that a row reads."""
    name = "mean of all heads" if head.mean else f"cross-attention {head_label(head.layer, head.head)}"
    reads = "before writing" if found.read_at is CrossRowConvention.WRITING else "after reading"
    return translation.provenance(attention=name, rows=f"decoder state {reads} the token")


def _draw_legend(translation: Translation, found: Alignment, head: CrossHead) -> None:
    st.caption(_("Dot: largest weight on a word; frame: the chosen step. Click a row to choose its step."))
    with st.container(horizontal=True, vertical_alignment="center"):
        bound_widget(TranslateOptions, "late", st.toggle)
        rows = [
            (row, translation.cell_label(target), column, source.text, float(found.weights[row, column]))
            for row, target in enumerate(found.target)
            for column, source in enumerate(found.source)
        ]
        of = "mean" if head.mean else f"cross-head-{head_label(head.layer, head.head)}"
        download_button(
            _("Save as CSV"),
            csv_table(("row", "target", "column", "source", "weight"), rows),
            f"headlight-alignment-{of}.csv",
            _("All digits"),
            provenance=_provenance(translation, found, head),
        )
