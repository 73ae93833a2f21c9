"""Attention during fine-tuning: snapshots of maps and their drift."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from attention.comparison import divergence
from attention.mask import FloatArray
from attention.trace import PARTS
from i18n import gettext_lazy
from inference.errors import as_user_error
from inference.record import capture
from inference.runners.labels import reads
from inference.text.tokenizer import SafeTokenizer
from probing.fine_tuning_changes import ROWS, save_arrays
from probing.labelled.labeled_texts import OUTSIDE, LabeledDataset
from training.finetune.data import Encoded, Row, batch, encode_rows
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


AT_ONCE = 16  # texts in one pass

Places = NDArray[np.intp]


class SnapshotRecorder:
    """Sentences, and a copy of a model that their maps are recorded in; raises Refusal for a model without maps."""

    def __init__(self, start: FinetuneStart, seen: UnseenSentences) -> None:
        self.start, self.seen = start, seen
        capture.install()
        with (
            as_user_error(gettext_lazy("The maps of {name} cannot be recorded while it is taught.", name=start.name)),
            torch.random.fork_rng([]),
        ):
            self.copied = copy.deepcopy(start.model.base_model).to("cpu").float()
            self.copied.set_attn_implementation(capture.implementation(self.copied.config))
            capture.prepare(self.copied)

    def maps(self, model: Any, many: int) -> Iterator[FloatArray]:
        """What a model with other weights does on the first so many sentences, each (layer, head, query, key)."""
        self.copied.load_state_dict(model.base_model.state_dict())
        for first in range(0, many, AT_ONCE):
            some = np.arange(first, min(first + AT_ONCE, many))
            read = batch(self.seen.read, some, self.start.tokenizer.pad_token_id)
            given = {"input_ids": read.pieces, "attention_mask": read.real, "token_type_ids": read.kinds}
            inputs = {name: torch.from_numpy(array) for name, array in given.items() if array is not None}
            with torch.no_grad():
                parts = capture.record_parts(self.copied, inputs, read.real.sum(axis=1).tolist())
            for found in parts:
                records = found[next(part for part in PARTS if part in found)]
                yield np.stack([np.stack([one.weights(head) for head in range(one.heads)]) for one in records])

    def telling(self, at: int) -> Places:
        """The rows of the pieces that a sentence's label is read from, (row,); none where no word has a tag.

        Of a text with tags those of the words whose tag is not "O". Of a text with a class the piece that its head
        reads: "[CLS]" in most encoders, the last one in decoders, and all of them where it reads their mean.
        """
        read = self.seen.read
        if read.places is not None:
            told = (read.places[at] >= 0) & (read.labels[at] != self.seen.outside)
            found: Places = read.places[at][told].astype(np.intp)
            return found
        return np.arange(len(read.pieces[at]))[self._read]

    def row_label(self, first: str) -> str:
        """Those rows in words; ``first`` is what the first piece is called."""
        if self.seen.read.places is not None:
            return gettext_lazy("the rows of tagged words")
        if self._read == slice(None):
            return gettext_lazy("all rows, which its label is read from")
        return (
            gettext_lazy("the row of {first}", first=first)
            if self._read.start == 0
            else gettext_lazy("the row of the last piece")
        )

    @cached_property
    def _read(self) -> slice:
        """Which pieces of a text its head reads, told by the first of the sentences."""
        pieces = torch.from_numpy(self.seen.read.pieces[0].astype(np.int64))[None]
        with torch.random.fork_rng([]):
            first, stop = reads(self.start.model, {"input_ids": pieces, "attention_mask": torch.ones_like(pieces)})
        if stop - first > 1:
            return slice(None)
        return slice(0, 1) if first == 0 else slice(-1, None)


class Drift:
    """A camera with the maps that a run starts from, by which all later ones are measured; of the first sentences."""

    def __init__(self, camera: SnapshotRecorder, many: int) -> None:
        self.camera, self.many = camera, many
        self.before = list(camera.maps(camera.start.model, many))
        self.telling = [camera.telling(at) for at in range(many)]

    def measure(self, model: Any) -> tuple[dict[str, FloatArray], list[FloatArray]]:
        """The Jensen–Shannon divergence of each head's rows from what they were, and the maps of the shown sentences.

        In bits, (sentence, layer, head) by ROWS, mean over those rows; NaN where a sentence has none of them.
        """
        every, telling, shown = [], [], []
        for at, after in enumerate(self.camera.maps(model, self.many)):
            bits = divergence(self.before[at], after)
            rows = self.telling[at]
            every.append(bits.mean(axis=-1))
            telling.append(bits[..., rows].mean(axis=-1) if len(rows) else np.full(bits.shape[:2], np.nan, np.float32))
            if at < self.camera.seen.shown:
                shown.append(after)
        return dict(zip(ROWS, (np.stack(every), np.stack(telling)), strict=True)), shown


FOLDER = "film"  # inside the run's


@dataclass(frozen=True, eq=False)
class Snapshots:
    """What is filmed, and where the frames lie."""

    drift: Drift
    folder: Path

    def cut(self, step: int) -> None:
        """Leaves out what was filmed after a step: a run that goes on from there may plan its steps anew."""
        for file in self.folder.glob("*.npz"):
            if int(file.stem) > step:
                file.unlink()

    def frame(self, model: Any, step: int) -> None:
        """Films the model as it is now."""
        bits, maps = self.drift.measure(model)
        self.folder.mkdir(exist_ok=True)
        save_arrays(self.folder / f"{step:08}.npz", bits | {"maps": maps[0].astype(np.float16)})


def load_snapshots(folder: Path) -> dict[str, FloatArray] | None:
    """All frames as arrays: ``step`` (frame,); ``all`` and ``telling`` (frame, sentence, layer, head) in bits; ``maps``
    (frame, layer, head, query, key). None where nothing was filmed."""
    files = sorted(folder.glob("*.npz"))
    if not files:
        return None
    frames = []
    for file in files:
        with np.load(file) as opened:
            frames.append({name: opened[name] for name in (*ROWS, "maps")})
    return {
        "step": np.array([int(file.stem) for file in files], np.float32),
        **{name: np.stack([frame[name] for frame in frames]) for name in (*ROWS, "maps")},
    }
