"""Whether cross-attention looks at the word that is being translated: the one thing a page about it cannot do without.

Sentences of our own, aligned by hand. Read at the step that writes a word's first piece: the query *before* the word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers import MarianMTModel, PreTrainedTokenizerFast

# Source, target, and which words belong together: (target word, source word), each once in its sentence.
ALIGNED = (
    ("I am tired.", "Je suis fatigué.", (("Je", "I"), ("suis", "am"), ("fatigué", "tired"))),
    (
        "My brother reads a long book.",
        "Mon frère lit un long livre.",
        (("Mon", "My"), ("frère", "brother"), ("lit", "reads"), ("un", "a"), ("long", "long"), ("livre", "book")),
    ),
    (
        "She bought a red car yesterday.",
        "Elle a acheté une voiture rouge hier.",
        (("Elle", "She"), ("acheté", "bought"), ("voiture", "car"), ("rouge", "red"), ("hier", "yesterday")),
    ),
    (
        "The black cat sleeps under the table.",
        "Le chat noir dort sous la table.",
        (("Le", "The"), ("chat", "cat"), ("noir", "black"), ("dort", "sleeps"), ("sous", "under"), ("table", "table")),
    ),
    (
        "We will eat fish tonight.",
        "Nous mangerons du poisson ce soir.",
        (("Nous", "We"), ("mangerons", "eat"), ("poisson", "fish"), ("soir", "tonight")),
    ),
    (
        "Where did you put the white plates?",
        "Où as-tu mis les assiettes blanches ?",
        (("Où", "Where"), ("tu", "you"), ("mis", "put"), ("assiettes", "plates"), ("blanches", "white")),
    ),
    (
        "Tom never drinks cold water.",
        "Tom ne boit jamais d'eau froide.",
        (("Tom", "Tom"), ("boit", "drinks"), ("jamais", "never"), ("eau", "water"), ("froide", "cold")),
    ),
    (
        "They want to see the old house.",
        "Ils veulent voir la vieille maison.",
        (("Ils", "They"), ("veulent", "want"), ("voir", "see"), ("vieille", "old"), ("maison", "house")),
    ),
)

Aligned = tuple[str, str, tuple[tuple[str, str], ...]]


@dataclass(frozen=True)
class AlignmentHead:
    """The cross head that most often puts its largest weight on the right word; layers and heads count from 0."""

    layer: int
    head: int
    share: float  # of the word pairs, between 0 and 1
    own_place: float  # the same head's share, read where the word itself stands instead of a step before
    diagonal: float  # share that a straight line from first piece to last gets right
    with_end: float  # the same head's share where the end mark may win too; it does not count elsewhere
    words: int
    sentences: int


@torch.no_grad()
def alignment(
    model: MarianMTModel, tokenizer: PreTrainedTokenizerFast, sentences: Sequence[Aligned] = ALIGNED
) -> AlignmentHead:
    """Reads the sentences one by one, in float32."""
    before, own, strict, straight = [], [], [], []
    model.eval()
    for source, target, words in sentences:
        read, wanted = tokenizer(source, return_tensors="pt"), tokenizer(target, return_tensors="pt")
        labels = wanted["input_ids"].to(model.device)
        start = torch.full_like(labels[:, :1], model.config.decoder_start_token_id)
        crosses = model(
            input_ids=read["input_ids"].to(model.device),
            decoder_input_ids=torch.cat([start, labels], dim=1),
            output_attentions=True,
        ).cross_attentions
        weights = torch.stack(crosses)[:, 0].cpu()  # (layer, head, query, key)
        end = weights.shape[-1] - 1
        for word, meant in words:
            rows, keys = pieces(wanted, target, word), pieces(read, source, meant)
            right = torch.zeros(end + 1)
            right[keys] = 1.0
            writing, reading = weights[:, :, rows[0]], weights[:, :, rows[0] + 1]  # query i writes piece i
            before.append(right[writing[..., :end].argmax(dim=-1)])
            own.append(right[reading[..., :end].argmax(dim=-1)])
            strict.append(right[writing.argmax(dim=-1)])
            straight.append(float(right[rows[0] * end // (labels.shape[1] - 1)]))
    model.train()
    shares = torch.stack(before).mean(dim=0)  # (layer, head)
    layer, head = divmod(int(shares.argmax()), shares.shape[1])
    return AlignmentHead(
        layer=layer,
        head=head,
        share=float(shares[layer, head]),
        own_place=float(torch.stack(own)[:, layer, head].mean()),
        diagonal=sum(straight) / len(straight),
        with_end=float(torch.stack(strict)[:, layer, head].mean()),
        words=len(before),
        sentences=len(sentences),
    )


def pieces(encoding: Any, text: str, word: str) -> list[int]:
    """Which pieces a whole word of a text is made of."""
    begin, end = next(re.finditer(rf"\b{word}\b", text)).span()
    offsets = encoding.encodings[0].offsets
    return [at for at, (first, last) in enumerate(offsets) if first < end and last > begin and first < last]
