"""Export of an atlas as a data folder for the viewer HeadVis.

The fields are described in HeadVis's ``data_pipeline.py`` (github.com/anthropics/headvis, Apache-2.0).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from attention.trace import Trace
from attention.view import View
from inference.errors import UserError
from inference.request import TraceRequest
from inference.tasks.atlas import Integers
from probing.atlas.heads import measure_values
from probing.atlas.store import Atlas

INTERVALS = 10  # deciles of the largest weight; the last is the highest
TOP, LEAST = 8, 0.005  # stored keys of each query, and their least weight
AT_ONCE = 8  # windows of a request
TOKENS = 40  # tokens of each list
DISTANCES = (0, 1, 2, 4, 8, 16, 32, 64, 128)
METRICS = {  # HeadVis's names, and the measures of the atlas with their descriptions
    "self_attention_score": ("itself", "mean attention of a word's token to itself"),
    "previous_token_score": ("previous", "mean attention to the token before"),
    "next_token_score": ("next", "mean attention to the token after"),
    "pattern_entropy": ("entropy", "mean entropy of a row in bits"),
    "qk_distance": ("distance", "mean distance in tokens, weighted by attention"),
    "first_token_share": ("first", "mean attention to the first token"),
    "special_token_share": ("special", "mean attention to special tokens"),
    "punctuation_share": ("punctuation", "mean attention to punctuation"),
    "largest_excess": ("excess", "mean over windows of the largest excess over the column mean"),
    "distance_from_random": ("random", "distance of the measures from random weights, in standard deviations"),
}


class TracingBackend(Protocol):
    """A protocol for backends that can trace windows of text for the export."""

    def traces(self, requests: Sequence[TraceRequest]) -> list[Trace]:
        """Return the traces of texts."""
        ...


@dataclass(frozen=True, eq=False)
class _Pattern:
    """The strongest weights of a head in a window: flat indices ``query * seq_len + key``, and their values."""

    window: int
    tokens: tuple[str, ...]
    indices: Integers
    values: Integers
    largest: float


def export_headvis(
    backend: TracingBackend,
    atlas: Atlas,
    folder: Path,
    most: int = 200,
    say: Callable[[int], None] = lambda _windows: None,
) -> int:
    """Write the data folder of HeadVis for the first stack of an atlas, and return the number of heads.

    An atlas does not store whole maps. ``most`` random windows are therefore read again. For each head, they are
    divided into deciles by their largest weight. ``say`` is called with the number of windows read so far. Raise
    UserError if the folder is not empty, or the model cannot be run.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} is not an empty folder. Give a new folder.")
    part, (layers, heads) = next(iter(atlas.manifest["stacks"].items()))
    patterns: list[list[_Pattern]] = [[] for _ in range(layers * heads)]
    count = len(atlas.windows)
    chosen = np.sort(np.random.default_rng(0).choice(count, min(most, count), replace=False))
    texts: list[str] = atlas.windows["text"].take(chosen).to_pylist()
    for first in range(0, len(texts), AT_ONCE):
        requests = [
            TraceRequest(atlas.manifest["model"], text, revision=atlas.manifest["revision"])
            for text in texts[first : first + AT_ONCE]
        ]
        for window, trace in zip(chosen[first : first + AT_ONCE].tolist(), backend.traces(requests), strict=True):
            _add(patterns, View(trace, part=part), int(window), heads)
        say(min(len(texts), first + AT_ONCE))
    (folder / "heads").mkdir(parents=True)
    for number, own in enumerate(patterns):
        _write(folder / "heads" / f"L{number // heads}H{number % heads}.json", head_content(own))
    _write(folder / "scatter_data.json", _scatter(atlas, layers, heads))
    _write(folder / "config.json", _config(atlas, layers, heads))
    _write(folder / "server_config.json", {})
    for name in ("attributions", "umap"):
        (folder / name).mkdir()
    _write(folder / "attributions" / "manifest.json", {})
    _write(folder / "umap" / "sequences.json", {})
    return int(layers * heads)


def _add(patterns: list[list[_Pattern]], view: View, window: int, heads: int) -> None:
    """Add the strongest weights of every head in a window."""
    tokens = tuple(cell.label for cell in view.queries)
    for layer in range(view.layers):
        for head in range(view.heads):
            weights = np.asarray(view.weights(layer, head), np.float32)
            indices, values = strongest_weights(weights)
            patterns[layer * heads + head].append(_Pattern(window, tokens, indices, values, largest_weight(weights)))


def strongest_weights(weights: Integers) -> tuple[Integers, Integers]:
    """Return the TOP largest weights of each row that are at least LEAST: flat indices and values.

    The flat index of a weight is query × length + key.

    >>> indices, values = strongest_weights(np.array([[1, 0], [0.25, 0.75]], np.float32))
    >>> indices.tolist(), values.tolist()
    ([0, 2, 3], [1.0, 0.25, 0.75])
    """
    top = min(TOP, weights.shape[1])
    keys = np.sort(np.argpartition(-weights, top - 1, axis=1)[:, :top], axis=1)
    values = np.take_along_axis(weights, keys, axis=1)
    indices = keys + np.arange(len(weights))[:, None] * weights.shape[1]
    kept = values >= LEAST
    return indices[kept].astype(np.int32), values[kept]


