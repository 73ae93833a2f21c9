"""Options of the view Activation patching, and the number by which it measures the model's answer.

The number is about a masked word, the next token, a vector or a translation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st

from attention.comparison import by_words
from attention.mask import FloatArray
from i18n import _, gettext_lazy
from inference import TraceRequest, UserError
from inference.task_heads import BARE, CAUSAL, MASKED, WRITES
from inference.tasks.edit_effects import (
    AnyEffects,
    BlankEffects,
    Effect,
    NextTokenEffects,
    VectorEffects,
    WrittenEffects,
)
from inference.tasks.predictions import Place, SurprisalRequest
from probing.labelled.labeled_texts import SIDE_BY_SIDE
from ui.input.controls import TYPED, bound_widget
from ui.input.probes import known_words
from ui.run.notices import show_notice
from ui.run.page_model import PageModel, kind_of, pick_page_model
from ui.run.services import get_backend
from ui.run.traces import request_of
from ui.show.tables import set_answering_model
from ui.state.params import AnsweringOptions, drop_place
from ui.state.view_state import ViewState, example_of
from viz.options import option

WATCHES = {
    "blank": gettext_lazy("Masked word"),
    "next": gettext_lazy("Next token"),
    "vector": gettext_lazy("Sentence vector"),
}


@dataclass(frozen=True)
class PatchingOptions(AnsweringOptions):
    """Options of the view Activation patching; the first text is that of the shared view state."""

    other: str = ""  # the second text; "" is the ready counterpart of the first, if any
    # The patching metric; "" is the model's usual task.
    watch: str = option(
        "",
        label=gettext_lazy("Metric"),
        help=gettext_lazy("The answer whose change is measured."),
        choices=WATCHES,
    )
    first: str = ""  # first and second are the compared words; "" are those that change most
    second: str = ""
    # The single patch: s3-5 (input of layer 3 at word 5), h3-1 (a head), "" (the head with the largest effect).
    lent: str = option("", of_text=drop_place)


HEADS = {"blank": MASKED, "next": CAUSAL, "vector": BARE, "written": WRITES}
USUAL = {"encoder": "blank", "decoder": "next", "encoder-decoder": "written"}
_TOGETHER = SIDE_BY_SIDE.pattern[1:-1]  # scripts without spaces: each character counts as a word
_WORD = re.compile(rf"[{_TOGETHER}]|[^\W{_TOGETHER}]+")


@dataclass(frozen=True, eq=False)
class PatchingMetric:
    """The requests for the model's answer on two texts: the recipient, which is patched, and the donor of activations.

    ``names`` are the two words that are compared by log-odds, or () if the answer is a vector.
    """

    here: AnyEffects  # about the first text, the recipient
    there: AnyEffects  # about the second text, the donor
    requests: tuple[TraceRequest, TraceRequest]  # both texts as the model reads them for this answer
    names: tuple[str, ...] = ()
    blank: str = ""  # the word that is masked in both texts

    def numbers(self, effect: Effect) -> FloatArray:
        """Return the answers in the form that ``patching_effect`` needs, shape (set, number).

        The numbers of a set of patches are the log-odds of two words (a single number), or the components of a vector.
        """
        return effect.values[:, :1] - effect.values[:, 1:] if self.names else effect.values


def run_metric(question: AnyEffects) -> Effect:
    """Return the model's answer. Raise UserError if the model cannot answer."""
    return get_backend().inspect(question) if isinstance(question, VectorEffects) else get_backend().predict(question)


def metric_model(options: PatchingOptions, choice: ViewState) -> tuple[str, PageModel]:
    """Return the metric and the model from which it is computed."""
    kind = kind_of(choice)
    watch = options.watch or USUAL.get(kind, "blank")
    if kind == "encoder-decoder":
        return "written", pick_page_model(WRITES, choice, PatchingOptions)
    if watch == "vector":
        set_answering_model(choice.model, choice.revision or None)
        return watch, PageModel(choice.model, choice.revision or None, "", BARE, False)
    return watch, pick_page_model(HEADS[watch], choice, PatchingOptions)


