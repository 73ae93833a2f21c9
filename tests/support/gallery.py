"""A small, fixed example of every figure and matrix sheet, for `make gallery` and the goldens.

Each figure is called a single time here, in its own colours. Axes have unequal lengths, and a name in most
examples looks like markup.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from attention.complexity import CostSizes, QuadraticFit
from attention.mask import FloatArray
from attention.positions import by_distance, sinusoidal, t5_buckets
from viz.components.matrices.matrices import MatrixSpec
from viz.figures.evaluation import (
    Bin,
    RelationScore,
    calibration,
    confusion,
    random_sets,
    relation_scores,
    removal_curve,
)
from viz.figures.formulas import activation, growth, memory, operation_shares, seconds, softmax_slope
from viz.figures.head_maps import head_map, mark_heads, role_map, similarity_map
from viz.figures.head_scatter import head_scatter
from viz.figures.layers import (
    MapSize,
    distance_by_layer,
    entropy_by_layer,
    lens_curves,
    lens_map,
    offset_profile,
    patching_map,
    what_if,
)
from viz.figures.positions import RotarySet, buckets, by_head, curves, products, rotary, similarity
from viz.figures.theme import Theme
from viz.figures.token_bars import (
    bars,
    before_after,
    cumulative,
    importance,
    received_by_token,
    source_terms,
    two_readings,
    two_words,
)
from viz.figures.training import (
    Curve,
    DriftLine,
    ablated_parts,
    by_layer,
    by_step,
    change_and_effect,
    learning_curve,
    seeds,
)
from viz.figures.vectors import alignment_map, context_lines, cosine_map, scatter, word_lines
from viz.matrix_specs import heads, step_by_step

Example = Callable[[Theme], go.Figure]
WORDS = ("The", "<b>cat</b>", "did", "not", "cross")
LENGTHS = np.array([1.0, 10.0, 100.0, 1000.0])
CHOSEN = (1, 2)  # Layer and head.


def sizes(*shape: int, seed: int = 0) -> Any:
    """Return numbers between 0 and 1, float32, typed for figures of either precision."""
    return np.random.default_rng(seed).uniform(size=shape).astype(np.float32)


def rows(*shape: int, seed: int = 0) -> FloatArray:
    """Return attention weights: the last axis sums to 1."""
    found = sizes(*shape, seed=seed)
    weights: FloatArray = found / found.sum(axis=-1, keepdims=True)
    return weights


def spaced(start: float, stop: float, count: int) -> Any:
    """Return evenly spaced numbers."""
    return np.linspace(start, stop, count)


def marked_heads(theme: Theme) -> go.Figure:
    """Draw a map of heads with marks on two heads."""
    figure = head_map(sizes(2, 3) - 0.5, theme, "Effect of each head", "logits", diverging=True)
    mark_heads(figure, [(0, 1), (1, 0)], "x-thin", theme, "ablated")
    return figure


def named_points(axes: int) -> Example:
    """Return an example that draws points in two or three dimensions."""
    names = [f"axis {at}" for at in range(axes)]
    return lambda theme: scatter(sizes(5, axes), WORDS, names, theme, "Vectors as points", marked=1, pale=[3])


def ranked() -> list[list[str]]:
    """Return the top tokens after each of four layers."""
    return [["he", "<i>", "it"], ["it", "he", "she"], ["it", "he", "the"], ["it", "he", "that"]]


BY_LAYER = np.array([[0.5, 1.5, 1.0], [2.0, 0.25, 0.75]], np.float32)  # Axes: (layer, head).
TURNING = RotarySet("local", np.cos(np.linspace(0, 3, 9)), np.linspace(1, 0.2, 9))
ROLES = [["previous", "", "first"], ["separator", "broad", "repeat"]]
RELATIONS = [["", "det", "obj"], ["", "", "<i>long</i>"]]
SCORES = (
    RelationScore("det", 921, "2-8", 80.6, 78.0, 83.0, 58.9, "always the next word", 9.1),
    RelationScore("<b>odd</b>", 12, "1-3", 27.2, 9.7, 55.0, 31.8, "always 2 words back", None),
)
LAYER = CostSizes(width=384, heads=12, kv_heads=12, head_width=32, value_width=32, hidden=1536)

FIGURES: Mapping[str, Example] = {
    "activation": lambda theme: activation(spaced(-3, 3, 13), np.tanh(spaced(-3, 3, 13)), "tanh <x>", theme),
    "alignment": lambda theme: alignment_map(
        rows(3, 5), WORDS[:3], WORDS, theme, "Head 1 of layer 2", chosen=1, strongest=(0, None, 4)
    ),
    "bars": lambda theme: bars(WORDS, (0.5, 0.2, 0.1, 0.05, 0.0004), theme, "Next token", other=0.1496, marked=[1]),
    "calibration": lambda theme: calibration(
        [Bin(0.5, 0.6, 4, 0.55, 0.5, 0.15, 0.85), Bin(0.9, 1.0, 1385, 0.97, 0.91, 0.89, 0.92)],
        theme,
        "As often as sure?",
    ),
    "complexity": lambda theme: growth(
        LENGTHS, [("recurrent", LENGTHS), ("self-attention", LENGTHS**2)], theme, "Operations", "operations", 14
    ),
    "confusion": lambda theme: confusion(
        np.array([[14222, 3, 0], [7, 40, 1], [0, 2, 9]]),
        ["O", "<b>place</b>", "24 others"],
        theme,
        "True and said",
        "words",
        rest=True,
        chosen=(1, 0),
    ),
    "contexts": lambda theme: context_lines(
        {"1 and 2": sizes(4), "1 and <3>": sizes(4, seed=1)}, sizes(4, seed=2) / 3, list("wabc"), theme, "bank"
    ),
    "cosine": lambda theme: cosine_map(2 * sizes(5, 5) - 1, WORDS, theme, "How alike are the words?", marked=2),
    "cost_memory": lambda theme: memory(LENGTHS[1:], 1e4 * LENGTHS[1:], LENGTHS[1:] ** 2, theme),
    "cost_seconds": lambda theme: seconds(LENGTHS[1:], 1e-3 * LENGTHS[1:], QuadraticFit(0.001, 1e-5, 1e-7), theme),
    "cost_shares": lambda theme: operation_shares(LAYER, 8192, 14, theme),
    "distance": lambda theme: distance_by_layer(BY_LAYER, MapSize(5, 7), theme, selected=CHOSEN),
    "distance_profile": lambda theme: offset_profile(rows(7), theme, "head 0-1"),
    "drift_by_layer": lambda theme: by_layer(
        [
            DriftLine(name, values, values - 0.02, values + np.array([0.03, 0.01, np.nan]))
            for name, values in (("the task", spaced(0.01, 0.3, 3)), ("<shuffled>", spaced(0, 0.2, 3)))
        ],
        theme,
        "How far each layer has come",
    ),
    "drift_by_step": lambda theme: by_step(
        [0, 40, 80], spaced(0, 0.2, 3), ("head 1-2", spaced(0, 0.5, 3)), theme, "On the way", frame=1, kept=80
    ),
    "entropy": lambda theme: entropy_by_layer(BY_LAYER, MapSize(5, 7), theme, selected=CHOSEN),
    "entropy_causal": lambda theme: entropy_by_layer(BY_LAYER, MapSize(5, 5, causal=True), theme),
    "head_map": lambda theme: head_map(BY_LAYER, theme, "Entropy of each head", "bits", selected=CHOSEN),
    "head_marks": marked_heads,
    "importance": lambda theme: importance(
        WORDS, {"left out": sizes(5) - 0.5, "gradients": sizes(5, seed=1)}, theme, "change in log probability"
    ),
    "learning_curve": lambda theme: learning_curve(
        [(0, 0.2), (13, 0.2), (26, 0.7)],
        theme,
        "How well are the <dev> rows told?",
        "accuracy",
        last=133,
        baseline=("TF-IDF", 0.9),
        collapsed=[(13, "<b>")],
        ceiling=1.0,
    ),
    "lens_curves": lambda theme: lens_curves(rows(4, 3), ["he", "<i>", "it"], theme),
    "lens_map": lambda theme: lens_map(ranked(), rows(4, 3), theme),
    "parts": lambda theme: ablated_parts(
        {
            "as trained": {"all parts": (1.0, 0.9, 0.95), "no <norm>": (0.4, 0.9, 0.5)},
            "beyond": {"all parts": (0.8, 0.5, 0.6), "no <norm>": (0.1, 0.2, 0.1)},
        },
        theme,
        "The Transformer without a part",
        "share answered rightly",
        0.125,
    ),
    "positions_curves": lambda theme: curves(sinusoidal(12, 6), [4, 1], theme, "Two dimensions over positions"),
    "positions_products": lambda theme: products(by_distance(sizes(9, 4)), theme, "Products by distance"),
    "positions_similarity": lambda theme: similarity(sizes(8), theme, "Neighbours"),
    "positions_scores_buckets": lambda theme: buckets(
        np.arange(-12, 13), t5_buckets(np.arange(-12, 13), 8, 10, True), theme, "Buckets"
    ),
    "positions_scores_by_head": lambda theme: by_head(np.arange(-4, 5), sizes(3, 9), 1, theme, "What distance adds"),
    "positions_scores_rotary": lambda theme: rotary([TURNING], theme, "What turning does"),
    "random_sets": lambda theme: random_sets(sizes(40), 0.93, theme, "change in log probability"),
    "received": lambda theme: received_by_token(rows(5), rows(5, seed=1), WORDS, theme, "head 0-1"),
    "relation_scores": lambda theme: relation_scores(SCORES, theme, "Best head of each relation", selected="det"),
    "removal_curve": lambda theme: removal_curve(
        spaced(0.9, 0.1, 5), ["0-1", "1-2", "<0-0>", "1-1"], 1 - rows(3, 5), theme, "Without heads", "probability"
    ),
    "role_map": lambda theme: role_map(
        np.array([[0.9, np.nan, 0.5], [0.8, 0.2, 0.6]]), ROLES, RELATIONS, theme, "Roles", selected=(0, 2)
    ),
    "sampling_before_after": lambda theme: before_after(
        WORDS, (0.4, 0.3, 0.1, 0.1, 0.05), (0.6, 0.4, 0, 0, 0), theme, "Top 2", marked=[0]
    ),
    "sampling_cumulated": lambda theme: cumulative(
        (0.4, 0.3, 0.1, 0.1, 0.05), (0.6, 0.4, 0, 0, 0), 2, theme, "How far their sum has come"
    ),
    "scatter": named_points(2),
    "scatter_solid": named_points(3),
    "seeds": lambda theme: seeds(
        [Curve("LSTM", [4, 8, 16, 32], rows(3, 4)), Curve("<b>Transformer", [4, 8], sizes(3, 2, seed=1))],
        theme,
        "Accuracy by distance",
        "Distance (tokens)",
        "share answered rightly",
        trained=16,
        chance=0.125,
    ),
    "seeds_logarithmic": lambda theme: seeds(
        [Curve("LSTM", [16, 64, 256], 16.0 * sizes(1, 3)), Curve("Transformer", [16, 64], np.array([[0.0, 50.0]]))],
        theme,
        "Time per step",
        "Tokens of a text",
        "milliseconds",
        logarithmic="xy",
    ),
    "similarity_map": lambda theme: similarity_map(
        np.array([[0.0, 0.0], [1.0, 0.2], [0.9, 0.6], [2.0, 1.0]]),
        [0, 1, 1, 0],
        [(0, 0), (0, 1), (1, 0), (1, 1)],
        ["broad", "<b>first</b>", "first", "next"],
        theme,
        "Heads that look alike",
        selected=(1, 0),
    ),
    "source_terms": lambda theme: source_terms(
        {"ffn 2": [1.7, 0.9], "<token>": [-0.5, 0.6], "head 2-1": [0.2, 0.0]}, ("tired", "<b>"), theme, "Query: “it”"
    ),
    "mean_source_terms": lambda theme: source_terms(
        {"position": [1.4], "<token>": [-0.3], "head 2-1": [0.2]},
        ["2-8"],
        theme,
        "Sources of the query",
        intervals=[(1.2, 1.6), (-0.4, -0.1), (-0.1, 0.4)],
    ),
    "word_lines": lambda theme: word_lines(np.array([[0.3, -0.05]]), (["<b>"], ["dog", "it"]), theme, "Two texts"),
    "softmax_slope": lambda theme: softmax_slope([1, 4, 16], spaced(0.7, 0.7, 3), spaced(0.7, 0.1, 3), theme, 4),
    "carried": lambda theme: patching_map(
        np.array([[0, 1, 0], [0.1, 0.86, -0.05], [np.nan, 0.4, 0.3], [0.2, 1, 0.1]], np.float32),
        ["it", "tired → wide", "<b>"],
        theme,
        "Patched word vector",
        beyond=np.array([[0, 1, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0]], bool),
        selected=(1, 1),
    ),
    "two_readings": lambda theme: two_readings(
        WORDS,
        np.array([0.5, 0.1, np.nan, 0.0, 0.4]),
        np.array([0.2, 0.1, 0.3, np.nan, 0.4]),
        ("with “<tired>”", "with “wide”"),
        theme,
        "Where “it” looks",
        marked=1,
    ),
    "two_words": lambda theme: two_words(["one", "two"], ["are", "<b>is"], [[0.5, 0.25], [0.1, 0.05]], theme),
    "used": lambda theme: change_and_effect(
        np.array([[0.1, 0.2, np.nan], [0.3, 0.05, 0.4]]),
        np.array([[0.5, 0.1, 0.2], [1.5, 0.0, 0.7]]),
        theme,
        "Changed and used",
        "change of the logit",
        beyond=[(1, 0), (1, 2)],
        selected=CHOSEN,
    ),
    "head_scatter": lambda theme: head_scatter(
        np.array([0.1, 0.5, np.nan, 0.9], np.float32),
        np.array([0.3, 0.2, 0.1, 0.8], np.float32),
        ("distance", "excess"),
        [(0, 0), (0, 1), (1, 0), (1, 1)],
        ["", "<b>previous</b>", "", ""],
        theme,
        "All heads",
        selected=(1, 1),
    ),
    "what_if": lambda theme: what_if(sizes(3), sizes(3, seed=1), theme, head=1),
}

SHEETS: Mapping[str, Callable[[], Sequence[MatrixSpec]]] = {
    "agreement_matrices": lambda: heads.agreement_matrices(
        WORDS[:2], WORDS, rows(2, 5), 2 * sizes(2, 2) - 1, marked=[0]
    ),
    "multi_head": lambda: heads.multi_head(
        rows(3, 5), sizes(3), WORDS, spaced(0, 4, 5).astype(int), head=1, marked=2, single=rows(5, seed=1)
    ),
    "neuron": lambda: heads.neuron(sizes(4), sizes(5, 4, seed=1), 0.5, rows(5), WORDS, 2),
    "side_by_side": lambda: heads.side_by_side(
        rows(3, 5), rows(3, 5, seed=1), WORDS[:3], WORDS, ("with “tired”", "with “wide”"), (1, None), ("blue", "brown")
    ),
    "step_by_step": lambda: [
        *step_by_step.layer_input(sizes(5, 7), None, None, WORDS),
        step_by_step.weights(rows(5), "cat", WORDS, 1),
        *step_by_step.weighted_values(rows(5), sizes(5, 4), np.array([0, 1, 4]), ("The", "<b>", "cross"), 1),
        *step_by_step.result_difference(sizes(7), sizes(7) + 1e-3),
    ],
}
