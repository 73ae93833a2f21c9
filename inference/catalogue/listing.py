"""The models to choose from: those to begin with, what lies in the operator's folders, and what is on this machine."""

from __future__ import annotations

import threading
import time
from collections.abc import Hashable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from i18n import LazyMessage, gettext_lazy
from inference.catalogue.cards import EMBEDDED_CARD, EXTRA_CARDS, OWN_CARDS
from inference.catalogue.declared_heads import declared_heads
from inference.errors import UserError
from inference.files import checkpoint, embedded, extras, folders, hub
from inference.files.checkpoint import tensors
from inference.hub_cards import HUB_CARDS, PICTURE_CARDS, TASKS, ModelCard
from inference.pictures.vision_families import PICTURES, TEXT, reads
from inference.settings import Settings

__all__ = ["ModelCard", "catalogue", "list_vision_models"]

_FRESH = 5.0  # seconds for which an answer is given again: a page asks several times as it draws itself
_LOOKING = threading.Lock()  # one thread looks, the others wait for what it finds
found_lately: dict[Hashable, tuple[float, tuple[ModelCard, ...]]] = {}


def catalogue(settings: Settings) -> tuple[ModelCard, ...]:
    """The embedded model first, then local folders, then the hub's; each says whether it is on this machine already.

    A download that ends and a folder moved into an operator's folder are seen at once, what changes deeper inside
    after some seconds.
    """
    with _LOOKING:
        key, now = (settings, _changes(settings)), time.monotonic()
        for old in [kept for kept, (until, _) in found_lately.items() if until <= now]:
            del found_lately[old]
        if key not in found_lately:
            found_lately[key] = (now + _FRESH, scan_catalog(settings))
        return found_lately[key][1]


def _changes(settings: Settings) -> tuple[int | None, ...]:
    """When the operator's folders and the hub models' places in the cache last changed; None for what is not there."""
    places = [*settings.model_folders, *(hub.reference_file(card.id, None, settings) for card in HUB_CARDS)]
    return tuple(_modified_at(place) for place in places)


def _modified_at(place: Path) -> int | None:
    try:
        return place.stat().st_mtime_ns
    except OSError:
        return None


def scan_catalog(settings: Settings) -> tuple[ModelCard, ...]:
    """What ``catalogue`` gives, looked up anew."""
    local = tuple(card for card in _local_cards(settings) if card.reads != PICTURES)
    own = [replace(card, size_bytes=_size(card.id)) for card in OWN_CARDS if embedded.own_here(card.id)]
    extra = [card for card in _extra_cards() if card.reads != PICTURES]
    remote = tuple(
        replace(card, downloaded=hub.cached_folder(card.id, None, settings) is not None) for card in HUB_CARDS
    )
    return (EMBEDDED_CARD, *own, *extra, *local, *remote)


def list_vision_models(settings: Settings) -> tuple[ModelCard, ...]:
    """The models that read pictures: the extra, those in the operator's folders, then good first choices of the hub."""
    remote = tuple(
        replace(card, downloaded=hub.cached_folder(card.id, None, settings) is not None) for card in PICTURE_CARDS
    )
    return (*(card for card in (*_extra_cards(), *_local_cards(settings)) if card.reads != TEXT), *remote)


def _extra_cards() -> list[ModelCard]:
    """The extras that are installed."""
    installed = {extra.name for extra in extras.ALL if extra.is_installed()}
    return [card for card in EXTRA_CARDS if card.id in installed]


def _size(own: str) -> int | None:
    """Bytes of one of our own models' weights; None where they are missing."""
    weights = embedded.ASSETS / own / checkpoint.WEIGHTS
    return weights.stat().st_size if weights.is_file() else None


def _local_cards(settings: Settings) -> list[ModelCard]:
    cards: dict[str, ModelCard] = {}
    for folder in folders.iterate_folders(settings.model_folders):
        try:
            folders.resolve(str(folder), settings.model_folders)
            cards[str(folder)] = local_card(folder)
        except (UserError, OSError):
            continue  # not a model that could be opened
    return list(cards.values())


def _summary(name: str, config: Mapping[str, Any]) -> LazyMessage:
    """Return the summary of a folder's model, which states that program code in the folder is not run."""
    if not config.get("auto_map"):
        return gettext_lazy("A local model ({name}).", name=name)
    return gettext_lazy(
        "A local model ({name}). It has program code of its own, which is not run; the code of transformers for"
        " {kind} is, so results can differ.",
        name=name,
        kind=str(config.get("model_type"))[:60],
    )


def local_card(folder: Path) -> ModelCard:
    """What the files in a folder say of the model that they are; raises Refusal or OSError where they are none."""
    files = checkpoint.inspect(folder, folder.name)
    named = files.config.get("architectures")
    name = str(named[0])[:60] if isinstance(named, list) and named else "GGUF" if files.gguf else "model"
    writes = files.gguf is not None or name.endswith(("ForCausalLM", "LMHeadModel"))
    kind = "encoder-decoder" if files.config.get("is_encoder_decoder") else "decoder" if writes else "encoder"
    heads = declared_heads(() if files.gguf else tensors(files.weights), kind, name)
    return ModelCard(
        id=str(folder),
        title=folder.name,
        kind=kind,
        language="",
        task=", ".join(words for words, head in TASKS.items() if head in heads and words != "sentence order"),
        size_bytes=sum(file.stat().st_size for file in files.weights),
        summary=_summary(name, files.config),
        local=True,
        downloaded=True,
        reads=reads(str(files.config.get("model_type"))),
    )
