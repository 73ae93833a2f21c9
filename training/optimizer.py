"""AdamW with BERT's groups: no decay on biases and layer norms, and, if asked, slower layers further down."""

from __future__ import annotations

import torch
from torch.nn import Parameter
from transformers import PreTrainedModel

from training.config_tables import OptimizerTable


def optimiser(model: PreTrainedModel, settings: OptimizerTable, layer_decay: float = 1.0) -> torch.optim.AdamW:
    """AdamW over all parameters; each group keeps its own highest rate in ``peak``.

    With ``layer_decay``, each layer of a BERT further down learns at this share of the rate above it.
    """
    layers = model.config.num_hidden_layers
    groups: dict[tuple[int, bool], list[Parameter]] = {}
    for name, parameter in model.named_parameters():
        groups.setdefault((_depth(name, layers), parameter.ndim > 1), []).append(parameter)
    return torch.optim.AdamW(
        [
            {
                "params": parameters,
                "lr": 0.0,
                "peak": settings.rate * layer_decay**depth,
                "weight_decay": settings.weight_decay if decays else 0.0,
            }
            for (depth, decays), parameters in groups.items()
        ],
        betas=settings.betas,
        eps=1e-6,
        fused=True,
    )


def set_rate(optimiser: torch.optim.Optimizer, share: float) -> None:
    """Every group's rate as a share of its highest."""
    for group in optimiser.param_groups:
        group["lr"] = group["peak"] * share


def _depth(name: str, layers: int) -> int:
    """How many layers lie above a parameter: 0 for the heads and the pooler, ``layers`` for the embeddings' own."""
    if name.startswith("bert.encoder.layer."):
        return layers - 1 - int(name.split(".")[3])
    return layers if name.startswith("bert.embeddings.") and "word_embeddings" not in name else 0
