"""Tests of the plotly figures: arrays as passed in, named axes, and tokens as plain text."""

import base64
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.support.cases import loop_over
from viz.figures.layers import MapSize, distance_by_layer, entropy_by_layer, even_distance, most_bits, offset_profile
from viz.figures.theme import DARK, LIGHT, Figure, Theme
from viz.figures.token_bars import TICKS, received_by_token

VALUES = np.array([[0.5, 1.5, 1.0], [2.0, 0.25, 0.75]], np.float32)  # Shape (layer, head).
BY_LAYER = {"entropy": entropy_by_layer, "distance": distance_by_layer}
TOKENS = ("[CLS]", "<b>it</b>", "&lt;", "\u202eيوم", "x" * 40)


def traces_of(figure: Figure) -> dict[str | None, dict[str, Any]]:
    """Return the figure's plotly traces by name, as the browser receives them."""
    content = json.loads(figure.to_json())
    return {trace.get("name"): trace for trace in content["data"]}


def array_of(field: dict[str, str] | list[float]) -> npt.NDArray[Any]:
    """Return a plotly array that is encoded either as a list or as base64."""
    if isinstance(field, dict):
        return np.frombuffer(base64.b64decode(field["bdata"]), np.dtype(field["dtype"]))
    return np.array(field)


@pytest.mark.parametrize("name", BY_LAYER)
def test_each_head_is_a_dot_and_each_layer_a_mean(name: str) -> None:
    figure = BY_LAYER[name](VALUES, MapSize(5, 5), LIGHT, selected=(1, 2))
    traces = traces_of(figure)
    assert array_of(traces["One head"]["y"]).tolist() == VALUES.reshape(-1).tolist()
    assert array_of(traces["layer mean"]["y"]).tolist() == [1.0, 1.0]
    assert array_of(traces["layer mean"]["x"]).tolist() == [0, 1]
    chosen = traces["head 1-2"]
    assert array_of(chosen["y"]).tolist() == [0.75]
    assert array_of(chosen["x"])[0] == array_of(traces["One head"]["x"])[-1]  # The mark is on the last head's dot.
    assert np.all(np.diff(array_of(traces["One head"]["x"])) > 0)  # Heads are in ascending order.


def test_the_reference_is_attention_spread_evenly() -> None:
    for queries, keys, causal in ((5, 7, False), (6, 6, True)):
        allowed = np.tri(queries, keys, dtype=bool) if causal else np.ones((queries, keys), dtype=bool)
        even = allowed / allowed.sum(axis=1, keepdims=True)
        bits = -np.sum(even * np.log2(even, where=allowed, out=np.zeros_like(even)), axis=1).mean()
        away = np.abs(np.arange(keys)[None] - np.arange(queries)[:, None])
        assert most_bits(MapSize(queries, keys, causal)) == pytest.approx(bits)
        assert even_distance(MapSize(queries, keys, causal)) == pytest.approx((even * away).sum(axis=1).mean())
    assert "uniform attention: 3.00 bits" in entropy_by_layer(VALUES, MapSize(8, 8), LIGHT).to_json()


def test_the_profile_is_centred_on_the_token_itself() -> None:
    shares = np.array([0.1, 0.2, 0.3, 0.25, 0.15], np.float32)
    (bars,) = offset_profile(shares, DARK, "head 0-1").data
    assert list(bars.x) == [-2, -1, 0, 1, 2]
    assert np.array_equal(bars.y, shares)
    assert bars.marker.color[2] == DARK.accent


def test_received_attention_keeps_every_token_apart_and_unread() -> None:
    received, mean = np.linspace(0, 0.4, 5, dtype=np.float32), np.full(5, 0.2, np.float32)
    figure = received_by_token(received, mean, TOKENS, LIGHT, "head 0-1")
    traces = traces_of(figure)
    assert array_of(traces["head 0-1"]["y"]).tolist() == received.tolist()
    assert array_of(traces["the mean of all heads"]["y"]).tolist() == mean.tolist()
    labels = list(figure.layout.xaxis.ticktext)
    assert labels[:3] == ["[CLS]", "&lt;b&gt;it&lt;/b&gt;", "&amp;lt;"]
    assert labels[4].endswith("…")
    assert "<b>" not in figure.to_json()


def test_equal_tokens_are_not_merged_and_long_texts_label_some() -> None:
    tokens = ["the"] * (3 * TICKS)
    even = np.ones(len(tokens), np.float32)
    figure = received_by_token(even, even, tokens, LIGHT, "head 0-0")
    assert len(figure.data[0].x) == len(tokens)
    assert len(figure.layout.xaxis.ticktext) == TICKS


@loop_over("theme", [LIGHT, DARK])
@loop_over(
    "make",
    [
        lambda theme: entropy_by_layer(VALUES, MapSize(5, 5), theme),
        lambda theme: distance_by_layer(VALUES, MapSize(5, 5, causal=True), theme),
        lambda theme: offset_profile(np.ones(3, np.float32), theme, "head 0-0"),
        lambda theme: received_by_token(np.ones(2, np.float32), np.ones(2, np.float32), ["a", "b"], theme, "head 0-0"),
    ],
)
def test_every_figure_says_what_it_shows_on_any_ground(make: Callable[[Theme], Figure], theme: Theme) -> None:
    layout = make(theme).layout
    assert layout.title.text
    assert layout.xaxis.title.text
    assert layout.yaxis.title.text
    assert layout.paper_bgcolor == layout.plot_bgcolor == "rgba(0,0,0,0)"
    assert layout.font.color == theme.text


def test_one_token_or_no_attention_is_no_error() -> None:
    for make in BY_LAYER.values():
        make(np.zeros((1, 1), np.float32), MapSize(1, 1), LIGHT, selected=(0, 0)).to_json()
    offset_profile(np.ones(1, np.float32), LIGHT, "head 0-0").to_json()
    received_by_token(np.zeros(1, np.float32), np.zeros(1, np.float32), ["a"], LIGHT, "head 0-0").to_json()
