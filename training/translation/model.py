"""Construction of a Marian model from scratch, its forward pass and its loss."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from transformers import GenerationConfig, MarianConfig, MarianMTModel, PreTrainedTokenizerFast

from training.translation.config import MarianShape
from training.translation.data import TranslationBatch

BEAMS = 4


def build(shape: MarianShape, tokenizer: PreTrainedTokenizerFast, seed: int) -> MarianMTModel:
    """Build a randomly initialised Marian model; source, target and output share their embeddings."""
    torch.manual_seed(seed)
    pad, end = tokenizer.pad_token_id, tokenizer.eos_token_id
    model = MarianMTModel(
        MarianConfig(
            vocab_size=len(tokenizer),
            max_position_embeddings=shape.positions,
            d_model=shape.width,
            encoder_layers=shape.layers,
            decoder_layers=shape.layers,
            encoder_attention_heads=shape.heads,
            decoder_attention_heads=shape.heads,
            encoder_ffn_dim=shape.inner,
            decoder_ffn_dim=shape.inner,
            activation_function="relu",
            dropout=shape.dropout,
            init_std=shape.spread,
            scale_embedding=True,
            pad_token_id=pad,
            eos_token_id=end,
            forced_eos_token_id=None,
            decoder_start_token_id=pad,
            attn_implementation="eager",
        )
    )
    model.generation_config = GenerationConfig(
        max_length=shape.positions,
        num_beams=BEAMS,
        pad_token_id=pad,
        eos_token_id=end,
        decoder_start_token_id=pad,
    )
    return model


def read(model: MarianMTModel, batch: TranslationBatch, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return logits (position, token) and labels (position,) of the target positions without padding.

    The decoder input is the target shifted right by one position, so the query at a position generates its token.
    """
    source, target = _to_device(batch.source, device), _to_device(batch.target, device)
    moved = torch.full_like(target, model.config.decoder_start_token_id)
    moved[:, 1:] = target[:, :-1]
    output = model.model(
        input_ids=source,
        attention_mask=(source != batch.padding).long(),
        decoder_input_ids=moved,
        use_cache=False,
    )
    real = target != batch.padding
    return model.lm_head(output.last_hidden_state[real]) + model.final_logits_bias[0], target[real]


def loss(logits: Tensor, labels: Tensor, smoothing: float = 0.0) -> Tensor:
    """Compute the mean cross-entropy in nats, with label smoothing (arXiv:1512.00567)."""
    return functional.cross_entropy(logits.float(), labels, label_smoothing=smoothing)


def _to_device(array: np.ndarray, device: torch.device) -> Tensor:
    return torch.from_numpy(array).to(device, non_blocking=True)
