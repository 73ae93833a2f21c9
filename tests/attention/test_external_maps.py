"""Traces from maps computed elsewhere: all accepted layouts give equal traces, others raise an error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attention.external_maps import InvalidAttention, trace
from attention.record import Unavailable
from attention.storage import dump, parse
from attention.tokens import TokenRow
from tests.support.cases import loop_over

LAYERS, HEADS, TOKENS = 2, 3, 5


def row(count: int) -> TokenRow:
    return TokenRow(
        tuple(f"w{at}" for at in range(count)), tuple(range(count)), tuple(range(count)), (0,) * count, (None,) * count
    )


def maps(queries: int = TOKENS, keys: int = TOKENS, seed: int = 0) -> Any:
    """Return random maps, shape (layer, head, query, key), with rows of sum 1."""
    found = np.random.default_rng(seed).random((LAYERS, HEADS, queries, keys)).astype(np.float32)
    return found / found.sum(axis=-1, keepdims=True)


class Tensor:
    """A stand-in for a torch tensor, with only the methods that the conversion calls."""

    def __init__(self, values: Any) -> None:
        self.values, self.shape = values, values.shape

    def detach(self) -> Tensor:
        return self

    cpu = float = detach

    def numpy(self) -> Any:
        return self.values


@loop_over(
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
    """``generate()`` returns a prompt of three tokens, then single tokens; the last token is unread."""
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
    assert trace(maps(), row(TOKENS)).model.architecture == "Maps"
    halves = "Maps (rows sum to 0.5 to 0.5; up to 0.5 of a row is missing)"
    assert trace(maps() / 2, row(TOKENS)).model.architecture == halves
    assert trace(maps() * 0.995, row(TOKENS)).model.architecture == "Maps"


def test_they_are_saved_and_opened_and_have_no_queries() -> None:
    made = trace(maps(), row(TOKENS), texts=("w0 w1", None))
    opened = parse(dump(made))
    np.testing.assert_array_equal(opened.weights(1, 2), made.weights(1, 2))
    with pytest.raises(Unavailable, match=f"^{opened.model.architecture} "):
        opened.query(0, 0)


def changed(place: tuple[int | slice, ...], value: float) -> Any:
    found = maps().astype(np.float64)
    found[place] = value
    return found


@loop_over(
    ("given", "said"),
    [
        (None, 'no maps. Load it with attn_implementation="eager"'),
        ((None, None), "no maps"),
        ([], "Got an empty list"),
        ({"attentions": 1}, "Got dict; give"),
        ("maps", "Got str"),
        (np.ones(4), "nested 1 deep"),
        ([[[1, 0], [1]]], "not an array of real numbers"),
        ([[["a", "b"]]], "not an array of real numbers|Got str"),
        ([np.stack([m, m]) for m in maps()], r"Layer 0 has 2 texts.*: \[a\[:1\] for a in attentions\]"),
        ([maps()[0], maps()[1, :2]], "Layer 1 has the shape .* the head axis differs"),
        ([maps()[0], maps()[1, :, :2]], "Layer 1 has the shape .* the query axis differs"),
        (maps(4, 4), "maps are 4 × 4 .* 5 tokens: neither axis matches. Name the model's tokens"),
        (maps(5, 4), "the key axis differs.*keys="),
        (maps(4, 5), "the query axis differs.*keys="),
        (changed((1, 2, 3, 4), np.nan), "Head 1-2 has NaN in row 3; expected"),
        (changed((1, 2), np.nan), "-2 has NaN in row 0, 1, 2, 3, 4. .*crop the padding"),
        (changed((1, slice(1, 3), 3), np.nan), "-1 has NaN in row 3, and 1 more heads"),
        (changed((1, 2, 3, 4), 1e39), "Head 1-2 has infinity in row 3.*softmax"),
        (changed((1, 2, 3, 4), -np.inf), "infinity in row 3"),
        (changed((1, 2, 3, 4), -0.5), "down to −0.5. Are"),
        (changed((1, 2, 3, 4), 3), "above 1, up to 3"),
        ((*[(maps()[0][None],)] * 3, (maps()[0][None], maps()[1][None])), "differ in layers"),
        ((*[(maps()[0][None],)] * 3, (maps(1, 4)[0][None],)), "do not continue"),
        (maps() * 1.02, r"Head 0-\d: row \d sums to 1.02; the limit is 1. With dropout"),
        (maps().swapaxes(-1, -2), "The columns sum to 1: swap query and key"),
        (maps().transpose(0, 2, 1, 3), r"tensor.permute\(0, 2, 1, 3\)"),
        (maps()[0].transpose(1, 2, 0), r"tensor.permute\(2, 0, 1\)"),
        (np.full((1, TOKENS, 2, 2), 0.5), "axis of 5 is in the heads' place"),
        ((None, maps()[0], None), r"Layer 0, 2 has no map \(None\). .*\[a for a in attentions if a is not None\]"),
        (maps().astype(np.complex64), "not an array of real numbers"),
    ],
)
def test_what_is_no_set_of_maps_is_refused(given: Any, said: str) -> None:
    with pytest.raises(InvalidAttention, match=said) as refused:
        trace(given, row(TOKENS))
    assert "\n" not in str(refused.value)


@pytest.mark.slow
@loop_over(
    ("given", "names", "said"),
    [
        (
            np.full((16, 12, 512, 512), 1 / 512, np.float16),
            12,
            r"neither .*a\[..., :12, :12\].*first axis of 16 .*a\[:1\]",
        ),
        ([np.full((16, 2, 64, 64), 1 / 64)] * 2, 12, r"\b16 .*64 × 64.*\[a\[:1, :, :12, :12\] for a in"),
        (np.full((1, 754, 28, 28), 1 / 28), 754, "neither axis .* axis of 754 is in the heads' place"),
        (
            np.random.default_rng(0).normal(size=(1, 4, 128)),
            4,
            "the key axis differs. These are not attention weights",
        ),
        (np.full((1, 4, 128), 1 / 128), 4, r"\bkey axis .*\(4\), keys=\[…\].*\(128\)"),
        ([[0.9, 0.1]], 2, r"1 × 2 .*\bquery axis .*\(1\), keys=\[…\].*\(2\)"),
        (np.full((1, 1, 4096, 514), 1 / 514), 4096, "4096 × 514 .*the key axis differs. Longformer"),
        (np.full((1, 2, 9, 9), 1 / 9), 12, r"9 × 9 .*\b12 tokens: neither .*convert_ids_to_tokens"),
    ],
)
def test_axes_that_do_not_fit_are_named(given: Any, names: int, said: str) -> None:
    with pytest.raises(InvalidAttention, match=said) as refused:
        trace(given, row(names))
    assert ("keys=" in str(refused.value)) == ("keys=" in said)


def test_swapped_tokens_and_keys_are_named() -> None:
    with pytest.raises(InvalidAttention, match="neither axis"):
        trace(maps(4, 6), row(4), row(6))
    with pytest.raises(InvalidAttention, match="key axis"):
        trace(maps(4, 6), row(7), row(4))


def test_the_crop_that_is_advised_is_drawn() -> None:
    padded = np.zeros((2, 3, 3, 9, 9), np.float32)
    padded[:, :, :, :TOKENS, :TOKENS] = maps()[:, None]
    padded[:, :, :, TOKENS:, 0] = 1
    attentions = list(padded)
    with pytest.raises(InvalidAttention, match="padded"):
        trace(attentions, row(TOKENS))
    cut = [a[:1, :, :TOKENS, :TOKENS] for a in attentions]
    np.testing.assert_array_equal(trace(cut, row(TOKENS)).weights(1, 2), maps()[1, 2])


@pytest.mark.parametrize("rows", [5, 7, 12])
def test_a_band_of_neighbours_is_not_a_set_of_keys(rows: int) -> None:
    """Rows hold the column of a global token, then a window of five neighbours, as in Longformer."""
    key = np.arange(rows)[:, None] + np.arange(5) - 2
    band = np.concatenate([np.ones((rows, 1)), (key >= 0) & (key < rows)], axis=1)
    with pytest.raises(InvalidAttention, match="Longformer"):
        trace((band / band.sum(axis=1, keepdims=True))[None], row(rows))


def test_windows_of_a_picture_are_not_texts() -> None:
    stages = [np.full((windows, heads, 4, 4), 0.25) for windows, heads in ((4, 2), (1, 4))]
    with pytest.raises(InvalidAttention, match=r"windows.*attentions\[0\]\[:1\]"):
        trace(stages, row(4))
    made = trace(stages[0][:1], row(4))
    assert (made.layers, made.heads) == (1, 2)


def stepwise(cached: bool, width: int = 0) -> Any:
    """Return the maps of ``generate()`` for two prompt tokens and three new tokens.

    ``width`` is the length of a static cache, which pads the keys.
    """
    starts = (0, 2, 3, 4) if cached else (0,) * 4
    whole, ends = causal(), zip(starts, (2, 3, 4, 5), strict=True)
    pad = [(0, 0)] * 3
    return tuple(
        tuple(np.pad(layer[None, :, a:b, :b], [*pad, (0, max(0, width - b))]) for layer in whole) for a, b in ends
    )


@loop_over("steps", [stepwise(True), stepwise(False), stepwise(True, 9)], ids=["cache", "none", "static"])
@loop_over("names", [TOKENS, TOKENS + 1])
def test_steps_with_and_without_a_cache_are_alike(steps: Any, names: int) -> None:
    made = trace(steps, row(names))
    assert (made.part, made.tokens) == ("decoder", row(TOKENS).pieces)
    np.testing.assert_array_equal(made.weights(1, 2), causal()[1, 2])


def test_steps_of_cross_attention_without_a_cache() -> None:
    whole = maps(3, 6)
    steps = tuple(tuple(layer[None, :, :end] for layer in whole) for end in (1, 2, 3))
    for names in (3, 4):
        made = trace(steps, row(6), row(names))
        np.testing.assert_array_equal(made.weights(1, 0), whole[1, 0])


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("rows", [2, TOKENS])
def test_two_streams_of_a_layer_are_not_two_layers(layers: int, rows: int) -> None:
    given = ((maps()[0][None], maps(rows)[1][None]),) * layers
    with pytest.raises(InvalidAttention, match="two streams"):
        trace(given, row(TOKENS))
    assert trace([h for h, g in given], row(TOKENS)).layers == layers


def test_one_step_of_two_layers_stays_a_decoder() -> None:
    made = trace((tuple(layer[None] for layer in causal()),), row(TOKENS))
    assert (made.layers, made.part) == (2, "decoder")


@loop_over(
    ("given", "texts_first", "layers_first"),
    [
        (np.stack([maps()]), "attentions[0]", "attentions[:, :1]"),
        (np.stack([maps()] * 4), "attentions[0]", "attentions[:, :1]"),
        (Tensor(np.stack([maps()])), "attentions[0]", "attentions[:, :1]"),
        ([np.stack([maps()])], "attentions[0][0]", "attentions[0][:, :1]"),
        ([maps()], "attentions[0][:1]", "attentions[0]"),
        (np.pad(np.stack([maps()]), [(0, 0)] * 3 + [(0, 4)] * 2), "attentions[0][..., :5, :5]", "[:, :1][..., :5, :5]"),
    ],
)
def test_an_array_of_texts_and_layers_is_named(given: Any, texts_first: str, layers_first: str) -> None:
    """The shape does not tell whether the layers are the first axis, so both ways are named, as code."""
    with pytest.raises(InvalidAttention) as refused:
        trace(given, row(TOKENS))
    assert texts_first in str(refused.value)
    assert layers_first in str(refused.value)


def test_the_named_ways_to_select_layers_are_drawn() -> None:
    whole = np.stack([maps()])
    for made in (trace(whole[0], row(TOKENS)), trace(np.stack([maps()], axis=1)[:, :1], row(TOKENS))):
        np.testing.assert_array_equal(made.weights(1, 2), maps()[1, 2])
    assert trace(whole[:, None].swapaxes(1, 2), row(TOKENS)).layers == LAYERS  # (1, layer, 1, head, query, key)


def stack(queries: int, keys: int, layers: int = LAYERS, seed: int = 0) -> tuple[Any, ...]:
    """Return maps as a model's output has them: (1, head, query, key) for each layer."""
    return tuple(layer[None] for layer in np.concatenate([maps(queries, keys, seed)] * 3)[:layers])


