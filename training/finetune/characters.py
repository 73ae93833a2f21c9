"""A small model from nothing that reads characters: what a few thousand texts teach without any other text.

It is meant for languages that are written without spaces between words, Chinese first of all: nothing has to be
fetched, and a character there says about as much as a word does elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, PreTrainedTokenizerFast

from probing.labelled.labeled_texts import Kind
from training.finetune.model_setup import AUTO, FinetuneStart
from training.finetune.settings import CHARACTERS

LAYERS, WIDTH, HEADS = 4, 256, 4
MOST = 8_000  # characters that are known
POSITIONS = 512
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def start(texts: Iterable[str], kind: Kind, labels: Sequence[str], seed: int) -> FinetuneStart:
    """A BERT drawn from the seed, for the characters of these texts."""
    words = tokenizer(texts)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=4 * WIDTH,
        max_position_embeddings=POSITIONS,
        pad_token_id=words.pad_token_id,
        num_labels=len(labels),
        id2label=dict(enumerate(labels)),
        label2id={label: at for at, label in enumerate(labels)},
    )
    torch.manual_seed(seed)
    model: Any = AUTO[kind].from_config(config, dtype=torch.float32)
    return FinetuneStart(model, words, CHARACTERS, POSITIONS, fresh=True)


def tokenizer(texts: Iterable[str]) -> PreTrainedTokenizerFast:
    """One piece for every character that occurs more than once; full and half width, large and small are the same.

    >>> words = tokenizer(["大家好", "大Ｈ好h"])
    >>> words.convert_ids_to_tokens(words("好 H家")["input_ids"])
    ['[CLS]', '好', 'h', '[UNK]', '[SEP]']
    """
    same = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    seen = Counter(character for text in texts for character in same.normalize_str(text) if not character.isspace())
    kept = [character for character, count in seen.most_common(MOST) if count > 1]
    backend = Tokenizer(
        models.WordLevel({piece: at for at, piece in enumerate((*SPECIAL, *kept))}, unk_token=SPECIAL[1])
    )
    backend.normalizer = same
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Split(Regex("."), "isolated")]
    )
    backend.post_processor = processors.BertProcessing((SPECIAL[3], 3), (SPECIAL[2], 2))
    names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    return PreTrainedTokenizerFast(
        tokenizer_object=backend, model_max_length=POSITIONS, **dict(zip(names, SPECIAL, strict=True))
    )
