"""Teach page: a fine-tuned model's labels for a typed sentence, and the effects of its heads on them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from attention.edits import Ablate, EditSet, as_head_map, places_of
from attention.mask import FloatArray
from attention.trace import Trace
from attention.view import View
from i18n import _, gettext_lazy
from inference import TraceRequest, UserError
from inference.tasks.edit_effects import LabelEffects
from inference.tasks.labels import LabelAnswer, TextLabel, WordTags
from probing.labelled.labeled_texts import OUTSIDE, Kind
from training.jobs.job import PREDICTIONS, JobStatus
from ui.ablation.controls import chosen_edits, draw_panel
from ui.ablation.edits import Head, describe_edits
from ui.ablation.effects import head_effects_computation, heads_csv, measure_changes
from ui.attribution.views import (
    ExplainedLabel,
    describe_prediction,
    draw_words,
    label_provenance,
    pick_label,
    surest_label,
    word_text,
)
from ui.input.unknown_words import require_readable
from ui.pages.teach.options import TeachOptions
from ui.run.notices import show_notice
from ui.run.page_model import ask_model
from ui.run.services import get_backend
from ui.show.chart import draw_chart, theme
from ui.show.microscope import explore_link
from ui.show.tables import csv_table, download_button
from ui.show.text import format_small, percent
from ui.show.views import link_to_view
from ui.state.params import get_params, set_params
from ui.state.view_state import ViewState, fits, to_query
from viz.components.token_strip.token_strip import Mark, TokenChip, mount, picked_chip
from viz.figures.head_maps import head_map, picked_head
from viz.figures.token_bars import bars
from viz.paper.notebook import Computation

LONGEST = 500  # The maximum number of characters of the sentence.
MOST_BARS = 20
STRIP, TYPED = "teach_tags", "teach_sentence"
MOST_BYTES = 100_000  # The maximum number of bytes read of a test row.
HEADS = "teach_heads"
LABELS = """\
found = backend.predict(request)
order = np.argsort(-found.logits[place], kind="stable")
shares = found.probabilities[place, order]
numbers = [*shares[:most], *([shares[most:].sum()] if len(shares) > most else [])]"""  # code of a notebook
LARGEST = gettext_lazy(
    "Ablating head {layer}-{head} changes {what} most: by {size}. {few} of {all} heads change it under a tenth as much."
)


def draw(look: JobStatus) -> None:
    """Draw the fine-tuned model's predictions for the typed sentence, by default the first test row."""
    show(look.job.name, "tag" if look.job.kind == "tag" else "classify", first_row(look))


def show(model: str, kind: Kind, first: str) -> None:
    """Draw the sentence, the prediction, the attributions and the head ablations of a model.

    The model needs a task head for ``kind``. ``first`` is the default sentence.
    """
    text = get_params(TeachOptions).sentence or first
    st.session_state[TYPED] = text
    st.text_input(
        _("Sentence"),
        key=TYPED,
        on_change=_on_new_sentence,
        max_chars=LONGEST,
    )
    question = (TextLabel if kind == "classify" else WordTags)(model, text=text)
    request = TraceRequest(model, text)
    try:
        trace = require_readable(get_backend().trace(request))
        said = ask_model(question, _("Running the model"))
        index = 0 if kind == "classify" else _pick_word(request, said)
        asked = ExplainedLabel(request, said, index, kind == "tag", get_params(TeachOptions).label)
        show_notice(describe_prediction(asked), role="status")
        _probabilities(asked, question)
        pick_label(TeachOptions, asked)
        st.header(_("Attribution"))
        draw_words(asked, trace)
        st.header(_("Ablation effect"))
        draw_heads(asked, trace)
    except UserError as refusal:
        show_notice(refusal.message)


def _on_new_sentence() -> None:
    """Store the new sentence and reset the selected word and label."""
    set_params(TeachOptions, sentence=st.session_state[TYPED], word=None, label=None)


