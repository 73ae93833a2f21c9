"""Tiny random models of every supported architecture, built from configurations without downloading weights.

Axes have unequal lengths: 2 layers, 3 (or 4) heads, texts of 5 to 9 tokens.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import torch
from transformers import AutoConfig, AutoModel
from transformers.utils import logging

from inference.record import capture

# Random configurations have special tokens outside their tiny vocabularies, and transformers warns about each.
logging.set_verbosity_error()

BERT = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 32, "vocab_size": 40}
GPT = {"n_embd": 24, "n_layer": 2, "n_head": 3, "vocab_size": 40, "n_positions": 64}
GROUPED = {**BERT, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 6, "max_position_embeddings": 64}
SEQ2SEQ = {
    "d_model": 24, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 3, "decoder_attention_heads": 3,
    "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "vocab_size": 40, "max_position_embeddings": 64, "pad_token_id": 0,
    "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2,
}  # fmt: skip
T5 = {"d_model": 24, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 3, "vocab_size": 40,
      "decoder_start_token_id": 0}  # fmt: skip
VISION = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 32,
          "image_size": 12, "patch_size": 4}  # fmt: skip
CLIP_TEXT = {**BERT, "max_position_embeddings": 64, "eos_token_id": 2, "bos_token_id": 1, "pad_token_id": 0}


@dataclass(frozen=True)
class Architecture:
    """A row of the table.

    ``kind`` is "encoder", "decoder", "encoder-decoder", "cross", "vision" or "sound".
    """

    name: str
    model_type: str
    kind: str
    config: dict[str, Any] = field(default_factory=dict)
    pairs: bool = False  # True if the model takes segment ids.
    seed: int = 0
    spread: float = 0.25  # Standard deviation of the weights' noise; large, so that attention is far from uniform.


RECORDED = [
    Architecture("BERT", "bert", "encoder", BERT, pairs=True),
    Architecture("RoBERTa", "roberta", "encoder", {**BERT, "max_position_embeddings": 64, "pad_token_id": 1}),
    Architecture("XLM-RoBERTa", "xlm-roberta", "encoder", {**BERT, "max_position_embeddings": 64, "pad_token_id": 1}),
    Architecture("CamemBERT", "camembert", "encoder", {**BERT, "max_position_embeddings": 64, "pad_token_id": 1}),
    Architecture("ELECTRA", "electra", "encoder", {**BERT, "embedding_size": 16}, pairs=True),
    Architecture("ERNIE", "ernie", "encoder", BERT, pairs=True),
    Architecture("ESM", "esm", "encoder",
                 {**BERT, "max_position_embeddings": 64, "pad_token_id": 1, "mask_token_id": 3,
                  "position_embedding_type": "rotary"}),
    Architecture("DistilBERT", "distilbert", "encoder",
                 {"dim": 24, "n_layers": 2, "n_heads": 3, "hidden_dim": 32, "vocab_size": 40}),
    Architecture("ALBERT", "albert", "encoder", {**BERT, "embedding_size": 16}, pairs=True),
    Architecture("ModernBERT", "modernbert", "encoder",
                 {**BERT, "num_hidden_layers": 3, "local_attention": 4, "global_attn_every_n_layers": 3,
                  "pad_token_id": 0, "max_position_embeddings": 64}),
    Architecture("NomicBERT", "nomic_bert", "encoder", {**BERT, "pad_token_id": 0}, pairs=True),
    Architecture("EuroBERT", "eurobert", "encoder", {**GROUPED, "pad_token_id": 0}),
    Architecture("GPT-2", "gpt2", "decoder", GPT),
    Architecture("GPT-2, scaled by layer", "gpt2", "decoder",
                 {**GPT, "scale_attn_by_inverse_layer_idx": True, "reorder_and_upcast_attn": True}),
    Architecture("GPT-NeoX", "gpt_neox", "decoder", {**BERT, "max_position_embeddings": 64}),
    Architecture("Llama", "llama", "decoder", GROUPED),
    Architecture("Mistral", "mistral", "decoder", {**GROUPED, "sliding_window": 4}),
    Architecture("Gemma", "gemma", "decoder", GROUPED),
    Architecture("Gemma 2", "gemma2", "decoder",
                 {**GROUPED, "sliding_window": 4, "attn_logit_softcapping": 2.0, "query_pre_attn_scalar": 6}),
    Architecture("Gemma 3", "gemma3_text", "decoder", {**GROUPED, "sliding_window": 4, "query_pre_attn_scalar": 6}),
    Architecture("Qwen 2", "qwen2", "decoder", GROUPED),
    Architecture("Qwen 3", "qwen3", "decoder", GROUPED),
    Architecture("Phi 3", "phi3", "decoder", {**GROUPED, "pad_token_id": 0}),
    Architecture("OPT", "opt", "decoder",
                 {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "ffn_dim": 32, "vocab_size": 40,
                  "word_embed_proj_dim": 24, "max_position_embeddings": 64}),
    Architecture("gpt-oss", "gpt_oss", "decoder",
                 {**GROUPED, "sliding_window": 4, "num_local_experts": 2, "num_experts_per_tok": 1}),
    Architecture("Marian", "marian", "encoder-decoder", SEQ2SEQ),
    Architecture("BART", "bart", "encoder-decoder", SEQ2SEQ),
    Architecture("mBART", "mbart", "encoder-decoder", SEQ2SEQ),
    Architecture("Pegasus", "pegasus", "encoder-decoder", SEQ2SEQ),
    Architecture("M2M100", "m2m_100", "encoder-decoder", SEQ2SEQ),
    Architecture("T5", "t5", "encoder-decoder", T5, spread=0.1),
    Architecture("mT5", "mt5", "encoder-decoder", T5, spread=0.1),
    Architecture("UMT5", "umt5", "encoder-decoder", T5, spread=0.1),
    Architecture("Whisper", "whisper", "sound",
                 {**SEQ2SEQ, "num_mel_bins": 6, "max_source_positions": 7, "max_target_positions": 16}),
    Architecture("ViT", "vit", "vision", VISION),
    Architecture("DINOv2", "dinov2", "vision", VISION),
    Architecture("CLIP, text", "clip_text_model", "encoder", CLIP_TEXT),
    Architecture("CLIP, vision", "clip_vision_model", "vision", VISION),
    Architecture("SigLIP, vision", "siglip_vision_model", "vision", VISION),
    Architecture("BERT with cross-attention", "bert", "cross",
                 {**BERT, "is_decoder": True, "add_cross_attention": True}),
    Architecture("GPT-2 with cross-attention", "gpt2", "cross", {**GPT, "add_cross_attention": True}),
]  # fmt: skip

IRREGULAR = [  # Recording works as for the others, but two calls or several matrices produce a head's vectors.
    Architecture("DiffLlama", "diffllama", "decoder", GROUPED),
    Architecture(
        "Mistral 4",
        "mistral4",
        "decoder",
        {
            **BERT,
            "num_attention_heads": 4,
            "num_key_value_heads": 4,
            "max_position_embeddings": 64,
            "moe_intermediate_size": 8,
            "n_routed_experts": 2,
            "num_experts_per_tok": 1,
            "kv_lora_rank": 8,
            "q_lora_rank": 8,
            "qk_rope_head_dim": 4,
            "qk_nope_head_dim": 6,
            "v_head_dim": 10,
        },
    ),
]
EVERY_RECORDED = [*RECORDED, *IRREGULAR]
MAPS_ONLY = [
    Architecture("MPNet", "mpnet", "encoder", {**BERT, "max_position_embeddings": 64, "pad_token_id": 1}),
    Architecture("DeBERTa", "deberta", "encoder", {**BERT, "relative_attention": True, "pos_att_type": "c2p|p2c"}),
    Architecture("DeBERTa v2", "deberta-v2", "encoder",
                 {**BERT, "relative_attention": True, "pos_att_type": "c2p|p2c", "position_buckets": 4}),
    Architecture("Longformer", "longformer", "encoder",
                 {**BERT, "attention_window": 4, "max_position_embeddings": 64, "pad_token_id": 1}),
    Architecture("LED", "led", "encoder-decoder",
                 {**SEQ2SEQ, "attention_window": 4, "max_encoder_position_embeddings": 64,
                  "max_decoder_position_embeddings": 64}),
    Architecture("BigBird, full", "big_bird", "encoder", {**BERT, "attention_type": "original_full"}),
    Architecture("RoFormer", "roformer", "encoder", {**BERT, "embedding_size": 24}),
    Architecture("XLNet", "xlnet", "encoder",
                 {"d_model": 24, "n_layer": 2, "n_head": 3, "d_inner": 32, "vocab_size": 40}),
    Architecture("BLOOM", "bloom", "decoder", {"hidden_size": 24, "n_layer": 2, "n_head": 3, "vocab_size": 40}),
    Architecture("Falcon", "falcon", "decoder", {**BERT, "num_kv_heads": 3, "alibi": False}),
    Architecture("GPT-J", "gptj", "decoder", {**GPT, "rotary_dim": 4}),
    Architecture("GPT-Neo", "gpt_neo", "decoder",
                 {"hidden_size": 24, "num_layers": 2, "num_heads": 3, "vocab_size": 40, "max_position_embeddings": 64,
                  "attention_types": [[["global", "local"], 1]], "window_size": 4, "intermediate_size": 32}),
    Architecture("MPT", "mpt", "decoder", {"d_model": 24, "n_heads": 3, "n_layers": 2, "vocab_size": 40}),
    # The decoder passes queries, keys and values to the attention function; the encoder does not.
    Architecture("BigBird-Pegasus", "bigbird_pegasus", "encoder-decoder",
                 {**SEQ2SEQ, "attention_type": "original_full"}),
]  # fmt: skip

SPARSE_BIGBIRD = Architecture(
    "BigBird, sparse", "big_bird", "encoder",
    {**BERT, "block_size": 2, "num_random_blocks": 1, "max_position_embeddings": 64},
)  # fmt: skip


def named(name: str) -> Architecture:
    """Return the row of an architecture."""
    return next(row for row in (*EVERY_RECORDED, *MAPS_ONLY) if row.name == name)


_BUILT: dict[tuple[str, str], Any] = {}
TINY = 1_000_000  # Larger models are not cached; in parameters.


def build(row: Architecture, implementation: str) -> Any:
    """Return the row's model with random weights, which are the same for every attention implementation.

    Each call returns a model that the caller may modify. Models of at most ``TINY`` parameters are cached and
    copied.
    """
    asked = repr(row), implementation
    if asked not in _BUILT:
        model = _built(row, implementation)
        if model.num_parameters() > TINY:
            return model
        _BUILT[asked] = model
    return deepcopy(_BUILT[asked])


def _built(row: Architecture, implementation: str) -> Any:
    config = AutoConfig.for_model(row.model_type, **row.config)
    noise = torch.Generator().manual_seed(row.seed)
    with torch.random.fork_rng(), torch.no_grad():
        fitting = capture.implementation(config) if implementation == capture.NAME else implementation
        torch.manual_seed(row.seed)
        model = AutoModel.from_config(config, attn_implementation=fitting)
        for parameter in model.parameters() if row.spread else ():
            parameter.add_(torch.randn(parameter.shape, generator=noise) * row.spread)
    return model.eval()


def inputs(row: Architecture, lengths: tuple[int, ...] = (7,), side: str = "right") -> dict[str, torch.Tensor]:
    """Return a batch of texts of these lengths, padded on ``side``.

    Models that read pictures or sound get these instead, in a batch of the same size.
    """
    noise = torch.Generator().manual_seed(1)
    if row.kind == "vision":
        return {"pixel_values": torch.randn(len(lengths), 3, 12, 12, generator=noise)}
    found = _text(row, lengths, side)
    if row.kind in ("encoder-decoder", "sound"):
        target = _text(row, tuple(length - 2 for length in lengths), side)
        found |= {"decoder_input_ids": target["input_ids"], "decoder_attention_mask": target["attention_mask"]}
    if row.kind == "sound":
        sound = torch.randn(len(lengths), 6, 14, generator=noise)
        found = {"input_features": sound, "decoder_input_ids": found["decoder_input_ids"]}
    if row.kind == "cross":
        found["encoder_hidden_states"] = torch.randn(len(lengths), 9, 24, generator=noise)
    if row.pairs:
        segments = torch.zeros_like(found["input_ids"])
        segments[:, 3:] = 1
        found["token_type_ids"] = segments
    return found


def _text(row: Architecture, lengths: tuple[int, ...], side: str) -> dict[str, torch.Tensor]:
    pad = row.config.get("pad_token_id") or 0
    width = max(lengths)
    ids = torch.full((len(lengths), width), pad)
    mask = torch.zeros(len(lengths), width, dtype=torch.long)
    for sample, length in enumerate(lengths):
        # Each text is independent of its neighbours, so that single runs can repeat it.
        place = slice(0, length) if side == "right" else slice(width - length, width)
        ids[sample, place] = (torch.arange(length) * (5 + sample) + 7) % 33 + 4
        mask[sample, place] = 1
    return {"input_ids": ids, "attention_mask": mask}
