"""Ablation of a translation model, with the translation before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher

import numpy as np
import streamlit as st

from attention.edits import EditSet, pack
from attention.mask import FloatArray
from i18n import _
from inference import UserError
from ui.pages.translate.edits import (
    chance,
    chosen_edits,
    describe_edits,
    draw_edit_list,
    every_head,
    pick_clicks,
    pick_masked_edges,
)
from ui.pages.translate.options import CrossHead, TranslateOptions
from ui.pages.translate.step import forcing_request, logs_of, spaced_label
from ui.pages.translate.translation import Translation, run_translation, width_of
from ui.run.notices import show_error, show_notice
from ui.run.page_model import ask_model
from ui.show.tables import csv_table, download_button
from ui.show.text import likelihood, percent
from ui.state.view_state import ViewState
from viz.components.token_strip import token_strip
from viz.components.token_strip.token_strip import Mark, TokenChip


def draw_ablation(
    choice: ViewState, translation: Translation, head: CrossHead, at: int, options: TranslateOptions
) -> None:
    """Draw the widgets for the edits, the translation before and after, the effect of each head, and random edits."""
    trace = translation.trace
    if not trace.has_qkv("cross"):
        show_notice(
            _("{model} does not support ablation. Choose another model.", model=trace.model.name),
            role="status",
        )
        return
    if not translation.tokens:
        show_notice(_("The translation is empty. Type another text or your own translation."), role="status")
        return
    pick_clicks(options)
    edits = chosen_edits(options, head)
    if options.clicking == "cut":
        pick_masked_edges(choice, translation, head, at, edits)
    try:
        before_after(choice, translation, edits, options)
        left, right = st.columns(2)
        with left:
            every_head(translation, head, edits, options)
        with right:
            chance(translation, edits)
    except UserError as refusal:
        show_error(refusal)
    draw_edit_list(edits, trace)


def before_after(choice: ViewState, translation: Translation, edits: EditSet, options: TranslateOptions) -> None:
    """Draw both translations with marked differences and token probabilities; may raise UserError."""
    if not edits:
        show_notice(_("Nothing is ablated."), "status")
        return
    asked = replace(translation.asked, edits=edits)
    after = run_translation(choice, asked, translation.who, translation.way, width_of(options))
    if after is None:
        return
    before = logs_of(translation)
    kept = ask_model(replace(forcing_request(translation), edits=(edits,)), _("Running the model")).logs[0]
    logs = kept if after.tokens == translation.tokens else _logs(after, edits)
    what = describe_edits(edits, translation.trace)
    show_notice(summary(float(before.sum()), float(kept.sum()), what), "status")
    gone, new = differences(translation.pieces, after.pieces)
    left, right = st.columns(2)
    with left:
        _side(translation, before, gone, "removed", "before")
    with right:
        _side(after, logs, new, "chosen", "after")
    st.caption(
        _("Struck out: only before; outlined: only after; numbers: probabilities. A masked edge stays at its step.")
    )
    rows = [("before", *row) for row in _rows(translation, before)] + [("after", *row) for row in _rows(after, logs)]
    table = csv_table(("when", "step", "token", "probability"), rows)
    download_button(
        _("Save as CSV"),
        table,
        "headlight-before-after.csv",
        _("All digits"),
        provenance=translation.provenance(edits=pack(edits)),
    )


def _logs(after: Translation, edits: EditSet) -> FloatArray:
    """Return the log-probabilities (natural) of the new translation under its edits, shape (step,)."""
    if not after.tokens:
        return np.zeros(0, np.float32)
    logs: FloatArray = ask_model(replace(forcing_request(after), edits=(edits,)), _("Running the model")).logs[0]
    return logs


def summary(first: float, then: float, what: str) -> str:
    """Return a sentence with the original translation's probability before and after the edits.

    ``first`` and ``then`` are log-probabilities; ``what`` describes the edits.
    """
    change = f"{what[0].upper()}{what[1:]}"
    return _(
        "{change}: the probability of the original words goes from {first} to {then}.",
        change=change,
        first=likelihood(first),
        then=likelihood(then),
    )


def differences(before: Sequence[str], after: Sequence[str]) -> tuple[set[int], set[int]]:
    """Return the positions of the tokens that occur only before, and only after.

    >>> differences(["le", "chat", "dort"], ["le", "chien", "dort", "."])
    ({1}, {1, 3})
    """
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    old = {block.a + at for block in blocks for at in range(block.size)}
    new = {block.b + at for block in blocks for at in range(block.size)}
    return set(range(len(before))) - old, set(range(len(after))) - new


def _rows(translation: Translation, logs: FloatArray) -> list[tuple[int, str, float]]:
    pieces = (*translation.pieces, *(("end",) if translation.is_finished else ()))
    return [(at + 1, piece, float(np.exp(log))) for at, (piece, log) in enumerate(zip(pieces, logs, strict=True))]


def _side(translation: Translation, logs: FloatArray, marked: set[int], mark: Mark, when: str) -> None:
    row = translation.trace.target
    chips = []
    for at, piece in enumerate(translation.pieces):
        glued = row is not None and row.goes_on(at + 1)  # place 0 is the start token
        label = spaced_label(percent(float(np.exp(logs[at]))), glued)
        chips.append(TokenChip(piece, mark=mark if at in marked else "", glued=glued, label=label))
    whole = likelihood(float(logs.sum()))
    title = f"{_('Original') if when == 'before' else _('Ablated')} · {whole}"
    token_strip.mount(chips, f"translate_{when}", title=title)
