"""The Translate page's experiment: something is removed, and the translation before and after stand side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher

import numpy as np
import streamlit as st

from attention.cause import Set
from attention.mask import Array
from inference import Refusal
from ui.pages.translate.edits import chosen_edits, in_words, listed, pick_clicks, pick_look, put
from ui.pages.translate.effects import chance, every_head
from ui.pages.translate.heads import CrossHead
from ui.pages.translate.options import Translate
from ui.pages.translate.strip import apart, forced, logs_of
from ui.pages.translate.translation import Translation, width_of
from ui.pages.translate.writing import translate
from ui.run.answering import ask
from ui.run.refusals import say, show
from ui.show.csv_table import csv_table
from ui.show.numbers import likelihood, percent
from ui.show.provenance import page_provenance
from ui.show.saving import save
from ui.state.choice import Choice
from viz.components.strip import strip
from viz.components.strip.strip import Chip, Mark
from wording import _


def without(choice: Choice, translation: Translation, head: CrossHead, at: int, options: Translate) -> None:
    """The experiment: what is removed, the translation before and after, and how other removals compare."""
    trace, base = translation.trace, choice.count
    if not trace.has_qkv("cross"):
        say(
            _("{model} computes attention in its own way, so nothing is removed from it here.", model=trace.model.name),
            role="status",
        )
        return
    if not translation.tokens:
        say(_("The translation is empty, so there is nothing to watch. Type your own, or another text."), role="status")
        return
    pick_clicks(options)
    edits = chosen_edits(options, head)
    if options.clicking == "cut":
        pick_look(choice, translation, head, at, edits)
    try:
        before_after(choice, translation, edits, options)
        left, right = st.columns(2)
        with left:
            every_head(translation, head, edits, options, base)
        with right:
            chance(translation, edits)
    except Refusal as refusal:
        show(refusal)
        st.button(_("Put all back"), key="translate_clear", on_click=put, args=((),), help=_("Nothing is removed"))
    listed(edits, trace, base)


def before_after(choice: Choice, translation: Translation, edits: Set, options: Translate) -> None:
    """Both translations side by side, what differs marked, and each token's probability. Raises Refusal."""
    if not edits:
        say(_("Nothing is removed. Click a head on the map, or cut a look."), "status")
        return
    asked = replace(translation.asked, edits=edits)
    after = translate(choice, asked, translation.who, translation.way, width_of(options))
    if after is None:
        return
    before = logs_of(translation)
    kept = ask(replace(forced(translation), edits=(edits,)), _("Reading the translation")).logs[0]
    logs = kept if after.tokens == translation.tokens else _logs(after, edits)
    say(
        summary(
            translation, after, float(before.sum()), float(kept.sum()), in_words(edits, translation.trace, choice.count)
        ),
        "status",
    )
    gone, new = differences(translation.pieces, after.pieces)
    left, right = st.columns(2)
    with left:
        _side(translation, before, gone, "removed", "before")
    with right:
        _side(after, logs, new, "chosen", "after")
    st.caption(
        _(
            "Struck out: only before; outlined: only after. Underneath: each token's probability, after what stands"
            " before it on its own side. A look that is cut is cut at its step, whatever word is written there now."
        )
    )
    rows = [("before", *row) for row in _rows(translation, before)] + [("after", *row) for row in _rows(after, logs)]
    table = csv_table(("when", "step", "token", "probability"), rows)
    save(_("Save both"), table, "headlight-before-after.csv", _("All digits"), provenance=page_provenance())


def _logs(after: Translation, edits: Set) -> Array:
    """Natural logarithms of the new translation's probabilities, (step,), under the edits that made it."""
    if not after.tokens:
        return np.zeros(0, np.float32)
    logs: Array = ask(replace(forced(after), edits=(edits,)), _("Reading the new translation")).logs[0]
    return logs


def summary(before: Translation, after: Translation, first: float, then: float, what: str) -> str:
    """What became of the translation, and how much less likely the first one is now."""
    values = {"change": f"{what[0].upper()}{what[1:]}", "first": likelihood(first), "then": likelihood(then)}
    if before.way == "own":
        return _("{change}: the probability of your translation goes from {first} to {then}.", **values)
    if after.tokens == before.tokens:
        return _("{change}: the translation stays the same; its probability goes from {first} to {then}.", **values)
    return _(
        "{change}: the translation becomes “{text}”; the probability of the first one goes from {first} to {then}.",
        text=after.text,
        **values,
    )


def differences(before: Sequence[str], after: Sequence[str]) -> tuple[set[int], set[int]]:
    """Which tokens stand only before, and which only after.

    >>> differences(["le", "chat", "dort"], ["le", "chien", "dort", "."])
    ({1}, {1, 3})
    """
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    old = {block.a + at for block in blocks for at in range(block.size)}
    new = {block.b + at for block in blocks for at in range(block.size)}
    return set(range(len(before))) - old, set(range(len(after))) - new


def _rows(translation: Translation, logs: Array) -> list[tuple[int, str, float]]:
    pieces = (*translation.pieces, *(("end",) if translation.ended else ()))
    return [(at + 1, piece, float(np.exp(log))) for at, (piece, log) in enumerate(zip(pieces, logs, strict=True))]


def _side(translation: Translation, logs: Array, marked: set[int], mark: Mark, when: str) -> None:
    row = translation.trace.target
    chips = []
    for at, piece in enumerate(translation.pieces):
        glued = row is not None and row.goes_on(at + 1)  # after the start token
        label = apart(percent(float(np.exp(logs[at]))), glued)
        chips.append(Chip(piece, mark=mark if at in marked else "", glued=glued, label=label))
    whole = likelihood(float(logs.sum()))
    title = (
        _("Before: probability {probability} as a whole", probability=whole)
        if when == "before"
        else _("After: probability {probability} as a whole", probability=whole)
    )
    strip.mount(chips, f"translate_{when}", title=title)
