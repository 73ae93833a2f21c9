"""SmolLM2 from its package, if it is installed."""

from __future__ import annotations

import pytest

from inference import LocalBackend
from inference.files import checkpoint
from inference.files.embedded import SMOLLM
from inference.files.packages import unpacked_once
from inference.request import TraceRequest
from inference.settings import Settings
from inference.task_heads import CAUSAL
from inference.tasks.decoding import NextToken
from serving.stored_answers import StoredAnswers
from tests.support.closeness import assert_close

there = pytest.mark.skipif(
    not SMOLLM.is_installed() or not checkpoint.can_read_gguf(),
    reason="the extra of requirements-extra.txt is not installed",
)


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> LocalBackend:
    unpacked_once.cache_clear()
    return LocalBackend(Settings(cache=tmp_path_factory.mktemp("real"), offline=True))


@there
def test_the_real_one_knows_the_capital_of_france(real: LocalBackend) -> None:
    [best, *_] = real.predict(NextToken(model=SMOLLM.name, text="The capital of France is")).candidates
    assert best.text == " Paris"
    assert best.probability == pytest.approx(0.77, abs=0.02)


@there
def test_its_stored_answers_equal_the_computed_ones(real: LocalBackend) -> None:
    stored = [(question, answer) for question, _, answer in StoredAnswers().contents() if question.model == SMOLLM.name]
    assert len(stored) >= 2
    for question, answer in stored:
        assert not isinstance(question, TraceRequest)
        assert_close(answer, real.made(question))
        assert_close(answer, StoredAnswers().find(question, real.settings))


@there
def test_the_real_tokenizer_takes_digits_alone_and_adds_nothing(real: LocalBackend) -> None:
    tokenizer = real.loaded(SMOLLM.name, None, CAUSAL).reader.tokenizer
    pieces = {
        "The capital": ["The", "Ġcapital"],
        "in 1999,": ["in", "Ġ", "1", "9", "9", "9", ","],
        "  12": ["ĠĠ", "1", "2"],  # Both spaces are a single token, because digits are split off first.
        "Don't": ["Don", "'t"],
        "<|im_start|>x<|im_end|>": ["<|im_start|>", "x", "<|im_end|>"],
    }
    for text, expected in pieces.items():
        ids = tokenizer(text).input_ids
        assert tokenizer.convert_ids_to_tokens(ids) == expected
        assert tokenizer.decode(ids, clean_up_tokenization_spaces=False) == text


@there
def test_the_real_weights_are_the_files_own_to_float16(real: LocalBackend) -> None:
    import gguf
    import torch
    from gguf.quants import dequantize

    from inference.files import packages

    model = real.loaded(SMOLLM.name, None, CAUSAL).model
    file = packages.packaged_file(SMOLLM.package, SMOLLM.file)
    tensors = {tensor.name: tensor for tensor in gguf.GGUFReader(file).tensors}
    for name, mine in {
        "blk.29.ffn_down.weight": model.model.layers[29].mlp.down_proj.weight,
        "blk.0.attn_v.weight": model.model.layers[0].self_attn.v_proj.weight,
        "output_norm.weight": model.model.norm.weight,
    }.items():
        exact = torch.from_numpy(dequantize(tensors[name].data, tensors[name].tensor_type).copy())
        assert mine.shape == exact.shape
        assert (mine - exact).abs().max() <= exact.abs().max() * 2**-11
