"""Whether the model is still a good microscope slide: the heads that take "it" for the animal."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from transformers import BertForPreTraining, BertTokenizerFast

TEXT = "The animal didn't cross the street because it was too tired."
QUERY, KEY = "it", "animal"
WATCHED = ((3, 1), (5, 11))  # the embedded encoder's coreference heads: layer, head, counted from 0 as on the pages


@dataclass(frozen=True)
class PronounScore:
    """Attention from "it" to "animal", between 0 and 1; layers and heads count from 0."""

    layer: int
    head: int
    weight: float  # the largest of all heads
    watched: dict[str, float]


@torch.no_grad()
def pronoun_score(model: BertForPreTraining, tokenizer: BertTokenizerFast) -> PronounScore:
    """Reads the sentence of the tired animal, in float32."""
    encoded = tokenizer(TEXT, return_tensors="pt").to(model.device)
    tokens = tokenizer.convert_ids_to_tokens(encoded["input_ids"][0])
    model.eval()
    maps = model.bert(**encoded, output_attentions=True).attentions
    model.train()
    weights = torch.stack(maps)[:, 0, :, tokens.index(QUERY), tokens.index(KEY)]  # (layer, head)
    layer, head = divmod(int(weights.argmax()), weights.shape[1])
    watched = {
        f"{at}-{of}": float(weights[at, of]) for at, of in WATCHED if at < len(weights) and of < weights.shape[1]
    }
    return PronounScore(layer, head, float(weights.max()), watched)
