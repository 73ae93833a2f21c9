"""The metric of the view Ablation, the request that computes it, and experiments with edited heads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st

from attention.edits import EditSet, log_odds, places_of, similarity
from attention.mask import FloatArray
from attention.trace import Trace
from attention.view import View
from i18n import _, gettext_lazy, translate
from inference import TraceRequest, UserError
from inference.task_heads import BARE, CAUSAL, CLASSIFY, MASKED, NEXT_SENTENCE, TAG
from inference.tasks.edit_effects import (
    AnyEffects,
    BlankEffects,
    Effect,
    FollowsEffects,
    LabelEffects,
    NextTokenEffects,
    VectorEffects,
)
from inference.tasks.labels import LabelAnswer, TextLabel, WordTags, log_probabilities
from inference.tasks.predictions import MaskedWords, SurprisalRequest
from probing.edit_answers import answers_under, tokens_per_step
from probing.labelled.labeled_texts import OUTSIDE
from ui.ablation.edits import Head, describe_metric, edit_settings, token_name
from ui.ablation.effects import measure_changes
from ui.attribution.views import surest_label, word_text
from ui.input.controls import TYPED, bound_widget, first_place
from ui.pages.cause.options import WATCHES, CauseOptions
from ui.run.notices import show_notice
from ui.run.page_model import PageModel, pick_page_model
from ui.run.services import get_backend
from ui.run.traces import request_of
from ui.show.tables import request_provenance, set_answering_model
from ui.state.view_state import ViewState, example_of
from viz.paper.notebook import Computation

COMPARED = gettext_lazy("The answer is the log-odds of the first against the second.")
NO_LABELS = gettext_lazy("This model predicts a number. Choose another output.")


@dataclass(frozen=True, eq=False)
class LabelPair:
    """Two labels of a classifier, which are compared by their log-odds.

    ``question`` is the request for the logits of all labels, and ``places`` are the indices of the two labels.
    """

    question: LabelEffects
    names: tuple[str, str]
    sort: str  # as in inference.tasks.labels
    places: tuple[int, int]

    def reduce(self, effect: Effect) -> Effect:
        """Convert the logits of all labels into the log-probabilities of this pair of labels."""
        logs = log_probabilities(effect.values, self.sort)
        assert logs is not None  # pick_labels has already rejected regression heads
        return replace(effect, values=logs[:, list(self.places)], names=self.names)


def pick_labels(options: CauseOptions, choice: ViewState, asked: TraceRequest) -> LabelPair | None:
    """Draw the widgets for two labels to compare, by default the likeliest, and return both labels.

    In token classification, a widget also selects the word. If there are no two labels to compare, show a notice and
    return None. Raise UserError if the model cannot answer.
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
        show_notice(translate(NO_LABELS), "status")
        return None
    place, at = (0, None) if options.watch == "label" else _pick_word(options, choice, asked, said)
    order = np.argsort(-said.logits[place], kind="stable")
    first, second = _two_labels(options, [said.names[label] for label in order])
    places = said.names.index(first), said.names.index(second)
    return LabelPair(LabelEffects(**given, at=at), (first, second), said.sort, places)


def _two_labels(options: CauseOptions, names: Sequence[str]) -> tuple[str, str]:
    """Draw the controls of the two compared labels and return both; ``names`` are sorted by likelihood."""
    first = options.first if options.first in names else names[0]
    others = [name for name in names if name != first]
    second = options.second if options.second in others else others[0]
    left, right = st.columns(2)
    help = translate(COMPARED)
    bound_widget(CauseOptions, "first", left.selectbox, _("First answer"), list(names), shown=first, help=help)
    bound_widget(CauseOptions, "second", right.selectbox, _("Second answer"), others, shown=second, help=help)
    return first, second


def _pick_word(options: CauseOptions, choice: ViewState, asked: TraceRequest, said: LabelAnswer) -> tuple[int, int]:
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


HEADS = {"vector": BARE, "blank": MASKED, "follows": NEXT_SENTENCE, "next": CAUSAL, "label": CLASSIFY, "tag": TAG}


