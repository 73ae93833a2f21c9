"""Tensors for a loaded model from a text or two, shared by most requests."""

from __future__ import annotations

from typing import Any

from i18n import gettext_lazy
from inference.loaded_model import LoadedModel
from inference.record.batching import Sample, collate
from inference.request import TraceRequest
from inference.text.encoding import Encoding, check_text


def read(loaded: LoadedModel, text: str, pair: str | None = None, cut: int | None = None) -> Encoding:
    """Return the encoding of a checked text.

    Raise UserError if the text is empty, too long, or part of a pair that the model cannot read.
    """
    text = check_text(text)
    pair = None if pair is None else check_text(pair, gettext_lazy("second text"))
    return loaded.reader.read(text, pair, loaded.limit, cut)


def tensors(loaded: LoadedModel, *readings: Encoding) -> dict[str, Any]:
    """Return encodings as a batch, padded on the right, all (text, token)."""
    paired = any(max(reading.row.segments, default=0) > 0 for reading in readings)
    request = TraceRequest(pair="" if paired else None)  # a pair adds the segment ids
    return collate(loaded, [Sample("", request, reading, None, None) for reading in readings])
