"""What a model says about labelled texts: a class, or a tag for each word, each with how sure it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from probing.labelled.labeled_texts import OUTSIDE
from training.finetune.batches import NOTHING, FinetuneBatch, batch
from training.finetune.encoding import GOES_ON, UNREAD, Encoded
from training.precision import Precision
from training.translation.batches import Texts

AT_ONCE = 64  # texts in one pass
TOKENS_AT_ONCE = 1024  # of a pass, padded: larger passes are not faster and take more memory

Told = tuple[tuple[str, ...], tuple[float | None, ...]]  # of one text: its words' tags, and how sure each is


@dataclass(frozen=True)
class LabelShares:
    """Every text's shares in the order of the texts, and the mean loss in nats.

    A text's shares are (answer, label), each row a probability distribution; there is one answer for a text with a
    class, and of a text with tags one for each word that has a piece of its own.
    """

    shares: list[NDArray[np.float32]]
    loss: float


def logits(model: Any, read: FinetuneBatch, device: torch.device) -> Tensor:
    """What a model makes of a batch: (row, label) of texts, (row, position, label) of words."""
    given = {"input_ids": read.pieces, "attention_mask": read.real, "token_type_ids": read.kinds}
    found: Tensor = model(
        **{name: _to_device(array, device) for name, array in given.items() if array is not None}
    ).logits
    return found


def loss(found: Tensor, read: FinetuneBatch) -> Tensor:
    """Mean cross-entropy of a batch in nats, over its texts or over its words."""
    labels = _to_device(read.labels, found.device)
    total = functional.cross_entropy(
        found.float().flatten(0, -2), labels.flatten(), ignore_index=NOTHING, reduction="sum"
    )
    return total / max(1, read.label_count)


@torch.no_grad()
def answers(model: Any, rows: Encoded, padding: int, where: Precision) -> LabelShares:
    """What a model says about every text; it is left as it was found, learning or not."""
    learning = model.training
    model.eval()
    shares: list[NDArray[np.float32]] = [np.zeros((0, 0), np.float32)] * len(rows)
    losses, asked = 0.0, 0
    for some in batch_by_length(rows.pieces.lengths):
        read = batch(rows, some, padding)
        with where.autocast():
            found = logits(model, read, where.device)
        losses += float(loss(found, read)) * read.label_count
        asked += read.label_count
        told = found.float().softmax(-1).cpu().numpy()
        for at, row in enumerate(some):
            shares[row] = told[at][None] if rows.places is None else told[at][_drop_padding(rows.places[row])]
    model.train(learning)
    return LabelShares(shares, losses / max(1, asked))


def batch_by_length(lengths: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Yield the numbers of texts of similar length, short ones first, each pass within the limits if padded.

    >>> [some.tolist() for some in batch_by_length(np.array([600, 3, 700, 500]))]
    [[1, 3], [0], [2]]
    """
    order = np.argsort(lengths, kind="stable")
    first = 0
    while first < len(order):
        longest = lengths[order[first : first + AT_ONCE]]  # ascending, so each is the longest of those before it
        many = max(1, int((longest * np.arange(1, len(longest) + 1) <= TOKENS_AT_ONCE).sum()))
        yield order[first : first + many]
        first += many


def classes(said: LabelShares, labels: Sequence[str]) -> list[str]:
    """The likeliest class of each text."""
    return [labels[int(shares[0].argmax())] for shares in said.shares]


def tags(said: LabelShares, places: Texts, labels: Sequence[str]) -> list[Told]:
    """The likeliest tag of each word of each text, with its probability.

    A word that begins inside a piece of the word before continues the tag of that word. A word without any piece is
    outside, with unknown probability, unless the words around it continue a span across it.
    """
    return [_tags(shares, places[at], labels) for at, shares in enumerate(said.shares)]


def _tags(shares: NDArray[np.float32], places: NDArray[np.int32], labels: Sequence[str]) -> Told:
    """The same of one text.

    >>> shares = np.array([[0.25, 0.75], [1.0, 0.0]], np.float32)
    >>> _tags(shares, np.array([1, GOES_ON, 2, -2]), ("O", "B-PER"))
    (('B-PER', 'I-PER', 'O', 'O'), (0.75, 0.75, 1.0, None))
    >>> shares = np.array([[0.25, 0.75, 0.0], [0.0, 0.0, 1.0]], np.float32)
    >>> _tags(shares, np.array([1, -2, 2]), ("O", "B-PER", "I-PER"))[0]
    ('B-PER', 'I-PER', 'I-PER')
    """
    own = iter(zip(shares.argmax(axis=-1), shares.max(axis=-1, initial=0.0), strict=True))
    said: list[str] = []
    sure: list[float | None] = []
    for place in places:
        if place >= 0:
            chosen, share = next(own)
            said.append(labels[int(chosen)])
            sure.append(float(share))
        elif place == GOES_ON and said and said[-1] != OUTSIDE:
            said.append("I-" + said[-1][2:])
            sure.append(sure[-1])
        else:
            said.append(OUTSIDE)
            sure.append(None)
    _bridge(said, places)
    return tuple(said), tuple(sure)


def _bridge(said: list[str], places: NDArray[np.int32]) -> None:
    """Give words without pieces the tag of a span that continues across them, in place."""
    for at in range(len(said) - 2, 0, -1):
        after = said[at + 1]
        if places[at] == UNREAD and after.startswith("I-"):
            before = next((said[left] for left in range(at - 1, -1, -1) if places[left] != UNREAD), OUTSIDE)
            if before != OUTSIDE and before[2:] == after[2:]:
                said[at] = after


def _drop_padding(places: NDArray[np.int32]) -> NDArray[np.int32]:
    return places[places >= 0]


def _to_device(array: NDArray[np.int64], device: torch.device) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(array)).to(device)
