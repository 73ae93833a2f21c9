"""One photo with its recorded trace, which come with the app: a vision transformer looked at without having one.

Queries, keys and values are stored in 8 bits (assets/pictures/README.md); ``training/sample_picture.py`` records them.
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
CREDIT = gettext_lazy("Photo: Chelsea the cat, by Stéfan van der Walt, CC0, as scikit-image carries it.")
SOURCE = "https://scikit-image.org/docs/stable/api/skimage.data.html#skimage.data.chelsea"
LICENCE = "https://creativecommons.org/publicdomain/zero/1.0/"

_PARTS = ("query", "key", "value")
_STEPS = 127  # of a signed byte


@dataclass(frozen=True)
class Difference:
    """How far the stored trace's weights are from those that were recorded.

    ``largest`` is the most that any weight differs; ``moved`` the share of a row's attention, 0 to 1 and averaged over
    all rows, that lies on other tokens.
    """

    largest: float
    moved: float


@cache
def sample() -> Trace:
    """The trace of the photo, explorable as any other."""
    content = RECORDED.read_bytes()
    return unpack_trace(content, photo())


@cache
def photo() -> Picture:
    """The photo itself."""
    return open_picture(PHOTO.read_bytes())


@cache
def difference() -> Difference:
    """What storing it in few bytes did to it, as measured when it was recorded."""
    return Difference(**_header(RECORDED.read_bytes())["difference"])


def pack_trace(trace: Trace, difference: Difference | None = None) -> bytes:
    """A picture's trace in few bytes; ``unpack_trace`` makes a trace of them."""
    from safetensors.numpy import save

    records = [record for record in trace.records() if isinstance(record, Record)]
    tensors = {}
    for part in _PARTS:
        for name, values in _bytes(np.stack([getattr(record, part) for record in records])).items():
            tensors[f"{part}.{name}"] = np.ascontiguousarray(values)  # safetensors takes memory as it lies
    header = {
        "model": vars(trace.model),
        "grid": vars(trace.source.grid),
        "source": {name: value for name, value in vars(trace.source).items() if name != "grid"},
        "scale": records[0].scale,
        "difference": None if difference is None else vars(difference),
    }
    return save(tensors, metadata={"sample": json.dumps(header)})


def unpack_trace(content: bytes, picture: Picture) -> Trace:
    """The trace that was packed; its id is of these bytes, so that it is never taken for the recorded one."""
    from safetensors.numpy import load

    header, tensors = _header(content), load(content)
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
    length = int.from_bytes(content[:8], "little")
    found: dict[str, Any] = json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["sample"])
    return found


def _bytes(values: FloatArray) -> dict[str, NDArray[Any]]:
    """(layer, head, token, channel) as bytes: what all tokens have in common apart, then each token's own steps.

    Keys have much in common, which changes no weight and would cost most of the steps.
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
