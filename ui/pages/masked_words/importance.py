"""Attribution of a prediction to words by occlusion and by integrated gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from attention.mask import FloatArray
from attention.tokens import TokenRow
from i18n import LazyMessage, _, gettext_lazy, translate
from inference.tasks.attribution import Gradients, OcclusionRequest
from inference.tasks.predictions import Filled, Guess, MaskedWords
from ui.input.controls import bound_widget
from ui.pages.masked_words.options import MaskedWordsOptions
from ui.run.notices import show_notice
from ui.run.progress import ask_many
from ui.show.chart import draw_chart, theme
from ui.show.tables import csv_table, download_button, page_provenance
from ui.show.text import number_duplicates
from ui.state.params import get_params
from viz.components.token_strip import token_strip
from viz.components.token_strip.token_strip import TokenChip
from viz.figures.theme import sides
from viz.figures.token_bars import importance

PARTS = 6  # parts of the integration path; each is a request
TOKENS_AT_ONCE = 2048  # tokens in a request, summed over its masked texts
UNIT = gettext_lazy("logarithm of the probability")
LEFT_OUT, GRADIENTS = gettext_lazy("Occlusion"), gettext_lazy("Integrated gradients")


@dataclass(frozen=True, eq=False)
class ImportanceScores:
    """Attributions of the same words by both methods, (word,), in natural logarithms."""

    row: TokenRow
    runs: tuple[tuple[int, int], ...]
    explained: Guess
    left_out: FloatArray
    integrated: FloatArray
    delta: float
    path: float  # log-probability of the token, minus that at the baseline


def draw_importance(request: MaskedWords, filled: Filled, at: int) -> None:
    """Draw the control of the explained token, then both attributions on the text, as bars and as CSV."""
    piece = _pick_piece(filled, at)
    found = _find(request, filled, at, piece)
    if found is None:
        return
    if not found.runs:
        show_notice(_("No other word can matter. Type some."), role="status")
        return
    names = [_name(found.row, run) for run in found.runs]
    places = number_duplicates(names)
    show_notice(summary(found, places), role="status")
    _strip(found, names, found.left_out, translate(LEFT_OUT), "words_left_out")
    _strip(found, names, found.integrated, translate(GRADIENTS), "words_integrated")
    ways = {translate(LEFT_OUT): found.left_out, translate(GRADIENTS): found.integrated}
    draw_chart(importance(places, ways, theme(), translate(UNIT)), "words_bars")
    below, above = map(translate, sides(theme()))
    st.caption(
        _(
            "{above}, or right: supports the prediction; {below}, or left: opposes it. Occlusion masks the "
            "word ([arXiv:1612.08220](https://arxiv.org/abs/1612.08220)). Integrated gradients "
            "([arXiv:1703.01365](https://arxiv.org/abs/1703.01365)) sum to {path:.3f}, up to a completeness "
            "delta of {delta:.1g}.",
            above=above.capitalize(),
            below=below,
            path=found.path,
            delta=abs(found.delta),
        )
    )
    rows = list(zip(names, found.left_out.tolist(), found.integrated.tolist(), strict=True))
    download_button(
        _("Save as CSV"),
        csv_table(("word", LEFT_OUT, GRADIENTS), rows),
        "headlight-words-that-matter.csv",
        _("In natural logarithms"),
        provenance=page_provenance(),
    )


def summary(found: ImportanceScores, names: list[str]) -> str:
    """Describe the word with the largest attribution by each method."""
    one, other = int(found.left_out.argmax()), int(found.integrated.argmax())
    return _(
        "“{piece}” depends most on “{word}” by occlusion, on “{other}” by integrated gradients.",
        piece=found.explained.piece,
        word=names[one],
        other=names[other],
    )


def _pick_piece(filled: Filled, at: int) -> int:
    """Draw the control of the explained token and return the token, by default the likeliest."""
    blank = filled.blanks[at]
    known = {guess.token: guess.piece for guess in (*blank.guesses, *([blank.original] if blank.original else []))}
    wanted = get_params(MaskedWordsOptions).piece
    shown = wanted if wanted in known else blank.guesses[0].token
    bound_widget(
        MaskedWordsOptions,
        "piece",
        st.selectbox,
        options=list(known),
        shown=shown,
        format_func=lambda token: LazyMessage("{piece}", piece=known[token]),
        width=260,
    )
    return shown


def _find(request: MaskedWords, filled: Filled, at: int, piece: int) -> ImportanceScores | None:
    """Compute both attributions; None if the reader stopped before both were complete."""
    shared: dict[str, Any] = {
        "model": request.model,
        "revision": request.revision,
        "text": request.text,
        "pair": request.pair,
        "hidden": request.hidden,
        "cut": request.cut,
        "blank": at,
        "token": piece,
    }
    tokens = len(filled.row)
    step = max(1, TOKENS_AT_ONCE // tokens)
    most = sum(word is not None for word in filled.row.words)
    parts = [OcclusionRequest(**shared, start=start, stop=start + step) for start in range(0, most, step)]
    out = ask_many(parts, _("Computing attributions"))
    along = ask_many(
        [Gradients(**shared, part=part, parts=PARTS) for part in range(PARTS)], _("Computing attributions")
    )
    if len(out) < len(parts) or len(along) < PARTS:
        return None
    runs = tuple(run for answer in out for run in answer.runs)
    values = np.sum([answer.values for answer in along], axis=0)
    return ImportanceScores(
        row=filled.row,
        runs=runs,
        explained=out[0].guess,
        left_out=np.concatenate([answer.drops for answer in out]),
        integrated=np.array([values[slice(*run)].sum() for run in runs], np.float32),
        delta=sum(answer.delta for answer in along),
        path=along[-1].end - along[0].start,
    )


def _name(row: TokenRow, run: tuple[int, int]) -> str:
    return "".join(row.pieces[slice(*run)])


def _strip(found: ImportanceScores, names: list[str], values: FloatArray, title: str, key: str) -> None:
    """Draw the text shaded by attributions, relative to the largest absolute value."""
    most = float(np.abs(values).max()) or 1.0
    of = {start: at for at, (start, _) in enumerate(found.runs)}
    inside = {at for run in found.runs for at in range(*run)}
    chips = []
    for at, piece in enumerate(found.row.pieces):
        if at in of:
            value = float(values[of[at]])
            unknown = found.row.unknown[at]
            chips.append(TokenChip(names[of[at]], shade=value / most, title=f"{value:+.3f}", unknown=unknown))
        elif at not in inside:
            special = found.row.words[at] is None
            chips.append(TokenChip(piece, special=special, mark="" if special else "masked"))
    token_strip.mount(chips, key, title=title, diverging=True)