@loop_over(
    "parts",
    [
        (stack(5, 5), stack(4, 4)),
        (stack(4, 4), stack(5, 5, seed=1)),
        (stack(5, 5), stack(4, 5)),
        [stack(5, 5), stack(4, 4), stack(4, 5)],
        (stack(5, 5, 6), stack(5, 5, 3)),
        (stack(5, 5), stack(1, 1), stack(1, 5)),
        (tuple(map(Tensor, stack(5, 5))), tuple(map(Tensor, stack(4, 4)))),
    ],
)
def test_encoder_and_decoder_maps_are_not_steps(parts: Any) -> None:
    with pytest.raises(InvalidAttention) as refused:
        trace(parts, row(TOKENS))
    for at, part in enumerate(parts):
        assert f"attentions[{at}] ({part[0].shape[-2]} × {part[0].shape[-1]})" in str(refused.value)
    assert "keys=" in str(refused.value)


def test_two_equal_stacks_may_be_streams_or_encoder_and_decoder() -> None:
    with pytest.raises(InvalidAttention, match=r"attentions\[0\]\.$"):
        trace((stack(5, 5), stack(5, 5, seed=1)), row(TOKENS))


@loop_over(
    ("given", "ways"),
    [
        ({"encoder": stack(5, 5), "decoder": stack(4, 4)}, ["attentions['encoder']", "attentions['decoder']"]),
        (dict(enumerate(maps())), ["list(attentions.values())"]),
        ({}, ["list(attentions.values())"]),
    ],
)
def test_a_dictionary_is_refused_with_its_entries(given: Any, ways: list[str]) -> None:
    with pytest.raises(InvalidAttention) as refused:
        trace(given, row(TOKENS))
    assert all(way in str(refused.value) for way in ways)


