"""Matching of the heads of two models by their attention on the same sentences."""

from __future__ import annotations

from functools import cache

import numpy as np
import streamlit as st

from attention.comparison import AlignedViews, Heads, best_heads, head_divergences
from attention.mask import FloatArray
from attention.trace import Trace
from attention.view import View
from i18n import _
from inference import TraceRequest
from inference.byte_cache import ByteLru
from probing.formats import load_ready_set
from ui.run.services import get_backend

KEPT = 2**24  # bytes of cached divergences
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
    """Return the mean Jensen–Shannon divergence of each pair of heads in bits, (left head, right head).

    ``models`` are name and revision of each model. Results are cached. Raise UserError if a model cannot read the
    sentences.
    """
    texts = sentences(beside.left, beside.right)
    part = beside.left.part or beside.left.trace.part

    def make() -> FloatArray:
        with st.spinner(_("Matching heads on {n} sentences", n=len(texts)), show_time=True):
            traces = [_read(texts, *model) for model in models]
            found = [
                head_divergences(AlignedViews.align(*(View(trace, part, words=True) for trace in both)))
                for both in zip(*traces, strict=True)
            ]
        mean: FloatArray = np.mean(found, axis=0)
        return mean

    return _divergence_cache().get_or_make((models, part), make, lambda made: made.nbytes)


def match_heads(beside: AlignedViews, models: tuple[tuple[str, str], tuple[str, str]]) -> tuple[Heads, FloatArray]:
    """Return the most similar head for each head, and their divergences in bits.

    The shapes are (layer, head, 2) and (layer, head).
    """
    found = divergences(beside, models)
    least: FloatArray = found.min(axis=1).reshape(beside.left.layers, beside.left.heads)
    return best_heads(found, beside.left, beside.right), least


def _read(texts: list[str], model: str, revision: str) -> list[Trace]:
    return get_backend().traces([TraceRequest(model=model, revision=revision or None, text=text) for text in texts])
