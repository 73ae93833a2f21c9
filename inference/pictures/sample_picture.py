"""A sample photo with its recorded trace, to explore a vision transformer without a download.

Queries, keys and values are stored in 8 bits (assets/pictures/README.md); ``training/recorded_assets.py`` records
them.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attention.codec import decode, encode
from attention.mask import FloatArray, Mask
from attention.pictures import Grid, Picture
from attention.record import Record
from attention.tokens import TokenRow
from attention.trace import ModelId, Trace
from i18n import gettext_lazy
from inference.pictures.image_files import open_picture

NAME = "cat"
FOLDER = Path(__file__).resolve().parents[2] / "assets" / "pictures"
PHOTO, RECORDED = FOLDER / f"{NAME}.png", FOLDER / f"{NAME}.safetensors"
TITLE = gettext_lazy("A cat")
CREDIT = gettext_lazy("Photo: Chelsea the cat, by Stéfan van der Walt, CC0, from scikit-image.")
SOURCE = "https://scikit-image.org/docs/stable/api/skimage.data.html#skimage.data.chelsea"
LICENCE = "https://creativecommons.org/publicdomain/zero/1.0/"

_PARTS = ("query", "key", "value")
_STEPS = 127  # largest value of a signed byte


@dataclass(frozen=True)
class Difference:
    """The error in attention weights that the compression of the sample's trace causes.

    ``largest`` is the largest difference of a weight. ``moved`` is the part of a row's attention that goes to other
    tokens than without compression, 0 to 1, averaged over all rows.
    """

    largest: float
    moved: float


@cache
def sample() -> Trace:
    """Return the recorded trace of the sample photo."""
    content = RECORDED.read_bytes()
    return unpack_trace(content, photo())


@cache
def photo() -> Picture:
    """Return the sample photo."""
    return open_picture(PHOTO.read_bytes())


@cache
def difference() -> Difference:
    """Return the error in attention weights by the sample's compression, as measured when the trace was recorded."""
    return Difference(**_header(RECORDED.read_bytes())["difference"])


def pack_trace(trace: Trace, difference: Difference | None = None) -> bytes:
    """Compress the trace of a picture to bytes, which ``unpack_trace`` reads."""
    records = [record for record in trace.records() if isinstance(record, Record)]
    tensors = {}
    for part in _PARTS:
        for name, values in _bytes(np.stack([getattr(record, part) for record in records])).items():
            tensors[f"{part}.{name}"] = values
    header = {
        "model": vars(trace.model),
        "grid": vars(trace.source.grid),
        "source": {name: value for name, value in vars(trace.source).items() if name != "grid"},
        "scale": records[0].scale,
        "difference": None if difference is None else vars(difference),
    }
    return b"".join(encode({"sample": json.dumps(header)}, tensors))


def unpack_trace(content: bytes, picture: Picture) -> Trace:
    """Return the trace of ``picture`` from the bytes of ``pack_trace``.

    Its id is the hash of the bytes, which differs from the id of the recorded trace.
    """
    header, tensors = _header(content), decode(content)[1]
    arrays = {part: _numbers(*(tensors[f"{part}.{name}"] for name in ("steps", "step", "mean"))) for part in _PARTS}
    tokens = len(header["source"]["pieces"])
    return Trace(
        id=hashlib.sha256(content).hexdigest(),
        model=ModelId(**header["model"]),
        text="",
        pair=None,
        source=TokenRow(
            **{name: tuple(values) for name, values in header["source"].items()},
            grid=Grid(**{**header["grid"], "box": tuple(header["grid"]["box"])}),
        ),
        target=None,
        parts={
            "encoder": tuple(
                Record(query, key, value, header["scale"], Mask(tokens, tokens))
                for query, key, value in zip(*arrays.values(), strict=True)
            )
        },
        picture=picture,
    )


def _header(content: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(decode(content)[0]["sample"])
    return found


def _bytes(values: FloatArray) -> dict[str, NDArray[Any]]:
    """Quantise (layer, head, token, channel) to bytes: the mean over tokens, and each token's own steps.

    Keys have a large common mean, which changes no weight and would take most of the steps.
    """
    mean = values.mean(axis=2, keepdims=True)
    own = values - mean
    step = (np.abs(own).max(axis=-1, keepdims=True) / _STEPS).astype(np.float16)
    steps = np.rint(own / np.maximum(step, np.finfo(np.float16).tiny)).clip(-_STEPS, _STEPS)
    return {"steps": steps.astype(np.int8), "step": step, "mean": mean}


def _numbers(steps: NDArray[np.int8], step: NDArray[np.float16], mean: FloatArray) -> FloatArray:
    found: FloatArray = mean + steps * step.astype(np.float32)
    found.setflags(write=False)
    return found
