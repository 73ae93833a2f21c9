"""Comparison of two readings: the change of each head, its partner in another model, and the selected link.

A reading is a text read by a model, with or without edits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import streamlit as st

from attention.comparison import AlignedViews, Changes, Heads, best_heads, changes, head_divergences, same_heads
from attention.mask import FloatArray
from attention.trace import Trace
from attention.view import View
from i18n import _, error_message
from inference import TraceRequest
from inference.byte_cache import ByteLru
from probing.formats import load_ready_set
from ui.pages.compare.sides import Sides
from ui.run.notices import show_notice
from ui.run.services import get_backend
from ui.state.selection import select
from ui.state.view_state import ViewState, example_of

MOST_WORK = 2 * 10**9  # maximum number of logarithms; many heads are compared on fewer sentences
A_MAP = 15 * 15  # approximate number of weights of a head on a sentence


@cache
def _divergence_cache() -> ByteLru[FloatArray]:
    return ByteLru(KEPT)


def sentences(left: View, right: View) -> list[str]:
    """Return the annotated sentences on which the heads of two models are compared.

    Models with many heads are compared on fewer sentences, at least 4.
    """
    pairs = left.layers * left.heads * right.layers * right.heads
    texts = list(dict.fromkeys(item.text for item in load_ready_set("grammar").items))
    return texts[: max(4, MOST_WORK // (pairs * A_MAP))]


def divergences(beside: AlignedViews, models: tuple[tuple[str, str], tuple[str, str]]) -> FloatArray:
    """Return the Jensen–Shannon divergence of each head of a model from each head of another, in bits.

    The shape is (left head, right head), with heads numbered layer by layer. Each number is a mean over annotated
    sentences (``sentences``). ``models`` are name and revision of each model, and ``beside`` has the same text read by
    both models. Results are cached. Raise UserError if a model cannot read the sentences.
    """
    texts = sentences(beside.left, beside.right)
    part = beside.left.part or beside.left.trace.part

    def make() -> FloatArray:
        with st.spinner(_("Computing the comparison"), show_time=True):
            traces = [_read(texts, *model) for model in models]
            found = [
                head_divergences(AlignedViews.align(*(View(trace, part, words=True) for trace in both)))
                for both in zip(*traces, strict=True)
            ]
        mean: FloatArray = np.mean(found, axis=0)
        return mean

    return _divergence_cache().get_or_make((models, part), make, lambda made: made.nbytes)


def match_heads(beside: AlignedViews, models: tuple[tuple[str, str], tuple[str, str]]) -> tuple[Heads, FloatArray]:
    """Return the most similar head of the second model for each head of the first, and the divergence.

    The heads are (layer, head) pairs, shape (layer, head, 2); the divergences have the shape (layer, head), in bits.
    The arguments are those of ``divergences``.
    """
    found = divergences(beside, models)
    least: FloatArray = found.min(axis=1).reshape(beside.left.layers, beside.left.heads)
    return best_heads(found, beside.left, beside.right), least


def _read(texts: list[str], model: str, revision: str) -> list[Trace]:
    return get_backend().traces([TraceRequest(model=model, revision=revision or None, text=text) for text in texts])


KEPT = 2**24  # bytes of cached changes, and of cached divergences
Place = tuple[int, int]  # layer, head


@cache
def _change_cache() -> ByteLru[Changes]:
    return ByteLru(KEPT)


@dataclass(frozen=True, eq=False)
class Comparison:
    """A comparison of two readings: the change of each head, and the head, query and key in focus.

    A reading is a text read by a model. The partner of a head is the head of the second reading with which it is
    compared.
    """

    sides: Sides
    changes: Changes
    heads: Heads  # which head stands beside which
    head: Place  # in the first reading
    partner: Place  # the head that stands beside it in the second
    unlike: float | None  # by how much the two heads differ on the sentences; None where they are the same head
    sentences: int  # on which heads were matched; 0 where they were not
    focus: int  # the query that is asked about, a cell of the first reading
    target: int | None  # the key it is asked about, a cell of the first reading

    @property
    def row(self) -> int | None:
        """Return the index of the pair of aligned query words that contains the selected query.

        Return None if the query has no counterpart in the second reading.
        """
        return self.sides.beside.queries.pair_of(0, self.focus)

    @property
    def column(self) -> int | None:
        """Return the index of the pair of aligned key words that contains the selected key.

        Return None if no key is selected, or if it has no counterpart in the second reading.
        """
        return None if self.target is None else self.sides.beside.keys.pair_of(0, self.target)

    def rows(self) -> tuple[FloatArray, FloatArray]:
        """Return the attention of the query in focus to all keys, in the first and in the second reading, (key,) each.

        For a word of several tokens, it is the mean over these tokens. The second row is NaN if the word has no
        counterpart.
        """
        beside, row = self.sides.beside, self.row
        if row is None:
            return beside.row(0, *self.head, (self.focus, self.focus + 1)), np.full(
                len(beside.right.keys), np.nan, np.float32
            )
        one, other = beside.queries.pairs[row]
        return beside.row(0, *self.head, one), beside.row(1, *self.partner, other)

    def name(self, place: Place) -> str:
        """Return the label of a head, such as "3-7"."""
        return f"{place[0]}-{place[1]}"


def compare(choice: ViewState, sides: Sides) -> Comparison | None:
    """Compare the two readings; return None with a notice if they cannot be compared.

    Raise UserError if two models are compared and their heads cannot be matched.
    """
    beside = sides.beside
    heads, unlike = same_heads(beside.left, beside.right), None
    if heads is None:
        one, other = (f"{view.layers} × {view.heads}" for view in (beside.left, beside.right))
        show_notice(
            _(
                "{first} has {these} layers × heads, {second} has {those}, so their heads do not correspond.",
                first=sides.models[0],
                these=one,
                second=sides.models[1],
                those=other,
            ),
            role="status",
        )
    if sides.best:
        heads, unlike = match_heads(beside, sides.readers)
    assert heads is not None  # the same model has the same heads; other models with unlike heads are matched
    try:
        found = _changes(sides, heads, unlike is not None)
    except ValueError as error:
        show_notice(error_message(error))
        return None
    selection, notes = select(choice, beside.left, example_of(choice.text, choice.pair))
    for note in notes:
        show_notice(note, role="status")
    layer, head = int(selection["layer"]), int(selection["head"])
    there = heads[layer, head]
    partner = (int(there[0]), int(there[1]))
    target = selection["target"]
    focus = int(selection["focus"])
    if target is None:
        target = _most_attended(sides, (layer, head), focus)
    compared = 0 if unlike is None else len(sentences(beside.left, beside.right))
    apart = None if unlike is None else float(unlike[layer, head])
    return Comparison(sides, found, heads, (layer, head), partner, apart, compared, focus, target)


def _changes(sides: Sides, heads: Heads, best: bool) -> Changes:
    beside = sides.beside

    def make() -> Changes:
        with st.spinner(_("Computing the comparison")):
            return changes(beside, heads)

    key = (beside.left.trace.id, beside.right.trace.id, sides.look, best, sides.options.shared)
    return _change_cache().get_or_make(key, make, lambda made: 3 * made.bits.nbytes)


def _most_attended(sides: Sides, head: Place, focus: int) -> int | None:
    """Return the key with the largest weight, the query itself and special tokens excluded, or None."""
    view = sides.beside.left
    weights = sides.beside.row(0, *head, (focus, focus + 1))
    same = view.queries == view.keys
    words = [at for at, cell in enumerate(view.keys) if not cell.special and not (same and at == focus)]
    return max(words, key=lambda at: float(weights[at]), default=None)
