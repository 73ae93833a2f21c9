"""Traces and answers stored in the repository, for the requests that pages send before any input.

The first visit of a page then neither waits for torch nor for a model. ``tools/stored_answers.py`` writes the files,
and a test computes every stored answer again.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

from attention.trace import Trace
from inference.files import checkpoint, embedded, packages, sources
from inference.request import TraceRequest
from inference.settings import Settings
from inference.tasks.model_request import Answer, ModelRequest
from serving.protocol import InvalidFrame, pack, unpack

FOLDER = Path(__file__).resolve().parents[1] / "assets" / "answers"
SUFFIX = ".answer"
MODELS = (*embedded.OWN, embedded.SMOLLM.name)  # the models whose answers are stored


@dataclass(frozen=True)
class StoredAnswers:
    """A folder of stored answers to model requests, and of stored traces.

    Each file has a request, its answer or trace, and the hash of the weights that computed it.
    """

    folder: Path = FOLDER

    @overload
    def find(self, question: TraceRequest, settings: Settings) -> Trace | None: ...

    @overload
    def find(self, question: ModelRequest[Answer], settings: Settings) -> Answer | None: ...

    def find(self, question: TraceRequest | ModelRequest[Any], settings: Settings) -> Any:
        """Return the stored answer to a request; None if there is none for the present weights of the model.

        Damaged files, and files in another version of the message format, count as missing. Raise UserError if the
        model is not on this machine.
        """
        file = self.file_of(question)
        if question.model not in MODELS or not file.is_file():
            return None
        try:
            asked, weights, answer = unpack(file.read_bytes())
        except (InvalidFrame, OSError, TypeError, ValueError):
            return None
        if asked != question or weights != weights_hash(question.model, settings):
            return None
        return answer

    def write(self, question: TraceRequest | ModelRequest[Any], answer: Any, settings: Settings) -> Path:
        """Store the answer to a request with the hash of the present weights; return the file."""
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.file_of(question)
        file.write_bytes(pack((question, weights_hash(question.model, settings), answer)))
        return file

    def contents(self) -> list[tuple[TraceRequest | ModelRequest[Any], str, Any]]:
        """Return (request, hash of the weights, answer) of every file, sorted by file name."""
        return [unpack(file.read_bytes()) for file in sorted(self.folder.glob(f"*{SUFFIX}"))]

    def file_of(self, question: TraceRequest | ModelRequest[Any]) -> Path:
        """Return the path of the file for the answer to a request.

        >>> from inference.tasks.predictions import NextSentence
        >>> StoredAnswers(Path("folder")).file_of(NextSentence(text="a", pair="b")).name
        'NextSentence-ecac00a927d3.answer'
        """
        digest = hashlib.sha256(question.key.encode()).hexdigest()[:12]
        return self.folder / f"{type(question).__name__}-{digest}{SUFFIX}"


def weights_hash(model: str, settings: Settings) -> str:
    """Return the SHA-256 of the weights of one of MODELS; raise UserError if the model is not on this machine."""
    source = sources.find(model, None, settings)
    return packages.of_weights(checkpoint.inspect(source.folder, source.name).weights)
