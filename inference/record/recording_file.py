"""Recordings as safetensors files, in the format ``headlight-recording-1`` that docs/RECORD.md describes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from attention.trace import PARTS
from inference.errors import UserError
from inference.record.attention_call import AttentionCall
from inference.record.kept_call import KeptCall, KeyBuffer
from inference.record.recorder import KeptPass, PassStore

FORMAT = "headlight-recording-1"
NOT_A_RECORDING = "{path} is not a recording of the format {format}: {reason}. Write one with recording.save(path)."
KERNELS = ("eager", "sdpa", "flash")
AXES = {"query": 4, "key": 4, "value": 4, "bias": 4}


def write_recording(store: PassStore, path: Path) -> Path:
    """Write the kept passes of a store to a file, and return its path; shared tensors are written once."""
    tensors: dict[str, Tensor] = {}
    names: dict[tuple[Any, ...], str] = {}

    def keep(tensor: Tensor | None) -> str | None:
        if tensor is None:
            return None
        place = (tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype)
        if place not in names:
            names[place] = f"tensor{len(names)}"
            tensors[names[place]] = tensor.detach().cpu().contiguous().clone()
        return names[place]

    def describe(kept: KeptCall) -> dict[str, Any]:
        call = kept.call
        mask = call.mask if kept.block_mask is None else kept.dense_mask()
        named = {"query": call.query, "key": kept.keys.tensor, "value": kept.value, "mask": mask, "bias": call.bias,
                 "sinks": call.sinks}  # fmt: skip
        return {
            **{name: keep(tensor) for name, tensor in named.items()},
            "path": call.path, "keys": kept.length, "scale": call.scale, "causal": call.causal,
            "softcap": call.softcap, "kernel": kept.kernel, "window": kept.window,
        }  # fmt: skip

    calls = [
        {
            "whole": kept.whole,
            "layers": [{"stack": stack, **describe(call)} for call, stack in zip(kept.calls, kept.stacks, strict=True)],
            "inputs": {name: keep(tensor) for name, tensor in kept.inputs.items()},
        }
        for kept in store.passes
    ]
    header = {"model": store.name, "architecture": store.architecture, "encoder_decoder": store.two,
              "dropped": store.dropped, "calls": calls}  # fmt: skip
    save_file(tensors, str(path), {"format": FORMAT, "recording": json.dumps(header)})
    return path


def read_recording(path: Path) -> PassStore:
    """Read the passes of a file; raise UserError if it is not a recording, and OSError if it cannot be opened."""
    try:
        with safe_open(str(path), framework="pt") as file:
            metadata = file.metadata() or {}
            if metadata.get("format") != FORMAT:
                raise ValueError(f"its format is {metadata.get('format')!r}")
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # not a mapping
        return _store(json.loads(metadata["recording"]), tensors)
    except FileNotFoundError:
        raise
    except (SafetensorError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        reason = f"it lacks {error}" if isinstance(error, KeyError) else " ".join(str(error).split())[:200].rstrip(".")
        raise UserError(NOT_A_RECORDING.format(path=path.name, format=FORMAT, reason=reason)) from error


def _store(header: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> PassStore:
    buffers: dict[str, KeyBuffer] = {}
    passes = []
    for each in header["calls"]:
        layers, stacks = each["layers"], [layer["stack"] for layer in each["layers"]]
        if not layers or not set(stacks) <= set(PARTS):
            raise ValueError(f"a call has the stacks {stacks}")
        calls = [_call(layer, tensors, buffers) for layer in layers]
        if len({call.shape[0] for call in calls}) > 1:
            raise ValueError("the layers of a call differ in their number of samples")
        inputs = {str(name): tensors[place] for name, place in each["inputs"].items()}
        passes.append(KeptPass(bool(each["whole"]), calls=calls, stacks=stacks, inputs=inputs))
    dropped = header["dropped"]
    if not isinstance(dropped, int) or dropped < 0:
        raise ValueError(f"the number of dropped calls is {dropped!r}")
    return PassStore(
        str(header["model"]), str(header["architecture"]), bool(header["encoder_decoder"]), passes, dropped
    )


def _call(layer: Mapping[str, Any], tensors: Mapping[str, Tensor], buffers: dict[str, KeyBuffer]) -> KeptCall:
    """Return a call of a file; raise ValueError if its tensors do not fit together."""
    found = {name: None if layer[name] is None else tensors[layer[name]] for name in (*AXES, "mask", "sinks")}
    query, key = found["query"], found["key"]
    axes = [(found[name], axes) for name, axes in AXES.items()]
    if query is None or key is None or any(tensor is not None and tensor.ndim != many for tensor, many in axes):
        raise ValueError("a layer lacks queries or keys of four axes")
    keys, kernel, window = layer["keys"], layer["kernel"], layer["window"]
    fits = (
        key.shape[0] == query.shape[0]
        and key.shape[3] == query.shape[3]
        and 0 < key.shape[1] <= query.shape[1]
        and query.shape[1] % key.shape[1] == 0
        and isinstance(keys, int)
        and 0 < keys <= key.shape[2]
        and torch.is_floating_point(query)
        and torch.is_floating_point(key)
    )
    if not fits or kernel not in KERNELS or not (window is None or isinstance(window, int)):
        raise ValueError(f"queries of shape {tuple(query.shape)} and keys of shape {tuple(key.shape)} do not fit")
    _check_masks(found, tuple(query.shape), keys)
    buffer = buffers.setdefault(layer["key"], KeyBuffer(key, own=True))
    softcap = None if layer["softcap"] is None else float(layer["softcap"])
    call = AttentionCall(
        str(layer["path"]), query, query[:, :, :0], query[:, :, :0], found["mask"], found["bias"],
        float(layer["scale"]), bool(layer["causal"]), softcap, found["sinks"],
    )  # fmt: skip
    return KeptCall(call, buffer, keys, kernel, window, found["value"])


def _check_masks(found: Mapping[str, Tensor | None], shape: tuple[int, ...], keys: int) -> None:
    samples, heads, queries, _ = shape
    for name in ("mask", "bias"):
        tensor = found[name]
        if tensor is None or (name == "mask" and tensor.ndim == 2 and tensor.shape[0] == samples):
            continue
        sizes = zip(tensor.shape, (samples, heads, queries), strict=False)
        if tensor.ndim != 4 or tensor.shape[3] < keys or any(size not in (1, full) for size, full in sizes):
            full = (samples, heads, queries, keys)
            raise ValueError(f"the {name} of shape {tuple(tensor.shape)} does not fit {full}")
    sinks = found["sinks"]
    if sinks is not None and sinks.numel() not in (heads, samples * heads):
        raise ValueError(f"{sinks.numel()} sinks came for {heads} heads")
