"""What a model knows of texts that it never saw."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import BertForPreTraining

from training.batches import PretrainingBatches
from training.model import losses, read
from training.precision import Precision

RATE = 0.15  # of pieces asked, whatever the rate in training


@dataclass(frozen=True)
class PretrainingScore:
    """Answers on one held-out source. Shares are between 0 and 1.

    ``masked`` counts the places where the model saw [MASK]; ``chosen`` all that it was asked for, so the 10 % random
    and the 10 % kept pieces too. The baseline always answers the training text's most frequent pieces.
    """

    masked: int
    top1: float
    top5: float
    baseline_top1: float
    baseline_top5: float
    chosen: int
    chosen_top1: float
    chosen_top5: float
    pairs: int
    next_sentence: float  # share of pairs judged rightly
    piece_loss: float  # nats, over all chosen
    pair_loss: float  # nats


@torch.no_grad()
def evaluate(
    model: BertForPreTraining, batches: PretrainingBatches, pairs: int, counts: NDArray[np.int64], precision: Precision
) -> PretrainingScore:
    """Scores a model on the first ``pairs`` pairs of held-out text, or all there are, rounded down to batches.

    ``counts`` says how often each piece occurs in the text that was trained on.
    """
    steps = max(1, min(pairs, len(batches.spans)) // batches.size)
    frequent = torch.from_numpy(np.argsort(-counts, kind="stable")[:5].copy())
    model.eval()
    rows, sums = [], np.zeros(3)
    for step in range(steps):
        batch = batches(step, RATE)
        with precision.autocast():
            reading = read(model, batch, precision.device)
        labels = torch.from_numpy(batch.masked.labels)
        best = reading.logits.float().topk(5, dim=1).indices.cpu()
        rows.append(
            torch.stack(
                [
                    torch.from_numpy(batch.masked.shown) == 0,
                    best[:, 0] == labels,
                    (best == labels[:, None]).any(dim=1),
                    labels == frequent[0],
                    torch.isin(labels, frequent),
                ],
                dim=1,
            ).numpy()
        )
        right = (reading.follows.argmax(dim=1).cpu().numpy() == batch.random).sum()
        piece_loss, pair_loss = losses(reading, batch)
        sums += [right, float(piece_loss), float(pair_loss)]
    model.train()
    answers = np.concatenate(rows)  # (chosen, 5)
    shown = answers[answers[:, 0]].mean(axis=0)
    return PretrainingScore(
        masked=int(answers[:, 0].sum()),
        top1=float(shown[1]),
        top5=float(shown[2]),
        baseline_top1=float(shown[3]),
        baseline_top5=float(shown[4]),
        chosen=len(answers),
        chosen_top1=float(answers[:, 1].mean()),
        chosen_top5=float(answers[:, 2].mean()),
        pairs=steps * batches.size,
        next_sentence=float(sums[0] / (steps * batches.size)),
        piece_loss=float(sums[1] / steps),
        pair_loss=float(sums[2] / steps),
    )
