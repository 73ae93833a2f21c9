"""The view Activation patching: single vectors or head outputs are replaced by those of a donor text."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from attention.head_names import head_label
from attention.trace import Trace
from attention.view import View
from i18n import _
from i18n.lists import join_sentences
from inference import UserError
from inference.cancellation import Cancelled
from inference.errors import too_many_tokens
from inference.tasks.edit_effects import BlankEffects, Effect
from probing.statistics import COMPARED
from ui.ablation.edits import describe_metric
from ui.ablation.effects import answers_computation
from ui.input.composing import compose
from ui.input.controls import bound_widget
from ui.input.second_text import pick_second_text, settle_second_text
from ui.input.unknown_words import require_readable
from ui.input.view_options import pick_part
from ui.pages.patching.metric import PatchingMetric, PatchingOptions, build_metric, metric_model, run_metric
from ui.pages.patching.results import (
    PatchingResult,
    Place,
    describe_patching,
    describe_site,
    measure_patching,
)
from ui.run.notices import show_error, show_notice
from ui.run.page_model import kind_of, offer_way_out
from ui.run.progress import offer_again, show_pass_progress, was_stopped
from ui.run.services import ViewOptions, get_backend
from ui.run.traces import request_of
from ui.show.chart import draw_chart, theme
from ui.show.sections import reading_help
from ui.show.tables import csv_table, download_table, request_provenance
from ui.state.params import get_params, set_params
from ui.state.session import get_view_state, set_view_state
from ui.state.view_state import ViewState
from viz.figures.head_maps import head_map, mark_heads, picked_head
from viz.figures.layers import patching_map
from viz.figures.token_bars import bars

STATES, HEADS = "patching_states", "patching_heads"
MOST_TOKENS = 64  # tokens of a text; every word is patched in every layer several times
_ONE = re.compile(r"([sh])(\d{1,4})-(\d{1,4})")


def draw_view() -> None:
    """Draw the view Activation patching in the page."""
    draw_patching(get_view_state(), get_params(PatchingOptions))
    with reading_help():
        st.markdown(
            _(
                "One activation of the first text is replaced by the second's, and the answer measured "
                "([arXiv:2004.12265](https://arxiv.org/abs/2004.12265), "
                "[arXiv:2202.05262](https://arxiv.org/abs/2202.05262))."
            )
        )


def draw_patching(choice: ViewState, options: PatchingOptions) -> None:
    """Draw both texts, the metric, the descriptions, both maps and the effect of the selected patch."""
    watch, who = metric_model(options, choice)
    compose(choice, kind_of(choice), who)
    if choice.opened:
        show_notice(_("A saved trace has attention only. Close it to run its text."), role="status")
        return
    other = pick_second_text(PatchingOptions, choice, settle_second_text(PatchingOptions, choice, options.other))
    if not other:
        show_notice(_("Type a second text, or pick a ready pair."), role="status")
        return
    left, right = st.columns([2, 3])
    if watch != "written":
        bound_widget(PatchingOptions, "watch", left.segmented_control, shown=watch, required=True)
    mark = f"patching:{request_of(choice).key}:{who.model}:{watch}:{other}"
    if was_stopped(mark):
        offer_again(mark)
        return
    doing = _("Running the model")
    try:
        with right, st.spinner(doing, show_time=True), show_pass_progress(mark, doing):
            followed = build_metric(watch, get_params(PatchingOptions), choice, who, other)
            traces = (
                []
                if followed is None
                else [require_readable(get_backend().trace(request)) for request in followed.requests]
            )
    except UserError as refusal:
        if isinstance(refusal, Cancelled) and not refusal.timed_out:
            offer_again(mark)
        else:
            offer_way_out(refusal, who, choice)
        return
    if followed is None or not _can_patch(traces):
        return
    part = _part(choice, traces[0])
    try:
        views = View(traces[0], part or None, words=True), View(traces[1], part or None, words=True)
        found = measure_patching(followed, views, part)
    except UserError as refusal:
        show_error(refusal)
        return
    if found is not None:
        _draw(found, get_params(PatchingOptions))


def _can_patch(traces: list[Trace]) -> bool:
    """Return whether the texts allow patching, with a notice if not."""
    if not traces[0].has_qkv():
        show_notice(
            _(
                "{name} computes attention in its own code, so it cannot be edited. Pick BERT or GPT-2.",
                name=traces[0].model.name,
            ),
            role="status",
        )
        return False
    longest = max(len(trace.source) for trace in traces)
    if longest > MOST_TOKENS:
        show_error(too_many_tokens(longest, MOST_TOKENS))
        return False
    return True


def _part(choice: ViewState, trace: Trace) -> str:
    """Draw the control of the patched stack and return the stack; "" in a model with a single stack."""
    if len(trace.parts) == 1:
        return ""
    part = choice.part if choice.part in trace.parts else "encoder"
    pick_part(trace, ViewOptions(part))
    return part


def _draw(found: PatchingResult, options: PatchingOptions) -> None:
    kind, place = _selected_site(found, options.lent)
    answers, *effects = describe_patching(found)
    show_notice(answers, role="status")
    if found.shift:
        show_notice(found.shift, role="status")
    left, right = st.columns(2)
    figure = patching_map(
        found.states, found.words, theme(), _("Patched word vector"),
        beyond=found.state_changes.exceeded_by(found.states), selected=place if kind == "s" else None)  # fmt: skip
    note = _describe_marks(found)
    about = partial(_provenance, found, **describe_random_changes(found))
    given: dict[str, Any] = {"about": about, "test": note}
    draw_chart(figure, STATES, place=left, on_click=_keep_state, computation=found.computation("s"), **given)
    figure = head_map(
        found.heads, theme(), _("Patched head output"), _("patching effect"), diverging=True,
        meaning=(_("away from the second answer"), _("towards it")),
        selected=place if kind == "h" else None)  # fmt: skip
    marked = [(int(layer), int(head)) for layer, head in np.argwhere(found.head_changes.exceeded_by(found.heads))]
    mark_heads(figure, marked, "circle-open", theme(), "beyond random changes")
    draw_chart(figure, HEADS, place=right, on_click=_keep_head, computation=found.computation("h"), **given)
    for sentence in effects:
        show_notice(sentence, role="status")
    st.caption(note)
    _one(found, kind, place)
    _save(found)


def _describe_marks(found: PatchingResult) -> str:
    """Return sentences on the cells and, if effects are compared with random changes, on the marks."""
    cells = _(
        "Cells: a token's vector (last row: in all layers), or a head's output before W_O at all tokens. Effect: 0 is "
        "the first text's answer, 1 the second's, linear between."
    )
    if found.shift:
        return cells
    marks = _(
        "Marked: towards the second answer, beyond all {n} random changes there (chance: 1 in {of}, one-sided, "
        "uncorrected). A random change has a random direction and the patch's length.",
        n=COMPARED,
        of=COMPARED + 1,
    )
    return join_sentences(cells, marks)


def _selected_site(found: PatchingResult, lent: str) -> tuple[str, Place]:
    """Return (kind, place) of the single patch: the reader's, else the head with the largest effect."""
    named = _ONE.fullmatch(lent)
    if named is not None:
        place = int(named[2]), int(named[3])
        sizes = found.heads.shape if named[1] == "h" else found.states.shape
        if place[0] < sizes[0] and place[1] < sizes[1]:
            return named[1], place
        show_notice(
            _("The link's patch does not exist; the largest effect is shown."),
            role="status",
        )
    known = np.nan_to_num(found.heads, nan=-np.inf)
    layer, head = np.unravel_index(int(known.argmax()), known.shape)
    return "h", (int(layer), int(head))


