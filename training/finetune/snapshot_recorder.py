"""The maps of a model that is being taught, recorded by the app's own attention in a copy of it.

The model itself is not touched: it stays in the mode it learns in, and no random number of the run is used up.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from attention.mask import FloatArray
from attention.trace import PARTS
from i18n import gettext_lazy
from inference.errors import as_user_error
from inference.record import capture
from inference.runners.labels import reads
from training.finetune.batches import batch
from training.finetune.model_setup import FinetuneStart
from training.finetune.unseen_sentences import UnseenSentences

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
