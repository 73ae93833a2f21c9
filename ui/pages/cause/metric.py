"""The metric of the page Cause: sentence vector, masked word, next sentence, next token, or label."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st

from attention.edits import EditSet, log_odds, similarity
from attention.mask import FloatArray
from i18n import _, gettext_lazy
from inference import TraceRequest, UserError
from inference.task_heads import BARE, CAUSAL, CLASSIFY, MASKED, NEXT_SENTENCE, TAG
from inference.tasks.edit_effects import (
    AnyEffects,
    BlankEffects,
    Effect,
    FollowsEffects,
    NextTokenEffects,
    VectorEffects,
)
from inference.tasks.predictions import MaskedWords, SurprisalRequest
from ui.ablation.effects import measure_changes
from ui.input.controls import TYPED, bound_widget, first_place
from ui.pages.cause.labels import labels
from ui.pages.cause.options import CauseOptions
from ui.run.notices import show_notice
from ui.run.page_model import PageModel, pick_page_model
from ui.run.services import get_backend
from ui.run.traces import request_of
from ui.show.tables import set_answering_model
from ui.state.examples import example_of
from ui.state.view_state import ViewState

HEADS = {"vector": BARE, "blank": MASKED, "follows": NEXT_SENTENCE, "next": CAUSAL, "label": CLASSIFY, "tag": TAG}


@dataclass(frozen=True, eq=False)
class AnswerMetric:
    """A metric of the model's answer.

    ``request`` is the text as the model reads it for this answer. ``names`` are the two answers compared by
    log-odds, or () for a vector. ``reduce_to_pair`` reduces an effect on more answers to these two.
    """

    question: AnyEffects
    request: TraceRequest
    names: tuple[str, ...] = ()
    reduce_to_pair: Callable[[Effect], Effect] | None = None

    def ask(self, sets: Sequence[EditSet]) -> Effect:
        """Return the model's answer under each set of edits. Raise UserError if the model cannot answer."""
        asked = replace(self.question, edits=tuple(sets))
        found = get_backend().inspect(asked) if isinstance(asked, VectorEffects) else get_backend().predict(asked)
        return found if self.reduce_to_pair is None else self.reduce_to_pair(found)

    def numbers(self, effect: Effect) -> FloatArray:
        """Return the metric of each set, (set,): log-odds in nats, or cosine similarity for a vector.

        The cosine compares each vector with that of the first set, which must have no edits.
        """
        return log_odds(effect.values) if self.names else similarity(effect.values)

    def changes(self, sets: Sequence[EditSet], tokens: int, doing: str) -> FloatArray:
        """Return the change of the metric under each set, (set,), with fewer sets if the reader stops.

        ``tokens`` is the length of the text; ``doing`` labels the progress bar. Raise UserError if the model
        cannot answer.
        """
        return measure_changes(self.question.key, sets, tokens, doing, lambda some: self.numbers(self.ask(some)))

    @property
    def unit(self) -> str:
        """Return the label of the metric."""
        return (
            _("log-odds of “{word}”", word=self.names[0]) if self.names else _("likeness to the vector before (cosine)")
        )

    def effects(self, changes: FloatArray) -> FloatArray:
        """Return changes as effects: unchanged for log-odds, 1 − cosine (at least 0) for a vector."""
        return changes if self.names else np.maximum(-changes, 0)

    @property
    def effect(self) -> str:
        """Return the label of an effect."""
        return (
            _("change of the log-odds of “{word}”", word=self.names[0])
            if self.names
            else _("how far the vector moves (1 − cosine)")
        )


def metric_model(options: CauseOptions, choice: ViewState) -> PageModel:
    """Return the model that answers the question of the metric."""
    if options.watch == "vector":
        set_answering_model(choice.model, choice.revision or None)
        return PageModel(choice.model, choice.revision or None, "", BARE, False)
    return pick_page_model(HEADS[options.watch], choice, CauseOptions)


def build_metric(options: CauseOptions, choice: ViewState, who: PageModel) -> AnswerMetric | None:
    """Return the chosen metric, or None with a notice if an input is missing.

    Raise UserError if the model cannot read the text.
    """
    asked = replace(request_of(choice), model=who.model, revision=who.revision, target=None)
    given: dict[str, Any] = {"model": who.model, "revision": who.revision, "text": asked.text}
    if options.watch == "vector":
        return AnswerMetric(VectorEffects(**given, pair=asked.pair, cut=asked.cut), asked)
    if options.watch == "follows":
        if not asked.pair:
            show_notice(
                _("Whether one text follows another needs a second text. Press “+ second text” above."), role="status"
            )
            return None
        names = (_("follows"), _("does not follow"))
        return AnswerMetric(FollowsEffects(**given, pair=asked.pair, cut=asked.cut), asked, names)
    if options.watch == "next":
        asked = replace(asked, pair=None)
        question = NextTokenEffects(**given, cut=asked.cut)
        words = _two(options, [name for name, _chance in get_backend().predict(question).top[0]])
        return None if words is None else AnswerMetric(replace(question, words=words), asked, words)
    if options.watch in ("label", "tag"):
        two = labels(options, choice, asked)
        return None if two is None else AnswerMetric(two.question, asked, two.names, two.reduce_to_pair)
    return _blank(options, choice, asked, {**given, "pair": asked.pair, "cut": asked.cut})


def _blank(options: CauseOptions, choice: ViewState, asked: TraceRequest, given: dict[str, Any]) -> AnswerMetric | None:
    """Return the metric of a masked word: a typed [MASK], else the example's word, else the last word."""
    mask = get_backend().predict(SurprisalRequest(**given, stop=0)).mask
    hidden = first_place(choice.text, choice.pair, example_of(choice.text, choice.pair), mask)
    filled = get_backend().predict(MaskedWords(**given, hidden=hidden))
    if not filled.whole:
        raise UserError(
            gettext_lazy("The text reads differently with its word hidden. Type [MASK] in the word's place."),
            way_out="text",
        )
    if hidden:
        start, end = hidden[0][1:]
        show_notice(
            _(
                "“{word}” is hidden. Type {mask} in the text to hide another word.",
                word=choice.text[start:end],
                mask=TYPED,
            ),
            role="status",
        )
    names = _two(options, [guess.piece for guess in filled.blanks[0].guesses])
    if names is None:
        return None
    question = BlankEffects(**given, hidden=hidden, words=names)
    return AnswerMetric(question, replace(asked, text=filled.text, pair=filled.pair), names)


def _two(options: CauseOptions, likeliest: Sequence[str]) -> tuple[str, str] | None:
    """Draw the fields of the two compared words, filled with the likeliest words by default.

    Return None with a notice unless there are two different words.
    """
    whole = sorted(
        (name.strip("…") for name in likeliest if name.strip("…").isalnum()), key=lambda name: not name.isalpha()
    )
    left, right = st.columns(2)
    first = options.first or next(iter(whole), "")
    second = options.second or next((name for name in whole if name != first), "")
    words = []
    for column, name, shown, label in (
        (left, "first", first, _("First word")),
        (right, "second", second, _("Second word")),
    ):
        typed = bound_widget(
            CauseOptions,
            name,
            column.text_input,
            label,
            shown=shown,
            max_chars=60,
            help=_("The answer is measured as the log-odds of the first word against the second."),
        )
        words.append(typed.strip())
    if not all(words) or words[0] == words[1]:
        show_notice(_("Type two different words; each must be one token of the model's vocabulary."), role="status")
        return None
    return words[0], words[1]