def test_masked_numbers_are_no_weight() -> None:
    later = np.broadcast_to(np.triu(np.ones((TOKENS, TOKENS), bool), 1), maps().shape)
    for given in (np.ma.masked_array(maps(), later), list(np.ma.masked_array(maps(), later))):
        made = trace(given, row(TOKENS))
        assert made.part == "decoder"
        np.testing.assert_array_equal(made.weights(1, 2), np.tril(maps()[1, 2]))
    unmasked = np.ma.masked_array(maps(), np.zeros(maps().shape, bool))
    assert trace(unmasked, row(TOKENS)).id == trace(maps(), row(TOKENS)).id


@loop_over(
    ("given", "divisor"),
    [
        (maps() * 100, "a / 100"),
        (np.round(maps() * 100), "a / 100"),
        (np.round(maps() * 100).astype(int).tolist(), "a / 100"),
        (np.tril(maps()) / np.tril(maps()).sum(-1, keepdims=True) * 100, "a / 100"),
        ([maps()[0], maps()[1] * 100], "layer 1 .*a / 100"),
        (np.full((1, 300, 300), 1 / 3), "a / 100"),
        (maps() * 255, r"by 255\."),
        (maps().sum(axis=1), rf"by {HEADS}\."),
    ],
)
def test_percentages_are_named_with_their_divisor(given: Any, divisor: str) -> None:
    with pytest.raises(InvalidAttention, match=divisor):
        trace(given, row(np.shape(given)[-1] if isinstance(given, np.ndarray) else TOKENS))


