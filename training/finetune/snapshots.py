"""Snapshots of attention maps during fine-tuning, and how far each head has moved from its initial maps."""

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
from probing.fine_tuning_changes import EARLIER, FILM, ROWS, load_arrays, save_arrays
from probing.labelled.labeled_texts import OUTSIDE, LabeledDataset
from training.finetune.data import Encoded, Row, batch, encode_rows
from training.finetune.model_setup import FinetuneStart
from training.finetune.settings import FinetuneSettings

MOST = 64  # sentences
LONGEST = 64  # tokens of a sentence; longer sentences are truncated
SHOWN, SHORT = 8, 24  # sentences whose maps are stored, and their maximum number of tokens if there are such sentences
MOST_WEIGHTS = 3 * 10**7  # weights of all maps together, so large models are compared on fewer sentences
CHOICE = 2  # added to the run's seed for the choice of sentences


@dataclass(frozen=True)
class UnseenSentences:
    """Test texts that do not occur among the train texts.

    The divergence of heads is measured on all of them. Only the maps of the first ``shown`` are stored.
    """

    rows: Sequence[Row]
    read: Encoded
    shown: int
    outside: int  # label number of "O"; -1 for classes

    def __len__(self) -> int:
        return len(self.rows)


def sample_unseen(labels: LabeledDataset, start: FinetuneStart, settings: FinetuneSettings) -> UnseenSentences | None:
    """Sample test rows whose text is not a train row, by the seed; return None if there are none."""
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
    """Return the tokens of the sentence with the index ``at``, as shown on screen."""
    reader = SafeTokenizer(start.tokenizer, start.name, "encoder", len(start.tokenizer))
    return reader.read(seen.rows[at].text, None, None, cut=len(seen.read.pieces[at])).row.labels


AT_ONCE = 16  # texts in a forward pass

Places = NDArray[np.intp]


class SnapshotRecorder:
    """A recorder of a model's attention maps on fixed sentences during training, which runs a copy on the CPU.

    The constructor raises UserError if the maps cannot be recorded.
    """

    def __init__(self, start: FinetuneStart, seen: UnseenSentences) -> None:
        self.start, self.seen = start, seen
        capture.install()
        with (
            as_user_error(gettext_lazy("The maps of {name} cannot be recorded in training.", name=start.name)),
            torch.random.fork_rng([]),
        ):
            self.copied = copy.deepcopy(start.model.base_model).to("cpu").float()
            self.copied.set_attn_implementation(capture.implementation(self.copied.config))
            capture.prepare(self.copied)

    def maps(self, model: Any, many: int) -> Iterator[FloatArray]:
        """Yield the attention maps of each of the first ``many`` sentences, (layer, head, query, key).

        ``model`` is the model in training; its current weights are copied first.
        """
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
        """Return the positions of the tokens from which the label of sentence ``at`` is predicted, shape (position,).

        In a tagged text these are the tokens of words whose true tag is not "O". In a classified text they are the
        tokens that the task head reads: [CLS] in most encoders, the last token in decoders, or all tokens if the head
        averages them.
        """
        read = self.seen.read
        if read.places is not None:
            told = (read.places[at] >= 0) & (read.labels[at] != self.seen.outside)
            found: Places = read.places[at][told].astype(np.intp)
            return found
        return np.arange(len(read.pieces[at]))[self._read]

    def row_label(self, first: str) -> str:
        """Return a phrase for the rows of a map from which the label is predicted, such as "the row of [CLS]".

        ``first`` is the name of the first token.
        """
        if self.seen.read.places is not None:
            return gettext_lazy("the rows of tagged words")
        if self._read == slice(None):
            return gettext_lazy("all rows, which the prediction uses")
        return (
            gettext_lazy("the row of {first}", first=first)
            if self._read.start == 0
            else gettext_lazy("the row of the last token")
        )

    @cached_property
    def _read(self) -> slice:
        """Return the slice of a text's tokens that the head reads, determined on the first sentence."""
        pieces = torch.from_numpy(self.seen.read.pieces[0].astype(np.int64))[None]
        with torch.random.fork_rng([]):
            first, stop = reads(self.start.model, {"input_ids": pieces, "attention_mask": torch.ones_like(pieces)})
        if stop - first > 1:
            return slice(None)
        return slice(0, 1) if first == 0 else slice(-1, None)


class Drift:
    """A measurement of how far each head's attention maps have moved from those of the initial model.

    Only the first ``many`` sentences of the recorder ``camera`` are compared.
    """

    def __init__(self, camera: SnapshotRecorder, many: int) -> None:
        self.camera, self.many = camera, many
        self.before = list(camera.maps(camera.start.model, many))
        self.telling = [camera.telling(at) for at in range(many)]

    def measure(self, model: Any) -> tuple[dict[str, FloatArray], list[FloatArray]]:
        """Return the divergence of each head from its initial maps in two versions, and the current maps.

        The version "all" is the mean over all rows of a map, and the version "telling" the mean over the rows from
        which the label is predicted, NaN if a sentence has none. Each has the shape (sentence, layer, head): the
        Jensen–Shannon divergence in bits, from 0 (unchanged) to 1. The maps are those of the first ``shown`` sentences.
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


FOLDER = "film"  # name of a subfolder in the run's folder
SUFFIX = Path(FILM).suffix


@dataclass(frozen=True, eq=False)
class Snapshots:
    """The snapshots of a fine-tuning run: ``drift`` measures the heads, and ``folder`` has the files."""

    drift: Drift
    folder: Path

    def cut(self, step: int) -> None:
        """Delete the snapshots after ``step``, because a run that resumes there may continue differently."""
        for file in _files(self.folder):
            if int(file.stem) > step:
                file.unlink()

    def frame(self, model: Any, step: int) -> None:
        """Store a snapshot of the model at a step: maps of the first sentence, and divergences of all heads."""
        bits, maps = self.drift.measure(model)
        self.folder.mkdir(exist_ok=True)
        save_arrays(self.folder / f"{step:08}{SUFFIX}", bits | {"maps": maps[0].astype(np.float16)})


def load_snapshots(folder: Path) -> dict[str, FloatArray] | None:
    """Load all snapshots of a run as arrays by name; return None if there are none.

    ``step`` (snapshot,) are the training steps. ``all`` and ``telling`` (snapshot, sentence, layer, head) are the
    divergences of each head from its initial maps, in bits. They are averaged over all rows, and over the rows from
    which the label is predicted. ``maps`` (snapshot, layer, head, query, key) are the attention maps of the first
    sentence.
    """
    files = _files(folder)
    if not files:
        return None
    frames = [load_arrays(file.with_suffix(SUFFIX)) for file in files]
    return {
        "step": np.array([int(file.stem) for file in files], np.float32),
        **{name: np.stack([frame[name] for frame in frames]) for name in (*ROWS, "maps")},
    }


def _files(folder: Path) -> list[Path]:
    """Return the snapshots' files in order, those of an earlier version included."""
    return sorted(
        (file for suffix in (SUFFIX, EARLIER) for file in folder.glob(f"*{suffix}")), key=lambda one: one.stem
    )
