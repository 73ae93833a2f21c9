"""Attention of the step that chose a token: as shaded text, by head, and the logit lens of the step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from attention.mask import FloatArray
from attention.roles import largest_weight_back, mean_distance_back, without_first, without_missing
from attention.tokens import TokenRow
from i18n import _, gettext_lazy, translate
from inference.tasks.decoding import DecodingStep, NextToken
from inference.tasks.predictions import NextLens
from ui.input.controls import bound_widget, head_name, head_of, keep_head, rank_of
from ui.pages.generate.options import CELLS, GenerateOptions, prompt_length, step_provenance
from ui.run.notices import show_notice
from ui.run.page_model import ask_model
from ui.show.chart import draw_chart, theme
from ui.show.lens import TOP, draw
from ui.show.sections import open_section
from ui.show.tables import csv_table, download_button
from ui.show.text import format_semicolon_list, join_sentences
from ui.state.params import set_params
from ui.state.view_state import ViewState
from viz.components.token_strip import token_strip
from viz.components.token_strip.token_strip import Mark, TokenChip
from viz.figures import head_maps
from viz.figures.token_bars import bars
from viz.paper.notebook import Computation

NO_STEPS = gettext_lazy("This architecture returns no attention step by step; use “All heads”.")
MOST = 10  # tokens in the bar chart
LEAST = 0.01  # smaller weights are not described as attention to an earlier token
MAP, STRIP = "generate_map", "generate_strip"
# Measures of heads in the provenance.
WEIGHT_BACK = "largest weight, without the first and the last two tokens"
DISTANCE_BACK = "mean distance in tokens, the first token with distance 0"
LOOKS = "looks = without_missing(backend.predict(request).looks)"  # code of notebooks


@dataclass(frozen=True, eq=False)
class StepAttention:
    """The attention of a generation step, with the selected head and the weights to draw.

    ``place`` is the position of the token that the step predicts. ``weights`` (token,) are those of the head, the mean
    over its layer, or the mean over all heads, as the reader selected.
    """

    request: NextToken
    step: DecodingStep
    place: int
    layer: int
    head: int
    weights: FloatArray  # (token,) the weights that the reader asked for, of the tokens before ``place``

    @property
    def head_name(self) -> str:
        """Return the name of the head."""
        return head_name(self.layer, self.head)


def selected_step(
    request: NextToken, step: DecodingStep, options: GenerateOptions
) -> tuple[NextToken, DecodingStep, int]:
    """Return the selected generation step: its request, its result, and the position that it predicts.

    By default, it is the step that predicts the next token. Raise UserError if the model cannot answer.
    """
    place = len(step.row)
    if not options.at or options.at >= place:
        return request, step, place
    asked = request_before(request, prompt_length(step, request), options.at)
    return asked, ask_model(asked, _("Running the model")), options.at


def step_attention(
    choice: ViewState, request: NextToken, step: DecodingStep, options: GenerateOptions
) -> StepAttention | None:
    """Return the attention of the selected step; None if the model does not report it step by step.

    Raise UserError if the model cannot answer.
    """
    if options.at == 0:
        show_notice(_("No step predicts the first token. Pick another token."), role="status")
    asked, mine, place = selected_step(request, step, options)
    if mine.looks is None:
        return None
    every = without_missing(mine.looks)
    looks = every if options.first else without_first(every)
    layer, head = head_of(choice, largest_weight_back(every))
    shown = {"head": looks[layer, head], "layer": looks[layer].mean(0), "all": np.nanmean(looks, (0, 1))}[options.over]
    return StepAttention(asked, mine, place, layer, head, shown)


def request_before(request: NextToken, length: int, place: int) -> NextToken:
    """Return a copy of the request that ends before position ``place``, so that this token is predicted.

    Positions count from 0 over the prompt, which has ``length`` tokens, and the written tokens after it.

    >>> request = NextToken(text="a b", written=(7, 8))
    >>> request_before(request, 2, 3).written, request_before(request, 2, 1).cut
    ((7,), 1)
    """
    if place >= length:
        return replace(request, written=request.written[: place - length])
    return replace(request, written=(), cut=place)


def text_strip(seen: StepAttention | None, step: DecodingStep, request: NextToken, options: GenerateOptions) -> None:
    """Draw a summary and the text as chips; a click on a token selects the step that predicted it."""
    if seen is None:
        show_notice(translate(NO_STEPS), "status")
    else:
        show_notice(summary(seen, step, options), role="status")
    length = prompt_length(step, request)
    chips = [_chip(step.row, at, length, seen) for at in range(len(step.row))]
    token_strip.mount(
        chips, STRIP, title=_("Click a token for the attention that predicted it"), on_pick=lambda: _on_pick(step)
    )
    st.caption(_("Shade: attention from the outlined token, which predicts the dashed one."))


def when_of(step: DecodingStep, place: int) -> str:
    """Return a phrase for the step that predicts position ``place``, such as "Before “the” came"."""
    if place < len(step.row):
        return _("Before “{piece}” came", piece=step.row.pieces[place])
    return _("At the end of the text") if step.ended else _("Before the next token")


def summary(seen: StepAttention, step: DecodingStep, options: GenerateOptions) -> str:
    """Describe the attention of a step."""
    row, shown = seen.step.row, seen.weights
    when = when_of(step, seen.place)
    who = {
        "head": seen.head_name,
        "layer": _("the mean of layer {layer}", layer=seen.layer),
        "all": _("the mean of all heads"),
    }[options.over]
    ends = _("First token: {weight:.0%}.", weight=shown[0]) if options.first else ""
    if len(shown) < 4:
        return join_sentences(_("{when}, the text is too short to attend back.", when=when), ends)
    if not options.first and not shown.any():
        return _("{when}, {who} gives all weight to the first token.", when=when, who=who)
    at = 1 + int(shown[1:-2].argmax())
    if shown[at] < LEAST:
        said = _("{when}, {who} gives each earlier token less than {least}.", when=when, who=who, least=f"{LEAST:.0%}")
    else:
        weight = f"{shown[at]:.0%}"
        if options.over == "head" and options.first:
            weight = format_semicolon_list([weight, _rank(seen)])
        said = _(
            "{when}, {who} attends back to “{piece}” ({weight}).",
            when=when,
            who=who,
            piece=row.pieces[at],
            weight=weight,
        )
    last = _("Previous token: {neighbour:.0%}; itself: {newest:.0%}.", neighbour=shown[-2], newest=shown[-1])
    return join_sentences(said, last, ends)


def _rank(seen: StepAttention) -> str:
    """Return a phrase for the rank of the head by its largest weight on an earlier token."""
    looks = np.ones((1, 1, 1), np.float32) if seen.step.looks is None else seen.step.looks
    return rank_of(largest_weight_back(without_missing(looks)), seen.layer, seen.head)


def _chip(row: TokenRow, at: int, length: int, seen: StepAttention | None) -> TokenChip:
    glued = row.goes_on(at)
    label = str(at - length + 1) if at >= length else ""
    if seen is None or at >= seen.place:
        ahead: Mark = "target" if seen is not None and at == seen.place else ""
        return TokenChip(row.pieces[at], None, ahead, glued, row.words[at] is None, "", label, row.unknown[at])
    mark: Mark = "chosen" if at == seen.place - 1 else ""
    weight = float(seen.weights[at])
    return TokenChip(
        row.pieces[at], weight, mark, glued, row.words[at] is None, f"{weight:.4f}", label, row.unknown[at]
    )


def _on_pick(step: DecodingStep) -> None:
    at = token_strip.picked_chip(STRIP)
    if at is not None and at < len(step.row):
        set_params(GenerateOptions, at=at)


def draw_head_map(seen: StepAttention | None, options: GenerateOptions) -> None:
    """Draw the attention of all heads at a step as a map, the most attended tokens, and the download."""
    if seen is None or seen.step.looks is None:
        return
    _switches()
    every = without_missing(seen.step.looks)
    show_notice(describe_furthest(mean_distance_back(every)), role="status")
    values = largest_weight_back(every) if options.cell == "strongest" else mean_distance_back(every)
    title, unit = map(translate, CELLS[options.cell])
    figure = head_maps.head_map(values, theme(), title, unit, selected=(seen.layer, seen.head))
    left, right = st.columns(2)
    looks = Computation(LOOKS, request=seen.request, without_missing=without_missing)
    of_head = largest_weight_back if options.cell == "strongest" else mean_distance_back
    computation = looks.then("numbers = of_head(looks)", of_head=of_head)
    measure = WEIGHT_BACK if options.cell == "strongest" else DISTANCE_BACK
    about = partial(query_provenance, seen.request, seen.step, measure=measure)
    draw_chart(figure, MAP, place=left, on_click=keep_on_text, about=about, computation=computation)
    rest = "looks" if options.first else "without_first(looks)"
    row = {"head": "kept[layer, head]", "layer": "kept[layer].mean(0)", "all": "np.nanmean(kept, (0, 1))"}[options.over]
    computation = looks.then(
        f"kept = {rest}\nnumbers = np.sort({row})[::-1][:most]",
        without_first=without_first,
        layer=seen.layer,
        head=seen.head,
        most=MOST,
    )
    kept = "included" if options.first else "excluded, other weights rescaled to sum to 1"
    about = partial(query_provenance, seen.request, seen.step, **_heads_shown(seen, options), first_token=kept)
    draw_chart(_most_attended(seen), "generate_most", place=right, about=about, computation=computation)
    st.caption(
        _(
            "Earlier tokens exclude the first and the last two; the first has distance 0. Click a "
            "head to shade the text."
        )
    )
    section = open_section(_("Table"), "generate_looks_file")
    if section is not None:
        download_button(
            _("Save as CSV"),
            _file(seen, every),
            "headlight-looks.csv",
            _("All digits"),
            place=section,
            provenance=query_provenance(seen.request, seen.step),
        )


def query_provenance(request: NextToken, step: DecodingStep, **settings: Any) -> dict[str, Any]:
    """Return the provenance of numbers about the newest token of a step, which is the query of its attention."""
    return step_provenance(request, step, query=f"{len(step.row) - 1} “{step.row.pieces[-1]}”", **settings)


def _heads_shown(seen: StepAttention, options: GenerateOptions) -> dict[str, Any]:
    """Return the provenance of the heads over which ``seen.weights`` are averaged."""
    if options.over == "head":
        return {"layer": seen.layer, "head": seen.head}
    return {"heads": f"mean of layer {seen.layer}" if options.over == "layer" else "mean of all layers"}


def keep_on_text(key: str) -> None:
    """Select the clicked head on all pages, and shade the text by its weights; for use as a callback."""
    keep_head(key)
    set_params(GenerateOptions, over="head")


def describe_furthest(far: FloatArray) -> str:
    """Describe the head with the largest mean attention distance; ``far`` is (layer, head), in tokens."""
    layer, head = np.unravel_index(int(np.nanargmax(far)), far.shape)
    return _(
        "{head} attends furthest back: {tokens:.1f} tokens on average.",
        head=head_name(int(layer), int(head)).capitalize(),
        tokens=far[layer, head],
    )


def _file(seen: StepAttention, every: FloatArray) -> str:
    pieces = seen.step.row.labels
    rows = (
        (layer, head, at, pieces[at], float(every[layer, head, at]))
        for layer, head, at in np.argwhere(np.isfinite(every)).tolist()
    )
    return csv_table(("layer", "head", "place", "token", "weight"), rows)


def _most_attended(seen: StepAttention) -> Any:
    """Return the bar chart of the tokens with the largest weights."""
    order = np.argsort(-seen.weights, kind="stable")[:MOST]
    names = seen.step.row.labels
    labels = [f"{at}: {names[at]}" for at in order]
    return bars(labels, seen.weights[order].tolist(), theme(), _("Attention"), _("weight"))


def _switches() -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        bound_widget(GenerateOptions, "over", st.segmented_control, required=True)
        bound_widget(
            GenerateOptions,
            "cell",
            st.segmented_control,
            required=True,
        )
        first_switch()


def first_switch() -> None:
    """Draw the switch that excludes the first token from the figures."""
    bound_widget(GenerateOptions, "first", st.checkbox)


FOLLOWED = 3  # tokens with a curve


def lens(request: NextToken, step: DecodingStep, options: GenerateOptions) -> None:
    """Draw the logit lens of the selected step.

    It tracks the token that follows in the text, if any, and the likeliest candidates.
    """
    asked, mine, place = selected_step(request, step, options)
    came = step.row.ids[place : place + 1]
    likeliest = [found.token for found in mine.candidates if found.token not in came]
    question = NextLens(
        model=asked.model,
        revision=asked.revision,
        text=asked.text,
        written=asked.written,
        cut=asked.cut,
        edits=asked.edits,
        tokens=(*came, *likeliest)[:FOLLOWED],
        top=TOP,
    )
    found = ask_model(question, _("Running the model"))
    computation = Computation("found = backend.predict(request)", request=question)
    draw(found, _("the newest token's state"), computation, partial(query_provenance, asked, mine))