@dataclass(frozen=True, eq=False)
class AnswerMetric:
    """A number that measures the model's answer: log-odds of two answers, or the cosine similarity of a vector.

    ``question`` is the request for the answer, and ``request`` that for a trace of the same text. ``names`` are the two
    answers, or () for a vector. ``labels`` is given if the answers are two of several labels.
    """

    question: AnyEffects
    request: TraceRequest
    names: tuple[str, ...] = ()
    labels: LabelPair | None = None

    def ask(self, sets: Sequence[EditSet]) -> Effect:
        """Return the model's answer under each set of edits. Raise UserError if the model cannot answer."""
        asked = replace(self.question, edits=tuple(sets))
        found = get_backend().inspect(asked) if isinstance(asked, VectorEffects) else get_backend().predict(asked)
        return found if self.labels is None else self.labels.reduce(found)

    def numbers(self, effect: Effect) -> FloatArray:
        """Return the metric under each edit set, (set,): log-odds in nats, or cosine similarity for a vector.

        The cosine compares each vector with that of the first set, which must have no edits.
        """
        return log_odds(effect.values) if self.names else similarity(effect.values)

    def changes(self, sets: Sequence[EditSet], trace: Trace, doing: str) -> FloatArray:
        """Return the change of the metric under each edit set, (set,); the array is shorter if the reader stops.

        ``trace`` is that of the text; ``doing`` labels the progress bar. Raise UserError if the model cannot answer.
        """
        tokens, at_once = len(trace.source), tokens_per_step(trace)
        return measure_changes(
            self.question.key, sets, tokens, doing, lambda some: self.numbers(self.ask(some)), at_once
        )

    def computation(self, sets: str, numbers: str, **names: Any) -> Computation:
        """Return notebook code that computes ``numbers`` from the effects of several edit sets.

        ``sets`` is code for a list of edit sets. It may use ``heads``, the list of all heads, and ``names``.
        ``numbers`` is code that may use ``effects``, the effect of each edit set, shape (set,), and ``metric``, the
        metric without edits and then under each edit set, shape (1 + set,).
        """
        values = "values" if self.labels is None else "log_probabilities(values, sort)[:, list(places)]"
        code = (
            "trace = backend.trace(reading)\nheads = places_of(trace)\n"
            f"values = answers_under(backend, request, [(), *{sets}], len(trace.source))\n"
            f"metric = {'log_odds' if self.names else 'similarity'}({values})\n"
            f"effects = {'metric[1:] - metric[0]' if self.names else 'np.maximum(metric[0] - metric[1:], 0)'}\n"
            f"numbers = {numbers}"
        )
        used: dict[str, Any] = {"log_odds": log_odds} if self.names else {"similarity": similarity}
        if self.labels is not None:
            used |= {"log_probabilities": log_probabilities, "sort": self.labels.sort, "places": self.labels.places}
        used |= {"places_of": places_of, "answers_under": answers_under, **names}
        return Computation(code, reading=self.request, request=self.question, **used)

    @property
    def unit(self) -> str:
        """Return the name of the metric as an axis label, such as "log-odds of “he” against “she”"."""
        return (
            _("log-odds of “{first}” against “{second}”", first=self.names[0], second=self.names[1])
            if self.names
            else _("cosine to the original vector")
        )

    def effects(self, changes: FloatArray) -> FloatArray:
        """Return changes of the metric as the page shows them: unchanged for log-odds, 1 − cosine for a vector."""
        return changes if self.names else np.maximum(-changes, 0)

    @property
    def effect(self) -> str:
        """Return the label of an effect, that is, of a change of the metric."""
        return (
            _("change of the log-odds of “{first}” against “{second}”", first=self.names[0], second=self.names[1])
            if self.names
            else _("change of the vector (1 − cosine)")
        )


