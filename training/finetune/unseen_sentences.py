"""Sentences that a model was not taught on: where its maps are compared with what they were."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from inference.text.tokenizer import SafeTokenizer
from probing.labelled.labeled_texts import OUTSIDE, LabeledDataset
from training.finetune.encoding import Encoded, Row, encode_rows
from training.finetune.model_setup import FinetuneStart
from training.finetune.settings import FinetuneSettings

MOST = 64  # sentences
LONGEST = 64  # pieces of them that are read
SHOWN, SHORT = 8, 24  # sentences that are shown map by map, and pieces that they have at most, where there are such
MOST_WEIGHTS = 3 * 10**7  # of all their maps together; of large models fewer sentences are compared
CHOICE = 2  # beside a run's seed: of which sentences


@dataclass(frozen=True)
class UnseenSentences:
    """Some test rows whose text no train row has, as a model reads them; those that are shown map by map come first."""

    rows: Sequence[Row]
    read: Encoded
    shown: int
    outside: int  # the number of the tag "O"; of classes -1

    def __len__(self) -> int:
        return len(self.rows)


def sample_unseen(labels: LabeledDataset, start: FinetuneStart, settings: FinetuneSettings) -> UnseenSentences | None:
    """Sentences of the test rows, the same ones for the same seed; None where the train rows have them all."""
    taught = {row.text for row in labels.train}
    left = {row.text: row for row in labels.test if row.text.strip() and row.text not in taught}
    if not left:
        return None
    texts, random = sorted(left), np.random.default_rng([settings.seed, CHOICE])
    rows: Any = [left[texts[at]] for at in random.permutation(len(texts))[:MOST]]
    length = min(settings.length, start.longest or settings.length, LONGEST)
    sizes = encode_rows(rows, labels.labels, start.tokenizer, length).pieces.lengths
    shown = [at for at in range(len(rows)) if sizes[at] <= SHORT][:SHOWN] or [int(sizes.argmin())]
    order = [*shown, *(at for at in range(len(rows)) if at not in shown)]
    config = start.model.config.get_text_config()
    weights = np.cumsum(config.num_hidden_layers * config.num_attention_heads * sizes[order] ** 2)
    fit = max(len(shown), int(np.searchsorted(weights, MOST_WEIGHTS, side="right")))
    rows = [rows[at] for at in order[:fit]]
    outside = labels.labels.index(OUTSIDE) if labels.kind == "tag" else -1
    return UnseenSentences(rows, encode_rows(rows, labels.labels, start.tokenizer, length), len(shown), outside)


def names(seen: UnseenSentences, at: int, start: FinetuneStart) -> tuple[str, ...]:
    """What a sentence's pieces are called on screen."""
    reader = SafeTokenizer(start.tokenizer, start.name, "encoder", len(start.tokenizer))
    return reader.read(seen.rows[at].text, None, None, cut=len(seen.read.pieces[at])).row.labels
