"""Teach page: predictions of a fine-tuned model for a typed sentence."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

import numpy as np
import streamlit as st

from i18n import _
from inference import TraceRequest, UserError
from inference.tasks.labels import LabelAnswer, TextLabel, WordTags
from probing.labelled.labeled_texts import OUTSIDE, Kind
from training.jobs.job import PREDICTIONS, JobStatus
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
from ui.pages.teach.own_heads import draw_heads
from ui.run.notices import show_notice
from ui.run.page_model import ask_model
from ui.run.services import get_backend
from ui.show.chart import draw_chart, theme
from ui.show.tables import csv_table, download_button
from ui.show.text import percent
from ui.state.params import get_params, set_params
from viz.components.token_strip.token_strip import Mark, TokenChip, mount, picked_chip
from viz.figures.token_bars import bars

LONGEST = 500  # The maximum number of characters of the sentence.
MOST_BARS = 20
STRIP, TYPED = "teach_tags", "teach_sentence"
MOST_BYTES = 100_000  # The maximum number of bytes read of a test row.


def draw(look: JobStatus) -> None:
    """Draw the fine-tuned model's predictions for the typed sentence, by default the first test row."""
    show(look.job.name, look.job.kind, first_row(look))


def show(model: str, kind: Kind, first: str) -> None:
    """Draw the sentence, the prediction, the attributions and the head ablations of a model.

    The model needs a head for the task ``kind``. ``first`` is the default sentence.
    """
    text = get_params(TeachOptions).sentence or first
    st.session_state[TYPED] = text
    st.text_input(
        _("Own sentence"),
        key=TYPED,
        on_change=_on_new_sentence,
        max_chars=LONGEST,
    )
    question = (TextLabel if kind == "classify" else WordTags)(model, text=text)
    request = TraceRequest(model, text)
    try:
        trace = require_readable(get_backend().trace(request))
        said = ask_model(question, _("Asking the model"))
        index = 0 if kind == "classify" else _pick_word(request, said)
        asked = ExplainedLabel(request, said, index, kind == "tag", get_params(TeachOptions).label)
        show_notice(describe_prediction(asked), role="status")
        _probabilities(asked)
        pick_label(TeachOptions, asked)
        st.subheader(_("Attribution"))
        draw_words(asked, trace)
        st.subheader(_("Head ablation"))
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
        _("{many} of {words} words have a tag other than {outside}.", many=many, words=len(chips), outside=OUTSIDE),
        role="status",
    )
    st.caption(
        _(
            "A word's first token carries its tag. Without spaces, every character counts as a word, which "
            "training did not."
        )
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


def _probabilities(asked: ExplainedLabel) -> None:
    """Draw the probability of each label, the largest first, and a CSV export."""
    said, place = asked.prediction, asked.index
    shares = said.probabilities
    order = np.argsort(-said.logits[place], kind="stable")
    if shares is not None:
        shown = order[:MOST_BARS]
        rest = float(shares[place, order[MOST_BARS:]].sum()) if len(order) > MOST_BARS else None
        title = _("Prediction for “{word}”", word=asked.word) if asked.of_word else _("Prediction for the sentence")
        marked = [at for at, label in enumerate(shown) if label == asked.label]
        values = [float(shares[place, label]) for label in shown]
        figure = bars([said.names[label] for label in shown], values, theme(), title, other=rest, marked=marked)
        figure.update_xaxes(range=[0, 1.15])
        draw_chart(figure, "teach_labels", about=partial(label_provenance, asked))
    rows = [
        (
            said.names[label],
            float(said.logits[place, label]),
            *(() if shares is None else (float(shares[place, label]),)),
        )
        for label in order
    ]
    table = csv_table(["label", "logit", *(() if shares is None else ("probability",))], rows)
    download_button(_("Save the table"), table, "headlight-labels.csv", _("All digits"),
         key="teach_save_labels", provenance=label_provenance(asked))  # fmt: skip
