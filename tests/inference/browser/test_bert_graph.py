"""BERT as an ONNX graph, run by the runtime of the static site, against transformers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertForMaskedLM, BertModel

from inference.browser.bert_graph import attention_graph, masked_graph, sizes_of
from inference.errors import UserError
from tests.support.cases import loop_over
from tests.support.deno_scripts import RUNTIME, run_script

# Prints the outputs of a graph for inputs in a JSON file.
PASS = (
    RUNTIME
    + """
const session = await ort.InferenceSession.create(Deno.readFileSync(Deno.args[0]), { executionProviders: ["wasm"] });
const given = JSON.parse(Deno.readTextFileSync(Deno.args[1]));
const all = await Promise.all(given.map(async ({ words, types, kept, tokens, channels, shape }) => {
  const found = await session.run({
    words: new ort.Tensor("float32", Float32Array.from(words), [tokens, channels]),
    types: new ort.Tensor("int64", BigInt64Array.from(types, BigInt), [tokens]),
    kept: new ort.Tensor("float32", Float32Array.from(kept), shape),
  });
  return Object.fromEntries(Object.entries(found).map(([name, { data, dims }]) => [name, [dims, [...data]]]));
}));
console.log(JSON.stringify(all));
"""
)
# Prints the logits of a graph for masked words.
LOGITS = (
    RUNTIME
    + """
const session = await ort.InferenceSession.create(Deno.readFileSync(Deno.args[0]), { executionProviders: ["wasm"] });
const given = JSON.parse(Deno.readTextFileSync(Deno.args[1]));
const whole = (numbers) => new ort.Tensor("int64", BigInt64Array.from(numbers, BigInt), [numbers.length]);
const feeds = Object.fromEntries(Object.entries(given).map(([name, numbers]) => [name, whole(numbers)]));
const { logits: { dims, data } } = await session.run(feeds);
console.log(JSON.stringify([dims, [...data]]));
"""
)
SIZES = {"num_hidden_layers": 2, "num_attention_heads": 3, "hidden_size": 12, "intermediate_size": 20, "vocab_size": 9}


@pytest.fixture(scope="module")
def model() -> BertModel:
    torch.manual_seed(0)
    config = BertConfig(**SIZES, max_position_embeddings=16, initializer_range=0.5, attn_implementation="eager")
    found = BertModel(config, add_pooling_layer=False).eval()
    for name, weight in found.named_parameters():  # biases and norms are not all zeros and ones
        if weight.dim() == 1:
            torch.nn.init.normal_(weight, mean=float("LayerNorm.weight" in name), std=0.2)
    return found


def weights_of(model: BertModel) -> dict[str, Any]:
    return {name: weight.detach().numpy() for name, weight in model.named_parameters()}


def outputs(model: BertModel, ids: list[int], types: list[int], kept: np.ndarray, folder: Path) -> Mapping[str, Any]:
    table = weights_of(model)["embeddings.word_embeddings.weight"]
    (folder / "model.onnx").write_bytes(attention_graph(model.config.to_dict(), weights_of(model)))
    case = {"words": table[ids].ravel().tolist(), "types": types, "kept": kept.ravel().tolist(), "shape": kept.shape}
    case |= {"tokens": len(ids), "channels": table.shape[1]}
    (folder / "case.json").write_text(json.dumps([case]))
    [found] = run_script(PASS, folder / "model.onnx", folder / "case.json")
    return {name: np.reshape(data, shape) for name, (shape, data) in found.items()}


@pytest.mark.slow
@loop_over("ablated", [None, (0, 1), (1, 2)])
def test_the_graph_computes_the_pass(ablated: tuple[int, int] | None, model: BertModel, tmp_path: Path) -> None:
    ids, types = [1, 5, 3, 8, 2], [0, 0, 0, 1, 1]
    kept = np.ones((2, 3), np.float32)
    copied = BertModel(model.config, add_pooling_layer=False).eval()
    copied.load_state_dict(model.state_dict())
    if ablated is not None:
        kept[ablated] = 0
        with torch.no_grad():  # the head's slice of the input of W_O has no effect if its columns are zero
            width = SIZES["hidden_size"] // SIZES["num_attention_heads"]
            columns = slice(ablated[1] * width, (ablated[1] + 1) * width)
            copied.encoder.layer[ablated[0]].attention.output.dense.weight[:, columns] = 0
    with torch.inference_mode():
        expected = copied(torch.tensor([ids]), token_type_ids=torch.tensor([types]), output_attentions=True)
    found = outputs(model, ids, types, kept, tmp_path)
    np.testing.assert_allclose(found["states"], expected.last_hidden_state[0], atol=2e-3)
    for layer, maps in enumerate(expected.attentions):
        scores = found[f"query.{layer}"] @ found[f"key.{layer}"].transpose(0, 2, 1)
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        np.testing.assert_allclose(powers / powers.sum(axis=-1, keepdims=True), maps[0], atol=1e-3)


@pytest.mark.slow
@loop_over("dtype", [np.float32, np.float16])
def test_the_graph_predicts_masked_words(dtype: type, tmp_path: Path) -> None:
    torch.manual_seed(0)
    config = BertConfig(**SIZES, max_position_embeddings=16, initializer_range=0.5)
    whole = BertForMaskedLM(config).eval()
    for name, weight in whole.named_parameters():
        if weight.dim() == 1:  # biases and norms are not all zeros and ones
            torch.nn.init.normal_(weight, mean=float("LayerNorm.weight" in name), std=0.2)
        weight.data = weight.data.to(torch.float16).float()  # both types store the same numbers
    weights = {
        name.removeprefix("bert."): weight.detach().numpy().astype(dtype) for name, weight in whole.named_parameters()
    }
    given = {"ids": [1, 5, 3, 8, 2], "types": [0, 0, 0, 1, 1], "masks": [3, 1]}
    (tmp_path / "model.onnx").write_bytes(masked_graph(config.to_dict(), weights))
    (tmp_path / "case.json").write_text(json.dumps(given))
    shape, data = run_script(LOGITS, tmp_path / "model.onnx", tmp_path / "case.json")
    with torch.inference_mode():
        types = torch.tensor([given["types"]])
        expected = whole(torch.tensor([given["ids"]]), token_type_ids=types).logits[0, given["masks"]]
    found = torch.tensor(data).reshape(shape)
    torch.testing.assert_close(found.softmax(-1), expected.softmax(-1), atol=2e-3, rtol=0)


@loop_over(
    "changed",
    [
        {"model_type": "roberta"},
        {"hidden_act": "relu"},
        {"position_embedding_type": "relative_key"},
        {"is_decoder": True},
    ],
)
def test_another_architecture_is_refused(changed: dict[str, Any]) -> None:
    config = {**BertConfig(**SIZES).to_dict(), "model_type": "bert"}
    assert sizes_of(config).heads == SIZES["num_attention_heads"]
    with pytest.raises(UserError):
        sizes_of(config | changed)
