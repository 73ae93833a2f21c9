"""Good first choices of the hub, by the names that their owners gave them, and what is said of any model in a list."""

from __future__ import annotations

from dataclasses import dataclass

from inference.heads import CAUSAL, CLASSIFY, MASKED, NEXT_SENTENCE, SEES, TAG, WRITES
from inference.pictures.families import BOTH, PICTURES, TEXT
from wording import sentence


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
    reads: str = TEXT  # or pictures, or both (inference.pictures.families)
    spells: bool = False  # its vocabulary holds every byte, so that it reads any character there is

    @property
    def heads(self) -> tuple[str, ...]:
        """The heads that it has beside the bare model (inference.heads), as far as this list knows."""
        return tuple(dict.fromkeys(head for words, head in TASKS.items() if words in self.task))


# What a card's ``task`` says, and the head that does it.
TASKS = {
    "masked words": MASKED,
    "next sentence": NEXT_SENTENCE,
    "sentence order": NEXT_SENTENCE,
    "next word": CAUSAL,
    "translation": WRITES,
    "text to text": WRITES,
    "classes of texts": CLASSIFY,
    "tags of words": TAG,
    "classes of pictures": SEES,
}

# What sees; listed where a picture is looked at, and not among models of texts.
PICTURE_CARDS = (
    ModelCard(
        "facebook/dinov2-small",
        "DINOv2 small",
        "encoder",
        "",
        sentence("pictures"),
        88_000_000,
        sentence("Trained on pictures without labels; heads of its last layers outline what is shown. 12 × 6 heads."),
        reads=PICTURES,
    ),
    ModelCard(
        "facebook/dinov2-with-registers-small",
        sentence("DINOv2 small, with registers"),
        "encoder",
        "",
        sentence("pictures"),
        89_000_000,
        sentence("The same with four tokens more, which take up what else ends in patches of the background."),
        reads=PICTURES,
    ),
    ModelCard(
        "google/vit-base-patch16-224",
        "ViT base",
        "encoder",
        "",
        sentence("classes of pictures"),
        346_000_000,
        sentence("The first of its kind: a picture cut into 14 × 14 patches; tells 1,000 classes. 12 × 12 heads."),
        reads=PICTURES,
    ),
    ModelCard(
        "openai/clip-vit-base-patch32",
        "CLIP base",
        "encoder",
        sentence("English"),
        sentence("pictures and texts"),
        605_000_000,
        sentence("Trained to tell which text belongs to a picture: a tower for each, 7 × 7 patches. 12 × 12 heads."),
        reads=BOTH,
    ),
)
HUB_CARDS = (
    ModelCard(
        "google-bert/bert-base-uncased",
        "BERT base",
        "encoder",
        sentence("English"),
        sentence("masked words, next sentence"),
        440_000_000,
        sentence("The model most papers about attention look at: 12 layers of 12 heads."),
    ),
    ModelCard(
        "google-bert/bert-base-chinese",
        sentence("BERT base, Chinese"),
        "encoder",
        sentence("Chinese"),
        sentence("masked words, next sentence"),
        412_000_000,
        sentence("The same BERT trained on Chinese; every character is a token."),
    ),
    ModelCard(
        "distilbert/distilbert-base-uncased",
        "DistilBERT",
        "encoder",
        sentence("English"),
        sentence("masked words"),
        268_000_000,
        sentence("A pupil of BERT with half its layers, to see which heads survive."),
    ),
    ModelCard(
        "FacebookAI/roberta-base",
        sentence("RoBERTa base"),
        "encoder",
        sentence("English"),
        sentence("masked words"),
        499_000_000,
        sentence("BERT's shape trained longer on ten times the text, with byte-level pieces."),
        spells=True,
    ),
    ModelCard(
        "albert/albert-base-v2",
        "ALBERT base",
        "encoder",
        sentence("English"),
        sentence("masked words, sentence order"),
        47_000_000,
        sentence("One layer used twelve times over: the same heads meet the text again and again."),
    ),
    ModelCard(
        "google/electra-base-discriminator",
        "ELECTRA base",
        "encoder",
        sentence("English"),
        sentence("replaced words"),
        440_000_000,
        sentence("Trained to spot words that were swapped, not to guess hidden ones."),
    ),
    ModelCard(
        "answerdotai/ModernBERT-base",
        sentence("ModernBERT base"),
        "encoder",
        sentence("English, code"),
        sentence("masked words"),
        599_000_000,
        sentence("An encoder of 2024 that reads 8,192 tokens; most layers look at a window only."),
        spells=True,
    ),
    ModelCard(
        "openai-community/gpt2",
        "GPT-2",
        "decoder",
        sentence("English"),
        sentence("next word"),
        548_000_000,
        sentence("Writes from left to right: no token sees what comes after it."),
        spells=True,
    ),
    ModelCard(
        "HuggingFaceTB/SmolLM2-135M",
        "SmolLM2 135M",
        "decoder",
        sentence("English"),
        sentence("next word"),
        269_000_000,
        sentence("A small present-day language model: rotary positions, nine heads sharing three sets of keys."),
        spells=True,
    ),
    ModelCard(
        "Helsinki-NLP/opus-mt-en-fr",
        sentence("Opus-MT English to French"),
        "encoder-decoder",
        sentence("English to French"),
        sentence("translation"),
        302_000_000,
        sentence("Translates, so its cross-attention shows which source word each target word came from."),
    ),
    ModelCard(
        "google-t5/t5-small",
        "T5 small",
        "encoder-decoder",
        sentence("English, French, German, Romanian"),
        sentence("text to text"),
        242_000_000,
        sentence('Does what the text asks, such as "translate English to German: …"; positions are relative.'),
    ),
)
