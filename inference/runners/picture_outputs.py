"""Outputs for a picture under sets of edits: its vector, its classes, and its similarity to texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from i18n import gettext_lazy
from inference.errors import UserError, as_user_error
from inference.loaded_model import LoadedModel
from inference.pictures.image_processing import BOTH
from inference.pictures.image_processing import ProcessedPicture as Read
from inference.record.records import numpy
from inference.runners.edit_batches import ModelInput, outputs, refuse_sets
from inference.runners.labels import names, sort
from inference.tasks.labels import CHOICE, EACH
from inference.tasks.picture_outputs import PictureEffects, PictureLabels, PictureOutput, PictureRequest, PictureTexts
from inference.text.encoding import Encoding, check_text

MOST_TEXTS = 64  # in a request


def answer(loaded: LoadedModel, question: PictureEffects) -> PictureOutput:
    """Return the output under each set.

    Raise UserError if the model reads no pictures, or if edits or texts do not fit.
    """
    refuse_sets(question.edits)
    seen = prepare_picture(loaded, question)
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


def prepare_picture(loaded: LoadedModel, question: PictureRequest[Any]) -> Read:
    """Return the processed picture; raise UserError if there is none or the model reads no pictures."""
    if loaded.eye is None or question.picture is None:
        said = gettext_lazy(
            "{name} reads text, not pictures. Leave the picture out, or pick a model that sees.", name=loaded.id.name
        )
        raise UserError(said if loaded.eye is None else gettext_lazy("No picture came; this question is about one."))
    return loaded.eye.read(question.picture, question.side)


def make_batch(seen: Read) -> ModelInput:
    """Return a batch of a single picture with its numbers of tokens; the text model has none."""
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
    """Return the unit vectors that are compared with those of texts, (picture, channel)."""
    pooled = output.pooler_output
    projected = model.visual_projection(pooled) if hasattr(model, "visual_projection") else pooled
    return _of_length_one(projected)


def _of_length_one(vectors: Tensor) -> Tensor:
    scaled: Tensor = vectors.float() / vectors.float().norm(dim=-1, keepdim=True)
    return scaled


def read_texts(loaded: LoadedModel, texts: Sequence[str]) -> tuple[tuple[str, ...], list[Encoding]]:
    """Return the checked texts and their encodings.

    Raise UserError for none, for too many, and if the model does not read both pictures and texts.
    """
    if loaded.reads != BOTH:
        raise UserError(
            gettext_lazy(
                "{name} compares no texts with pictures. Pick a model that reads both, such as CLIP or SigLIP.",
                name=loaded.id.name,
            ),
            way_out="embedded",
        )
    if not 1 <= len(texts) <= MOST_TEXTS:
        raise UserError(
            gettext_lazy(
                "{texts} texts came; at least one and at most {most} are compared with a picture.",
                texts=len(texts),
                most=MOST_TEXTS,
            ),
            way_out="text",
        )
    checked = tuple(check_text(text) for text in texts)
    return checked, [loaded.reader.read(text, None, loaded.limit) for text in checked]


def text_inputs(loaded: LoadedModel, readings: Sequence[Encoding]) -> dict[str, Tensor]:
    """Return the inputs of the text model.

    SigLIP was trained on texts padded to its full length, without a mask.
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
    """Return the unit vector of each text, (text, channel), with gradients if they are enabled."""
    model = loaded.model
    failed = gettext_lazy(
        "{name} failed while reading these texts. Change them or pick another model.", name=loaded.id.name
    )
    with as_user_error(failed):
        pooled = model.text_model(**text_inputs(loaded, readings)).pooler_output
        return _of_length_one(model.text_projection(pooled) if hasattr(model, "text_projection") else pooled)


def fit(model: Any, pictures: Tensor, texts: Tensor) -> Tensor:
    """Return the logits (picture, text): cosine similarities with the learned scale and bias."""
    logits: Tensor = pictures @ texts.T * model.logit_scale.exp()
    return logits + model.logit_bias if hasattr(model, "logit_bias") else logits


def score_kind(model: Any) -> str:
    """Return EACH if the model judges each text by itself, as its learned bias shows, else CHOICE."""
    return EACH if hasattr(model, "logit_bias") else CHOICE