def first_row(look: JobStatus) -> str:
    """Return the text of the first test row, at most LONGEST characters; "" if the file cannot be read."""
    try:
        with (look.model / PREDICTIONS).open(encoding="utf-8") as lines:
            return str(json.loads(lines.readline(MOST_BYTES))["text"])[:LONGEST]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return ""


def _pick_word(request: TraceRequest, said: LabelAnswer) -> int:
    """Draw every word with its tag and return the index of the word to explain.

    A click selects a word. By default it is the word with the surest tag.
    """
    wanted = next((at for at, place in enumerate(said.places) if place.reads[0] == get_params(TeachOptions).word), None)
    chosen = surest_label(said, OUTSIDE) if wanted is None else wanted
    chips = _chips(request, said, chosen)
    mount(chips, STRIP, title=_("Click a word to explain its tag"), on_pick=_make_on_pick(said))
    many = sum(bool(chip.label) for chip in chips)
    show_notice(
        _("{many} of {words} words are not {outside}.", many=many, words=len(chips), outside=OUTSIDE),
        role="status",
    )
    st.caption(
        _("A word's first token carries its tag. Without spaces, each character counts as a word, unlike in training.")
    )
    return chosen


def _chips(request: TraceRequest, said: LabelAnswer, chosen: int) -> list[TokenChip]:
    shares = said.probabilities
    chips = []
    for at, place in enumerate(said.places):
        label = said.likeliest(at)
        sure = 1.0 if shares is None else float(shares[at, label])
        name = said.names[label]
        what = name if shares is None else f"{name} {percent(sure)}"
        shade, under = (None, "") if name == OUTSIDE else (sure, what)
        mark: Mark = "chosen" if at == chosen else ""
        chips.append(TokenChip(word_text(request, said, place), shade, mark, title=what, label=under))
    return chips


def _make_on_pick(said: LabelAnswer) -> Callable[[], None]:
    def keep() -> None:
        at = picked_chip(STRIP)
        if at is not None and at < len(said.places):
            set_params(TeachOptions, word=said.places[at].reads[0], label=None)

    return keep


def _probabilities(asked: ExplainedLabel, question: TextLabel | WordTags) -> None:
    """Draw the probability of each label, the largest first, and a CSV export; ``question`` is the model's request."""
    said, place = asked.prediction, asked.index
    shares = said.probabilities
    order = np.argsort(-said.logits[place], kind="stable")
    if shares is not None:
        shown = order[:MOST_BARS]
        rest = float(shares[place, order[MOST_BARS:]].sum()) if len(order) > MOST_BARS else None
        title = f"{_('Predicted label')} · {asked.word}" if asked.of_word else _("Predicted label")
        marked = [at for at, label in enumerate(shown) if label == asked.label]
        values = [float(shares[place, label]) for label in shown]
        figure = bars([said.names[label] for label in shown], values, theme(), title, other=rest, marked=marked)
        figure.update_xaxes(range=[0, 1.15])
        computation = Computation(LABELS, request=question, place=place, most=MOST_BARS)
        draw_chart(figure, "teach_labels", about=partial(label_provenance, asked), computation=computation)
    rows = [
        (
            said.names[label],
            float(said.logits[place, label]),
            *(() if shares is None else (float(shares[place, label]),)),
        )
        for label in order
    ]
    table = csv_table(["label", "logit", *(() if shares is None else ("probability",))], rows)
    download_button(_("Save as CSV"), table, "headlight-labels.csv", _("All digits"),
         key="teach_save_labels", provenance=label_provenance(asked))  # fmt: skip


