"""The three networks: an LSTM, a convolutional network and a Transformer, from ids to the scores of every token.

All take ids (row, place) to scores (row, place, token), through vectors of tokens (row, place, WIDE). `read` begins
with the vectors, so that a gradient with respect to them can be asked for.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.jobs.baseline_runs import APART, KERNEL, LAYERS, BaselineRequest

WIDE = 32  # numbers of a token's vector
LSTM_WIDE, CONVOLVED = 48, 40  # inside the LSTM and the convolutional network, so that all three have as many numbers
HEADS = 4


class SequenceModel(nn.Module, ABC):
    """What all three share: vectors of the tokens at the beginning, scores of the tokens at the end."""

    def __init__(self, tokens: int, inside: int) -> None:
        super().__init__()
        self.vectors = nn.Embedding(tokens, WIDE)
        self.scores = nn.Linear(inside, tokens)

    def forward(self, ids: Tensor) -> Tensor:
        """Ids (row, place) to scores (row, place, token)."""
        return self.read(self.vectors(ids))

    def read(self, vectors: Tensor) -> Tensor:
        """Vectors (row, place, WIDE) to scores (row, place, token)."""
        scores: Tensor = self.scores(self.inside(vectors))
        return scores

    @abstractmethod
    def inside(self, vectors: Tensor) -> Tensor:
        """Vectors (row, place, WIDE) to states (row, place, inside)."""


class Recurrent(SequenceModel):
    """A long short-term memory, one layer: each place is read into the state that the place before it left."""

    def __init__(self, tokens: int) -> None:
        super().__init__(tokens, LSTM_WIDE)
        self.memory = nn.LSTM(WIDE, LSTM_WIDE, batch_first=True)

    def inside(self, vectors: Tensor) -> Tensor:
        """The state after every place."""
        states: Tensor = self.memory(vectors)[0]
        return states


class Convolutional(SequenceModel):
    """Dilated convolutions that see no later place, each added to what it read (arXiv:1610.10099)."""

    def __init__(self, tokens: int) -> None:
        super().__init__(tokens, CONVOLVED)
        self.widen = nn.Linear(WIDE, CONVOLVED)
        self.layers = nn.ModuleList(nn.Conv1d(CONVOLVED, CONVOLVED, KERNEL, dilation=step) for step in APART)

    def inside(self, vectors: Tensor) -> Tensor:
        """States that each see REACH places: their own and those before it."""
        states: Tensor = self.widen(vectors).transpose(1, 2)  # (row, number, place)
        for step, layer in zip(APART, self.layers, strict=True):
            before = functional.pad(states, ((KERNEL - 1) * step, 0))
            states = states + functional.relu(layer(before))
        return states.transpose(1, 2)


class Transformer(SequenceModel):
    """Layers of attention and feed-forward (arXiv:1706.03762), normalised before each part (arXiv:2002.04745).

    ``masked``: no place looks at a later one. ``off`` names one part that is switched off, or is "".
    """

    def __init__(self, tokens: int, *, masked: bool, off: str = "", layers: int = LAYERS) -> None:
        super().__init__(tokens, WIDE)
        self.positions = off != "positions"
        self.layers = nn.ModuleList(TransformerLayer(masked=masked, off=off) for _ in range(layers))
        self.norm = nn.Identity() if off == "norm" else nn.LayerNorm(WIDE)

    def inside(self, vectors: Tensor) -> Tensor:
        """The state of every place after the last layer."""
        states = vectors + sinusoids(vectors.shape[1]) if self.positions else vectors
        for layer in self.layers:
            states = layer(states)
        normalised: Tensor = self.norm(states)
        return normalised


class TransformerLayer(nn.Module):
    """Attention and a feed-forward part, each added to what it read."""

    def __init__(self, *, masked: bool, off: str) -> None:
        super().__init__()
        self.masked, self.heads, self.added = masked, 1 if off == "heads" else HEADS, off != "residuals"
        self.scale = 1.0 if off == "scaling" else 1 / math.sqrt(WIDE // self.heads)
        self.asked = nn.Linear(WIDE, 3 * WIDE)  # queries, keys and values beside each other
        self.out = nn.Linear(WIDE, WIDE)
        self.further = nn.Sequential(nn.Linear(WIDE, 2 * WIDE), nn.ReLU(), nn.Linear(2 * WIDE, WIDE))
        self.norms = nn.ModuleList(nn.Identity() if off == "norm" else nn.LayerNorm(WIDE) for _ in range(2))

    def forward(self, states: Tensor) -> Tensor:
        """States (row, place, WIDE) to states."""
        parts: tuple[Callable[[Tensor], Tensor], ...] = (self.attend, self.further)
        for part, norm in zip(parts, self.norms, strict=True):
            new = part(norm(states))
            states = states + new if self.added else new
        return states

    def attend(self, states: Tensor) -> Tensor:
        """What each place takes from all that it may look at."""
        rows, places, _ = states.shape
        parts = self.asked(states).view(rows, places, 3, self.heads, WIDE // self.heads)
        queries, keys, values = parts.permute(2, 0, 3, 1, 4)  # each (row, head, place, number)
        scores = self.scale * queries @ keys.transpose(-1, -2)  # (row, head, query, key)
        if self.masked:
            scores = scores.masked_fill(torch.ones(places, places).triu(1).bool(), -math.inf)
        mixed = (scores.softmax(-1) @ values).transpose(1, 2).reshape(rows, places, WIDE)
        out: Tensor = self.out(mixed)
        return out


def sinusoids(places: int) -> Tensor:
    """Positions as waves, (place, WIDE), which exist for any length (arXiv:1706.03762, section 3.5)."""
    at = torch.arange(places).float()[:, None]
    angles = at / 10_000 ** (torch.arange(0, WIDE, 2).float() / WIDE)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


def build(one: BaselineRequest, tokens: int, *, masked: bool) -> SequenceModel:
    """The network that is asked for, with random numbers."""
    if one.model == "lstm":
        return Recurrent(tokens)
    if one.model == "convolution":
        return Convolutional(tokens)
    return Transformer(tokens, masked=masked, off=one.off, layers=one.layers)


def numbers(model: nn.Module) -> int:
    """How many numbers a network learns."""
    return sum(parameter.numel() for parameter in model.parameters())
