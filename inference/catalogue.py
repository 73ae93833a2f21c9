"""Good first choices of models, by kind and language, and what lies in the operator's folders."""

from __future__ import annotations

import threading
import time
from collections.abc import Hashable
from dataclasses import dataclass, replace
from pathlib import Path

from inference import checkpoint, embedded, folders, hub
from inference.embedded import OWN
from inference.errors import Refusal
from inference.heads import CAUSAL, MASKED, NEXT_SENTENCE, stated, tensors
from inference.request import EMBEDDED
from inference.settings import Settings


@dataclass(frozen=True)
class ModelCard:
    """One model that can be picked. ``size_bytes`` is roughly what is downloaded; None where it is not known."""

    id: str
    title: str
    kind: str  # "encoder", "decoder" or "encoder-decoder"
    language: str
    task: str
    size_bytes: int | None
    summary: str
    embedded: bool = False
    local: bool = False
    downloaded: bool = False

    @property
    def heads(self) -> tuple[str, ...]:
        """The heads that it has beside the bare model (inference.heads), as far as this list knows."""
        return tuple(head for words, head in _TASKS.items() if words in self.task)


# What a card's ``task`` says, and the head that does it.
_TASKS = {
    "masked words": MASKED,
    "next sentence": NEXT_SENTENCE,
    "sentence order": NEXT_SENTENCE,
    "next word": CAUSAL,
}

_EMBEDDED_CARD = ModelCard(
    EMBEDDED,
    "MiniLM (embedded)",
    "encoder",
    "English",
    "sentence similarity",
    91_000_000,
    "Comes with the app: a small BERT, 6 layers of 12 heads, trained to compare sentences.",
    embedded=True,
    downloaded=True,
)
_OWN_CARD = ModelCard(
    OWN,
    "Headlight BERT (embedded)",
    "encoder",
    "English",
    "masked words, next sentence",
    46_000_000,
    "Comes with the app: the same small BERT, trained further to guess masked words and to judge pairs of texts.",
    embedded=True,
    downloaded=True,
)
_HUB_CARDS = (
    ModelCard(
        "google-bert/bert-base-uncased",
        "BERT base",
        "encoder",
        "English",
        "masked words, next sentence",
        440_000_000,
        "The model most papers about attention look at: 12 layers of 12 heads.",
    ),
    ModelCard(
        "google-bert/bert-base-chinese",
        "BERT base, Chinese",
        "encoder",
        "Chinese",
        "masked words, next sentence",
        412_000_000,
        "The same BERT trained on Chinese; every character is a token.",
    ),
    ModelCard(
        "distilbert/distilbert-base-uncased",
        "DistilBERT",
        "encoder",
        "English",
        "masked words",
        268_000_000,
        "A pupil of BERT with half its layers, to see which heads survive.",
    ),
    ModelCard(
        "FacebookAI/roberta-base",
        "RoBERTa base",
        "encoder",
        "English",
        "masked words",
        499_000_000,
        "BERT's shape trained longer on ten times the text, with byte-level pieces.",
    ),
    ModelCard(
        "albert/albert-base-v2",
        "ALBERT base",
        "encoder",
        "English",
        "masked words, sentence order",
        47_000_000,
        "One layer used twelve times over: the same heads meet the text again and again.",
    ),
    ModelCard(
        "google/electra-base-discriminator",
        "ELECTRA base",
        "encoder",
        "English",
        "replaced words",
        440_000_000,
        "Trained to spot words that were swapped, not to guess hidden ones.",
    ),
    ModelCard(
        "answerdotai/ModernBERT-base",
        "ModernBERT base",
        "encoder",
        "English, code",
        "masked words",
        599_000_000,
        "An encoder of 2024 that reads 8,192 tokens; most layers look at a window only.",
    ),
    ModelCard(
        "openai-community/gpt2",
        "GPT-2",
        "decoder",
        "English",
        "next word",
        548_000_000,
        "Writes from left to right: no token sees what comes after it.",
    ),
    ModelCard(
        "HuggingFaceTB/SmolLM2-135M",
        "SmolLM2 135M",
        "decoder",
        "English",
        "next word",
        269_000_000,
        "A small present-day language model: rotary positions, nine heads sharing three sets of keys.",
    ),
    ModelCard(
        "Helsinki-NLP/opus-mt-en-fr",
        "Opus-MT English to French",
        "encoder-decoder",
        "English to French",
        "translation",
        302_000_000,
        "Translates, so its cross-attention shows which source word each target word came from.",
    ),
    ModelCard(
        "google-t5/t5-small",
        "T5 small",
        "encoder-decoder",
        "English, French, German, Romanian",
        "text to text",
        242_000_000,
        'Does what the text asks, such as "translate English to German: …"; positions are relative.',
    ),
)


_FRESH = 5.0  # seconds for which an answer is given again: a page asks several times as it draws itself
_LOOKING = threading.Lock()  # one thread looks, the others wait for what it finds
_found: dict[Hashable, tuple[float, tuple[ModelCard, ...]]] = {}


def catalogue(settings: Settings) -> tuple[ModelCard, ...]:
    """The embedded model first, then local folders, then the hub's; each says whether it is on this machine already.

    A download that ends and a folder moved into an operator's folder are seen at once, what changes deeper inside
    after some seconds.
    """
    with _LOOKING:
        key, now = (settings, _changes(settings)), time.monotonic()
        for old in [kept for kept, (until, _) in _found.items() if until <= now]:
            del _found[old]
        if key not in _found:
            _found[key] = (now + _FRESH, _look(settings))
        return _found[key][1]


def _changes(settings: Settings) -> tuple[int | None, ...]:
    """When the operator's folders and the hub models' places in the cache last changed; None for what is not there."""
    places = [*settings.model_folders, *(hub.reference_file(card.id, None, settings) for card in _HUB_CARDS)]
    return tuple(_changed(place) for place in places)


def _changed(place: Path) -> int | None:
    try:
        return place.stat().st_mtime_ns
    except OSError:
        return None


def _look(settings: Settings) -> tuple[ModelCard, ...]:
    local = tuple(_local_cards(settings))
    own = (_OWN_CARD,) if embedded.OWN_FOLDER.is_dir() else ()
    remote = tuple(replace(card, downloaded=hub.cached(card.id, None, settings) is not None) for card in _HUB_CARDS)
    return (_EMBEDDED_CARD, *own, *local, *remote)


def _local_cards(settings: Settings) -> list[ModelCard]:
    cards: dict[str, ModelCard] = {}
    for folder in folders.listed(settings.model_folders):
        try:
            folders.resolve(str(folder), settings.model_folders)
            cards[str(folder)] = _local_card(folder, checkpoint.inspect(folder, folder.name))
        except (Refusal, OSError):
            continue  # not a model that could be opened
    return list(cards.values())


def _local_card(folder: Path, files: checkpoint.Checkpoint) -> ModelCard:
    named = files.config.get("architectures")
    name = str(named[0])[:60] if isinstance(named, list) and named else "GGUF" if files.gguf else "model"
    writes = files.gguf is not None or name.endswith(("ForCausalLM", "LMHeadModel"))
    kind = "encoder-decoder" if files.config.get("is_encoder_decoder") else "decoder" if writes else "encoder"
    heads = stated(() if files.gguf else tensors(files.weights), kind)
    return ModelCard(
        id=str(folder),
        title=folder.name,
        kind=kind,
        language="",
        task=", ".join(words for words, head in _TASKS.items() if head in heads and words != "sentence order"),
        size_bytes=sum(file.stat().st_size for file in files.weights),
        summary=f"A local model ({name}).",
        local=True,
        downloaded=True,
    )
