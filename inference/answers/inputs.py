"""One text, or two, as tensors for a loaded model: what most questions begin with."""

from __future__ import annotations

from typing import Any

from inference.loaded import Loaded
from inference.record.batching import Sample, collate
from inference.request import TraceRequest
from inference.text.accepted import check_text
from inference.text.reading import Reading
from wording import sentence


def read(loaded: Loaded, text: str, pair: str | None = None, cut: int | None = None) -> Reading:
    """The checked text as the model reads it; raises Refusal for one that is empty, too long or no pair for it."""
    text = check_text(text)
    pair = None if pair is None else check_text(pair, sentence("second text"))
    return loaded.reader.read(text, pair, loaded.limit, cut)


def tensors(loaded: Loaded, *readings: Reading) -> dict[str, Any]:
    """Readings as one batch, padded on the right, all (text, token)."""
    paired = any(max(reading.row.segments, default=0) > 0 for reading in readings)
    request = TraceRequest(pair="" if paired else None)  # what says that segments are to be told apart
    return collate(loaded, [Sample("", request, reading, None, None) for reading in readings])