def test_percentages_of_a_padded_text_are_weights() -> None:
    padded = np.pad(maps() * 100, [(0, 0), (0, 0), (0, 4), (0, 4)])
    with pytest.raises(InvalidAttention, match=r"\[\.\.\., :5, :5\]"):
        trace(padded, row(TOKENS))


def test_beams_are_not_texts() -> None:
    step = tuple(np.repeat(layer[None], 3, axis=0) for layer in causal())
    with pytest.raises(InvalidAttention, match=r"3 sequences.*beam_indices\[0\]"):
        trace((step,), row(TOKENS))


def test_padding_on_the_left_stays_a_decoder() -> None:
    """Rows of padding attend evenly to all tokens, also to later tokens; no token attends to padding."""
    padded = causal()
    padded[:, :, :, :2] = 0
    padded /= np.maximum(padded.sum(axis=-1, keepdims=True), 1e-9)
    padded[:, :, :2] = 1 / TOKENS
    assert trace(padded, row(TOKENS)).part == "decoder"
    padded[0, 0, 4, 0] = 0.01  # Token 4 attends to the first token, so the first two are not padding.
    assert trace(padded, row(TOKENS)).part == "encoder"


def test_a_whole_output_names_the_field_to_give() -> None:
    class Output:
        encoder_attentions = cross_attentions = (maps()[0],)

    with pytest.raises(InvalidAttention, match=r"outputs\.encoder_attentions"):
        trace(Output(), row(TOKENS))
