"""Three sequence models: an LSTM, a CNN and a Transformer.

Each maps token ids (row, position) to logits (row, position, token). The method `read` takes token embeddings (row,
position, WIDE) instead of ids, so that gradients with respect to the embeddings can be computed.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.jobs.baseline_runs import APART, KERNEL, LAYERS, BaselineRequest

WIDE = 32  # width of a token vector
LSTM_WIDE, CONVOLVED = 48, 40  # widths of LSTM and CNN, chosen so that all three models have about as many parameters
HEADS = 4


class SequenceModel(nn.Module, ABC):
    """The base class of the models, with a token embedding and an output layer."""

    def __init__(self, tokens: int, inside: int) -> None:
        super().__init__()
        self.vectors = nn.Embedding(tokens, WIDE)
        self.scores = nn.Linear(inside, tokens)

    def forward(self, ids: Tensor) -> Tensor:
        """Map token ids (row, position) to logits (row, position, token)."""
        return self.read(self.vectors(ids))

    def read(self, vectors: Tensor) -> Tensor:
        """Map token embeddings (row, position, WIDE) to logits (row, position, token)."""
        scores: Tensor = self.scores(self.inside(vectors))
        return scores

    @abstractmethod
    def inside(self, vectors: Tensor) -> Tensor:
        """Map token embeddings (row, position, WIDE) to final hidden states (row, position, channel)."""


class Recurrent(SequenceModel):
    """A one-layer LSTM."""

    def __init__(self, tokens: int) -> None:
        super().__init__(tokens, LSTM_WIDE)
        self.memory = nn.LSTM(WIDE, LSTM_WIDE, batch_first=True)

    def inside(self, vectors: Tensor) -> Tensor:
        """Return the LSTM's hidden state after every position, shape (row, position, channel)."""
        states: Tensor = self.memory(vectors)[0]
        return states


class Convolutional(SequenceModel):
    """Causal dilated convolutions with residual connections (arXiv:1610.10099)."""

    def __init__(self, tokens: int) -> None:
        super().__init__(tokens, CONVOLVED)
        self.widen = nn.Linear(WIDE, CONVOLVED)
        self.layers = nn.ModuleList(nn.Conv1d(CONVOLVED, CONVOLVED, KERNEL, dilation=step) for step in APART)

    def inside(self, vectors: Tensor) -> Tensor:
        """Return hidden states (row, position, channel), computed by causal convolutions.

        The receptive field of each state has REACH positions: its own position and those before it.
        """
        states: Tensor = self.widen(vectors).transpose(1, 2)  # (row, channel, position)
        for step, layer in zip(APART, self.layers, strict=True):
            before = functional.pad(states, ((KERNEL - 1) * step, 0))
            states = states + functional.relu(layer(before))
        return states.transpose(1, 2)


class Transformer(SequenceModel):
    """A Transformer (arXiv:1706.03762) with pre-layer normalisation (arXiv:2002.04745).

    ``masked`` selects causal attention. ``off`` names the part to ablate (one of PARTS), or is "" for none.
    """

    def __init__(self, tokens: int, *, masked: bool, off: str = "", layers: int = LAYERS) -> None:
        super().__init__(tokens, WIDE)
        self.positions = off != "positions"
        self.layers = nn.ModuleList(TransformerLayer(masked=masked, off=off) for _ in range(layers))
        self.norm = nn.Identity() if off == "norm" else nn.LayerNorm(WIDE)

    def inside(self, vectors: Tensor) -> Tensor:
        """Return the hidden state of every position after the last layer, shape (row, position, WIDE)."""
        states = vectors + sinusoids(vectors.shape[1]) if self.positions else vectors
        for layer in self.layers:
            states = layer(states)
        normalised: Tensor = self.norm(states)
        return normalised


class TransformerLayer(nn.Module):
    """Attention and a feed-forward network, each with a residual connection."""

    def __init__(self, *, masked: bool, off: str) -> None:
        super().__init__()
        self.masked, self.heads, self.added = masked, 1 if off == "heads" else HEADS, off != "residuals"
        self.scale = 1.0 if off == "scaling" else 1 / math.sqrt(WIDE // self.heads)
        self.asked = nn.Linear(WIDE, 3 * WIDE)  # queries, keys and values, concatenated
        self.out = nn.Linear(WIDE, WIDE)
        self.further = nn.Sequential(nn.Linear(WIDE, 2 * WIDE), nn.ReLU(), nn.Linear(2 * WIDE, WIDE))
        self.norms = nn.ModuleList(nn.Identity() if off == "norm" else nn.LayerNorm(WIDE) for _ in range(2))

    def forward(self, states: Tensor) -> Tensor:
        """Map hidden states (row, position, WIDE) to the next layer's, in the same shape."""
        parts: tuple[Callable[[Tensor], Tensor], ...] = (self.attend, self.further)
        for part, norm in zip(parts, self.norms, strict=True):
            new = part(norm(states))
            states = states + new if self.added else new
        return states

    def attend(self, states: Tensor) -> Tensor:
        """Compute multi-head self-attention on states (row, position, WIDE)."""
        rows, places, _ = states.shape
        parts = self.asked(states).view(rows, places, 3, self.heads, WIDE // self.heads)
        queries, keys, values = parts.permute(2, 0, 3, 1, 4)  # each (row, head, position, channel)
        scores = self.scale * queries @ keys.transpose(-1, -2)  # (row, head, query, key)
        if self.masked:
            scores = scores.masked_fill(torch.ones(places, places).triu(1).bool(), -math.inf)
        mixed = (scores.softmax(-1) @ values).transpose(1, 2).reshape(rows, places, WIDE)
        out: Tensor = self.out(mixed)
        return out


def sinusoids(places: int) -> Tensor:
    """Return the sinusoidal encodings of ``places`` positions, (position, WIDE) (arXiv:1706.03762)."""
    at = torch.arange(places).float()[:, None]
    angles = at / 10_000 ** (torch.arange(0, WIDE, 2).float() / WIDE)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


def build(one: BaselineRequest, tokens: int, *, masked: bool) -> SequenceModel:
    """Build the network that a request names, with random weights.

    ``tokens`` is the size of the vocabulary; ``masked`` selects causal attention in a Transformer.
    """
    if one.model == "lstm":
        return Recurrent(tokens)
    if one.model == "convolution":
        return Convolutional(tokens)
    return Transformer(tokens, masked=masked, off=one.off, layers=one.layers)


def numbers(model: nn.Module) -> int:
    """Return the number of trainable parameters."""
    return sum(parameter.numel() for parameter in model.parameters())
