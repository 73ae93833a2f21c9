"""The server's memory after a thousand texts and twenty changes of model.

The app, which collects garbage while idle, is compared with Streamlit's collection after every script run. The
budgets for models and traces are small, so that entries are evicted continually; memory beyond the budgets has not
been freed.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from bench.report import ReportRow, upper_limit_row
from bench.reruns import EACH_RUN
from bench.server import Server, app
from bench.texts import sentences
from bench.visitor import visitor

TEXTS, CHANGES, MODELS, A_SESSION = 1000, 20, 3, 50  # A_SESSION is the number of texts per visitor
MOST = 1.1  # ratio of memory to that with garbage collection after every run
LIMITS = {"HEADLIGHT_MODEL_MEMORY": "400MB", "HEADLIGHT_TRACE_MEMORY": "100MB"}  # two of the three models fit
REST = 15.0  # idle seconds, longer than the delay of the idle collection (ui/run/idle_collection.py)
MOMENTS = ("after the first text", "after the texts", "at rest", "after the model changes", "at rest again", "peak")


def measure() -> Iterator[ReportRow]:
    """Yield a row for each moment."""
    with tempfile.TemporaryDirectory() as name:
        models = [save(Path(name) / f"model-{at}", at) for at in range(MODELS)]
        mine, theirs = (measure_resident_memory(module, Path(name), models) for module in ("streamlit", EACH_RUN))
    for moment, ours, other in zip(MOMENTS, mine, theirs, strict=True):
        figure = f"{ours / other:.2f} ({ours / 2**20:.0f} against {other / 2**20:.0f} MiB)"
        note = f"{TEXTS:,} texts of {TEXTS // A_SESSION} sessions without a pause, then {CHANGES} changes of model"
        yield upper_limit_row(
            f"memory held {moment}: collecting while idle / after each run", MOST, ours / other, figure, note
        )


def measure_resident_memory(module: str, folder: Path, models: list[Path]) -> list[int]:
    """Return the resident memory in bytes at each of the MOMENTS; ``module`` runs the app."""
    with app({**LIMITS, "HEADLIGHT_MODEL_FOLDERS": str(folder)}, module) as server:
        read(server, [{}])
        found = [server.resident()]
        source = sentences(seed=5)
        for _ in range(TEXTS // A_SESSION):
            read(server, [{"text": text} for text in islice(source, A_SESSION)])
        found.append(server.resident())
        time.sleep(REST)
        found.append(server.resident())
        read(server, [{"model": models[at % MODELS], "text": next(source)} for at in range(CHANGES)])
        found.append(server.resident())
        time.sleep(REST)
        return [*found, server.resident(), server.peak()]


def read(server: Server, queries: list[dict[str, object]]) -> None:
    """Open the given pages one after another as a single visitor."""
    with visitor(server.url) as other:
        for query in queries:
            other.see("", **query)


def save(folder: Path, seed: int) -> Path:
    """Save a BERT with random weights (140 MB) and the embedded model's tokenizer."""
    import torch
    from transformers import BertConfig, BertModel

    from inference.files import embedded

    torch.manual_seed(seed)
    config = BertConfig(hidden_size=512, num_hidden_layers=6, num_attention_heads=8, intermediate_size=2048)
    BertModel(config).save_pretrained(folder)
    for file in embedded.folder().glob("*token*.json"):
        shutil.copy(file, folder)
    shutil.copy(embedded.folder() / "vocab.txt", folder)
    return folder
