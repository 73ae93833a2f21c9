"""A text and the one label of it, or of one of its words, that is explained: what the figures about it share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from i18n import _
from inference import TraceRequest
from inference.tasks.labels import NUMBER, LabelAnswer, LabelPlace
from ui.input.bound_widget import bound_widget
from ui.run.services import get_backend
from ui.show.numbers import percent
from ui.show.provenance import model_fields


@dataclass(frozen=True, eq=False)
class ExplainedLabel:
    """A text as it is read, what was said of it, and the one label that is explained."""

    request: TraceRequest
    prediction: LabelAnswer
    index: int  # of the place among what has a label
    of_word: bool  # whether it is a word's tag, and not the whole text's class
    wanted: int | None  # number of the label that the reader asks about

    @property
    def place(self) -> LabelPlace:
        """What has the label."""
        return self.prediction.places[self.index]

    @property
    def at(self) -> int | None:
        """The token that carries the tag; None where the whole text has the label."""
        return self.place.reads[0] if self.of_word else None

    @property
    def label(self) -> int:
        """Number of the label that is explained, by itself the likeliest."""
        there = self.wanted is not None and self.wanted < len(self.prediction.names)
        return self.wanted if there and self.wanted is not None else self.prediction.likeliest(self.index)

    @property
    def what(self) -> str:
        """The watched number in words."""
        name = f"“{self.prediction.names[self.label]}”"
        of_number = self.prediction.sort == NUMBER
        return _("the number {name}", name=name) if of_number else _("the logit of {name}", name=name)

    @property
    def word(self) -> str:
        """What has the label, as it was typed."""
        return word_text(self.request, self.prediction, self.place)


def word_text(request: TraceRequest, said: LabelAnswer, place: LabelPlace) -> str:
    """A word as it was typed; pieces without a place in the text as they are."""
    start, stop = place.run
    text = (request.pair or "") if said.row.segments[start] else request.text
    spans = [span for span in said.row.spans[start:stop] if span is not None]
    return text[spans[0][0] : spans[-1][1]] if spans else "".join(said.row.pieces[start:stop])


def surest_label(said: LabelAnswer, outside: str) -> int:
    """The place whose label is the surest of those that have another label than ``outside``; else the first."""
    named_ones = [at for at in range(len(said.places)) if said.names[said.likeliest(at)] != outside]
    return max(named_ones, key=lambda at: float(said.logits[at].max()), default=0)


def describe_prediction(asked: ExplainedLabel) -> str:
    """What the model says of the text or the word, the likeliest label and the next, in a sentence."""
    said, at = asked.prediction, asked.index
    shares = said.probabilities
    if shares is None:
        numbers = ", ".join(f"{name} {number:.2f}" for name, number in zip(said.names, said.logits[at], strict=True))
        values = {"word": asked.word, "numbers": numbers[:200]}
        if asked.of_word:
            return _("The model gives of “{word}”: a number, which no probability belongs to: {numbers}.", **values)
        return _("The model gives a number, which no probability belongs to: {numbers}.", **values)
    order = np.argsort(-said.logits[at], kind="stable")[:2]
    ranked = [
        _(
            "“{name}” with probability {probability}",
            name=said.names[label],
            probability=percent(float(shares[at, label])),
        )
        for label in order
    ]
    what = _("{best}; next comes {other}", best=ranked[0], other=ranked[1]) if len(ranked) > 1 else ranked[0]
    if asked.of_word:
        return _("The model says of “{word}”: {labels}.", word=asked.word, labels=what)
    return _("The model says {labels}.", labels=what)


def label_provenance(asked: ExplainedLabel) -> dict[str, str]:
    """Where the numbers come from, as the files that are saved say it."""
    read = {"text": asked.request.text, "pair": asked.request.pair or ""}
    made = model_fields(get_backend().identity(asked.request.model, asked.request.revision))
    return made | {name: value for name, value in read.items() if value}


def pick_label(kind: type[Any], asked: ExplainedLabel) -> None:
    """Which label is explained, for the page whose options ``kind`` have a field ``label``."""
    names = asked.prediction.names
    if len(names) > 1:
        bound_widget(
            kind,
            "label",
            st.selectbox,
            _("Explain the number") if asked.prediction.sort == NUMBER else _("Explain the label"),
            list(range(len(names))),
            shown=asked.label,
            format_func=lambda at: names[at],
            help=_("What it rests on. By itself the likeliest."),
        )
