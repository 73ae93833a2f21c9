"""Small random traces that the tests share. Axes have unequal lengths, so that a transpose cannot pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from attention.mask import Mask
from attention.record import MapRecord, NoAttention, Record
from attention.tokens import TokenRow
from attention.trace import ModelId, Trace

LAYERS, HEADS = 2, 3


def numbers(*shape: int, seed: int = 0, scale: float = 1.0) -> Any:
    """Return read-only normally distributed float32 numbers."""
    values = (np.random.default_rng(seed).standard_normal(shape) * scale).astype(np.float32)
    values.setflags(write=False)
    return values


def record(  # noqa: PLR0913  # every one has its default, and a test names the one or two that it is about
    queries: int = 5,
    keys: int = 5,
    heads: int = HEADS,
    kv_heads: Any = None,
    channels: int = 4,
    seed: int = 0,
    **extra: Any,
) -> Record:
    """Return a record with random vectors; ``extra`` overrides any field."""
    kv_heads = kv_heads or heads
    fields = {
        "query": numbers(heads, queries, channels, seed=seed, scale=2),
        "key": numbers(kv_heads, keys, channels, seed=seed + 1, scale=2),
        "value": numbers(kv_heads, keys, channels, seed=seed + 2),
        "scale": channels**-0.5,
        "mask": Mask(queries, keys),
    }
    return Record(**{**fields, **extra})


def by_hand(rec: Any, head: int) -> Any:
    """Compute a head's attention weights by the plain formula in float64, shape (query, key)."""
    group = rec.heads // rec.key.shape[0]
    scores = rec.query[head].astype(float) @ rec.key[head // group].astype(float).T * rec.scale
    if rec.softcap is not None:
        scores = np.tanh(scores / rec.softcap) * rec.softcap
    if rec.bias is not None:
        scores = scores + rec.bias[head % len(rec.bias)]
    for i in range(rec.queries):
        for j in range(rec.keys):
            stand, mask = i + rec.keys - rec.queries, rec.mask
            allowed = (
                (not mask.causal or j <= stand)
                and (mask.left is None or j >= stand - mask.left)
                and (mask.right is None or j <= stand + mask.right)
                and (mask.allowed is None or mask.allowed[i, j])
            )
            if not allowed:
                scores[i, j] = -np.inf
    sink = -np.inf if rec.sinks is None else float(rec.sinks[head])
    top = np.maximum(scores.max(axis=1, keepdims=True), sink)
    top[np.isneginf(top)] = 0
    powers = np.exp(scores - top)
    total = powers.sum(axis=1, keepdims=True) + np.exp(sink - top)
    return np.divide(powers, total, out=np.zeros_like(powers), where=total > 0)


# Tokens: [CLS] play ##ing chess . [SEP].
SENTENCE = TokenRow(
    pieces=("[CLS]", "play", "ing", "chess", ".", "[SEP]"),
    ids=(101, 5, 6, 7, 8, 102),
    words=(None, 0, 0, 1, 2, None),
    segments=(0,) * 6,
    spans=(None, (0, 4), (4, 7), (8, 13), (13, 14), None),
)
TARGET = TokenRow(("<s>", "jouer", "</s>"), (0, 9, 1), (None, 0, None), (0,) * 3, (None, (0, 5), None))


def sentence_trace(**extra: Any) -> Trace:
    """Return a trace of "playing chess." with two layers of three heads."""
    records = tuple(record(6, 6, seed=10 * layer) for layer in range(LAYERS))
    fields = {
        "id": "0" * 64,
        "model": ModelId("tiny", None, "encoder", "TinyModel"),
        "text": "playing chess.",
        "pair": None,
        "source": SENTENCE,
        "target": None,
        "parts": {"encoder": records},
    }
    return Trace(**{**fields, **extra})


def hybrid_trace() -> Trace:
    """Return a trace with four layers; only layers 1 and 3 have attention."""
    without = NoAttention(HEADS, 6, 6)
    return sentence_trace(parts={"encoder": (without, record(6, 6), without, record(6, 6, seed=10))})


def translation_trace() -> Trace:
    """Return a trace with all three stacks and unequal lengths; a layer has attention maps only."""
    maps = np.full((HEADS, 3, 6), 1 / 6, np.float32)
    return sentence_trace(
        model=ModelId("tiny", "main", "encoder-decoder", "TinyModel"),
        target=TARGET,
        target_text="jouer",
        parts={
            "encoder": tuple(record(6, 6, seed=20 + layer) for layer in range(LAYERS)),
            "decoder": tuple(record(3, 3, seed=30 + layer, mask=Mask(3, 3, causal=True)) for layer in range(LAYERS)),
            "cross": (record(3, 6, seed=40), MapRecord(maps)),
        },
    )
