"""The cost of recording on images: a random model of DINOv2-small's size, at two image sizes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

from bench.models import RECORDING
from bench.report import ReportRow, upper_limit_row
from bench.timing import ratio, time_in_turns

LIMIT = 1.10
REPEATS = {224: 12, 448: 6}
SMALL = {"hidden_size": 384, "num_hidden_layers": 12, "num_attention_heads": 6, "image_size": 518, "patch_size": 14}


def measure() -> Iterator[ReportRow]:
    """Yield a row for each image size, and a row for the preparation of the model."""
    import torch

    from inference.record.capture import record_parts
    from inference.settings import Settings

    torch.set_num_threads(Settings().forward_threads)
    plain, (recording, ready) = _build("sdpa")[0], _build(RECORDING)
    yield ReportRow(
        "first pass of a vision transformer, DINOv2-small's size", "–", f"{ready:.2f} s", None, "4 × 4 patches"
    )
    for side, repeats in REPEATS.items():
        pixels = torch.randn(1, 3, side, side, generator=torch.Generator().manual_seed(0))
        given: dict[str, Any] = {"pixel_values": pixels}
        ways = {"plain": partial(plain, **given), "recorded": partial(record_parts, recording, given)}
        with torch.inference_mode():
            times = time_in_turns(ways, repeats)
        found, tokens = ratio(times["recorded"], times["plain"]), (side // 14) ** 2 + 1
        least, threads = min(times["plain"].cpu) * 1000, torch.get_num_threads()
        note = f"processor time, median of {repeats} rounds in turns; plain {least:.0f} ms, {threads} threads"
        yield upper_limit_row(
            f"picture with recording / plain SDPA, {tokens:,} tokens", LIMIT, found.cpu, str(found), note
        )


def _build(implementation: str) -> tuple[Any, float]:
    """Build the model; return it with the seconds of its preparation for recording.

    Raise RuntimeError if the model cannot record its attention.
    """
    import torch
    from transformers import Dinov2Config, Dinov2Model

    from inference.record import capture

    capture.install()
    config = Dinov2Config(**SMALL)
    config._attn_implementation = capture.NAME if implementation == RECORDING else implementation  # noqa: SLF001  # transformers has no public setter
    torch.manual_seed(0)
    model = Dinov2Model(config).eval().requires_grad_(False)
    began = time.perf_counter()
    if implementation == RECORDING and not capture.prepare(model):
        raise RuntimeError("DINOv2 does not record its attention, so there is nothing to measure.")
    return model, time.perf_counter() - began
