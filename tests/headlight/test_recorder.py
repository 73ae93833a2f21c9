"""The examples of docs/RECORD.md run unchanged, and traces of recordings equal their weights."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import headlight
from inference.errors import UserError
from tests.inference.record.test_recorder import ids, own, writer
from tests.support.architectures import inputs, named
from tests.support.cases import loop_over
from tests.support.repository import ROOT

PAGE = (ROOT / "docs/RECORD.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_page_s_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shape in a comment after an expression is that of its value."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    shapes = 0
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(compile(block, "RECORD.md", "exec"), names)
        for line in block.splitlines():
            stated = re.match(r"(\w[^#]*\.shape|layer\.weights\([^#]*\)|layer\.tile\([^#]*\))  # \(([\d, ]+)\)", line)
            if stated:
                value = eval(stated[1], names)
                shape = value if isinstance(value, tuple) else value.shape
                assert tuple(shape) == tuple(int(n) for n in stated[2].split(",") if n.strip()), line
                shapes += 1
    assert shapes >= 5
    assert len(names["steps"].calls) == 4


def test_every_public_call_has_a_section() -> None:
    titles = " ".join(re.findall(r"^## (.*)$", PAGE, re.MULTILINE))
    for owner, start in (("layer", headlight.recorder.RecordedLayer), ("recording", headlight.ModelRecording)):
        public = [name for name, value in vars(start).items() if callable(value) and not name.startswith("_")]
        assert [name for name in public if name not in PAGE] == [], owner
    assert "load_recording" in titles


@pytest.mark.slow
@loop_over("values", [False, True])
@loop_over("name", ["BERT", "Llama", "BART"])
def test_a_trace_has_the_weights_without_padding(name: str, values: bool) -> None:
    row = named(name)
    given = inputs(row, (7, 5))
    with headlight.record(model := own(row), values=values) as found:
        model(**given)
    trace = found.trace(sample=1)
    assert trace.has_qkv() == values
    assert trace.source.pieces == tuple(str(int(number)) for number in given["input_ids"][1, :5])
    for part in trace.parts:
        layers = found.call.stacks[part]
        for at, layer in enumerate(layers):
            maps = layer.weights(sample=1).numpy()
            for head in range(trace.heads):
                weights = trace.weights(at, head, part)
                rows, columns = weights.shape
                assert max(rows, columns) <= 5
                np.testing.assert_allclose(weights, maps[head, :rows, :columns], atol=1e-6)


def test_the_steps_of_a_generation_are_a_trace() -> None:
    model = writer(named("Llama"), "sdpa")
    with headlight.record(model) as found:
        written = model.generate(ids(), max_new_tokens=4, min_new_tokens=4, do_sample=False, pad_token_id=0)
    trace = found.trace()
    with headlight.record(model) as whole:
        model(written[:, :-1])
    np.testing.assert_allclose(trace.weights(1, 2), whole.layers[1].weights(2, 0).numpy(), atol=1e-5)
    assert found.trace(call=0).weights(0, 0).shape == (5, 5)
    with pytest.raises(UserError, match="6"):
        found.trace(call=1)


def test_other_samples_and_tokens_are_refused() -> None:
    with headlight.record(model := own(named("BERT"))) as found:
        model(ids())
    with pytest.raises(ValueError, match="sample=1"):
        found.trace(1)
    with pytest.raises(ValueError, match="3 tokens"):
        found.trace(tokens=["a", "b", "c"])
    with pytest.raises(IndexError, match="3"):
        found.trace(call=3)


def test_labelled_axes_have_the_array_s_shape() -> None:
    with headlight.record(model := own(named("BERT"))) as found:
        model(ids(samples=2))
    labelled = found.with_axes()
    assert labelled["data"].shape == tuple(len(labelled["coords"][dim]) for dim in labelled["dims"]) == (2, 2, 3, 5, 5)
    assert torch.equal(torch.tensor(labelled["data"][1]), found.layers[1].weights())


def test_a_saved_notebook_has_a_picture_and_a_caption() -> None:
    with headlight.record(model := own(named("BERT"))) as found:
        model(ids())
    bundle = found.view()._repr_mimebundle_()
    assert set(bundle) == {"text/html", "image/svg+xml", "text/plain"}
    assert bundle["image/svg+xml"].startswith("<svg")
    assert "<script" not in bundle["image/svg+xml"]
    assert bundle["text/html"].startswith("<iframe")
    assert isinstance(found.view().html, str)


IMPORTS = """
import sys
import torch, transformers, numpy
from transformers import BertConfig, BertModel
BertModel(BertConfig(hidden_size=24, num_hidden_layers=1, num_attention_heads=3, intermediate_size=32, vocab_size=40))
before = {name.split(".")[0] for name in sys.modules}
import headlight
headlight.record, headlight.load_recording, headlight.view
after = {name.split(".")[0] for name in sys.modules}
print(*sorted(after - before - sys.stdlib_module_names))
"""


@pytest.mark.slow
def test_recording_needs_only_torch_and_transformers() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTS], cwd=ROOT, check=True, capture_output=True, text=True)
    ours = {"attention", "headlight", "i18n", "inference", "probing", "viz"}
    assert set(done.stdout.split()) - ours <= {"safetensors"}  # which transformers requires
