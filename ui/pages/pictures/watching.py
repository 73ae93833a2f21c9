"""What is watched while something is removed: the picture's vector, its likeliest class, how well a text fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from attention.cause import Set, similarity
from attention.mask import Array
from attention.picture import Picture
from inference.pictures.families import BOTH
from inference.questions.labels import log_probabilities
from inference.questions.seeing import Looked, PictureLabels, PictureTexts, PictureVector, Seen
from ui.input.picking import control
from ui.pages.pictures.options import WATCHES, Pictures
from ui.pages.pictures.reading import of_picture
from ui.pages.pictures.saying import lines_of
from ui.removing.asked import changes
from ui.run.shelf import backend
from wording import _

AT_ONCE = 4096  # tokens of one question: of a picture fewer than of texts, so that it can be stopped in time


@dataclass(frozen=True, eq=False)
class Watch:
    """One number of what the model says; ``name`` is the class or the text that it is of, "" of a vector."""

    question: Looked
    at: int = 0
    name: str = ""

    def ask(self, sets: Sequence[Set]) -> Seen:
        """What is said under each set, of which the first is without edits. Raises Refusal.

        That one is asked by itself, so that it is computed once and kept, whatever else is removed.
        """
        own = backend().predict(self.question)
        if len(sets) == 1:
            return own
        said = backend().predict(replace(self.question, edits=tuple(sets[1:])))
        return replace(said, values=np.concatenate([own.values, said.values]))

    def numbers(self, said: Seen) -> Array:
        """The watched number of each set, of which the first must be without edits.

        Of a vector its cosine with the first; of a class the logarithm of its probability; of a text its logit, which
        is CLIP's score times the scale that was learned.
        """
        if not self.name:
            return similarity(said.values)
        logs = log_probabilities(said.values, said.sort) if isinstance(self.question, PictureLabels) else None
        found: Array = (said.values if logs is None else logs)[:, self.at]
        return found

    def changes(self, sets: Sequence[Set], tokens: int, doing: str) -> Array:
        """By how much each set moves it, (set,), fewer where the reader has stopped; of a vector 1 - cosine."""
        mark = f"{self.question.key}:{self.at}"
        found = changes(mark, sets, tokens, doing, lambda some: self.numbers(self.ask(some)), AT_ONCE)
        return found if self.name else np.maximum(-found, 0)

    @property
    def effect(self) -> str:
        """What a change is."""
        if not self.name:
            return _("1 − cosine of the vectors")
        if isinstance(self.question, PictureLabels):
            return _("change of the log-probability")
        return _("change of the logit")


def pick_watch(options: Pictures, picture: Picture, model: str) -> Watch | None:
    """What is watched, with the control for it; None where no text is given. Raises Refusal."""
    both = backend().loaded(model, options.revision or None).reads == BOTH
    names = ("vector", "text") if both else ("vector", "class")
    watched = options.watch if options.watch in names else "vector"
    control(Pictures, "watch", st.segmented_control, _("What is watched"), list(names), shown=watched,
            format_func=WATCHES.get, required=True)  # fmt: skip
    asked = of_picture(options, picture, model)
    if watched == "text":
        control(Pictures, "texts", st.text_area, _("Texts, one a line"), height=100,
                help=_("The one that fits best is watched."))  # fmt: skip
        lines = lines_of(options)
        return _best(PictureTexts(**asked, texts=lines)) if lines else None
    return _best(PictureLabels(**asked)) if watched == "class" else Watch(PictureVector(**asked))


def _best(question: Looked) -> Watch:
    """The likeliest name of what is said with nothing removed."""
    said = backend().predict(question)
    at = int(said.values[0].argmax())
    return Watch(question, at, said.names[at])