def build_metric(
    watch: str, options: PatchingOptions, choice: ViewState, who: PageModel, other: str
) -> PatchingMetric | None:
    """Return the metric whose values in the two texts are compared, or None with a notice if an input is missing.

    ``watch`` names the metric: "next" for the next token, "written" for a translation, "vector" for the vector of the
    text, and any other value for a masked word. ``other`` is the second text. Raise UserError if the model cannot
    answer.
    """
    asked = replace(request_of(choice), model=who.model, revision=who.revision, target=None)
    if watch in ("next", "written"):
        asked = replace(asked, pair=None)
    both = asked, replace(asked, text=other)
    if watch == "written":
        return _first_divergence(both)
    given: list[dict[str, Any]] = [
        {"model": one.model, "revision": one.revision, "text": one.text, "cut": one.cut} for one in both
    ]
    if watch == "next":
        return _with_words(options, PatchingMetric(NextTokenEffects(**given[0]), NextTokenEffects(**given[1]), both))
    given = [{**one, "pair": asked.pair} for one in given]
    if watch == "vector":
        return PatchingMetric(VectorEffects(**given[0]), VectorEffects(**given[1]), both)
    return _blank(options, both, given)


def _blank(
    options: PatchingOptions, both: tuple[TraceRequest, TraceRequest], given: Sequence[dict[str, Any]]
) -> PatchingMetric | None:
    mask = get_backend().predict(SurprisalRequest(**given[0], stop=0)).mask
    texts = both[0].text, both[1].text
    typed = [TYPED in text or mask in text for text in texts]
    places: tuple[tuple[Place, ...], ...] = ((), ())
    if not any(typed):
        found = hidden_in_both(*texts, subjects_of(*texts))
        if found is None:
            show_notice(
                _("Type {typed} in both texts.", typed=TYPED),
                role="status",
            )
            return None
        places = ((found[0],), (found[1],))
    elif not all(typed):
        show_notice(
            _("Type {typed} in both texts.", typed=TYPED),
            role="status",
        )
        return None
    here, there = (BlankEffects(**one, hidden=mine) for one, mine in zip(given, places, strict=True))
    requests = tuple(replace(one, text=one.text.replace(TYPED, mask)) for one in both)
    word = "" if any(typed) else texts[0][slice(*places[0][0][1:])]
    nouns = referents(*texts) if word else ()
    return _with_words(options, PatchingMetric(here, there, (requests[0], requests[1]), blank=word), nouns)


def subjects_of(text: str, other: str) -> list[str]:
    """Return the words that two texts are probably about, the likeliest first; empty if none is known.

    The words come from the bundled questions and examples with these texts: first their pronouns, then selected words.

    >>> subjects_of("The animal didn't cross the street because it was too tired.", "The animal was tired.")
    ['it', 'it', 'animal']
    """
    known = [known_words(one) for one in (text, other)]
    examples = [example_of(one, "") or {} for one in (text, other)]
    found = [one.source for one in known if one] + [one.get(name) for name in ("focus", "target") for one in examples]
    return [word for word in found if word]


def referents(text: str, other: str) -> tuple[str, ...]:
    """Return the two nouns to which the same pronoun refers in two annotated texts; () if these are not known.

    >>> tired = "The animal didn't cross the street because it was too tired."
    >>> referents(tired, tired.replace("tired", "wide")), referents(tired, "A cat sat.")
    (('animal', 'street'), ())
    """
    here, there = known_words(text), known_words(other)
    if here is None or there is None or here.source != there.source or here.right == there.right:
        return ()
    return here.right, there.right


