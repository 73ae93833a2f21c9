"""On which patches and words a logit rests: attention times gradients, through all layers (arXiv:2103.15679)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from attention.mask import Array
from inference.answers.labels import names
from inference.answers.seeing import fit, given, look, picture_vector, read_texts, text_vectors
from inference.errors import Refusal, refusing
from inference.loaded import Loaded
from inference.pictures.families import tower
from inference.questions.seeing import Rests, RestsOn
from inference.record.call import PICTURE
from inference.record.edits import heads_of
from inference.record.interface import Weighed, weighing
from inference.record.layer_modules import layer_modules
from inference.record.records import numpy
from inference.record.replace_output import replacing_output
from inference.text.reading import Reading
from wording import sentence

MOST_BYTES = 2**31  # of weights, and what their gradients need
_COPIES = 4  # of each weight: scores, weights, and a gradient for each


@dataclass(frozen=True, eq=False)
class _Pass:
    """A logit, and what its gradients are taken in: every attention's weights, and each side's last vectors."""

    logit: Tensor
    name: str
    weighed: Sequence[Weighed]
    last: dict[str, Tensor]  # "encoder", "decoder" -> (1, token, channel)


def answer(loaded: Loaded, question: RestsOn) -> Rests:
    """The shares of patches and words; raises Refusal for a picture that is too large for gradients."""
    seen = look(loaded, question)
    texts = None if question.text is None else read_texts(loaded, [question.text])
    _refuse_large(loaded, len(seen.reading.row))
    failed = sentence(
        "{name} failed on gradients of this picture. Have it read at another size, or pick another model.",
        name=loaded.id.name,
    )
    with refusing(failed, way_out=None):
        found = _compared(loaded, given(seen).inputs, *texts) if texts else _classed(loaded, seen, question.label)
        shares = _shares(found)
    text = texts[1][0].row if texts else None
    words = shares["decoder"][: len(text)] if text is not None else None
    return Rests(seen.reading.row, shares["encoder"], found.logit.item(), found.name, text, words)


def _refuse_large(loaded: Loaded, tokens: int) -> None:
    heads = sum(heads_of(loaded.model)["encoder"])
    needed = _COPIES * 4 * tokens**2 * heads
    if needed > MOST_BYTES:
        raise Refusal(
            sentence(
                "What an answer rests on would take {needed:.1f} GB of memory for {tokens:,} tokens. Have the picture"
                " read smaller.",
                needed=needed / 1e9,
                tokens=tokens,
            ),
            details={"tokens": tokens},
        )


def _shares(found: _Pass) -> dict[str, Array]:
    """What each token of each side is worth to the logit."""
    sides, weights = list(found.last), [one.weights for one in found.weighed]
    gradients = torch.autograd.grad(found.logit, [*weights, *found.last.values()])
    shares = {}
    for side, last in zip(sides, gradients[len(weights) :], strict=True):
        mine = [at for at, one in enumerate(found.weighed) if _side(one.path, sides) == side]
        shares[side] = _through([weights[at][0] for at in mine], [gradients[at][0] for at in mine], last[0])
    return shares


def _side(path: str, sides: Sequence[str]) -> str:
    return "encoder" if len(sides) == 1 or PICTURE.search(path) else "decoder"


def _through(weights: Sequence[Tensor], gradients: Sequence[Tensor], last: Tensor) -> Array:
    """What is read in the last vectors, followed down through every layer's (head, query, key), as (token,).

    ``last`` is the logit's gradient in each last vector, (token, channel). From the top, so that a row goes through
    the layers and never a matrix: R = (1 + A_n) … (1 + A_1), and what is wanted is a row times R.
    """
    read = last.norm(dim=-1)
    row = read / read.sum().clamp(min=torch.finfo(read.dtype).tiny)
    for weight, gradient in zip(reversed(weights), reversed(gradients), strict=True):
        row = row + row @ (weight * gradient).clamp(min=0).mean(dim=0)
    return numpy(row)


def _classed(loaded: Loaded, seen: Any, label: int) -> _Pass:
    """The logit of a class."""
    inputs = given(seen).inputs
    last: dict[str, Tensor] = {}
    end = _end(loaded.model, "encoder")
    with torch.enable_grad(), weighing() as weighed, replacing_output(end, _keep(last, "encoder")):
        logits = loaded.model(**inputs).logits[0].float()
    if not -1 <= label < len(logits):
        raise Refusal(
            sentence("Class {label} was asked about; the model knows {classes}.", label=label, classes=len(logits))
        )
    at = int(logits.argmax()) if label < 0 else label
    return _Pass(logits[at], names(loaded.model.config)[at], weighed, last)


def _compared(loaded: Loaded, inputs: Any, texts: Sequence[str], readings: Sequence[Reading]) -> _Pass:
    """The logit of a text beside a picture."""
    model = loaded.model
    last: dict[str, Tensor] = {}
    with (
        torch.enable_grad(),
        weighing() as weighed,
        replacing_output(_end(model, "encoder"), _keep(last, "encoder")),
        replacing_output(_end(model, "decoder"), _keep(last, "decoder")),
    ):
        picture = picture_vector(model, tower(model, inputs)(**inputs))
        logit = fit(model, picture, text_vectors(loaded, readings))[0, 0]
    return _Pass(logit, texts[0], weighed, last)


def _end(model: Any, side: str) -> Any:
    """The module of a side's last layer."""
    return model.get_submodule(layer_modules(model)[side][-1])


def _keep(last: dict[str, Tensor], side: str) -> Any:
    def keep(_module: Any, output: Any) -> None:
        last[side] = output[0] if isinstance(output, tuple) else output

    return keep
