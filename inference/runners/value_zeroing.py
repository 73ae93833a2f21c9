"""Value zeroing (arXiv:2301.12971): the effect of each key's zeroed value on the output of a layer.

The layers below run once, and the layers above do not run.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from attention.edits import ZeroValue
from i18n import gettext_lazy
from inference.errors import UserError
from inference.record import growing_batch
from inference.record.edit_hooks import apply_edits
from inference.record.patching import replacing_output
from inference.record.records import layer_modules

BATCH = 4096  # tokens of a pass, summed over its samples


class _Reached(Exception):
    """Raised if the layer has returned, with its output; the layers above are not needed."""

    def __init__(self, vectors: Tensor) -> None:
        super().__init__()
        self.vectors = vectors


def distances(model: Any, one: dict[str, Tensor], layer: int) -> Tensor:
    """Return 1 - cosine of each token's vector after the layer with and without each key's value.

    The shape is (query, key). Raise UserError if the model's attention cannot be changed, or if it lacks the
    layer.
    """
    block = _block(model, layer)
    tokens = one["input_ids"].shape[1]
    step = max(1, BATCH // tokens - 1)
    columns = []
    for start in range(0, tokens, step):
        keys = range(start, min(start + step, tokens))
        vectors = _layer_output(model, block, one, layer, [(), *((ZeroValue(layer, key),) for key in keys)])
        columns.append(1 - torch.cosine_similarity(vectors[1:], vectors[:1], dim=-1))  # (key, query)
    return torch.cat(columns).T.clamp(min=0)


def _layer_output(
    model: Any, block: Any, one: dict[str, Tensor], layer: int, sets: list[tuple[ZeroValue, ...]]
) -> Tensor:
    """Return the output of the layer under each set, (set, token, channel)."""
    layers = getattr(model, growing_batch.GROWS, None)
    # Samples differ in this layer only, so they join before it; a model that cannot grow begins with all of them.
    joining = [len(sets) - 1 if at == layer else 0 for at in range(layers or 0)]
    given = one if layers else {name: tensor.expand(len(sets), *tensor.shape[1:]) for name, tensor in one.items()}

    def stop(_module: Any, output: Any) -> None:
        raise _Reached(output[0] if isinstance(output, tuple) else output)

    try:
        with (
            apply_edits(model, sets),
            growing_batch.grow_batch(joining),
            replacing_output(block, stop),
            torch.inference_mode(),
        ):
            model(**given)
    except _Reached as reached:
        return reached.vectors.float()
    raise UserError(
        gettext_lazy(
            "Layer {layer} of {name} hands nothing on that could be compared.", layer=layer, name=type(model).__name__
        )
    )


def _block(model: Any, layer: int) -> Any:
    """Return the module of the whole layer; raise UserError if the layer does not exist."""
    paths = next(iter(layer_modules(model).values()))
    if not 0 <= layer < len(paths):
        raise UserError(
            gettext_lazy(
                "Layer {layer} was asked for; {name} has {layers} layers, counted from 0.",
                layer=layer,
                name=type(model).__name__,
                layers=len(paths),
            )
        )
    return model.get_submodule(paths[layer])
