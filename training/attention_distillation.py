"""Holding a model's attention to what it was: the first encoder's maps as a teacher.

Learning to fill blanks is quickest by changing everything, and the heads that made the encoder worth looking at are
gone within minutes (docs/LOG.md). So a share of the loss asks each head to attend as the first encoder does on the same
text, as MiniLM was itself taught (arXiv:2002.10957, equation 2).
"""

from __future__ import annotations

import torch
from torch import Tensor
from transformers import BertModel

from training.batches import PretrainingBatch
from training.model import encode

LEAST = 1e-6  # attention under which a logarithm would be of rounding only


@torch.no_grad()
def teach(teacher: BertModel, batch: PretrainingBatch, device: torch.device, rows: int) -> tuple[Tensor, ...]:
    """The teacher's attention maps of a batch's first rows: per layer (row, head, query, key)."""
    maps: tuple[Tensor, ...] = encode(teacher, batch, device, attentions=True, rows=rows).attentions
    return maps


def divergence(taught: tuple[Tensor, ...], learnt: tuple[Tensor, ...]) -> Tensor:
    """Kullback-Leibler divergence of the learnt maps from the taught ones, in nats a query, mean over all.

    Learnt maps may have more rows than were taught; those are left alone.

    >>> even, one_sided = torch.tensor([[[[0.5, 0.5]]]]), torch.tensor([[[[0.25, 0.75]]]])
    >>> round(float(divergence((even, even), (even, one_sided))), 4)  # half of 0.5 log 2 + 0.5 log (2/3)
    0.0719
    """
    each = []
    for wanted, given in zip(taught, learnt, strict=True):
        wanted, given = wanted.float(), given[: len(wanted)].float()
        difference = wanted.clamp_min(LEAST).log() - given.clamp_min(LEAST).log()
        each.append((wanted * difference).sum(dim=-1).mean())
    return torch.stack(each).mean()