def _keep_state(key: str) -> None:
    place = picked_head(st.session_state[key])
    if place is not None:
        set_params(PatchingOptions, lent=f"s{place[0]}-{place[1]}")


def _keep_head(key: str) -> None:
    place = picked_head(st.session_state[key])
    if place is not None:
        set_params(PatchingOptions, lent=f"h{place[0]}-{place[1]}")
        set_view_state(layer=place[0], head=place[1])


def _one(found: PatchingResult, kind: str, place: Place) -> None:
    """Draw a single patch: the answers of the recipient, of the patched recipient and of the donor."""
    values = found.heads if kind == "h" else found.states
    if np.isnan(values[place]):
        return
    st.header(_("Selected patch"))
    followed: PatchingMetric = found.metric
    patched = replace(followed.here, edits=(found.set_of(kind, place),), other=followed.there)  # type: ignore[arg-type]
    effect = run_metric(patched)
    show_notice(describe_site(found, kind, place, effect), role="status")
    if not effect.top:
        return
    shown = [_likeliest_answers(one, followed.names) for one in (found.before, effect, found.after)]
    end = 1.2 * max(value for top in shown for _, value in top)
    titles = (_("First text"), _("Patched"), _("Second text"))
    requests = (followed.here, patched, followed.there)
    for at, (column, title, top) in enumerate(zip(st.columns(3), titles, shown, strict=True)):
        names, chances = zip(*top, strict=True)
        figure = bars(
            names, chances, theme(), title, marked=[i for i, name in enumerate(names) if name in followed.names]
        )
        figure.update_xaxes(range=[0, end])
        patch = partial(_provenance, found, patched=_describe_patch(found, kind, place) if at == 1 else "nothing")
        computation = answers_computation(requests[at], followed.names, 0)
        draw_chart(figure, f"patching_bars_{at}", place=column, about=patch, computation=computation)