def metric_model(options: CauseOptions, choice: ViewState) -> PageModel:
    """Return the model from which the metric is computed."""
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
            show_notice(_("This output needs a second text. Click “+ second text”."), role="status")
            return None
        names = (_("follows"), _("does not follow"))
        return AnswerMetric(FollowsEffects(**given, pair=asked.pair, cut=asked.cut), asked, names)
    if options.watch == "next":
        asked = replace(asked, pair=None)
        question = NextTokenEffects(**given, cut=asked.cut)
        words = _two_words(options, [name for name, _chance in get_backend().predict(question).top[0]])
        return None if words is None else AnswerMetric(replace(question, words=words), asked, words)
    if options.watch in ("label", "tag"):
        two = pick_labels(options, choice, asked)
        return None if two is None else AnswerMetric(two.question, asked, two.names, two)
    return _blank(options, choice, asked, {**given, "pair": asked.pair, "cut": asked.cut})


def _blank(options: CauseOptions, choice: ViewState, asked: TraceRequest, given: dict[str, Any]) -> AnswerMetric | None:
    """Return the metric of a masked word: a typed [MASK], else the example's word, else the last word."""
    mask = get_backend().predict(SurprisalRequest(**given, stop=0)).mask
    hidden = first_place(choice.text, choice.pair, example_of(choice.text, choice.pair), mask)
    filled = get_backend().predict(MaskedWords(**given, hidden=hidden))
    if not filled.whole:
        raise UserError(
            gettext_lazy("With the mask, the text is tokenized differently. Mask another word."),
            way_out="text",
        )
    if hidden:
        start, end = hidden[0][1:]
        show_notice(
            _(
                "“{word}” is masked. Type {mask} to mask another word.",
                word=choice.text[start:end],
                mask=TYPED,
            ),
            role="status",
        )
    names = _two_words(options, [guess.piece for guess in filled.blanks[0].guesses])
    if names is None:
        return None
    question = BlankEffects(**given, hidden=hidden, words=names)
    return AnswerMetric(question, replace(asked, text=filled.text, pair=filled.pair), names)


def _two_words(options: CauseOptions, likeliest: Sequence[str]) -> tuple[str, str] | None:
    """Draw the fields of the two compared words, filled with the likeliest words by default.

    A piece that continues a word is marked with "…" (``tokenizer.mark_pieces``) and left out: without the mark, it is
    another token. Return None with a notice unless there are two different words.
    """
    whole = sorted((name for name in likeliest if name.isalnum()), key=lambda name: not name.isalpha())
    left, right = st.columns(2)
    first = options.first or next(iter(whole), "")
    second = options.second or next((name for name in whole if name != first), "")
    words = []
    for column, name, shown, label in (
        (left, "first", first, _("First answer")),
        (right, "second", second, _("Second answer")),
    ):
        typed = bound_widget(
            CauseOptions,
            name,
            column.text_input,
            label,
            shown=shown,
            max_chars=60,
            help=translate(COMPARED),
        )
        words.append(typed.strip())
    if not all(words) or words[0] == words[1]:
        show_notice(_("Type two different words, each one token of the vocabulary."), role="status")
        return None
    return words[0], words[1]


@dataclass(frozen=True, eq=False)
class AblationExperiment:
    """An ablation experiment: a text (``view``), a metric of the output (``watch``), and the edits."""

    view: View
    watch: AnswerMetric
    edits: EditSet
    head: Head  # the head that is selected on all pages
    options: CauseOptions

    @property
    def places(self) -> list[Head]:
        """Return all heads as (layer, head)."""
        return places_of(self.view.trace)

    def provenance(self, is_edited: bool = True, **settings: Any) -> dict[str, Any]:
        """Return the provenance of numbers: the model, the texts as the model reads them, the metric and ``settings``.

        The edits are added if ``is_edited`` is True.
        """
        asked = self.watch.question
        at = asked.at if isinstance(asked, LabelEffects) else None
        return {
            **request_provenance(self.watch.request),
            "tokens": len(self.view.trace.source),
            **({"output": translate(WATCHES[self.options.watch])} if self.watch.names else {}),
            "metric": describe_metric(self.watch.names),
            **({} if at is None else {"tagged_token": token_name(self.view, at)}),
            **(edit_settings(self.edits, self.view) if is_edited else {}),
            **settings,
        }

    def name(self, place: Head) -> str:
        """Return the label of a head, such as "3-7"."""
        return f"{place[0]}-{place[1]}"
