"""Tiny models with random weights and real tokenizers, saved in transformers' format. Axes have unequal lengths."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TEXT = [
    "The animal didn't cross the street because it was too tired.",
    "A small cat sat on the mat, and the dog barked at the cat!",
    "Ein kleiner Hund bellt. Le chat dort sur le tapis.",
    "Numbers such as 1, 23 and 456 are read too; so are brackets (like these).",
]


def wordpiece(folder: Path) -> None:
    """Save a BERT-like tokenizer: lower case, [CLS] and [SEP], a token for every letter."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
    from transformers import BertTokenizerFast

    letters = "abcdefghijklmnopqrstuvwxyz0123456789'.,!?;()"
    words = ["the", "animal", "street", "cat", "play", "##ing", "##ed", "it", "was"]
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words, *letters, *(f"##{letter}" for letter in letters)]
    vocabulary = {piece: at for at, piece in enumerate(dict.fromkeys(pieces))}
    backend = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer(lowercase=True)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece()
    backend.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    BertTokenizerFast(tokenizer_object=backend).save_pretrained(folder)


def byte_level(folder: Path, roberta: bool = False) -> None:
    """Save a byte-level BPE tokenizer like GPT-2's; with ``roberta`` it adds <s> and </s> around the text."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    special = ["<s>", "<pad>", "</s>", "<unk>"] if roberta else ["<|endoftext|>"]
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    backend.train_from_iterator(
        TEXT * 3, trainers.BpeTrainer(vocab_size=350, special_tokens=special, initial_alphabet=alphabet)
    )
    backend.post_processor = (
        processors.RobertaProcessing(("</s>", 2), ("<s>", 0)) if roberta else processors.ByteLevel(trim_offsets=False)
    )
    names = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"} if roberta else {"eos_token": special[0]}
    PreTrainedTokenizerFast(tokenizer_object=backend, **names).save_pretrained(folder)


def unigram(folder: Path) -> None:
    """Save a unigram tokenizer like T5's.

    "▁" marks spaces, </s> ends the text, and <unk> replaces unknown characters.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    backend = Tokenizer(models.Unigram())
    backend.pre_tokenizer = pre_tokenizers.Metaspace()
    backend.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=120, special_tokens=["<pad>", "</s>", "<unk>"], unk_token="<unk>")
    backend.train_from_iterator(TEXT * 3, trainer)
    backend.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=backend, eos_token="</s>", pad_token="<pad>", unk_token="<unk>"
    ).save_pretrained(folder)


def sentencepiece(folder: Path) -> None:
    """Save Marian's tokenizer, which has no fast version: two SentencePiece models and a vocabulary."""
    import sentencepiece as spm

    folder.mkdir(parents=True, exist_ok=True)
    for side in ("source", "target"):
        prefix = folder / side
        with prefix.with_suffix(".spm").open("wb") as stream:
            spm.SentencePieceTrainer.train(
                sentence_iterator=iter(TEXT * 3),
                model_writer=stream,
                vocab_size=90,
                minloglevel=2,
                hard_vocab_limit=False,
            )
    model = spm.SentencePieceProcessor(model_file=str(folder / "source.spm"))
    pieces = ["</s>", "<unk>", *(model.id_to_piece(at) for at in range(3, model.get_piece_size())), "<pad>"]
    (folder / "vocab.json").write_text(json.dumps({piece: at for at, piece in enumerate(pieces)}))
    settings = {"source_lang": "en", "target_lang": "fr", "tokenizer_class": "MarianTokenizer", "model_max_length": 64}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))


def save(folder: Path, kind: str, **changes: Any) -> Path:
    """Save a tiny model of a kind: bert, roberta, gpt2, llama, t5, marian, deberta or mamba."""
    import torch
    import transformers as t

    torch.manual_seed(0)
    wide = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 20}
    if kind == "bert":
        wordpiece(folder)
        model = t.BertModel(t.BertConfig(**{"vocab_size": 120, "max_position_embeddings": 40, **wide, **changes}))
    elif kind == "deberta":
        wordpiece(folder)
        model = t.DebertaV2Model(t.DebertaV2Config(vocab_size=120, max_position_embeddings=40, **wide))
    elif kind == "roberta":
        byte_level(folder, roberta=True)
        config = t.RobertaConfig(vocab_size=350, max_position_embeddings=42, pad_token_id=1, type_vocab_size=1, **wide)
        model = t.RobertaModel(config)
    elif kind == "gpt2":
        byte_level(folder)
        model = t.GPT2LMHeadModel(
            t.GPT2Config(vocab_size=350, n_positions=48, n_embd=24, n_layer=2, n_head=3, bos_token_id=0, eos_token_id=0)
        )
    elif kind == "llama":
        byte_level(folder)
        model = t.LlamaForCausalLM(
            t.LlamaConfig(vocab_size=350, num_key_value_heads=1, max_position_embeddings=64, **wide)
        )
    elif kind == "t5":
        unigram(folder)
        sizes = {"d_model": 24, "d_kv": 8, "d_ff": 20, "num_layers": 3, "num_decoder_layers": 2, "num_heads": 3}
        config = t.T5Config(vocab_size=130, decoder_start_token_id=0, **sizes)
        model = t.T5ForConditionalGeneration(config)
    elif kind == "marian":
        sentencepiece(folder)
        pad = len(json.loads((folder / "vocab.json").read_text())) - 1
        sizes = {"d_model": 24, "encoder_layers": 2, "decoder_layers": 3, "max_position_embeddings": 64}
        heads = {
            "encoder_attention_heads": 3,
            "decoder_attention_heads": 3,
            "encoder_ffn_dim": 20,
            "decoder_ffn_dim": 20,
        }
        tokens = {"pad_token_id": pad, "decoder_start_token_id": pad, "eos_token_id": 0, "bos_token_id": 0}
        model = t.MarianMTModel(t.MarianConfig(vocab_size=pad + 1, forced_eos_token_id=0, **sizes, **heads, **tokens))
    else:
        byte_level(folder)
        model = t.MambaModel(t.MambaConfig(vocab_size=350, hidden_size=16, num_hidden_layers=2))
    model.save_pretrained(folder)
    return folder
