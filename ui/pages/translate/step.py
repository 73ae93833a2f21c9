"""A decoding step: the translation as chips that select it, its attention, and the next-token candidates."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from attention.alignment import CrossRowConvention, read
from attention.mask import FloatArray
from attention.view import DisplayToken, View
from i18n import _, gettext_lazy, translate
from inference.tasks.decoding import DecodingStep, ForcedTarget, NextTarget
from ui.input.controls import bound_widget
from ui.pages.translate.options import CrossHead, TranslateOptions
from ui.pages.translate.translation import CANDIDATES, MOST_TOP, Translation
from ui.run.notices import show_notice
from ui.run.page_model import ask_model
from ui.show.chart import draw_chart, theme
from ui.show.sections import open_section
from ui.show.tables import csv_table, download_button, draw_table
from ui.show.text import percent
from ui.state.params import get_params, set_params
from ui.state.view_state import ViewState
from viz.components.token_strip import token_strip
from viz.components.token_strip.token_strip import TokenChip
from viz.figures.token_bars import bars
from viz.paper.notebook import Computation

STRIP = "translate_strip"


def forcing_request(translation: Translation) -> ForcedTarget:
    """Return the teacher-forcing request: each token's probability, given the translation's tokens before it."""
    asked = translation.asked
    return ForcedTarget(
        model=asked.model, revision=asked.revision, text=asked.text, cut=asked.cut, written=translation.tokens
    )


def logs_of(translation: Translation) -> FloatArray:
    """Return the log-probability (natural) of each written token, shape (step,); may raise UserError."""
    if not translation.tokens:
        return np.zeros(0, np.float32)
    logs: FloatArray = ask_model(forcing_request(translation), _("Running the model")).logs[0]
    return logs


def cells_of(choice: ViewState, translation: Translation) -> tuple[DisplayToken, ...]:
    """Return the written words (or tokens) to display; ``pieces`` of a word is its range of steps."""
    trace = read(translation.trace, CrossRowConvention.WRITING)
    return View(trace, "cross", words=choice.words, special=choice.special).queries


def spaced_label(label: str, glued: bool) -> str:
    """Return the label of a chip; if the chip is joined to the previous chip, a no-break space comes first.

    >>> spaced_label("0.02", True), spaced_label("", True)
    ('\\xa00.02', '')
    """
    return f"\N{NO-BREAK SPACE}{label}" if glued and label else label


def target_strip(choice: ViewState, translation: Translation, at: int, logs: FloatArray) -> None:
    """Draw the translation as chips with step ``at`` outlined; add a notice if it is unfinished."""
    cells = cells_of(choice, translation)
    chips = []
    for place, cell in enumerate(cells):
        start, stop = cell.pieces
        known = stop <= len(logs)
        chance = percent(float(np.exp(logs[start:stop].sum()))) if known else ""
        glued = place > 0 and cell.goes_on
        chips.append(
            TokenChip(
                translation.cell_label(cell),
                mark="chosen" if start <= at < stop else "",
                glued=glued,
                special=cell.special,
                unknown=cell.unknown,
                title=_("step {step}: {probability}", step=start + 1, probability=chance if known else "–"),
                label=spaced_label(chance, glued),
            )
        )

    def keep() -> None:
        place = token_strip.picked_chip(STRIP)
        if place is not None and place < len(cells):
            set_params(TranslateOptions, step=cells[place].pieces[0])

    title = _("Translation, with probabilities. Click to choose a step")
    token_strip.mount(chips, STRIP, title=title, on_pick=keep)
    if not translation.is_finished and translation.way != "own":
        show_notice(_("The translation is unfinished."), "status")


READ, SOURCE = "translate_read", "translate_source"


def step_of(translation: Translation, head: CrossHead, options: TranslateOptions, word: str) -> int:
    """Return the chosen step, else the step that attends most to source token ``word``, else 0.

    The step after the last token can be chosen, too.
    """
    if options.step is not None:
        return min(options.step, translation.length)
    pieces = [at for at, piece in enumerate(translation.trace.source.pieces) if piece.lower() == word.lower()]
    if not pieces or not translation.length:
        return 0
    given = [head.weights(translation.trace, step)[pieces[0]] for step in range(translation.length)]
    return int(np.argmax(given))


def one_step(translation: Translation, head: CrossHead, at: int, options: TranslateOptions) -> None:
    """Draw the chosen step, with buttons to the previous and the next step."""
    request = translation.question(at, max(1, min(options.top, MOST_TOP)))
    step = ask_model(request, _("Running the model"))
    _move(at, translation)
    looks = head.weights(translation.trace, at)
    show_notice(summary(translation, step, at, looks, head), "status")
    left, right = st.columns(2)
    with left:
        _read(translation, at)
        _source(translation, looks, head)
    with right:
        _candidates(translation, request, step)


def summary(translation: Translation, step: DecodingStep, at: int, looks: FloatArray, head: CrossHead) -> str:
    """Return sentences with the step's most probable token, its entropy and the source token attended to most.

    ``looks`` are the attention weights on the source, shape (source token,).
    """
    best = step.candidates[0]
    row = translation.trace.source
    place = int(looks.argmax())
    return _(
        "Step {step} of {steps}: “{piece}” is likeliest ({probability}); entropy {entropy:.2f} bits; {head} attends"
        " most to “{source}” ({weight:.0%}).",
        step=at + 1,
        steps=translation.length + 1,
        piece=best.piece,
        probability=percent(best.probability),
        entropy=step.entropy,
        head=head.description,
        source=row.pieces[place],
        weight=looks[place],
    )


def _move(at: int, translation: Translation) -> None:
    last = translation.length
    with st.container(horizontal=True, vertical_alignment="center"):
        for label, icon, to in (
            (_("Previous step"), "chevron_left", at - 1),
            (_("Next step"), "chevron_right", at + 1),
        ):
            st.button(
                label,
                key=f"translate_{icon}",
                icon=f":material/{icon}:",
                disabled=not 0 <= to <= last,
                on_click=set_params,
                args=(TranslateOptions,),
                kwargs={"step": to},
            )


def _read(translation: Translation, at: int) -> None:
    """Draw the decoder's tokens; those that the causal mask hides at this step are hatched."""
    row = translation.trace.target
    if row is None:
        return
    chips = []
    for place, piece in enumerate(row.pieces):
        hidden = place > at
        chips.append(
            TokenChip(
                piece,
                mark="masked" if hidden else "chosen" if place == at else "",
                glued=row.goes_on(place),
                special=row.words[place] is None,
                unknown=row.unknown[place],
            )
        )
    token_strip.mount(chips, READ, title=_("Decoder"))
    st.caption(_("Outlined: the newest token, which predicts the next. Hatched: causal mask."))


