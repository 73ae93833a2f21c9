"""Outputs of a model for a picture under edit sets, and their attribution to patches and words.

An output is the picture's vector, its classes, or its similarity to texts. The attribution multiplies attention weights
by their gradients, through all layers (arXiv:2103.15679).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from attention.mask import FloatArray
from attention.pictures import Picture
from i18n import gettext_lazy
from inference.errors import UserError, as_user_error
from inference.loaded_model import LoadedModel
from inference.pictures.image_processing import BOTH, tower
from inference.pictures.image_processing import ProcessedPicture as Read
from inference.record.attention_call import PICTURE
from inference.record.attention_function import Weighed, keep_weights
from inference.record.edit_hooks import heads_of
from inference.record.patching import replacing_output
from inference.record.records import layer_modules, numpy
from inference.runners.edit_batches import ModelInput, outputs, refuse_sets
from inference.runners.labels import names, sort
from inference.tasks.labels import CHOICE, EACH
from inference.tasks.picture_outputs import (
    AttributionOfPatches,
    PatchAttribution,
    PictureEffects,
    PictureLabels,
    PictureOutput,
    PictureTexts,
)
from inference.text.encoding import Encoding, check_text

MOST_TEXTS = 64  # in a request


def answer(loaded: LoadedModel, question: PictureEffects) -> PictureOutput:
    """Return the model's output for a picture under each edit set.

    Raise UserError if the model reads no pictures, or if edits or texts do not fit.
    """
    refuse_sets(question.edits)
    seen = prepare_picture(loaded, question.picture, question.side)
    said = torch.cat(
        [_outputs_by_set(loaded, question, output) for output in outputs(loaded, make_batch(seen), question.edits)]
    )  # (set, number)
    if isinstance(question, PictureLabels):
        return PictureOutput(numpy(said), names(loaded.model.config), sort(loaded.model), seen.reading.row)
    if isinstance(question, PictureTexts):
        texts, readings = read_texts(loaded, question.texts)
        with torch.inference_mode():
            logits = fit(loaded.model, said, text_vectors(loaded, readings))
        return PictureOutput(numpy(logits), texts, score_kind(loaded.model), seen.reading.row)
    return PictureOutput(numpy(said), (), "", seen.reading.row)


def prepare_picture(loaded: LoadedModel, picture: Picture | None, side: int | None) -> Read:
    """Return the processed picture; raise UserError if no picture is given or the model reads no pictures."""
    if loaded.eye is None or picture is None:
        said = gettext_lazy("{name} reads text, not pictures. Pick another model.", name=loaded.id.name)
        raise UserError(said if loaded.eye is None else "No picture came; this question is about one.")
    return loaded.eye.read(picture, side)


def make_batch(seen: Read) -> ModelInput:
    """Return the input of a single picture, with its number of tokens by stack: 0 for the decoder."""
    pixels = torch.from_numpy(seen.pixels.copy())[None]
    tokens = {"encoder": len(seen.reading.row), "decoder": 0}
    return ModelInput({"pixel_values": pixels, **seen.options}, tokens, tokens)


def _outputs_by_set(loaded: LoadedModel, question: PictureEffects, output: Any) -> Tensor:
    """Return the requested part of a model's output, (set, number)."""
    if isinstance(question, PictureLabels):
        logits: Tensor = output.logits
        return logits.float()
    if loaded.reads == BOTH:
        with torch.inference_mode():
            return picture_vector(loaded.model, output)
    states: Tensor = output.last_hidden_state.float()
    leading = len(loaded.eye.leading) if loaded.eye is not None else 0
    return states[:, 0] if leading else states.mean(dim=1)


def picture_vector(model: Any, output: Any) -> Tensor:
    """Return the pictures' unit vectors, which can be compared with vectors of texts, (picture, channel)."""
    pooled = output.pooler_output
    projected = model.visual_projection(pooled) if hasattr(model, "visual_projection") else pooled
    return _of_length_one(projected)


def _of_length_one(vectors: Tensor) -> Tensor:
    scaled: Tensor = vectors.float() / vectors.float().norm(dim=-1, keepdim=True)
    return scaled


