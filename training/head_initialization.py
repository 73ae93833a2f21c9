"""A head that answers sensibly from its first step, so that its errors do not tear at a trained encoder.

A head drawn at random sends large, meaningless gradients down; measured on the embedded encoder, a coreference head
loses half of its weight within 100,000 pieces (docs/LOG.md).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional
from transformers import BertForPreTraining

from training.batches import PretrainingBatch
from training.model import read

RIDGE = 0.01  # share of the hidden states' mean variance added to every direction's
SAMPLE = 500  # places that the scale of the logits is chosen on
SHIFT = 3.0  # where GELU is nearly the identity, in standard deviations of what enters it


def ridge(hidden: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """The affine map from hidden states (n, width) to targets (n, width) of least squares with a ridge: (map, offset).

    >>> states = torch.randn(200, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    >>> matrix, offset = ridge(states, states * 2 + 1)
    >>> torch.allclose(states @ matrix.T + offset, states * 2 + 1, atol=0.1)
    True
    """
    means = hidden.mean(dim=0), target.mean(dim=0)
    centred, wanted = hidden - means[0], target - means[1]
    products = centred.T @ centred
    products.diagonal().add_(RIDGE * products.diagonal().mean())
    matrix = torch.linalg.solve(products, centred.T @ wanted).T
    return matrix, means[1] - matrix @ means[0]


@torch.no_grad()
def warm_start(model: BertForPreTraining, batches: Iterable[PretrainingBatch], counts: NDArray[np.int64]) -> None:
    """Sets the masked-LM head to a ridge fit from hidden states to the embeddings of what stood there.

    The output bias starts as the logarithm of each piece's frequency. GELU stands between the fit and the
    embeddings, so the fit's output is shifted to where GELU is nearly the identity; the layer norm behind it takes
    the shift out again.
    """
    head = model.cls.predictions
    embeddings = model.bert.embeddings.word_embeddings.weight.double().cpu()
    frequency = torch.from_numpy((counts + 1.0) / (counts.sum() + len(counts)))
    centre = (frequency[:, None] * embeddings).sum(dim=0)
    states: list[Tensor] = []
    asked: list[Tensor] = []
    hook = head.register_forward_pre_hook(lambda _, inputs: states.append(inputs[0].double().cpu()))
    try:
        for batch in batches:
            read(model, batch, model.device)
            asked.append(torch.from_numpy(batch.masked.labels))
    finally:
        hook.remove()
    hidden, labels = torch.cat(states), torch.cat(asked)
    matrix, offset = ridge(hidden, embeddings[labels] - centre)
    fitted = hidden @ matrix.T + offset
    scale = fitted.std()
    dense, norm = head.transform.dense, head.transform.LayerNorm
    dense.weight.copy_(matrix / scale)
    dense.bias.copy_(offset / scale + SHIFT)
    norm.weight.fill_(float(_best_scale(fitted, embeddings, frequency.log(), labels)))
    norm.bias.zero_()
    head.bias.copy_(frequency.log())


def _best_scale(fitted: Tensor, embeddings: Tensor, bias: Tensor, labels: Tensor) -> Tensor:
    """How far to stretch the fitted vectors, of unit variance each, so that the logits have the least loss."""
    unit = functional.layer_norm(fitted[:SAMPLE], fitted.shape[1:])
    similarity = unit @ embeddings.T
    scales = torch.logspace(-2, 1, 10, dtype=torch.float64)
    entropy = [functional.cross_entropy(similarity * scale + bias, labels[:SAMPLE]) for scale in scales]
    return scales[int(torch.stack(entropy).argmin())]
