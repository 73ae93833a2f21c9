"""Which head of one model is most like a head of another: by what they do on the same sentences, found once."""

from __future__ import annotations

from functools import cache

import numpy as np
import streamlit as st

from attention.mask import Array
from attention.side_by_side import Beside, Heads, best_heads, between
from attention.trace import Trace
from attention.view import View
from inference import TraceRequest
from inference.memory import ByteLru
from probing.ready_sets import ready
from ui.run.shelf import backend
from wording import _

KEPT = 2**24  # bytes of divergences between models' heads
MOST_WORK = 2 * 10**9  # logarithms; of models with very many heads fewer sentences are compared
A_MAP = 15 * 15  # weights of one head on one of the sentences, roughly


@cache
def _kept() -> ByteLru[Array]:
    return ByteLru(KEPT)


def sentences(left: View, right: View) -> list[str]:
    """The texts that two models' heads are compared on: of the annotated sentences that come with the app."""
    pairs = left.layers * left.heads * right.layers * right.heads
    texts = list(dict.fromkeys(item.text for item in ready("grammar").items))
    return texts[: max(4, MOST_WORK // (pairs * A_MAP))]


def divergences(beside: Beside, models: tuple[tuple[str, str], tuple[str, str]]) -> Array:
    """Every head of the first model beside every head of the second, by the name and revision of both.

    Mean Jensen–Shannon divergences over the sentences, (left head, right head). Raises Refusal.
    """
    texts = sentences(beside.left, beside.right)
    part = beside.left.part or beside.left.trace.part

    def make() -> Array:
        with st.spinner(_("Comparing every head with every other on {n} sentences", n=len(texts)), show_time=True):
            traces = [_read(texts, *model) for model in models]
            found = [
                between(Beside.of(*(View(trace, part, words=True) for trace in both)))
                for both in zip(*traces, strict=True)
            ]
        mean: Array = np.mean(found, axis=0)
        return mean

    return _kept().get_or_make((models, part), make, lambda made: made.nbytes)


def matched(beside: Beside, models: tuple[tuple[str, str], tuple[str, str]]) -> tuple[Heads, Array]:
    """For each head the one most like it, (layer, head, 2), and how much they differ, (layer, head) in bits."""
    found = divergences(beside, models)
    least: Array = found.min(axis=1).reshape(beside.left.layers, beside.left.heads)
    return best_heads(found, beside.left, beside.right), least


def _read(texts: list[str], model: str, revision: str) -> list[Trace]:
    return backend().traces([TraceRequest(model=model, revision=revision or None, text=text) for text in texts])
