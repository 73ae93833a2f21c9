"""The models that are measured: the embedded one, and random weights in well-known sizes, which cost the same."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from bench.texts import LINKS, PEOPLE, PLACES, THINGS, TIMES, VERBS, text_of

EMBEDDED, BERT_BASE = "all-MiniLM-L6-v2", "BERT-base size"
RECORDING = "recording"  # the attention that the app loads its models with; the others are "sdpa" and "eager"


def build(name: str, implementation: str) -> Any:
    """One of the two models with that attention, in float32, ready to read."""
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
        config._attn_implementation = attention  # noqa: SLF001  # transformers has no public way to ask for it
        model = BertModel(config)
    model = model.eval().requires_grad_(False)
    if implementation == RECORDING and not capture.prepare(model):
        raise RuntimeError(f"{name} does not record its attention, so there is nothing to measure.")
    return model


def inputs(tokens: int) -> dict[str, Any]:
    """A text of so many tokens as the embedded model's tokenizer gives it to either model, one sample."""
    encoded = tokenizer()(text_of(tokens, count_embedded), return_tensors="pt")
    return {name: encoded[name] for name in ("input_ids", "attention_mask", "token_type_ids")}


@cache
def tokenizer() -> Any:
    """The embedded model's tokenizer."""
    from transformers import AutoTokenizer

    from inference.files import embedded

    return AutoTokenizer.from_pretrained(str(embedded.folder()))


def count_embedded(text: str) -> int:
    """Tokens of a text for the embedded model, [CLS] and [SEP] included."""
    return len(tokenizer()(text, verbose=False)["input_ids"])


def save_long(folder: Path, positions: int = 8192) -> Path:
    """A ModernBERT-base of random weights (22 layers of 12 heads, 768 channels) with a tokenizer of whole words."""
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
    """Tokens of a text for the model of ``save_long``: words, full stops, [CLS] and [SEP]."""
    return len(text.replace(".", " . ").split()) + 2