def _source(translation: Translation, looks: FloatArray, head: CrossHead) -> None:
    row = translation.trace.source
    chips = [
        TokenChip(
            piece,
            shade=float(looks[place]),
            glued=row.goes_on(place),
            special=row.words[place] is None,
            unknown=row.unknown[place],
            title=f"{looks[place]:.4f}",
            label=f"{looks[place]:.2f}" if looks[place] >= 0.1 else "",
        )
        for place, piece in enumerate(row.pieces)
    ]
    token_strip.mount(chips, SOURCE, title=_("Attention of {head} to the source", head=head.description))


def _candidates(translation: Translation, request: NextTarget, step: DecodingStep) -> None:
    at, shown = len(request.written), step.candidates
    mine = translation.tokens[at : at + 1]
    marked = [place for place, candidate in enumerate(shown) if candidate.token in mine]
    figure = bars(
        [c.piece if c.rank == place else f"{c.rank:,}: {c.piece}" for place, c in enumerate(shown, start=1)],
        [candidate.probability for candidate in shown],
        theme(),
        _("Next token"),
        other=max(0.0, 1 - sum(candidate.probability for candidate in shown)),
        marked=marked,
    )
    about = partial(translation.provenance, step=at + 1, written_tokens=" ".join(map(str, request.written)))
    draw_chart(figure, "translate_candidates", about=about, computation=Computation(CANDIDATES, request=request))
    st.caption(
        _(
            "Softmax over {vocabulary:,} tokens; highlighted: the written one. “␣” begins a word.",
            vocabulary=step.vocabulary,
        )
    )
    section = open_section(_("Table"), "translate_step_rows")
    if section is None:
        return
    rows = [(at + 1, c.rank, c.piece, c.text, c.probability, c.token in mine) for c in shown]
    names = (
        gettext_lazy("Step"),
        gettext_lazy("Rank"),
        gettext_lazy("Token"),
        gettext_lazy("Text"),
        gettext_lazy("Probability"),
        gettext_lazy("Written"),
    )
    with section:
        bound_widget(
            TranslateOptions,
            "top",
            st.number_input,
            shown=max(1, min(get_params(TranslateOptions).top, MOST_TOP)),
            min_value=1,
            max_value=MOST_TOP,
            width=170,
        )
        columns = {translate(name): [row[place] for row in rows] for place, name in enumerate(names)}
        draw_table(columns, key="translate_step_table")
        download_button(
            _("Save as CSV"),
            csv_table(names, rows),
            "headlight-step.csv",
            _("All digits"),
            provenance=about(),
        )