def largest_weight(weights: Integers) -> float:
    """Return the largest weight of a map (query, key) without its diagonal, first row and first column.

    HeadVis leaves these out as well. The value is 0 if nothing remains.

    >>> largest_weight(np.array([[1, 0, 0], [0.5, 0.4, 0.1], [0.6, 0.3, 0.1]]))
    0.3
    """
    inner = np.array(weights[1:, 1:])
    np.fill_diagonal(inner, 0)
    return float(inner.max(initial=0))


def head_content(patterns: Sequence[_Pattern]) -> dict[str, Any]:
    """Return the content of a head's file: its windows by decile of the largest weight, and their statistics."""
    ordered = sorted(patterns, key=lambda pattern: (pattern.largest, pattern.window))
    deciles = [INTERVALS * place // len(ordered) + 1 for place in range(len(ordered))]
    sequences = [
        {
            "sequence_id": pattern.window,
            "interval": decile,
            "tokens": list(pattern.tokens),
            "attention_indices": pattern.indices.tolist(),
            "attention_values": _round(pattern.values),
            "seq_len": len(pattern.tokens),
            "max_activation": round(pattern.largest, 4),
        }
        for pattern, decile in zip(ordered, deciles, strict=True)
    ]
    largest = np.array([pattern.largest for pattern in ordered])
    bins, edges = np.histogram(largest, bins=20, range=(0, 1))
    return {
        "sequences": sequences[::-1],
        "qk_distance_histogram": _distances(ordered),
        "top_query_tokens": _top_tokens(ordered, 0),
        "top_key_tokens": _top_tokens(ordered, 1),
        "histogram": {"bin_edges": _round(edges), "bin_values": bins.tolist()},
        "statistics": {"mean_max_activation": round(float(largest.mean()), 4)},
    }


def _places(pattern: _Pattern) -> tuple[Integers, Integers]:
    """Return the query and the key of each stored weight."""
    query, key = np.divmod(pattern.indices, len(pattern.tokens))
    return query, key


def _distances(patterns: Sequence[_Pattern]) -> dict[str, Any]:
    """Return the number of stored weights by distance."""
    distances = np.concatenate([np.abs(np.subtract(*_places(pattern))) for pattern in patterns])
    bins, _edges = np.histogram(distances, bins=np.array(DISTANCES) - 0.5)
    return {"bin_edges": list(DISTANCES), "bin_values": bins.tolist()}


def _top_tokens(patterns: Sequence[_Pattern], side: int) -> list[dict[str, Any]]:
    """Return the tokens with the largest sum of stored weights as queries (0) or keys (1), without the first token."""
    sums: dict[str, float] = {}
    for pattern in patterns:
        places = _places(pattern)
        inner = (places[0] > 0) & (places[1] > 0)
        totals = np.bincount(places[side][inner], pattern.values[inner], len(pattern.tokens))
        for token, total in zip(pattern.tokens, totals.tolist(), strict=True):
            sums[token] = sums.get(token, 0.0) + total
    best = sorted(sums, key=lambda token: (-sums[token], token))[:TOKENS]
    return [{"token": token, "weight": round(sums[token], 4)} for token in best]


def _scatter(atlas: Atlas, layers: int, heads: int) -> list[dict[str, Any]]:
    """Return the metrics of every head of the first stack; metrics without a value are left out."""
    values = {name: measure_values(atlas, measure) for name, (measure, _about) in METRICS.items()}
    return [
        {
            "layer": number // heads,
            "head": number % heads,
            **{name: round(float(value[number]), 4) for name, value in values.items() if np.isfinite(value[number])},
        }
        for number in range(layers * heads)
    ]


def _config(atlas: Atlas, layers: int, heads: int) -> dict[str, Any]:
    known = [name for name, (measure, _about) in METRICS.items() if np.isfinite(measure_values(atlas, measure)).any()]
    return {
        "model_name": atlas.manifest["model"],
        "heads": [[layer, head] for layer in range(layers) for head in range(heads)],
        "n_layers": layers,
        "n_heads": heads,
        "n_intervals": INTERVALS,
        "metrics": known,
        "metric_descriptions": {name: METRICS[name][1] for name in known},
        "head_data_pattern": "L{layer}H{head}.json",
        "has_umap": False,
        "umap_heads": [],
        "custom_plots": [
            {"key": "qk_distance_histogram", "label": "Q-K distance"},
            {"key": "histogram", "label": "Largest weight of a window"},
        ],
        "custom_tables": [
            {"key": "top_query_tokens", "label": "Top query tokens"},
            {"key": "top_key_tokens", "label": "Top key tokens"},
        ],
        "statistics_display": {"mean_max_activation": {"label": "Mean max activation", "format": "default"}},
    }


def _round(values: Integers) -> list[float]:
    """Return values with four decimals, in float64 so that they are short in JSON."""
    found: list[float] = np.round(values.astype(np.float64), 4).tolist()
    return found


def _write(file: Path, content: object) -> None:
    file.write_text(json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
