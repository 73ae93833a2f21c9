"""Model cards: entries in the list of models, and the cards of the suggested hub models."""

from __future__ import annotations

from dataclasses import dataclass

from i18n import gettext_lazy
from inference.pictures.image_processing import BOTH, PICTURES, TEXT
from inference.task_heads import ANSWER, CAUSAL, CLASSIFY, MASKED, NEXT_SENTENCE, SEES, TAG, WRITES


@dataclass(frozen=True)
class ModelCard:
    """An entry in the list of models. ``size_bytes`` is the approximate download size, None if unknown."""

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
    reads: str = TEXT  # TEXT, PICTURES or BOTH of inference.pictures.image_processing
    spells: bool = False  # True if the vocabulary contains every byte, so that the model reads any character

    @property
    def heads(self) -> tuple[str, ...]:
        """Return the task heads that the description ``task`` mentions, as named in inference.task_heads."""
        return tuple(dict.fromkeys(head for words, head in TASKS.items() if words in self.task))


# The head for each phrase that the ``task`` of a card may contain.
TASKS = {
    "masked words": MASKED,
    "next sentence": NEXT_SENTENCE,
    "sentence order": NEXT_SENTENCE,
    "next word": CAUSAL,
    "translation": WRITES,
    "text to text": WRITES,
    "classes of texts": CLASSIFY,
    "tags of words": TAG,
    "question answering": ANSWER,
    "classes of pictures": SEES,
}

# Vision models are listed for pictures only, not among the models for texts.
PICTURE_CARDS = (
    ModelCard(
        "facebook/dinov2-small",
        "DINOv2 small",
        "encoder",
        "",
        gettext_lazy("pictures"),
        88_000_000,
        gettext_lazy("Trained on pictures without labels; heads of its last layer outline objects. 12 × 6 heads."),
        reads=PICTURES,
    ),
    ModelCard(
        "facebook/dinov2-with-registers-small",
        gettext_lazy("DINOv2 small, with registers"),
        "encoder",
        "",
        gettext_lazy("pictures"),
        89_000_000,
        gettext_lazy("DINOv2 with four register tokens, which absorb attention to background patches."),
        reads=PICTURES,
    ),
    ModelCard(
        "google/vit-base-patch16-224",
        "ViT base",
        "encoder",
        "",
        gettext_lazy("classes of pictures"),
        346_000_000,
        gettext_lazy("The first vision Transformer: 14 × 14 patches, 1,000 classes, 12 × 12 heads."),
        reads=PICTURES,
    ),
    ModelCard(
        "openai/clip-vit-base-patch32",
        "CLIP base",
        "encoder",
        gettext_lazy("English"),
        gettext_lazy("pictures and texts"),
        605_000_000,
        gettext_lazy("Trained to match texts and pictures: an encoder for each, 7 × 7 patches. 12 × 12 heads."),
        reads=BOTH,
    ),
)
HUB_CARDS = (
    ModelCard(
        "google-bert/bert-base-uncased",
        "BERT base",
        "encoder",
        gettext_lazy("English"),
        gettext_lazy("masked words, next sentence"),
        440_000_000,
        gettext_lazy("The model in most papers about attention. 12 × 12 heads."),
    ),
    ModelCard(
        "google-bert/bert-base-chinese",
        gettext_lazy("BERT base, Chinese"),
        "encoder",
        gettext_lazy("Chinese"),
        gettext_lazy("masked words, next sentence"),
        412_000_000,
        gettext_lazy("Trained on Chinese; every character is a token."),
    ),
    ModelCard(
        "distilbert/distilbert-base-uncased",
        "DistilBERT",
        "encoder",
        gettext_lazy("English"),
        gettext_lazy("masked words"),
        268_000_000,
        gettext_lazy("Distilled from BERT; half its layers."),
    ),
    ModelCard(
        "FacebookAI/roberta-base",
        gettext_lazy("RoBERTa base"),
        "encoder",
        gettext_lazy("English"),
        gettext_lazy("masked words"),
        499_000_000,
        gettext_lazy("BERT's architecture, trained longer on ten times the text."),
        spells=True,
    ),
    ModelCard(
        "albert/albert-base-v2",
        "ALBERT base",
        "encoder",
        gettext_lazy("English"),
        gettext_lazy("masked words, sentence order"),
        47_000_000,
        gettext_lazy("One layer used twelve times."),
    ),
    ModelCard(
        "google/electra-base-discriminator",
        "ELECTRA base",
        "encoder",
        gettext_lazy("English"),
        gettext_lazy("replaced words"),
        440_000_000,
        gettext_lazy("Trained to detect replaced words."),
    ),
    ModelCard(
        "answerdotai/ModernBERT-base",
        gettext_lazy("ModernBERT base"),
        "encoder",
        gettext_lazy("English, code"),
        gettext_lazy("masked words"),
        599_000_000,
        gettext_lazy("An encoder from 2024 for up to 8,192 tokens; most layers attend within a window."),
        spells=True,
    ),
    ModelCard(
        "openai-community/gpt2",
        "GPT-2",
        "decoder",
        gettext_lazy("English"),
        gettext_lazy("next word"),
        548_000_000,
        gettext_lazy("Generates from left to right."),
        spells=True,
    ),
    ModelCard(
        "HuggingFaceTB/SmolLM2-135M",
        "SmolLM2 135M",
        "decoder",
        gettext_lazy("English"),
        gettext_lazy("next word"),
        269_000_000,
        gettext_lazy("A small modern decoder with rotary positions; nine heads share three sets of keys and values."),
        spells=True,
    ),
    ModelCard(
        "Helsinki-NLP/opus-mt-en-fr",
        gettext_lazy("Opus-MT English to French"),
        "encoder-decoder",
        gettext_lazy("English to French"),
        gettext_lazy("translation"),
        302_000_000,
        gettext_lazy("Translates; its cross-attention links target words to source words."),
    ),
    ModelCard(
        "google-t5/t5-small",
        "T5 small",
        "encoder-decoder",
        gettext_lazy("English, French, German, Romanian"),
        gettext_lazy("text to text"),
        242_000_000,
        gettext_lazy('Follows instructions such as "translate English to German: …"; relative positions.'),
    ),
    ModelCard(
        "distilbert/distilbert-base-cased-distilled-squad",
        "DistilBERT, SQuAD",
        "encoder",
        gettext_lazy("English"),
        gettext_lazy("question answering"),
        261_000_000,
        gettext_lazy("Answers questions about a passage; distilled from BERT, trained on SQuAD 1.1. 6 × 12 heads."),
    ),
)
