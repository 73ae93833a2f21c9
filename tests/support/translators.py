"""A tiny Marian that generates at most twelve tokens, for the tests of the page Translate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attention.alignment import covering_heads
from attention.edits import Edit
from attention.trace import Trace
from inference import LocalBackend, TraceRequest
from inference.tasks.decoding import BeamStep, ForcedSteps, ForcedTarget, NextBeams, NextTarget
from tests.support.serving import Served
from tests.support.tinymodels import save

TEXT = "The animal sat on the mat."
LONGEST = 12  # Tokens that the model generates, including start and end tokens.


@dataclass(frozen=True)
class Translator:
    """A tiny model, a backend that opens it, and its translations of TEXT.

    ``url`` is the address of an app with the model.
    """

    model: str
    backend: LocalBackend
    url: str = ""

    def asked(self, **more: Any) -> NextTarget:
        return NextTarget(self.model, text=TEXT, **more)

    def greedy(self, **more: object) -> tuple[int, ...]:
        """Return the tokens of greedy decoding, including the end token."""
        written: tuple[int, ...] = ()
        while True:
            step = self.backend.predict(self.asked(written=written, **more))
            if step.ended or not step.room:
                return written
            written = (*written, step.greedy.token)

    def beams(self, width: int) -> list[BeamStep]:
        """Return every step of a beam search."""
        question = NextBeams(self.model, text=TEXT, width=width)
        steps = [self.backend.predict(question)]
        while not steps[-1].done:
            steps.append(self.backend.predict(replace(question, beams=steps[-1].beams, finished=steps[-1].finished)))
        return steps

    def trace(self, tokens: tuple[int, ...], **more: Any) -> Trace:
        return self.backend.trace(TraceRequest(self.model, TEXT, written=tokens, **more))

    def forced(self, tokens: tuple[int, ...], *sets: tuple[Edit, ...]) -> ForcedSteps:
        return self.backend.predict(ForcedTarget(self.model, text=TEXT, written=tokens, edits=sets or ((),)))


def best_head(trace: Trace) -> tuple[int, int]:
    """Return (layer, head) of the cross-attention head that best covers the source words."""
    values = covering_heads(trace)
    layer, head = np.unravel_index(int(values.argmax()), values.shape)
    return int(layer), int(head)


def tiny(folder: Path, spread: float = 0.2) -> Path:
    """Save the model.

    ``spread`` is the standard deviation of noise that is added to the random weights, so that answers differ.
    """
    import torch
    from transformers import AutoModelForSeq2SeqLM

    save(folder, "marian")
    with torch.random.fork_rng():
        torch.manual_seed(1)
        model = AutoModelForSeq2SeqLM.from_pretrained(folder)
        for parameter in model.parameters():
            parameter.data.add_(torch.randn(parameter.shape) * spread)
    model.generation_config.max_length = LONGEST
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def translator(served: Served) -> Translator:
    """Return the app with a local model."""
    folder = tiny(served.place("translators") / "tiny-marian")
    return Translator(str(folder), served.backend, served.url)