def draw_heads(asked: ExplainedLabel, trace: Trace) -> None:
    """Draw the ablation effect of every head on the explained label.

    A click selects the head for the links to other pages.
    """
    if not trace.has_qkv():
        show_notice(
            _(
                "{model} does not support ablation. Choose another model.",
                model=trace.model.architecture,
            ),
            "status",
        )
        _links(asked, None)
        return
    places = places_of(trace)
    found = _effects(asked, places, len(trace.source))
    if not len(found):
        return
    width = 1 + max(head for _, head in places)
    strongest = places[int(np.abs(found).argmax())]
    head = next(
        (place for place in places if get_params(TeachOptions).needed == place[0] * width + place[1]), strongest
    )
    _verdict(asked, places, found)
    unit = _("change of the logit")
    figure = head_map(
        as_head_map(places, found),
        theme(),
        _("Ablation effect"),
        unit,
        diverging=True,
        selected=head,
    )
    about = partial(label_provenance, asked)
    number, tokens = f"values[:, {asked.label}]", len(trace.source)
    computation = head_effects_computation(asked.request, _question(asked), tokens, number)
    draw_chart(figure, HEADS, on_click=partial(_on_pick, width), about=about, computation=computation)
    st.caption(_("Click a cell to select its head."))
    download_button(_("Save as CSV"), heads_csv(places, found, unit),
         "headlight-label-heads.csv", _("All digits"), key="teach_save_heads",
         provenance=label_provenance(asked))  # fmt: skip
    _links(asked, head)
    _draw_edits(asked, trace, places)


def _draw_edits(asked: ExplainedLabel, trace: Trace, places: Sequence[Head]) -> None:
    """Draw the panel of edits, and the label's logit before and after them. Raise UserError if an edit does not fit."""
    edits = chosen_edits(get_params(TeachOptions), None)
    draw_panel(TeachOptions, edits, offered=[Ablate(*place) for place in places])
    if not edits:
        return
    before, after = _logits(asked, [(), edits])
    show_notice(
        _(
            "With {edits}, {what} is {after}; before, {before}.",
            edits=describe_edits(edits, View(trace, words=True)),
            what=asked.what,
            after=format_small(float(after)),
            before=format_small(float(before)),
        ),
        role="status",
    )


def _question(asked: ExplainedLabel) -> LabelEffects:
    return LabelEffects(asked.request.model, text=asked.request.text, at=asked.at)


def _logits(asked: ExplainedLabel, sets: Sequence[EditSet]) -> FloatArray:
    """Return the label's logit under each edit set, shape (set,)."""
    logits: FloatArray = get_backend().predict(replace(_question(asked), edits=tuple(sets))).values[:, asked.label]
    return logits


def _effects(asked: ExplainedLabel, places: Sequence[Head], tokens: int) -> FloatArray:
    """Return the change of the label's logit under the ablation of each head, shape (head,).

    The array is shorter if the reader stopped the computation.
    """
    sets = [(Ablate(*place),) for place in places]
    return measure_changes(
        f"{_question(asked).key}:{asked.label}",
        sets,
        tokens,
        _("Ablating each head"),
        partial(_logits, asked),
    )


def _verdict(asked: ExplainedLabel, places: Sequence[Head], found: FloatArray) -> None:
    """Show a sentence on the head with the largest effect."""
    sizes = np.abs(found)
    best = int(sizes.argmax())
    layer, head = places[best]
    said = _(
        LARGEST,
        layer=layer,
        head=head,
        what=asked.what,
        size=format_small(float(found[best])),
        few=int((sizes < sizes.max() / 10).sum()),
        all=len(found),
    )
    show_notice(said, role="status")


def _on_pick(width: int, key: str) -> None:
    place = picked_head(st.session_state[key])
    if place is not None:
        set_params(TeachOptions, needed=place[0] * width + place[1])


def _links(asked: ExplainedLabel, head: Head | None) -> None:
    """Draw links to the same sentence, model and head on the pages Explore and Cause."""
    there = ViewState(model=asked.request.model, text=asked.request.text, focus=asked.place.reads[0])
    there = there if head is None else replace(there, layer=head[0], head=head[1])
    with st.container(horizontal=True):
        explore_link(there)
        if fits(there):
            link_to_view(
                "cause",
                _("Ablate more"),
                icon=":material/content_cut:",
                query={**to_query(there), "watch": "tag" if asked.of_word else "label"},
            )
