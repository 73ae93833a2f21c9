"""Which two labels are watched: of the text, or of one word in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from inference import TraceRequest
from inference.questions.effects import Effect, LabelEffects
from inference.questions.labels import Said, TextLabel, WordTags, log_probabilities
from probing.labelled.rows import OUTSIDE
from ui.explaining.asked import surest, written
from ui.input.picking import control
from ui.pages.cause.options import Cause
from ui.run.refusals import say
from ui.run.shelf import backend
from ui.state.choice import Choice
from wording import _, sentence, told

HELP = sentence(
    "What is watched is how many times likelier the first label is than the second, as a logarithm (log-odds)."
)


@dataclass(frozen=True, eq=False)
class Labels:
    """Two labels of a text or a word: how to ask about them, their names, and their numbers among the answer's."""

    question: LabelEffects
    names: tuple[str, str]
    told: Callable[[Effect], Effect]


def labels(options: Cause, choice: Choice, asked: TraceRequest) -> Labels | None:
    """The likeliest two, or those that were picked; None where there are no two, which is said. Raises Refusal."""
    given: dict[str, Any] = {
        "model": asked.model,
        "revision": asked.revision,
        "text": asked.text,
        "pair": asked.pair,
        "cut": asked.cut,
    }
    said = backend().predict((TextLabel if options.watch == "label" else WordTags)(**given))
    if said.probabilities is None or len(said.names) < 2:
        say(
            _("The model's head gives a number and no probabilities of labels, so no two can be compared here."),
            "status",
        )
        return None
    place, at = (0, None) if options.watch == "label" else _word(options, choice, asked, said)
    order = np.argsort(-said.logits[place], kind="stable")
    first, second = _two(options, [said.names[label] for label in order])
    if first == second:
        say(_("Pick two different labels to compare."), role="status")
        return None
    places = [said.names.index(name) for name in (first, second)]
    return Labels(LabelEffects(**given, at=at), (first, second), partial(_told, said.sort, places))


def _told(sort: str, places: Sequence[int], effect: Effect) -> Effect:
    """Every label's logits as the logarithms of the probabilities of two."""
    logs = log_probabilities(effect.values, sort)
    assert logs is not None  # a head for numbers is told before
    return replace(effect, values=logs[:, list(places)], names=tuple(effect.names[at] for at in places))


def _two(options: Cause, names: Sequence[str]) -> tuple[str, str]:
    """The two that are compared, of all by how likely they are."""
    first = options.first if options.first in names else names[0]
    second = options.second if options.second in names else next(name for name in names if name != first)
    for column, name, shown, label in zip(
        st.columns(2), ("first", "second"), (first, second), (_("First label"), _("Second label")), strict=True
    ):
        control(Cause, name, column.selectbox, label, list(names), shown=shown, help=told(HELP))
    return first, second


def _word(options: Cause, choice: Choice, asked: TraceRequest, said: Said) -> tuple[int, int]:
    """The word whose tag is watched, among those that have one, and its piece: the reader's, or the surest name."""
    wanted = options.word if options.word is not None else choice.focus
    there = (at for at, place in enumerate(said.places) if wanted is not None and wanted in range(*place.run))
    chosen = next(there, surest(said, OUTSIDE))
    words = [
        f"{written(asked, said, place)} ({said.names[said.likeliest(at)]})" for at, place in enumerate(said.places)
    ]
    reads = {place.reads[0]: word for place, word in zip(said.places, words, strict=True)}
    control(
        Cause,
        "word",
        st.selectbox,
        _("Word"),
        list(reads),
        shown=said.places[chosen].reads[0],
        format_func=reads.get,
        help=_("Whose tag is watched; what the model says of each word stands beside it."),
    )
    return chosen, said.places[chosen].reads[0]
