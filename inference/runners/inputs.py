"""One text, or two, as tensors for a loaded model: what most questions begin with."""

from __future__ import annotations

from typing import Any

from i18n import gettext_lazy
from inference.loaded_model import LoadedModel
from inference.record.batching import Sample, collate
from inference.request import TraceRequest
from inference.text.encoding import Encoding, check_text


def read(loaded: LoadedModel, text: str, pair: str | None = None, cut: int | None = None) -> Encoding:
    """The checked text as the model reads it; raises Refusal for one that is empty, too long or no pair for it."""
    text = check_text(text)
    pair = None if pair is None else check_text(pair, gettext_lazy("second text"))
    return loaded.reader.read(text, pair, loaded.limit, cut)


def tensors(loaded: LoadedModel, *readings: Encoding) -> dict[str, Any]:
    """Readings as one batch, padded on the right, all (text, token)."""
    paired = any(max(reading.row.segments, default=0) > 0 for reading in readings)
    request = TraceRequest(pair="" if paired else None)  # what says that segments are to be told apart
    return collate(loaded, [Sample("", request, reading, None, None) for reading in readings])
