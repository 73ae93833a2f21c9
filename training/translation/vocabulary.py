"""One vocabulary of subwords for both languages, learned from the training pairs, as transformers reads it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from training.translation.sentences import REPLACED

PAD, END, UNKNOWN = "<pad>", "</s>", "<unk>"
BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))  # what a character becomes that no piece has
SMALLEST = 3 + len(BYTES)  # pieces of a vocabulary that has learned nothing
_SPACE = "▁"


def learn(texts: Iterable[str], size: int, longest: int) -> PreTrainedTokenizerFast:
    """A byte-pair vocabulary (arXiv:1508.07909) of ``size`` pieces; ``longest`` is how many a text may have.

    A piece never spans two words, signs and digits stand alone, and an apostrophe ends a piece: "l'", "don'" are as
    good as words. An unknown character is spelled in bytes. Every text ends with the end mark, a source as a target.
    """
    learner = _frame(models.BPE())
    first = [PAD, END, UNKNOWN]
    learner.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=size - len(BYTES), special_tokens=first, show_progress=False)
    )
    learned = json.loads(learner.to_str())["model"]
    pieces = sorted(learned["vocab"], key=learned["vocab"].get)[len(first) :]
    vocabulary = {piece: at for at, piece in enumerate([*first, *BYTES, *pieces])}
    merges = [tuple(merge) for merge in learned["merges"]]
    backend = _frame(models.BPE(vocab=vocabulary, merges=merges, unk_token=UNKNOWN, byte_fallback=True))
    backend.add_special_tokens(first)
    backend.post_processor = processors.TemplateProcessing(
        single=f"$A {END}", pair=f"$A $B {END}", special_tokens=[(END, vocabulary[END])]
    )
    return wrap_tokenizer(backend, longest)


def wrap_tokenizer(backend: Tokenizer, longest: int) -> PreTrainedTokenizerFast:
    """A tokenizer as transformers knows it, which neither cuts nor fills up unless asked to."""
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        pad_token=PAD,
        eos_token=END,
        unk_token=UNKNOWN,
        model_max_length=longest,
        clean_up_tokenization_spaces=False,
        model_input_names=["input_ids", "attention_mask"],
    )


def load(folder: Path) -> PreTrainedTokenizerFast:
    """The tokenizer that a folder holds."""
    return PreTrainedTokenizerFast.from_pretrained(folder)


def _frame(model: models.BPE) -> Tokenizer:
    """A tokenizer around a model: how a text is cleaned, cut and put together again."""
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFC(), *(normalizers.Replace(Regex(a), b) for a, b in REPLACED), normalizers.Strip()]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Metaspace(replacement=_SPACE, prepend_scheme="always"),
            pre_tokenizers.Split("'", "merged_with_previous"),
            pre_tokenizers.Split(Regex(rf"{_SPACE}?\d|{_SPACE}?[^\w\s{_SPACE}']"), "isolated"),
        ]
    )
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace(_SPACE, " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return tokenizer
