"""Candidates for the next token, with probabilities before and after sampling options; a click appends a candidate."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from i18n import _, gettext_lazy, translate
from inference.tasks.decoding import DecodingStep, NextCandidate, NextToken
from ui.input.controls import bound_widget
from ui.pages.generate.options import (
    MOST_TOP,
    GenerateOptions,
    Prompt,
    clamp,
    is_sampling,
    step_provenance,
)
from ui.pages.generate.writing import next_candidate, write
from ui.run.notices import show_notice
from ui.run.page_model import ask_model
from ui.show.chart import draw_chart, theme
from ui.show.sections import open_section
from ui.show.tables import csv_table, download_button, draw_table
from ui.show.text import join_sentences, percent
from viz.components.token_strip import token_strip
from viz.components.token_strip.token_strip import TokenChip
from viz.figures.token_bars import before_after, cumulative
from viz.paper.notebook import Computation

CHIPS = "generate_candidates"
STOPS = gettext_lazy("The example stops before “{word}”, which has rank {rank}.")
ENDED = gettext_lazy("The text has ended or reached the maximum length.")
SUMS = """\
chances = [{chances} for found in candidates]
numbers = np.cumsum(np.transpose(chances), axis=1)"""  # code of a notebook
BYTE = "<0x"  # marks a token that is a part of a character, such as <0xE2>


def summary(step: DecodingStep, expected: int | None, word: str) -> str:
    """Describe the likeliest next token, the rank of the example's own word, and the entropy.

    The model reads an example without its last word, ``word``. ``expected`` is the first token of this word, or None.
    """
    best = step.candidates[0]
    first = {"piece": best.piece, "probability": percent(best.probability)}
    ranks = [rank for rank, found in enumerate(step.candidates, start=1) if found.token == expected]
    said, own = _("“{piece}” comes first ({probability}).", **first), ""
    if ranks:
        chance = percent(step.candidates[ranks[0] - 1].probability)
        own = _(STOPS, word=word, rank=f"{ranks[0]} ({chance})")
    elif expected is not None:
        own = _(STOPS, word=word, rank=f"> {len(step.candidates)}")
    return join_sentences(said, own, _("Entropy: {entropy:.2f} bits.", entropy=step.entropy))


def describe_sampling(step: DecodingStep) -> str:
    """Describe the number of tokens that sampling keeps, their entropy, and the token that the seed draws."""
    return _(
        "Sampling keeps {possible:,} of {vocabulary:,} tokens, {entropy_drawn:.2f} bits, and draws “{piece}”.",
        possible=step.possible,
        vocabulary=step.vocabulary,
        entropy_drawn=step.entropy_drawn,
        piece=step.chosen.piece,
    )


def next_token(request: NextToken, step: DecodingStep, options: GenerateOptions, prompt: Prompt) -> None:
    """Draw the candidates for the next token as chips, bars and a table.

    Probabilities after sampling are drawn only if they matter; see ``is_sampling``.
    """
    if step.ended or not step.candidates:
        show_notice(translate(ENDED), role="status")
        return
    said, sampling = summary(step, expected_of(request, step, prompt), prompt.left_out), is_sampling(options)
    show_notice(join_sentences(said, describe_sampling(step) if sampling else ""), role="status")
    most = clamp(options.top, 1, MOST_TOP)
    first, written = step.candidates[:most], next_candidate(step, options.pick)
    _chips(request, step, first, written)
    left, right = st.columns([3, 2])
    marked = [at for at, found in enumerate(first) if found.token == written.token]
    pieces = [found.piece for found in first]
    alone, drawn = [found.probability for found in first], [found.drawn for found in first if sampling]
    about = partial(_provenance, request, step)
    bold = partial(about, bold=f"“{written.piece}”")
    computation = Computation("candidates = backend.predict(request).candidates", request=request)
    figure = before_after(pieces, alone, drawn, theme(), _("Next token"), marked=marked)
    chances = computation.then(f"numbers = [found.probability for found in candidates[:{most}]]")
    draw_chart(figure, "generate_bars", place=left, computation=chances, about=bold)
    sums = [found.probability for found in step.candidates], [found.drawn for found in step.candidates if sampling]
    code = SUMS.format(chances="(found.probability, found.drawn)" if sampling else "[found.probability]")
    curve = cumulative(*sums, step.possible, theme(), _("Cumulative probability"))
    draw_chart(curve, "generate_sums", place=right, computation=computation.then(code), about=about)
    st.caption(_("Bold: written next. ␣: space, ⏎: new line."))
    if any(BYTE in found.piece for found in first):
        st.text(_("A token such as <0xE2> is one byte."))
    _table(request, step, most)


def _provenance(request: NextToken, step: DecodingStep, **settings: Any) -> dict[str, Any]:
    """Return the provenance of next-token probabilities: the text so far, the sampling and its token, ``settings``."""
    sampling = {
        "temperature": f"{request.temperature / 100:g}",
        "top_k": request.top_k or "all",
        "top_p": f"{request.top_p / 100:g}",
        "random_seed": request.seed,
        "drawn_token": f"“{step.chosen.piece}”",
    }
    return step_provenance(request, step, **sampling, **settings)


def expected_of(request: NextToken, step: DecodingStep, prompt: Prompt) -> int | None:
    """Return the id of the token that the model should predict: the first token of the left-out word.

    Return None if no word was left out, if tokens were generated already, or if the word changes the tokens before it.
    """
    if not prompt.left_out or request.written:
        return None
    ids = ask_model(replace(request, text=prompt.whole), _("Running the model")).row.ids
    return ids[len(step.row)] if ids[: len(step.row)] == step.row.ids and len(ids) > len(step.row) else None


def _chips(request: NextToken, step: DecodingStep, first: tuple[NextCandidate, ...], written: NextCandidate) -> None:
    """Draw the candidates ``first`` as chips; the token that decoding writes next, ``written``, is dashed."""
    chips = [
        TokenChip(
            found.piece,
            found.probability,
            "target" if found.token == written.token else "",
            special=found.ends,
            title=_under_the_rule(found),
            label=percent(found.probability),
        )
        for found in first
    ]

    def keep() -> None:
        at = token_strip.picked_chip(CHIPS)
        if at is not None and at < len(first):
            write(request, first[at])

    if step.room:
        token_strip.mount(chips, CHIPS, title=_("Click a token to write it"), on_pick=keep)
    else:
        token_strip.mount(chips, CHIPS, title=translate(ENDED))


def _under_the_rule(found: NextCandidate) -> str:
    """Return the tooltip of a candidate's chip."""
    return f"{found.probability:.4f} → {found.drawn:.4f}"


def _table(request: NextToken, step: DecodingStep, most: int) -> None:
    section = open_section(_("Table"), "generate_rows")
    if section is None:
        return
    names = (
        gettext_lazy("Rank"),
        gettext_lazy("Token"),
        gettext_lazy("Piece"),
        gettext_lazy("Text"),
        gettext_lazy("Probability"),
        gettext_lazy("Sampled"),
        gettext_lazy("Ends"),
    )
    rows = [
        (rank, found.token, found.piece, found.text, found.probability, found.drawn, found.ends)
        for rank, found in enumerate(step.candidates, start=1)
    ]
    with section:
        bound_widget(GenerateOptions, "top", st.number_input, shown=most, min_value=1, max_value=MOST_TOP, width=170)
        draw_table(
            {translate(name): [row[at] for row in rows] for at, name in enumerate(names)},
            key="generate_table",
        )
        download_button(
            _("Save as CSV"),
            csv_table(names, rows),
            "headlight-next-token.csv",
            _("All digits"),
            provenance=_provenance(request, step),
        )
