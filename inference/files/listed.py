"""Which models of the hub anybody may open where the operator allows those of the list alone."""

from __future__ import annotations

from inference.errors import Refusal
from inference.settings import Settings
from wording import sentence

# Those of inference.catalogue.cards, as their owners publish them: a branch or a commit may be anybody's proposal.
LISTED = frozenset(
    {
        "FacebookAI/roberta-base",
        "Helsinki-NLP/opus-mt-en-fr",
        "HuggingFaceTB/SmolLM2-135M",
        "albert/albert-base-v2",
        "answerdotai/ModernBERT-base",
        "distilbert/distilbert-base-uncased",
        "facebook/dinov2-small",
        "facebook/dinov2-with-registers-small",
        "google-bert/bert-base-chinese",
        "google-bert/bert-base-uncased",
        "google-t5/t5-small",
        "google/electra-base-discriminator",
        "google/vit-base-patch16-224",
        "openai-community/gpt2",
        "openai/clip-vit-base-patch32",
    }
)


def check_listed(name: str, revision: str | None, settings: Settings) -> None:
    """Raises Refusal for a model of the hub that this app may not open, before any file or network is touched.

    >>> check_listed("openai-community/gpt2", None, Settings(only_listed=True))
    >>> check_listed("somebody/something", None, Settings(only_listed=True))
    Traceback (most recent call last):
    inference.errors.Refusal: This app opens only the models of its list, as they are published. Pick one of the list.
    """
    if settings.only_listed and (name not in LISTED or revision not in (None, "", "main")):
        raise Refusal(
            sentence("This app opens only the models of its list, as they are published. Pick one of the list."),
            way_out="embedded",
        )