def read_texts(loaded: LoadedModel, texts: Sequence[str]) -> tuple[tuple[str, ...], list[Encoding]]:
    """Return the checked texts and their encodings.

    Raise UserError if there are no texts or too many, or if the model does not read both pictures and texts.
    """
    if loaded.reads != BOTH:
        raise UserError(
            gettext_lazy(
                "{name} does not compare texts with pictures. Try CLIP.",
                name=loaded.id.name,
            ),
            way_out="embedded",
        )
    if not 1 <= len(texts) <= MOST_TEXTS:
        raise UserError(
            gettext_lazy(
                "Got {texts} texts; expected 1 to {most}.",
                texts=len(texts),
                most=MOST_TEXTS,
            ),
            way_out="text",
        )
    checked = tuple(check_text(text) for text in texts)
    return checked, [loaded.reader.read(text, None, loaded.limit) for text in checked]


def text_inputs(loaded: LoadedModel, readings: Sequence[Encoding]) -> dict[str, Tensor]:
    """Return the inputs of the text model: token ids padded on the right, and their mask.

    For SigLIP, texts are padded to the model's full length and have no mask, as in its training.
    """
    pad = loaded.reader.tokenizer.pad_token_id or 0
    config = loaded.model.config.text_config
    filled = loaded.model.config.model_type == "siglip"
    width = config.max_position_embeddings if filled else max(len(reading.ids) for reading in readings)
    ids = torch.full((len(readings), width), pad, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for at, reading in enumerate(readings):
        ids[at, : len(reading.ids)] = torch.tensor(reading.ids)
        mask[at, : len(reading.ids)] = 1
    return {"input_ids": ids} if filled else {"input_ids": ids, "attention_mask": mask}


def text_vectors(loaded: LoadedModel, readings: Sequence[Encoding]) -> Tensor:
    """Return the unit vector of each text, shape (text, channel), with gradients if they are enabled."""
    model = loaded.model
    failed = gettext_lazy("{name} failed on this input. Change it or pick another model.", name=loaded.id.name)
    with as_user_error(failed):
        pooled = model.text_model(**text_inputs(loaded, readings)).pooler_output
        return _of_length_one(model.text_projection(pooled) if hasattr(model, "text_projection") else pooled)


def fit(model: Any, pictures: Tensor, texts: Tensor) -> Tensor:
    """Return the logit of each text for each picture, (picture, text), from their unit vectors.

    A logit is the scaled cosine similarity, plus a bias if the model has one.
    """
    logits: Tensor = pictures @ texts.T * model.logit_scale.exp()
    return logits + model.logit_bias if hasattr(model, "logit_bias") else logits


def score_kind(model: Any) -> str:
    """Return EACH if the model scores each text independently (it has a learned bias), else CHOICE."""
    return EACH if hasattr(model, "logit_bias") else CHOICE


MOST_BYTES = 2**31  # for the weights and their gradients
_COPIES = 4  # for each weight: score, weight and their gradients


@dataclass(frozen=True, eq=False)
class _Pass:
    """A logit with its differentiable inputs: all attention weights, and the last vectors of each side."""

    logit: Tensor
    name: str
    weighed: Sequence[Weighed]
    last: dict[str, Tensor]  # "encoder", "decoder" -> (1, token, channel)


def attribute_patches(loaded: LoadedModel, question: AttributionOfPatches) -> PatchAttribution:
    """Return the attribution of a logit to patches and words.

    Raise UserError if the picture is too large for gradients.
    """
    seen = prepare_picture(loaded, question.picture, question.side)
    texts = None if question.text is None else read_texts(loaded, [question.text])
    _refuse_large(loaded, len(seen.reading.row))
    failed = gettext_lazy(
        "{name} failed on this input. Change it or pick another model.",
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
                "{tokens:,} tokens need {needed:.1f} GB of memory. Choose a smaller size.",
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
        raise UserError(f"Class {label} was asked about; the model knows {len(logits)}.")
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
