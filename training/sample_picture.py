"""A script that writes assets/pictures/cat.safetensors: DINOv2-small's trace of the sample photo.

    python -m training.sample_picture

It needs the extra dependencies (`make extra`). Run it again if the photo or its file format changes; if the extra
is installed, a test compares the file with the model.
"""

from __future__ import annotations

import numpy as np

from attention.trace import Trace
from inference import LocalBackend, TraceRequest
from inference.files.dinov2 import DINOV2
from inference.pictures.sample_picture import RECORDED, Difference, pack_trace, photo, unpack_trace
from inference.settings import Settings


def record_trace() -> Trace:
    """Compute the complete trace of the sample photo with DINOv2-small."""
    return LocalBackend(Settings(offline=True)).trace(TraceRequest(model=DINOV2.name, picture=photo()))


def compare_traces(trace: Trace, stored: Trace) -> Difference:
    """Return the largest difference of two traces' weights and the mean share of attention that moved."""
    largest, moved = [], []
    for layer in range(trace.layers):
        for head in range(trace.heads):
            off = np.abs(trace.weights(layer, head) - stored.weights(layer, head))
            largest.append(float(off.max()))
            moved.append(float(off.sum(axis=-1).mean()) / 2)
    return Difference(max(largest), float(np.mean(moved)))


if __name__ == "__main__":
    found = record_trace()
    said = compare_traces(found, unpack_trace(pack_trace(found), photo()))
    RECORDED.write_bytes(pack_trace(found, said))
    print(f"{RECORDED.stat().st_size:,} bytes; weights differ by at most {said.largest:.4f}, {said.moved:.2%} moved.")