def hidden_in_both(text: str, other: str, subjects: Sequence[str] = ()) -> tuple[Place, Place] | None:
    """Return the place of the word to hide in both texts; None if they share no word.

    The word is the first of ``subjects`` that the texts share, else the last common word. A place is (0, start, end)
    in characters.

    >>> hidden_in_both("A cat sat.", "A cat ran.")
    ((0, 2, 5), (0, 2, 5))
    >>> hidden_in_both("猫坐着。", "狗坐着。")
    ((0, 2, 3), (0, 2, 3))
    >>> hidden_in_both("A cat.", "Some dogs.") is None
    True
    """
    words = [list(_WORD.finditer(one)) for one in (text, other)]
    names = [[word.group() for word in one] for one in words]
    same = [(words[0][at], words[1][there]) for at, there in by_words(*names)
            if names[0][at].casefold() == names[1][there].casefold()]  # fmt: skip
    asked = [pair for name in subjects for pair in same if pair[0].group() == name]
    if not same:
        return None
    one, two = (asked or same[-1:])[0]
    return (0, *one.span()), (0, *two.span())


def _with_words(
    options: PatchingOptions, followed: PatchingMetric, nouns: tuple[str, ...] = ()
) -> PatchingMetric | None:
    """Draw the fields of the two compared words and return the metric with these words.

    The default words are ``nouns`` if each is one token, else those with the largest changes of log-probability
    between the texts. Return None with a notice unless there are two different words.
    """
    first, second = options.first, options.second
    if not (first and second):
        guesses = nouns if nouns and has_tokens(followed, nouns) else _words_by_change(followed)
        first = first or next((word for word in guesses if word != second), "")
        second = second or next((word for word in reversed(guesses) if word != first), "")
    columns = st.columns(2)
    typed = []
    for column, name, shown, label in (
        (columns[0], "first", first, _("First answer")),
        (columns[1], "second", second, _("Second answer")),
    ):
        about = _("The answer is the log-odds of the first against the second.")
        typed.append(
            bound_widget(PatchingOptions, name, column.text_input, label, shown=shown, max_chars=60, help=about).strip()
        )
    if not all(typed) or typed[0] == typed[1]:
        show_notice(_("Type two different words, each one token of the vocabulary."), role="status")
        return None
    names = (typed[0], typed[1])
    here, there = followed.here, followed.there
    assert isinstance(here, BlankEffects | NextTokenEffects)
    assert isinstance(there, BlankEffects | NextTokenEffects)
    return replace(followed, here=replace(here, words=names), there=replace(there, words=names), names=names)


def has_tokens(followed: PatchingMetric, words: tuple[str, ...]) -> bool:
    """Return True if each word of ``words`` is a single token of the model."""
    assert isinstance(followed.here, BlankEffects)
    try:
        run_metric(replace(followed.here, words=words))
    except UserError:
        return False
    return True


def _words_by_change(followed: PatchingMetric) -> list[str]:
    """Return the likeliest words of both texts, from the largest loss to the largest gain in the second."""
    tops = [name for question in (followed.here, followed.there) for name, _chance in run_metric(question).top[0]]
    words = tuple(dict.fromkeys(name for name in tops if name.isalpha()))
    before, after = (
        run_metric(replace(question, words=words)).values[0]
        for question in (followed.here, followed.there)
        if isinstance(question, BlankEffects | NextTokenEffects)
    )
    return [words[at] for at in np.argsort(after - before, kind="stable")]


def _first_divergence(both: tuple[TraceRequest, TraceRequest]) -> PatchingMetric | None:
    """Return the metric at the first token that differs between both translations.

    Return None with a notice if the translations are equal.
    """
    with st.spinner(_("Running the model"), show_time=True):
        rows = [get_backend().trace(request).target for request in both]
    ids = [[] if row is None else row.ids[1:] for row in rows]
    same = next((at for at, (one, two) in enumerate(zip(*ids, strict=False)) if one != two), None)
    if same is None:
        show_notice(
            _("Both texts have the same answer. Change a word."),
            role="status",
        )
        return None
    written, words = tuple(ids[0][:same]), (ids[0][same], ids[1][same])
    here, there = (WrittenEffects(one.model, one.revision, one.text, one.cut, written, words) for one in both)
    requests = tuple(replace(one, written=written) for one in both)
    return PatchingMetric(here, there, (requests[0], requests[1]), run_metric(here).names)