def _likeliest_answers(effect: Effect, names: tuple[str, ...]) -> list[tuple[str, float]]:
    """Return the likeliest answers and the two compared words, with their probabilities."""
    followed = [(name, float(np.exp(log))) for name, log in zip(names, effect.values[0], strict=True)]
    return [*effect.top[0], *(pair for pair in followed if pair[0] not in dict(effect.top[0]))]


def _provenance(found: PatchingResult, **settings: Any) -> dict[str, Any]:
    """Return the provenance of patching effects: the model, both texts, the metric and ``settings``."""
    followed = found.metric
    first, second = followed.requests
    places = followed.here.hidden if isinstance(followed.here, BlankEffects) else ()
    masked = [f"{followed.blank} (characters {start} to {end})" for _text, start, end in places]
    return {
        **request_provenance(first),
        "second_text": second.text,
        "tokens": [len(view.trace.source) for view in found.views],
        **({"part": found.part} if found.part else {}),
        **({"masked_in_both": masked} if masked else {}),
        **({"positions": found.shift} if found.shift else {}),
        "metric": describe_metric(followed.names),
        **settings,
    }


def describe_random_changes(found: PatchingResult) -> dict[str, str]:
    """Return how random changes were drawn, for a provenance; {} if effects are not compared with them.

    Random change n of site s is a set of patches with the seeds of ``measure_patching``.
    """
    if found.shift:
        return {}
    return {
        "random_changes": f"drawn at each site with a positive effect until one is larger, at most {COMPARED}; "
        "empty: none drawn",
        "random_seeds": f"(site × {COMPARED} + draw) × {found.layers} + patch, counted from 0; sites are the vectors "
        "by layer and word, then the heads by layer",
    }


def _describe_patch(found: PatchingResult, kind: str, place: Place) -> str:
    """Return a single patch for a provenance; layers, heads and words count from 0."""
    layer, at = place
    if kind == "h":
        return f"output of head {head_label(layer, at)} at all words"
    where = "input of every layer" if layer == found.layers else f"input of layer {layer}"
    return f"vector of word {at} “{found.words[at]}” at the {where}"


def describe_columns(found: PatchingResult) -> dict[str, str]:
    """Return the definitions of columns of the saved table, for a provenance."""
    return {
        "part_of_the_way": "effect of the patch: 0 is the first text's answer, 1 the second's, linear between",
        **({} if found.shift else {"largest_random_effect": "over the draws counted in the column random changes"}),
    }


def _save(found: PatchingResult) -> None:
    rows: list[list[object]] = []
    for layer, word in np.ndindex(*found.states.shape):
        name = "every layer" if layer == found.layers else str(layer)
        rows.append(
            [
                "vector",
                name,
                "",
                found.words[word],
                _number(float(found.states[layer, word])),
                _number(float(found.state_changes.largest[layer, word])),
                int(found.state_changes.made[layer, word]),
            ]
        )
    for layer, head in np.ndindex(*found.heads.shape):
        rows.append(["head", str(layer), head, "", _number(float(found.heads[layer, head])),
                     _number(float(found.head_changes.largest[layer, head])),
                     int(found.head_changes.made[layer, head])])  # fmt: skip
    names = [
        "taken",
        "layer",
        "head",
        "word",
        "part of the way",
        "largest random effect",
        "random changes",
    ]
    followed = found.metric
    about = _provenance(found, **describe_columns(found), **describe_random_changes(found))
    if followed.names:
        for name, effect in (("log_odds_in_first_text", found.before), ("log_odds_in_second_text", found.after)):
            about[name] = float(followed.numbers(effect)[0, 0])
    download_table(csv_table(names, rows), "headlight-patching.csv", key="patching_save", provenance=about)


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
