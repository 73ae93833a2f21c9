"""What a model's heads do whatever the text says: their habits, told from sentences that come with the app.

Models of one text read every second sentence of the annotated ones (assets/probes), translators the aligned pairs
(assets/alignments), so that all their parts have read something. Two batches of short sentences: about what a text of
400 tokens takes.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from safetensors.numpy import load_file, save_file

from attention.excess import PositionalPrior, positional_prior
from attention.trace import PARTS
from inference.backend import Backend
from inference.request import TraceRequest
from probing.alignments import load
from probing.formats import load_ready_set

STORED = Path(__file__).resolve().parent.parent / "assets" / "habits.safetensors"  # of the models that come along


def requests(model: str, revision: str | None, kind: str) -> list[TraceRequest]:
    """What the model reads; ``kind`` is "encoder", "decoder" or "encoder-decoder"."""
    if kind == "encoder-decoder":
        return [TraceRequest(model, pair.source, revision=revision, target=pair.target) for pair in load().pairs[::2]]
    return [TraceRequest(model, item.text, revision=revision) for item in load_ready_set("grammar").items[::2]]


def measure_priors(backend: Backend, model: str, revision: str | None, kind: str) -> dict[str, PositionalPrior]:
    """The habits of every part, each by its name. Raises Refusal where the model cannot be read."""
    traces = backend.traces(requests(model, revision, kind))
    return {part: positional_prior(traces, part) for part in PARTS if part in traces[0].parts}


def store(found: dict[str, dict[str, PositionalPrior]], file: Path = STORED) -> None:
    """Write the habits of some models, by their ids."""
    arrays = {
        f"{model} {part}": of.means.astype("float16") for model, parts in found.items() for part, of in parts.items()
    }
    save_file(arrays, file)


@cache
def stored_priors(file: Path = STORED) -> dict[str, dict[str, PositionalPrior]]:
    """The habits of the models that come along, by model and part; empty where the file is missing."""
    found: dict[str, dict[str, PositionalPrior]] = {}
    for name, means in load_file(file).items() if file.is_file() else ():
        model, part = name.rsplit(" ", 1)
        found.setdefault(model, {})[part] = PositionalPrior(means.astype("float32"))
    return found
