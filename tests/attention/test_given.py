"""Maps computed elsewhere: every way to write them is the same trace, and what is none is refused in a sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attention.given import NotMaps, trace
from attention.record import Unavailable
from attention.storage import dump, parse
from attention.tokens import TokenRow

LAYERS, HEADS, TOKENS = 2, 3, 5


def row(count: int) -> TokenRow:
    return TokenRow(
        tuple(f"w{at}" for at in range(count)), tuple(range(count)), tuple(range(count)), (0,) * count, (None,) * count
    )


def maps(queries: int = TOKENS, keys: int = TOKENS, seed: int = 0) -> Any:
    """(layer, head, query, key), rows sum to one."""
    found = np.random.default_rng(seed).random((LAYERS, HEADS, queries, keys)).astype(np.float32)
    return found / found.sum(axis=-1, keepdims=True)


class Tensor:
    """What is asked of a tensor of torch; in half a number's precision numpy could not read it."""

    def __init__(self, values: Any) -> None:
        self.values, self.shape = values, values.shape

    def detach(self) -> Tensor:
        return self

    cpu = float = detach

    def numpy(self) -> Any:
        return self.values


@pytest.mark.parametrize(
    "written",
    [
        lambda m: tuple(layer[None] for layer in m),
        lambda m: tuple(m),
        lambda m: m,
        lambda m: m[:, None],
        lambda m: m.tolist(),
        lambda m: [[list(head) for head in layer] for layer in m],
        lambda m: tuple(Tensor(layer[None]) for layer in m),
        lambda m: Tensor(m.astype(np.float64)),
    ],
)
def test_however_they_are_written_they_are_the_same(written: Any) -> None:
    made = trace(written(maps()), row(TOKENS))
    assert (made.layers, made.heads, made.part) == (LAYERS, HEADS, "encoder")
    assert made.id == trace(maps(), row(TOKENS)).id
    for layer in range(LAYERS):
        for head in range(HEADS):
            np.testing.assert_array_equal(made.weights(layer, head), maps()[layer, head])


def test_one_layer_and_one_head_may_come_alone() -> None:
    np.testing.assert_array_equal(trace(maps()[1], row(TOKENS)).weights(0, 2), maps()[1, 2])
    np.testing.assert_array_equal(trace(maps()[1, 2], row(TOKENS)).weights(0, 0), maps()[1, 2])


def test_permuted_heads_are_permuted_maps() -> None:
    order = [2, 0, 1]
    before, after = trace(maps(), row(TOKENS)), trace(maps()[:, order], row(TOKENS))
    assert before.id != after.id
    for head, was in enumerate(order):
        np.testing.assert_array_equal(after.weights(1, head), before.weights(1, was))


def test_what_is_shown_cannot_change_afterwards() -> None:
    mine = maps()
    made = trace(mine, row(TOKENS))
    mine[:] = 0
    assert made.weights(0, 0).sum() == pytest.approx(TOKENS)


def causal() -> Any:
    found = np.tril(maps())
    return found / found.sum(axis=-1, keepdims=True)


def test_where_nothing_looks_ahead_it_is_a_decoder_s() -> None:
    assert trace(causal(), row(TOKENS)).part == "decoder"
    ahead = causal()
    ahead[1, 2, 0, 4] = 1e-6
    assert trace(ahead, row(TOKENS)).part == "encoder"


@pytest.mark.parametrize("names", [TOKENS, TOKENS + 1])
def test_steps_of_a_written_text_are_put_together(names: int) -> None:
    """A prompt of three tokens, then one at a time, as generate() hands them over; the last token was never read."""
    whole, ends = causal(), [(0, 3), (3, 4), (4, 5)]
    steps = tuple(tuple(layer[None, :, a:b, :b] for layer in whole) for a, b in ends)
    made = trace(steps, row(names))
    assert (made.part, made.tokens) == ("decoder", row(TOKENS).pieces)
    for layer in range(LAYERS):
        np.testing.assert_array_equal(made.weights(layer, 1), whole[layer, 1])


def test_tokens_that_look_at_another_text() -> None:
    made = trace(maps(4, 6), row(6), row(4))
    assert (made.part, len(made.source), made.target) == ("cross", 6, row(4))
    np.testing.assert_array_equal(made.weights(1, 0), maps(4, 6)[1, 0])
    steps = tuple(tuple(layer[None, :, a:b] for layer in maps(4, 6)) for a, b in [(0, 1), (1, 3), (3, 4)])
    np.testing.assert_array_equal(trace(steps, row(6), row(5)).weights(1, 0), maps(4, 6)[1, 0])


def test_rows_that_do_not_sum_to_one_are_said() -> None:
    assert trace(maps(), row(TOKENS)).model.architecture == "A set of maps"
    assert trace(maps() / 2, row(TOKENS)).model.architecture == "A set of maps (rows sum to 0.5 to 0.5)"


def test_they_are_saved_and_opened_and_have_no_queries() -> None:
    made = trace(maps(), row(TOKENS), texts=("w0 w1", None))
    opened = parse(dump(made))
    np.testing.assert_array_equal(opened.weights(1, 2), made.weights(1, 2))
    with pytest.raises(Unavailable, match="finished attention maps only"):
        opened.query(0, 0)


def changed(place: tuple[int, ...], value: float) -> Any:
    found = maps().astype(np.float64)
    found[place] = value
    return found


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, 'no maps. Load it with attn_implementation="eager"'),
        ((None, None), "no maps"),
        ([], "An empty list came"),
        ({"attentions": 1}, "dict came where maps are expected"),
        ("maps", "str came"),
        (np.ones(4), "nested 1 deep"),
        ([[[1, 0], [1]]], "rows of one length"),
        ([[["a", "b"]]], "rows of one length|str came"),
        (np.stack([maps(), maps()], axis=1), r"Layer 0 holds 2 texts; give one of them: \[a\[:1\]"),
        ([maps()[0], maps()[1, :2]], "Layer 1 has the shape"),
        (maps(4, 4), "maps are 4 × 4 .* 5 tokens came with them"),
        (maps(5, 4), "keys="),
        (changed((1, 2, 3, 4), np.nan), "Layer 1 holds numbers that are not finite"),
        (changed((1, 2, 3, 4), 1e39), "not finite"),
        (changed((1, 2, 3, 4), -0.5), "down to -0.5: are these scores before the softmax?"),
        (changed((1, 2, 3, 4), 3), "above one, up to 3"),
        (((maps()[0][None],), (maps()[0][None], maps()[1][None])), "different numbers of layers"),
        (((maps()[0][None],), (maps(1, 4)[0][None],)), "do not go on"),
    ],
)
def test_what_is_no_set_of_maps_is_refused(given: Any, said: str) -> None:
    with pytest.raises(NotMaps, match=said) as refused:
        trace(given, row(TOKENS))
    assert "\n" not in str(refused.value)
