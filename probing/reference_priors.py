"""Positional priors: the mean weight that an attention head gives a position, such as the previous token.

The priors are measured on bundled sentences, or stored with the app. Models of a single text read every second
annotated sentence (assets/probes). Encoder-decoders read every second aligned pair (assets/alignments), so that all
their stacks have input. The cost is two batches of short sentences, about that of a text of 400 tokens.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from attention.codec import decode, encode
from attention.excess import PositionalPrior, positional_prior
from attention.trace import PARTS
from inference.backend import Backend
from inference.request import TraceRequest
from probing.alignments import load
from probing.formats import load_ready_set

STORED = Path(__file__).resolve().parent.parent / "assets" / "habits.safetensors"  # priors of the bundled models


def requests(model: str, revision: str | None, kind: str) -> list[TraceRequest]:
    """Return the requests for the texts on which a model's positional priors are measured.

    ``kind`` is the architecture: "encoder", "decoder" or "encoder-decoder".
    """
    if kind == "encoder-decoder":
        return [TraceRequest(model, pair.source, revision=revision, target=pair.target) for pair in load().pairs[::2]]
    return [TraceRequest(model, item.text, revision=revision) for item in load_ready_set("grammar").items[::2]]


def measure_priors(backend: Backend, model: str, revision: str | None, kind: str) -> dict[str, PositionalPrior]:
    """Measure the positional prior of every stack of a model; raise UserError if the model cannot run.

    The result maps the name of a stack to its prior.
    """
    traces = backend.traces(requests(model, revision, kind))
    return {part: positional_prior(traces, part) for part in PARTS if part in traces[0].parts}


def load_priors(backend: Backend, model: str, revision: str | None, kind: str) -> dict[str, PositionalPrior]:
    """Return the stored priors of a model's stacks, else measure them; raise UserError if the model cannot run.

    The result maps the name of a stack to its prior. If ``revision`` is given, the priors are always measured.
    """
    stored = None if revision else stored_priors().get(model)
    return measure_priors(backend, model, revision, kind) if stored is None else stored


def store(found: dict[str, dict[str, PositionalPrior]], file: Path = STORED) -> None:
    """Write the positional priors of some models to a file, by model and stack."""
    arrays = {
        f"{model} {part}": of.means.astype("float16") for model, parts in found.items() for part, of in parts.items()
    }
    file.write_bytes(b"".join(encode({}, arrays)))


@cache
def stored_priors(file: Path = STORED) -> dict[str, dict[str, PositionalPrior]]:
    """Load the stored positional priors, by model and stack; empty if the file is missing."""
    found: dict[str, dict[str, PositionalPrior]] = {}
    for name, means in decode(file.read_bytes())[1].items() if file.is_file() else ():
        model, part = name.rsplit(" ", 1)
        found.setdefault(model, {})[part] = PositionalPrior(means.astype("float32"))
    return found
