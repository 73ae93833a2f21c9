"""What is watched while heads are removed: the sentence vector, a masked word, the next sentence or token, a label."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st

from attention.cause import Set, log_odds, similarity
from attention.mask import Array
from inference import Refusal, TraceRequest
from inference.heads import BARE, CAUSAL, CLASSIFY, MASKED, NEXT_SENTENCE, TAG
from inference.questions.effects import (
    AnyEffects,
    BlankEffects,
    Effect,
    FollowsEffects,
    NextTokenEffects,
    VectorEffects,
)
from inference.questions.masked import MaskedWords
from inference.questions.surprise import Surprise
from ui.input.hiding import TYPED, first_place
from ui.input.picking import control
from ui.pages.cause.labels import labels
from ui.pages.cause.options import WATCHES, Cause
from ui.removing.asked import changes
from ui.run.answering import Answerer, pick_answerer
from ui.run.reading import request_of
from ui.run.refusals import say
from ui.run.shelf import backend
from ui.show.provenance import answers
from ui.state.choice import Choice
from ui.state.examples import example_of
from wording import _, sentence

HEADS = {"vector": BARE, "blank": MASKED, "follows": NEXT_SENTENCE, "next": CAUSAL, "label": CLASSIFY, "tag": TAG}


@dataclass(frozen=True, eq=False)
class Watch:
    """One watched answer. ``request`` is the text as the model reads it there; ``names`` the two answers whose odds are
    the number, none for a vector; ``told`` makes an answer about more than these two one about them."""

    question: AnyEffects
    request: TraceRequest
    names: tuple[str, ...] = ()
    told: Callable[[Effect], Effect] | None = None

    def ask(self, sets: Sequence[Set]) -> Effect:
        """The answer under each set of edits. Raises Refusal."""
        asked = replace(self.question, edits=tuple(sets))
        found = backend().inspect(asked) if isinstance(asked, VectorEffects) else backend().predict(asked)
        return found if self.told is None else self.told(found)

    def numbers(self, effect: Effect) -> Array:
        """The watched number of each set, (set,), of which the first must be without edits."""
        return log_odds(effect.values) if self.names else similarity(effect.values)

    def changes(self, sets: Sequence[Set], tokens: int, doing: str) -> Array:
        """By how much each set moves the number, (set,); fewer where the reader has stopped. Raises Refusal."""
        return changes(self.question.key, sets, tokens, doing, lambda some: self.numbers(self.ask(some)))

    @property
    def unit(self) -> str:
        """What the number is."""
        return (
            _("log-odds of “{word}”", word=self.names[0]) if self.names else _("likeness to the vector before (cosine)")
        )

    def effects(self, changes: Array) -> Array:
        """Changes as they are shown: of the log-odds; of a vector 1 - cosine, which is never below zero."""
        return changes if self.names else np.maximum(-changes, 0)

    @property
    def effect(self) -> str:
        """What an effect is."""
        return (
            _("change of the log-odds of “{word}”", word=self.names[0])
            if self.names
            else _("how far the vector moves (1 − cosine)")
        )


def pick_watch(options: Cause, choice: Choice) -> Answerer:
    """What to watch, and which model answers."""
    control(
        Cause,
        "watch",
        st.segmented_control,
        _("What to watch"),
        list(WATCHES),
        format_func=WATCHES.get,
        required=True,
        help=_("The answer of the model that is looked at while something is removed."),
    )
    if options.watch == "vector":
        answers(choice.model, choice.revision or None)
        return Answerer(choice.model, choice.revision or None, "", BARE, False)
    return pick_answerer(HEADS[options.watch], choice, Cause)


def watch(options: Cause, choice: Choice, who: Answerer) -> Watch | None:
    """The question to ask again and again; None where something is missing, which is said. Raises Refusal."""
    asked = replace(request_of(choice), model=who.model, revision=who.revision, target=None)
    given: dict[str, Any] = {"model": who.model, "revision": who.revision, "text": asked.text}
    if options.watch == "vector":
        return Watch(VectorEffects(**given, pair=asked.pair, cut=asked.cut), asked)
    if options.watch == "follows":
        if not asked.pair:
            say(_("Whether one text follows another needs a second text. Press “+ second text” above."), role="status")
            return None
        names = (_("follows"), _("does not follow"))
        return Watch(FollowsEffects(**given, pair=asked.pair, cut=asked.cut), asked, names)
    if options.watch == "next":
        asked = replace(asked, pair=None)
        question = NextTokenEffects(**given, cut=asked.cut)
        words = _two(options, [name for name, _chance in backend().predict(question).top[0]])
        return None if words is None else Watch(replace(question, words=words), asked, words)
    if options.watch in ("label", "tag"):
        two = labels(options, choice, asked)
        return None if two is None else Watch(two.question, asked, two.names, two.told)
    return _blank(options, choice, asked, {**given, "pair": asked.pair, "cut": asked.cut})


def _blank(options: Cause, choice: Choice, asked: TraceRequest, given: dict[str, Any]) -> Watch | None:
    """A word hidden: the typed [MASK], else the example's word, else the last one."""
    mask = backend().predict(Surprise(**given, stop=0)).mask
    hidden = first_place(choice.text, choice.pair, example_of(choice.text, choice.pair), mask)
    filled = backend().predict(MaskedWords(**given, hidden=hidden))
    if not filled.whole:
        raise Refusal(
            sentence("The text reads differently with its word hidden. Type [MASK] in the word's place."),
            way_out="text",
        )
    if hidden:
        start, end = hidden[0][1:]
        say(
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
    return Watch(question, replace(asked, text=filled.text, pair=filled.pair), names)


def _two(options: Cause, likeliest: Sequence[str]) -> tuple[str, str] | None:
    """The two words that are compared: typed, else the likeliest ones."""
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
        typed = control(
            Cause,
            name,
            column.text_input,
            label,
            shown=shown,
            max_chars=60,
            help=_(
                "What is watched is how many times likelier the first word is than the second, as a logarithm"
                " (log-odds)."
            ),
        )
        words.append(typed.strip())
    if not all(words) or words[0] == words[1]:
        say(_("Type two different words to compare; each must be one piece of the model's vocabulary."), role="status")
        return None
    return words[0], words[1]
