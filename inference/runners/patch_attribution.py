"""Attribution of a logit to patches and words: attention times gradients through all layers.

The method is that of arXiv:2103.15679.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from attention.mask import FloatArray
from i18n import gettext_lazy
from inference.errors import UserError, as_user_error
from inference.loaded_model import LoadedModel
from inference.pictures.image_processing import tower
from inference.record.attention_call import PICTURE
from inference.record.attention_function import Weighed, keep_weights
from inference.record.edit_hooks import heads_of
from inference.record.patching import replacing_output
from inference.record.records import layer_modules, numpy
from inference.runners.labels import names
from inference.runners.picture_outputs import fit, make_batch, picture_vector, prepare_picture, read_texts, text_vectors
from inference.tasks.picture_outputs import AttributionOfPatches, PatchAttribution
from inference.text.encoding import Encoding

MOST_BYTES = 2**31  # for the weights and their gradients
_COPIES = 4  # for each weight: score, weight and their gradients


@dataclass(frozen=True, eq=False)
class _Pass:
    """A logit with its differentiable inputs: all attention weights, and the last vectors of each side."""

    logit: Tensor
    name: str
    weighed: Sequence[Weighed]
    last: dict[str, Tensor]  # "encoder", "decoder" -> (1, token, channel)


def answer(loaded: LoadedModel, question: AttributionOfPatches) -> PatchAttribution:
    """Return the attributions of patches and words.

    Raise UserError if the picture is too large for gradients.
    """
    seen = prepare_picture(loaded, question)
    texts = None if question.text is None else read_texts(loaded, [question.text])
    _refuse_large(loaded, len(seen.reading.row))
    failed = gettext_lazy(
        "{name} failed on gradients of this picture. Have it read at another size, or pick another model.",
        name=loaded.id.name,
    )
    with as_user_error(failed, way_out=None):
        found = (
            _text_logit(loaded, make_batch(seen).inputs, *texts)
            if texts
            else _class_logit(loaded, seen, question.label)
        )
        shares = _shares(found)
    text = texts[1][0].row if texts else None
    words = shares["decoder"][: len(text)] if text is not None else None
    return PatchAttribution(seen.reading.row, shares["encoder"], found.logit.item(), found.name, text, words)


def _refuse_large(loaded: LoadedModel, tokens: int) -> None:
    heads = sum(heads_of(loaded.model)["encoder"])
    needed = _COPIES * 4 * tokens**2 * heads
    if needed > MOST_BYTES:
        raise UserError(
            gettext_lazy(
                "What an answer rests on would take {needed:.1f} GB of memory for {tokens:,} tokens. Have the picture"
                " read smaller.",
                needed=needed / 1e9,
                tokens=tokens,
            ),
            details={"tokens": tokens},
        )


def _shares(found: _Pass) -> dict[str, FloatArray]:
    """Return the attribution of the logit to each token of each side."""
    sides, weights = list(found.last), [one.weights for one in found.weighed]
    gradients = torch.autograd.grad(found.logit, [*weights, *found.last.values()])
    shares = {}
    for side, last in zip(sides, gradients[len(weights) :], strict=True):
        mine = [at for at, one in enumerate(found.weighed) if _side(one.path, sides) == side]
        shares[side] = _propagate_down([weights[at][0] for at in mine], [gradients[at][0] for at in mine], last[0])
    return shares


def _side(path: str, sides: Sequence[str]) -> str:
    return "encoder" if len(sides) == 1 or PICTURE.search(path) else "decoder"


def _propagate_down(weights: Sequence[Tensor], gradients: Sequence[Tensor], last: Tensor) -> FloatArray:
    """Propagate attribution from the last vectors down through all layers; return (token,).

    ``weights`` and ``gradients`` are (head, query, key) for each layer, and ``last`` is the logit's gradient in
    each last vector, (token, channel). The result is a row times R = (1 + A_n) … (1 + A_1), computed from the top
    so that no product of two matrices is needed.
    """
    read = last.norm(dim=-1)
    row = read / read.sum().clamp(min=torch.finfo(read.dtype).tiny)
    for weight, gradient in zip(reversed(weights), reversed(gradients), strict=True):
        row = row + row @ (weight * gradient).clamp(min=0).mean(dim=0)
    return numpy(row)


def _class_logit(loaded: LoadedModel, seen: Any, label: int) -> _Pass:
    """Return the pass for the logit of a class, the most probable if ``label`` is -1.

    Raise UserError if there is no such class.
    """
    inputs = make_batch(seen).inputs
    last: dict[str, Tensor] = {}
    end = _last_layer(loaded.model, "encoder")
    with torch.enable_grad(), keep_weights() as weighed, replacing_output(end, _capture_hook(last, "encoder")):
        logits = loaded.model(**inputs).logits[0].float()
    if not -1 <= label < len(logits):
        raise UserError(
            gettext_lazy("Class {label} was asked about; the model knows {classes}.", label=label, classes=len(logits))
        )
    at = int(logits.argmax()) if label < 0 else label
    return _Pass(logits[at], names(loaded.model.config)[at], weighed, last)


def _text_logit(loaded: LoadedModel, inputs: Any, texts: Sequence[str], readings: Sequence[Encoding]) -> _Pass:
    """Return the pass for the logit of the first text, given with a picture."""
    model = loaded.model
    last: dict[str, Tensor] = {}
    with (
        torch.enable_grad(),
        keep_weights() as weighed,
        replacing_output(_last_layer(model, "encoder"), _capture_hook(last, "encoder")),
        replacing_output(_last_layer(model, "decoder"), _capture_hook(last, "decoder")),
    ):
        picture = picture_vector(model, tower(model, inputs)(**inputs))
        logit = fit(model, picture, text_vectors(loaded, readings))[0, 0]
    return _Pass(logit, texts[0], weighed, last)


def _last_layer(model: Any, side: str) -> Any:
    """Return the module of the last layer of a side."""
    return model.get_submodule(layer_modules(model)[side][-1])


def _capture_hook(last: dict[str, Tensor], side: str) -> Any:
    def keep(_module: Any, output: Any) -> None:
        last[side] = output[0] if isinstance(output, tuple) else output

    return keep
