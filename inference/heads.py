"""The heads that a question may need, and the classes that load a model with them."""

from __future__ import annotations

from typing import Any

BARE, MASKED, NEXT_SENTENCE, CAUSAL = "", "masked", "next sentence", "causal"


def auto_class(head: str, writes: bool) -> Any:
    """The class that loads a model with a head; ``writes``: the bare model is one that generates a target text."""
    import transformers

    if head == BARE:
        return transformers.AutoModelForSeq2SeqLM if writes else transformers.AutoModel
    return {
        MASKED: transformers.AutoModelForMaskedLM,
        NEXT_SENTENCE: transformers.AutoModelForNextSentencePrediction,
        CAUSAL: transformers.AutoModelForCausalLM,
    }[head]
