"""Traces of models that the caller already holds in memory, for notebooks."""

from __future__ import annotations

import threading
import weakref
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import torch

from attention.external_maps import with_content_id
from attention.pictures import Picture
from attention.trace import ModelId, Trace
from i18n import gettext_lazy
from inference.errors import UserError
from inference.load.length_limits import patch_limit, token_limit
from inference.load.shared_weights import copy_for_recording, fingerprint
from inference.loaded_model import LoadedModel
from inference.pictures.image_processing import PICTURES, TEXT, ImageProcessor, processor_kind, reads
from inference.record import batching, capture, reported_maps
from inference.record.edit_hooks import HEADS
from inference.request import TraceRequest
from inference.settings import Settings
from inference.text.encoding import check_text
from inference.text.tokenizer import NoText, SafeTokenizer
from inference.write import target_text

# Each model is prepared once; its traced copy is freed together with the model.
prepared: weakref.WeakKeyDictionary[torch.nn.Module, tuple[tuple[Any, ...], Any]] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def trace(  # noqa: PLR0913  # the parts of a request
    model: Any,
    tokenizer: Any,
    text: str,
    pair: str | None = None,
    target: str | None = None,
    *,
    truncate: bool = False,
) -> Trace:
    """Return the trace of a text: the attention of every head, and the tokens.

    An encoder-decoder without ``target`` generates the target text. If the text has too many tokens, ``truncate`` keeps
    only the first tokens, special tokens included. The trace's id is a hash of its contents, because the weights have
    no known name or revision. Raise UserError if the arguments or the model cannot be used.
    """
    settings, model = Settings.from_env(), _unwrap_compiled(model)
    longest = settings.text_characters
    for name, value in (("text", text), ("pair", pair), ("target", target)):
        if not isinstance(value, str) and (name == "text" or value is not None):
            raise UserError(f"{name} must be text, not {type(value).__name__}.")
    if not isinstance(truncate, bool):
        raise UserError(f"truncate must be True or False, not {truncate!r}.")
    loaded = _wrap_model(model, tokenizer, settings)
    request = TraceRequest(
        model=loaded.id.name,
        text=check_text(text, longest=longest),
        pair=None if pair is None else check_text(pair, gettext_lazy("second text"), longest=longest),
        target=None if target is None else check_text(target, gettext_lazy("target text"), longest=longest),
        cut=loaded.limit if truncate else None,
    )
    sample = target_text.prepare(loaded, request, request.key, nullcontext())
    return with_content_id(batching.run(loaded, [sample])[0])


def trace_picture(model: Any, processor: Any, picture: Any) -> Trace:
    """Return the trace of a picture: the attention of every head, and the patches.

    ``picture`` is a uint8 array (row, column, 3) or a PIL image. ``processor`` is the model's own, as loaded by
    AutoImageProcessor or AutoProcessor. Raise UserError if the picture or the model cannot be used.
    """
    model = _unwrap_compiled(model)
    settings, made = Settings.from_env(), _traced_copy(model)
    name = _name(model)
    if not getattr(made, capture.RECORDS) or reads(made.config.model_type) == TEXT:
        raise UserError(gettext_lazy("{name} reads text, not pictures. Pick another model.", name=name))
    inner = getattr(processor, "image_processor", processor)
    processor_kind(type(inner).__name__, name)
    loaded = LoadedModel(
        model=made,
        reader=NoText(name),
        id=ModelId(name, None, "encoder", type(model).__name__),
        limit=1,
        nbytes=0,  # the caller's memory does not count towards the cache
        records=True,
        writes=False,
        reads=PICTURES,
        eye=ImageProcessor(inner, name, made.config, patch_limit(made, settings.trace_memory_bytes)),
    )
    request = TraceRequest(model=name, picture=_picture(picture))
    return with_content_id(batching.run(loaded, [target_text.prepare(loaded, request, request.key, nullcontext())])[0])


def _unwrap_compiled(model: Any) -> Any:
    """Return the model inside the wrapper of torch.compile, or the model itself.

    The wrapper has the same weights.
    """
    return getattr(model, "_orig_mod", model)


def _picture(given: Any) -> Picture:
    if isinstance(given, Picture):
        return given
    try:
        return Picture(np.asarray(given.convert("RGB") if hasattr(given, "convert") else given))
    except ValueError as error:
        raise UserError(
            f"{type(given).__name__} came as the picture; give an array (row, column, 3) of uint8, or an image of PIL."
        ) from error  # fmt: skip


def _name(model: Any) -> str:
    return Path(getattr(model.config, "name_or_path", "")).name or type(model).__name__


def _wrap_model(model: Any, tokenizer: Any, settings: Settings) -> LoadedModel:
    """Wrap the caller's model and tokenizer as a LoadedModel; raise UserError if they cannot be used."""
    if not hasattr(tokenizer, "convert_ids_to_tokens"):
        raise UserError(
            f"{type(tokenizer).__name__} came as the tokenizer; give the model's own, such as"
            f" AutoTokenizer.from_pretrained(…) gives."
        )
    made = _traced_copy(model)
    records = bool(getattr(made, capture.RECORDS))
    two = bool(getattr(made.config, "is_encoder_decoder", False))
    alone = set(getattr(made, HEADS)) if records else {getattr(made, reported_maps.ALONE)}
    kind = "encoder-decoder" if two else "decoder" if alone == {"decoder"} else "encoder"
    name = _name(model)
    rows = int(made.get_input_embeddings().weight.shape[0])
    return LoadedModel(
        model=made,
        reader=SafeTokenizer(tokenizer, name, kind, rows),
        id=ModelId(name, None, kind, type(model).__name__),
        limit=token_limit(made, tokenizer, records, settings.trace_memory_bytes),
        nbytes=0,  # the caller's memory does not count towards the cache
        records=records,
        writes=two,
    )


def _traced_copy(model: Any) -> Any:
    """Return the traced copy of the model; prepare and check it again if the model's fingerprint changed."""
    with _lock:
        try:
            kept = prepared.get(model)
        except TypeError:  # an object without weak references is not a model; copy_for_recording raises the UserError
            kept = None
        now = fingerprint(model) if isinstance(model, torch.nn.Module) else ()
        if kept is None or kept[0] != now:
            made = copy_for_recording(model)
            kept = prepared[model] = (now, made)
    return kept[1]
