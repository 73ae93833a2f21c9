"""Models for benchmarks (the embedded model, and models with random weights), and texts of any length."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

PEOPLE = ["the captain", "her neighbour", "a young baker", "the old clockmaker", "my aunt", "every tourist"]
THINGS = ["the lantern", "a broken violin", "the green suitcase", "two letters", "the harbour map", "a loaf of bread"]
VERBS = ["carried", "forgot", "repaired", "described", "bought", "hid", "returned", "painted", "lost", "remembered"]
PLACES = ["behind the station", "on the bridge", "in the quiet library", "near the river", "under the stairs"]
TIMES = ["before sunrise", "during the storm", "after the concert", "every winter", "while the bells rang"]
LINKS = ["because", "although", "so", "and then", "while"]


def sentences(seed: int = 0) -> Iterator[str]:
    """Yield an endless stream of sentences of 6 to 17 words.

    >>> next(sentences(1)) == next(sentences(1)) != next(sentences(2))
    True
    """
    pick = random.Random(seed).choice

    def clause() -> str:
        return f"{pick(PEOPLE)} {pick(VERBS)} {pick(THINGS)}"

    while True:
        endings = [pick(PLACES), pick(TIMES), f"{pick(LINKS)} {clause()}", f"{pick(PLACES)} {pick(TIMES)}"]
        sentence = f"{clause()} {pick(endings)}."
        yield sentence[0].upper() + sentence[1:]


def text_of(tokens: int, count: Callable[[str], int], seed: int = 0) -> str:
    """Return a text that has exactly ``tokens`` tokens, as counted by ``count``.

    It may end in the middle of a sentence.

    >>> len(text_of(9, lambda text: len(text.split())).split())
    9
    """
    words: list[str] = []
    for sentence in sentences(seed):
        words += sentence.split()
        if len(words) >= tokens:  # every word has at least one token
            break
    low, high = 0, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(" ".join(words[:middle])) <= tokens else (low, middle - 1)
    text = " ".join(words[:low])
    while count(text) < tokens:  # the next word has too many tokens
        text += " a"
    return text


EMBEDDED, BERT_BASE = "all-MiniLM-L6-v2", "BERT-base size"
RECORDING = "recording"  # the app's attention implementation; "sdpa" and "eager" are transformers' own


def build(name: str, implementation: str) -> Any:
    """Build the embedded model, or for any other ``name`` a BERT-base with random weights, for evaluation.

    The model is in float32. ``implementation`` is its attention implementation; RECORDING is that of the recorder.
    Raise RuntimeError if the model then cannot record its attention.
    """
    import torch
    from transformers import AutoModel, BertConfig, BertModel

    from inference.files import embedded
    from inference.record import capture

    capture.install()
    attention = capture.NAME if implementation == RECORDING else implementation
    torch.manual_seed(0)
    if name == EMBEDDED:
        model = AutoModel.from_pretrained(str(embedded.folder()), attn_implementation=attention, dtype=torch.float32)
    else:
        config = BertConfig()  # 12 layers of 12 heads, 768 channels
        config._attn_implementation = attention  # noqa: SLF001  # transformers has no public setter
        model = BertModel(config)
    model = model.eval().requires_grad_(False)
    if implementation == RECORDING and not capture.prepare(model):
        raise RuntimeError(f"{name} does not record its attention, so there is nothing to measure.")
    return model


def inputs(tokens: int) -> dict[str, Any]:
    """Return a model's input for a generated text of ``tokens`` tokens, as a batch of a single text."""
    encoded = tokenizer()(text_of(tokens, count_embedded), return_tensors="pt")
    return {name: encoded[name] for name in ("input_ids", "attention_mask", "token_type_ids")}


@cache
def tokenizer() -> Any:
    """Load the embedded model's tokenizer."""
    from transformers import AutoTokenizer

    from inference.files import embedded

    return AutoTokenizer.from_pretrained(str(embedded.folder()))


def count_embedded(text: str) -> int:
    """Return the number of a text's tokens for the embedded model, including [CLS] and [SEP]."""
    return len(tokenizer()(text, verbose=False)["input_ids"])


def save_long(folder: Path, positions: int = 8192) -> Path:
    """Save a ModernBERT-base with random weights and a whole-word tokenizer; return the folder.

    The model has 22 layers of 12 heads and 768 channels.
    """
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import ModernBertConfig, ModernBertModel, PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    phrases = [*PEOPLE, *THINGS, *VERBS, *PLACES, *TIMES, *LINKS]
    words = sorted({word for phrase in phrases for word in phrase.split()})
    vocabulary = {word: number for number, word in enumerate([*special, ".", *words])}
    inner = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    inner.normalizer = normalizers.Lowercase()
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    inner.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), special, strict=True))
    PreTrainedTokenizerFast(tokenizer_object=inner, model_max_length=positions, **names).save_pretrained(folder)
    torch.manual_seed(0)
    config = ModernBertConfig(vocab_size=len(vocabulary), max_position_embeddings=positions, pad_token_id=0,
                              cls_token_id=2, sep_token_id=3, bos_token_id=2, eos_token_id=3)  # fmt: skip
    ModernBertModel(config).save_pretrained(folder)
    return folder


def count_long(text: str) -> int:
    """Return the number of a text's tokens for the model of ``save_long``, including [CLS] and [SEP]."""
    return len(text.replace(".", " . ").split()) + 2
