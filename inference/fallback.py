"""Architectures that compute attention in code of their own: their finished maps, as they report them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attention.record import MapRecord
from inference import tiny
from inference.records import Spans

FLAG = "_headlight_maps_only"
BANDS = ("longformer", "led")  # report a window around each token instead of a whole row
LONGEST = "_headlight_longest"  # tokens up to which a model attends as its maps say
LARGEST = 4 * 2**30  # bytes of finished maps of one text


def prepare(model: Any) -> None:
    """Have this model compute its maps, and remember what part they are: "encoder", or "decoder" if it looks back only.

    Raises ValueError for an architecture that reports no attention.
    """
    model.config._attn_implementation = "eager"
    _settle_bigbird(model)
    with torch.inference_mode():
        setattr(model, FLAG, "encoder")
        reported = _reported(model, model(**tiny.inputs(model), output_attentions=True))
    first = next(iter(reported.values()))[0]
    if list(reported) == ["encoder"] and first.shape[-1] == first.shape[-2] and not bool(first.triu(1).any()):
        setattr(model, FLAG, "decoder")


def needed(model: Any) -> bool:
    """Whether the model gives finished maps only."""
    return hasattr(model, FLAG)


def parts(
    model: Any, inputs: dict[str, Tensor], sources: Spans, targets: Spans, largest: int = LARGEST
) -> list[dict[str, tuple[MapRecord, ...]]]:
    """For each sample, its maps by part. Raises ValueError for models without attention and for texts too long."""
    _refuse_large(model, inputs, largest)
    output = model(**inputs, output_attentions=True)
    kept = _reported(model, output)
    batch = next(iter(inputs.values())).shape[0]
    return [_sample(model, kept, sample, sources, targets) for sample in range(batch)]


def _reported(model: Any, output: Any) -> dict[str, Sequence[Tensor]]:
    """The maps of an output by part, each (batch, head, query, key)."""
    names = {
        "encoder_attentions": "encoder",
        "decoder_attentions": "decoder",
        "cross_attentions": "cross",
        "attentions": getattr(model, FLAG),
    }
    found = {part: output.get(name) for name, part in names.items() if output.get(name)}
    if not found:
        raise ValueError(f"{type(model).__name__} reports no attention. Pick a Transformer such as BERT or GPT-2.")
    return found


def _sample(
    model: Any, found: dict[str, Sequence[Tensor]], sample: int, sources: Spans, targets: Spans
) -> dict[str, tuple[MapRecord, ...]]:
    source = slice(None) if sources is None else sources[sample]
    target = slice(None) if targets is None else targets[sample]
    only = "decoder" in found and len(found) == 1
    records = {}
    for part, layers in found.items():
        queries = source if part == "encoder" or only else target
        keys = target if part == "decoder" and not only else source
        banded = part == "encoder" and model.config.model_type in BANDS
        maps = (_unband(layer[sample]) if banded else layer[sample] for layer in layers)
        records[part] = tuple(MapRecord(_numpy(m[:, queries][:, :, keys])) for m in maps)
    return records


def _settle_bigbird(model: Any) -> None:
    """BigBird turns itself to full attention at its first short text and stays there, unseen by who asks for maps."""
    config = model.config
    if getattr(config, "attention_type", None) == "block_sparse":
        setattr(model, LONGEST, (5 + 2 * config.num_random_blocks) * config.block_size)
        model.set_attention_type("original_full")


def _unband(band: Tensor) -> Tensor:
    """(head, query, window + 1) with key = query + place - window / 2, as (head, query, key)."""
    heads, queries, width = band.shape
    half = width // 2
    whole = band.new_zeros(heads, queries, queries + 2 * half)
    places = torch.arange(queries)[:, None] + torch.arange(width)[None, :]
    whole.scatter_(2, places.expand(heads, -1, -1), band)
    return whole[:, :, half : half + queries]


def _refuse_large(model: Any, inputs: dict[str, Tensor], largest: int) -> None:
    config = model.config.get_text_config()
    tokens = max(tensor.shape[-1] for tensor in inputs.values())
    layers, heads = getattr(config, "num_hidden_layers", 12), getattr(config, "num_attention_heads", 12)
    needs = layers * heads * tokens**2 * 4
    if tokens > getattr(model, LONGEST, tokens):
        raise ValueError(
            f"{type(model).__name__} attends sparsely beyond {getattr(model, LONGEST)} tokens, which cannot be shown; "
            f"this text has {tokens}. Shorten the text."
        )
    if needs > largest:
        raise ValueError(
            f"{type(model).__name__} gives finished maps only; for {tokens} tokens they take {needs / 2**30:.1f} GiB, "
            f"more than the {largest / 2**30:.1f} GiB allowed. Shorten the text."
        )


def _numpy(tensor: Tensor) -> np.ndarray[Any, np.dtype[np.float32]]:
    array = tensor.detach().float().cpu().clone().numpy()
    array.setflags(write=False)
    return array
