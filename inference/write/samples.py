"""A request as its model reads it: tokenised, with a target that is given, forced or written by the model itself."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from attention.edits import Edit
from attention.picture import Picture
from i18n import gettext_lazy
from inference.errors import UserError
from inference.loaded_model import LoadedModel
from inference.pictures.vision_families import PICTURES
from inference.record.batching import Sample
from inference.request import TraceRequest
from inference.text.next_token_text import extend_reading, text_read
from inference.write import target_text

ENDLESS = 10**9  # tokens of a text that is still being written


def prepare(loaded: LoadedModel, request: TraceRequest, key: str, forwards: AbstractContextManager[object]) -> Sample:
    """A checked request as the model reads it; ``forwards`` is held while the model writes a target text itself.

    Raises Refusal for a text that is too long, a pair or a target that the model has no use for.
    """
    if request.picture is not None:
        return _check_edits(loaded, _picture_sample(loaded, request, request.picture, key))
    source = loaded.reader.read(request.text, request.pair, loaded.limit, request.cut)
    if request.written is not None and request.target is not None:
        raise UserError(
            gettext_lazy("A target text came and tokens in its place; leave one of them out."), way_out="text"
        )
    if loaded.id.kind != "encoder-decoder":
        return _check_edits(loaded, _one_sided(loaded, Sample(key, request, source, None, None)))
    if request.target is not None:
        return _check_edits(loaded, Sample(key, request, source, *target_text.read_target(loaded, request.target)))
    if request.written is not None:
        return _check_edits(loaded, Sample(key, request, source, *target_text.force_tokens(loaded, request.written)))
    refuse_edits(loaded, request.edits, len(source.ids), None)
    with forwards:
        return Sample(key, request, source, *target_text.write_target(loaded, source, request.edits))


def _picture_sample(loaded: LoadedModel, request: TraceRequest, picture: Picture, key: str) -> Sample:
    """The sample of a picture, and of a text beside it where there is one; ``cut`` is the text's."""
    name = loaded.id.name
    if loaded.eye is None:
        said = gettext_lazy(
            "{name} reads text, not pictures. Leave the picture out, or pick a model that sees.", name=name
        )
        if hasattr(getattr(loaded.model, "config", None), "vision_config"):
            said = gettext_lazy(
                "{name} reads pictures inside its texts; where they stand there is not known here, so that it reads"
                " texts alone. Pick a model such as DINOv2 or CLIP for pictures.",
                name=name,
            )
        raise UserError(said, way_out="embedded")
    if any(given is not None for given in (request.pair, request.target, request.written)):
        raise UserError(
            gettext_lazy("{name} reads a picture and writes nothing. Leave the second text out.", name=name),
            way_out="text",
        )
    if request.text and loaded.reads == PICTURES:
        raise UserError(
            gettext_lazy("{name} reads the picture alone. Leave the text out.", name=name),
            way_out="text",
        )
    text = loaded.reader.read(request.text, None, loaded.limit, request.cut) if request.text else None
    seen = loaded.eye.read(picture, request.side)
    return Sample(key, request, seen.reading, text, None, seen=seen)


def _one_sided(loaded: LoadedModel, sample: Sample) -> Sample:
    """The sample with what was written after its text."""
    request, name = sample.request, loaded.id.name
    if request.target is not None:
        raise UserError(
            gettext_lazy("{name} writes no second text. Leave the target text out.", name=name), way_out="text"
        )
    if request.written is None:
        return sample
    if loaded.id.kind == "encoder":
        raise UserError(
            gettext_lazy(
                "{name} reads whole texts and writes none, so nothing can be written after this one.", name=name
            )
        )
    target_text.refuse_tokens(loaded, request.written, before=len(sample.source.ids))
    prompt = text_read(sample.source, request.text, request.cut)
    source, text = extend_reading(loaded.reader, sample.source, prompt, request.written)
    return replace(sample, source=source, text=text)


def _check_edits(loaded: LoadedModel, sample: Sample) -> Sample:
    """The sample itself; raises Refusal for edits that this model or this text has no place for."""
    written = sample.request.written is not None
    target = len(sample.target.ids) if sample.target else len(sample.source.ids)
    refuse_edits(loaded, sample.request.edits, len(sample.source.ids), None if written else target)
    return sample


def refuse_edits(loaded: LoadedModel, edits: Sequence[Edit], source: int, target: int | None) -> None:
    """Raises Refusal for edits that there is no place for; ``target`` is None while a text is being written."""
    if edits:
        from inference.record.edit_hooks import check

        target = ENDLESS if target is None else target
        looking = {"encoder": source, "decoder": target, "cross": target}
        check(loaded.model, edits, looking, {**looking, "cross": source})
