"""Choice of the two labels whose log-odds measure the effect of an ablation, for a text or one of its words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from i18n import _, gettext_lazy, translate
from inference import TraceRequest
from inference.tasks.edit_effects import Effect, LabelEffects
from inference.tasks.labels import LabelAnswer, TextLabel, WordTags, log_probabilities
from probing.labelled.labeled_texts import OUTSIDE
from ui.attribution.views import surest_label, word_text
from ui.input.controls import bound_widget
from ui.pages.cause.options import CauseOptions
from ui.run.notices import show_notice
from ui.run.services import get_backend
from ui.state.view_state import ViewState

HELP = gettext_lazy(
    "What is watched is how many times likelier the first label is than the second, as a logarithm (log-odds)."
)


@dataclass(frozen=True, eq=False)
class LabelPair:
    """Two labels of a text or word, with the request that scores them.

    ``reduce_to_pair`` turns an effect on all labels into log-probabilities of these two.
    """

    question: LabelEffects
    names: tuple[str, str]
    reduce_to_pair: Callable[[Effect], Effect]


def labels(options: CauseOptions, choice: ViewState, asked: TraceRequest) -> LabelPair | None:
    """Return the labels that the reader chose, else the two likeliest.

    Return None with a notice if there are no two labels to compare. Raise UserError if the model cannot answer.
    """
    given: dict[str, Any] = {
        "model": asked.model,
        "revision": asked.revision,
        "text": asked.text,
        "pair": asked.pair,
        "cut": asked.cut,
    }
    said = get_backend().predict((TextLabel if options.watch == "label" else WordTags)(**given))
    if said.probabilities is None or len(said.names) < 2:
        show_notice(
            _("This model returns a number, not probabilities of labels. Choose another output to watch."),
            "status",
        )
        return None
    place, at = (0, None) if options.watch == "label" else _word(options, choice, asked, said)
    order = np.argsort(-said.logits[place], kind="stable")
    first, second = _two(options, [said.names[label] for label in order])
    if first == second:
        show_notice(_("Pick two different labels to compare."), role="status")
        return None
    places = [said.names.index(name) for name in (first, second)]
    return LabelPair(LabelEffects(**given, at=at), (first, second), partial(_pair_log_probs, said.sort, places))


def _pair_log_probs(sort: str, places: Sequence[int], effect: Effect) -> Effect:
    """Convert the logits of all labels into the log-probabilities of two labels."""
    logs = log_probabilities(effect.values, sort)
    assert logs is not None  # labels() has already rejected regression heads
    return replace(effect, values=logs[:, list(places)], names=tuple(effect.names[at] for at in places))


def _two(options: CauseOptions, names: Sequence[str]) -> tuple[str, str]:
    """Draw the controls of the two compared labels and return both; ``names`` are sorted by likelihood."""
    first = options.first if options.first in names else names[0]
    second = options.second if options.second in names else next(name for name in names if name != first)
    for column, name, shown, label in zip(
        st.columns(2), ("first", "second"), (first, second), (_("First label"), _("Second label")), strict=True
    ):
        bound_widget(CauseOptions, name, column.selectbox, label, list(names), shown=shown, help=translate(HELP))
    return first, second


def _word(options: CauseOptions, choice: ViewState, asked: TraceRequest, said: LabelAnswer) -> tuple[int, int]:
    """Draw the control of the tagged word; return its index in the answer and the token that is read.

    By default it is the focus word if that has a tag, else the word with the surest label other than "outside".
    """
    wanted = options.word if options.word is not None else choice.focus
    there = (at for at, place in enumerate(said.places) if wanted is not None and wanted in range(*place.run))
    chosen = next(there, surest_label(said, OUTSIDE))
    words = [
        f"{word_text(asked, said, place)} ({said.names[said.likeliest(at)]})" for at, place in enumerate(said.places)
    ]
    reads = {place.reads[0]: word for place, word in zip(said.places, words, strict=True)}
    bound_widget(
        CauseOptions,
        "word",
        st.selectbox,
        options=list(reads),
        shown=said.places[chosen].reads[0],
        format_func=reads.get,
    )
    return chosen, said.places[chosen].reads[0]
