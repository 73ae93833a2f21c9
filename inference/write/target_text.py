"""The target text of encoder-decoder models: given as text, as tokens, or generated."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from attention.edits import Edit
from attention.pictures import Picture
from i18n import gettext_lazy
from inference.errors import UserError, as_user_error
from inference.loaded_model import LoadedModel
from inference.pictures.image_processing import PICTURES
from inference.record.batching import Sample
from inference.request import TraceRequest
from inference.text.encoding import Encoding, shift
from inference.text.tokenizer import extend_reading, text_read
from inference.write.decoding import end_tokens, start_token

MOST_WRITTEN = 200  # the most tokens that a model generates


def read_target(loaded: LoadedModel, target: str) -> tuple[Encoding, str]:
    """Tokenise a target text; return it as the decoder's input, and the text.

    The input is the start token and the target without its last token, so that each position predicts the next. Raise
    UserError if the text is too long.
    """
    reading = loaded.reader.read_target(target)
    ids = _decoder_ids(loaded.model, reading)
    if len(ids) > loaded.limit:
        raise _length_error(loaded, len(ids))
    [start] = loaded.reader.spell(ids[:1])
    with as_user_error(
        gettext_lazy("The target tokens of {name} cannot be aligned. Leave the target text out.", name=loaded.id.name)
    ):
        return shift(reading, ids, start), target


def write_target(loaded: LoadedModel, source: Encoding, edits: Sequence[Edit] = ()) -> tuple[Encoding, str]:
    """Generate a target text greedily; return it as the decoder's input, and the text.

    ``edits`` apply in every pass. Raise UserError if the model has no head that generates text.
    """
    if not loaded.writes:
        raise UserError(
            gettext_lazy("{name} does not generate text. Type the target text yourself.", name=loaded.id.name),
            way_out="text",
        )
    from inference.write.decoding import Writing, generate_greedy

    room = max(1, min(MOST_WRITTEN, 2 * len(source.ids) + 20, loaded.limit - 2))
    with as_user_error(
        gettext_lazy("{name} does not generate text. Type the target text yourself.", name=loaded.id.name)
    ):
        tokens = generate_greedy(loaded.model, Writing(source.ids, 1 + room, tuple(edits)))
    return target_of(loaded, _without_end(loaded.model, tokens))


def force_tokens(loaded: LoadedModel, tokens: Sequence[int]) -> tuple[Encoding, str]:
    """Return the decoder's input for given target tokens, and their text.

    ``tokens`` has no start token. Raise UserError if they are invalid or too many.
    """
    tokens = _without_end(loaded.model, tokens)
    refuse_tokens(loaded, tokens, before=1)
    return target_of(loaded, tokens)


def refuse_tokens(loaded: LoadedModel, tokens: Sequence[int], before: int) -> None:
    """Raise UserError if target tokens are unknown or too many.

    Together with ``before`` earlier tokens, they must not exceed the model's limit.
    """
    vocabulary = loaded.reader.target_vocabulary
    odd = [token for token in tokens if not 0 <= token < vocabulary]
    if odd:
        raise UserError(
            gettext_lazy(
                "There is no token {token}; tokens are 0 to {last}.",
                token=odd[0],
                last=vocabulary - 1,
            )
        )
    many = before + len(tokens)
    if many > loaded.limit:
        raise _length_error(loaded, many)


def _length_error(loaded: LoadedModel, tokens: int) -> UserError:
    """Return the error for a target text, or for a prompt and its continuation, that is too long."""
    values = {"tokens": tokens, "name": loaded.id.name, "limit": loaded.limit}
    message = (
        gettext_lazy("The target text has {tokens:,} tokens; {name} writes at most {limit:,}. Shorten it.", **values)
        if loaded.id.kind == "encoder-decoder"
        else gettext_lazy(
            "Text and continuation have {tokens:,} tokens; {name} reads at most {limit:,}. Shorten it.",
            **values,
        )
    )
    return UserError(message, way_out="text", details={"tokens": tokens, "limit": loaded.limit})


def target_of(loaded: LoadedModel, tokens: Sequence[int]) -> tuple[Encoding, str]:
    """Return the decoder's input for generated tokens, and their text.

    The input is the start token and then these tokens.
    """
    ids = [start_token(loaded.model), *tokens]
    special = [at == 0 or loaded.reader.is_special(token) for at, token in enumerate(ids)]
    return loaded.reader.from_ids(ids, special)


def _without_end(model: Any, tokens: Sequence[int]) -> Sequence[int]:
    return tokens[:-1] if tokens and tokens[-1] in end_tokens(model) else tokens


def _decoder_ids(model: Any, reading: Encoding) -> list[int]:
    """Return the target's ids shifted by one position, as in the model's own training code."""
    import torch

    moved = getattr(model, "prepare_decoder_input_ids_from_labels", None)
    if moved is not None:
        with torch.inference_mode(), as_user_error("This model's target text cannot be prepared."):
            return [int(token) for token in moved(torch.tensor([reading.ids]))[0]]
    config = model.config
    starts = (getattr(config, name, None) for name in ("decoder_start_token_id", "bos_token_id", "pad_token_id"))
    start = next((token for token in starts if isinstance(token, int)), reading.ids[0])
    return [start, *reading.ids[:-1]]


ENDLESS = 10**9  # the number of tokens of a text in progress, which has no limit yet


def prepare(loaded: LoadedModel, request: TraceRequest, key: str, forwards: AbstractContextManager[object]) -> Sample:
    """Tokenise a trace request that was checked before, and generate its target text if necessary.

    ``forwards`` is a context that is entered while the model generates. Raise UserError for a text that is too long, or
    for a pair, target or edit that the model cannot use.
    """
    if request.picture is not None:
        return _check_edits(loaded, _picture_sample(loaded, request, request.picture, key))
    source = loaded.reader.read(request.text, request.pair, loaded.limit, request.cut)
    if request.written is not None and request.target is not None:
        raise UserError("A target text came and tokens in its place; leave one of them out.", way_out="text")
    if loaded.id.kind != "encoder-decoder":
        return _check_edits(loaded, _one_sided(loaded, Sample(key, request, source, None, None)))
    if request.target is not None:
        return _check_edits(loaded, Sample(key, request, source, *read_target(loaded, request.target)))
    if request.written is not None:
        return _check_edits(loaded, Sample(key, request, source, *force_tokens(loaded, request.written)))
    refuse_edits(loaded, request.edits, len(source.ids), None)
    with forwards:
        return Sample(key, request, source, *write_target(loaded, source, request.edits))


def _picture_sample(loaded: LoadedModel, request: TraceRequest, picture: Picture, key: str) -> Sample:
    """Return the sample of a picture, with its text if there is a text; ``cut`` truncates the text."""
    name = loaded.id.name
    if loaded.eye is None:
        said = gettext_lazy("{name} reads text, not pictures. Pick another model.", name=name)
        if hasattr(getattr(loaded.model, "config", None), "vision_config"):
            said = gettext_lazy(
                "{name} reads pictures inside texts, which cannot be located. Pick DINOv2 or CLIP.",
                name=name,
            )
        raise UserError(said, way_out="embedded")
    if any(given is not None for given in (request.pair, request.target, request.written)):
        raise UserError(
            gettext_lazy("{name} reads a picture only. Leave the second text out.", name=name),
            way_out="text",
        )
    if request.text and loaded.reads == PICTURES:
        raise UserError(
            gettext_lazy("{name} reads a picture only. Leave the text out.", name=name),
            way_out="text",
        )
    text = loaded.reader.read(request.text, None, loaded.limit, request.cut) if request.text else None
    seen = loaded.eye.read(picture, request.side)
    return Sample(key, request, seen.reading, text, None, seen=seen)


def _one_sided(loaded: LoadedModel, sample: Sample) -> Sample:
    """Return the sample extended by the tokens that were generated after its text."""
    request, name = sample.request, loaded.id.name
    if request.target is not None:
        raise UserError(
            gettext_lazy("{name} does not generate text. Leave the target text out.", name=name), way_out="text"
        )
    if request.written is None:
        return sample
    if loaded.id.kind == "encoder":
        raise UserError(gettext_lazy("{name} does not generate text.", name=name))
    refuse_tokens(loaded, request.written, before=len(sample.source.ids))
    prompt = text_read(sample.source, request.text, request.cut)
    source, text = extend_reading(loaded.reader, sample.source, prompt, request.written)
    return replace(sample, source=source, text=text)


def _check_edits(loaded: LoadedModel, sample: Sample) -> Sample:
    """Return the sample; raise UserError if its edits do not fit the model or the text."""
    written = sample.request.written is not None
    target = len(sample.target.ids) if sample.target else len(sample.source.ids)
    refuse_edits(loaded, sample.request.edits, len(sample.source.ids), None if written else target)
    return sample


def refuse_edits(loaded: LoadedModel, edits: Sequence[Edit], source: int, target: int | None) -> None:
    """Raise UserError for edits of layers, heads or tokens that do not exist.

    ``source`` and ``target`` are the numbers of tokens of both texts. ``target`` is None during generation, because its
    length is not known yet.
    """
    if edits:
        from inference.record.edit_hooks import check

        target = ENDLESS if target is None else target
        looking = {"encoder": source, "decoder": target, "cross": target}
        check(loaded.model, edits, looking, {**looking, "cross": source})
