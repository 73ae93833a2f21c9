"""The tensors that encode a model's positions, and copies of a model without positional information."""

from __future__ import annotations

import copy
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from i18n import gettext_lazy


def shared_copy(model: Any) -> Any:
    """Copy the modules and the configuration of a model; parameters and buffers are shared."""
    shared = {id(tensor): tensor for group in (model.parameters(), model.buffers()) for tensor in group}
    return copy.deepcopy(model, shared)


# The ways in which models encode positions.
ADDED = "added"  # rows of a table are added to the token embeddings
TURNED = "turned"  # rotary: queries and keys are rotated by angles per token
TABLE_TURNED = "turned by table"  # rotary: a table holds the sines and cosines of all positions
BIAS = "bias"  # a number per distance and head is added to the scores
RELATIVE = "relative"  # a vector per distance is multiplied with queries and keys in the scores

_TABLE = re.compile(r"^(position_embeddings?|positions_embed|embed_positions|wpe)$")
_TARGET_SIDE = re.compile(r"(^|\.)decoder\.")


@dataclass(frozen=True, eq=False)
class PositionTensor:
    """A tensor that encodes positions: its kind, and the module and attribute that contain it."""

    kind: str
    path: str
    owner: nn.Module
    name: str

    @property
    def tensor(self) -> Tensor:
        """Return the tensor that encodes positions."""
        found: Tensor = getattr(self.owner, self.name)
        return found

    @property
    def first(self) -> int:
        """Return the row of the table for the first token's position; earlier rows are reserved for padding."""
        offset, padding = getattr(self.owner, "offset", None), getattr(self.owner, "padding_idx", None)
        if isinstance(padding, int):
            return padding + 1
        return offset if isinstance(offset, int) else 0


def places(model: Any) -> list[PositionTensor]:
    """Return all tensors of a model that encode positions.

    Positions that the model computes without storing them are not found.
    """
    return [place for path, module in model.named_modules() for place in _find_places(path, module)]


def source_side(found: Sequence[PositionTensor]) -> list[PositionTensor]:
    """Return the position tensors of the encoder, or all position tensors if none belongs to an encoder."""
    reading = [place for place in found if not _TARGET_SIDE.search(place.path)]
    return reading or list(found)


def slopes(model: Any) -> Tensor | None:
    """Return ALiBi's slopes, shape (head,), as computed by the model's code; None without ALiBi."""
    module, config = sys.modules[type(model).__module__], model.config
    if hasattr(module, "build_mpt_alibi_tensor"):
        bias: Tensor = module.build_mpt_alibi_tensor(config.n_heads, 2, config.attn_config.alibi_bias_max)
        return (bias[:, 0, 1] - bias[:, 0, 0]).float() if config.attn_config.alibi else None
    if hasattr(module, "build_alibi_tensor") and getattr(config, "alibi", True):
        bias = module.build_alibi_tensor(torch.ones(1, 2), config.num_attention_heads, torch.float32)
        slope: Tensor = bias[:, 0, 1] - bias[:, 0, 0]
        # Falcon divides its scores by √d after the bias has been added, BLOOM before.
        return slope / config.head_dim**0.5 if config.model_type == "falcon" else slope
    return None


def remove_positions(model: Any) -> tuple[Any, tuple[str, ...]]:
    """Return a copy of the model without positional information, and a sentence about each change.

    In the copy, every token has the same position. The copy shares all other weights. The model itself is not changed,
    because other threads use it.
    """
    twin = shared_copy(model)
    found = places(twin)
    for place in found:
        _level(place)
    return twin, tuple(_describe_places(source_side(found)))


def _find_places(path: str, module: nn.Module) -> Iterator[PositionTensor]:
    last = path.rpartition(".")[2]
    for name, _ in module.named_buffers(recurse=False):
        if name.endswith("inv_freq") and "original" not in name:
            yield PositionTensor(TURNED, path, module, name)
        elif name == "embed_positions":
            yield PositionTensor(TABLE_TURNED, path, module, name)
    if _TABLE.match(last):
        name = "weight" if hasattr(module, "weight") else "weights"
        if isinstance(getattr(module, name, None), Tensor):
            yield PositionTensor(TABLE_TURNED if "RoFormer" in type(module).__name__ else ADDED, path, module, name)
    elif last == "relative_attention_bias":
        yield PositionTensor(BIAS, path, module, "weight")
    elif last == "rel_embeddings":
        yield PositionTensor(RELATIVE, path, module, "weight")


def _level(place: PositionTensor) -> None:
    """Make a tensor equal for all positions: the first position's row repeated, or zeros."""
    old = place.tensor
    none = place.kind in (TURNED, BIAS)
    new = torch.zeros_like(old) if none else old[place.first].expand_as(old).clone()
    if isinstance(old, nn.Parameter):
        new = nn.Parameter(new, requires_grad=False)
    setattr(place.owner, place.name, new)
    if place.kind == TURNED:  # variants for long texts would recompute their angles
        kinds = getattr(place.owner, "rope_type", None)
        rope: Any = dict.fromkeys(kinds, "default") if isinstance(kinds, dict) else "default"
        place.owner.rope_type = rope


def _describe_places(found: Sequence[PositionTensor]) -> Iterator[str]:
    for kind in dict.fromkeys(place.kind for place in found):
        same = [place for place in found if place.kind == kind]
        name = f"{same[0].path}.{same[0].name}".lstrip(".")
        more = gettext_lazy(" and {others} similar", others=len(same) - 1) if len(same) > 1 else ""
        rows = gettext_lazy(" (rows × numbers: {shape})", shape=" × ".join(str(size) for size in same[0].tensor.shape))
        if kind == TURNED:
            yield gettext_lazy(
                "The angles of {name}{more} were set to zero: queries and keys are not rotated.", name=name, more=more
            )
        elif kind == BIAS:
            yield gettext_lazy(
                "{name}{rows}{more} was set to zero: scores do not depend on distance.",
                name=name,
                rows=rows,
                more=more,
            )
        elif kind == RELATIVE:
            yield gettext_lazy(
                "Every row of {name}{rows}{more} was replaced by the first.",
                name=name,
                rows=rows,
                more=more,
            )
        else:
            yield gettext_lazy(
                "Every row of {name}{rows}{more} was replaced by the first.",
                name=name,
                rows=rows,
                more=more,
            )
