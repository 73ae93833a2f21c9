"""Files of recordings: reading inverts writing, and other files are refused with a single sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from inference.errors import UserError
from inference.record.recording import AttentionRecording
from inference.record.recording_file import FORMAT, read_recording, write_recording
from tests.inference.record.test_recorder import ids, own, recording, writer
from tests.support.architectures import build, inputs, named
from tests.support.cases import loop_over


@loop_over("name", ["BERT", "GPT-2", "Gemma 2", "gpt-oss", "BART"])
def test_reading_inverts_writing(name: str, tmp_path: Path) -> None:
    row = named(name)
    with recording(model := build(row, "eager"), values=True) as found:  # older SDPA ignores Gemma 2's soft cap
        model(**inputs(row, (7, 5)))
    path = write_recording(found._store, tmp_path / "run.safetensors")  # noqa: SLF001  # the recording's own data
    again = AttentionRecording(read_recording(path))
    assert list(again.call.stacks) == list(found.call.stacks)
    for stack, layers in found.call.stacks.items():
        for layer, other in zip(layers, again.call.stacks[stack], strict=True):
            assert layer.path == other.path
            assert torch.equal(layer.weights(), other.weights())
            assert torch.equal(layer.value(), other.value())


def test_steps_of_generation_share_their_keys(tmp_path: Path) -> None:
    model = writer(named("Llama"), "sdpa")
    with recording(model) as found:
        model.generate(ids(), max_new_tokens=9, min_new_tokens=9, do_sample=False, pad_token_id=0)
    again = AttentionRecording(read_recording(write_recording(found._store, tmp_path / "run.safetensors")))  # noqa: SLF001  # the recording's own data
    assert again.nbytes <= found.nbytes
    for call, other in zip(found.calls, again.calls, strict=True):
        assert torch.equal(call.layers[1].weights(), other.layers[1].weights())


def broken(path: Path, change: Any) -> Path:
    """Write the file with a changed description of its first layer."""
    with safe_open(str(path), framework="pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # not a mapping
        header = json.loads(file.metadata()["recording"])
    change(header)
    save_file(tensors, str(path.with_name("broken.safetensors")), {"format": FORMAT, "recording": json.dumps(header)})
    return path.with_name("broken.safetensors")


CHANGES = {
    "no keys": lambda header: header["calls"][0]["layers"][0].update(key=None),
    "no tensor": lambda header: header["calls"][0]["layers"][0].update(query="tensor999"),
    "length": lambda header: header["calls"][0]["layers"][0].update(keys=900),
    "stack": lambda header: header["calls"][0]["layers"][0].update(stack="side"),
    "kernel": lambda header: header["calls"][0]["layers"][0].update(kernel="other"),
    "scale": lambda header: header["calls"][0]["layers"][0].update(scale="wide"),
    "sinks": lambda header: header["calls"][0]["layers"][0].update(sinks=header["calls"][0]["layers"][0]["query"]),
    "no calls": lambda header: header.pop("calls"),
    "dropped": lambda header: header.update(dropped=-1),
    "no layers": lambda header: header["calls"][0].update(layers=[]),
}


@loop_over("name", list(CHANGES))
def test_changed_files_are_refused(name: str, tmp_path: Path) -> None:
    row = named("BERT")
    with recording(model := own(row)) as found:
        model(**inputs(row))
    path = write_recording(found._store, tmp_path / "run.safetensors")  # noqa: SLF001  # the recording's own data
    with pytest.raises(UserError, match=FORMAT):
        read_recording(broken(path, CHANGES[name]))


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("not a file of tensors")
    save_file({"a": torch.ones(1)}, str(tmp_path / "tensors"))
    for name in ("text", "tensors"):
        with pytest.raises(UserError, match=f"^{name} "):
            read_recording(tmp_path / name)
    with pytest.raises(OSError, match="missing"):
        read_recording(tmp_path / "missing")
