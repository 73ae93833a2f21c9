"""BERT with both pre-training heads: construction, losses, attention distillation, and head initialisation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file
from torch import Tensor
from torch.nn import functional
from transformers import BertConfig, BertForPreTraining, BertModel, BertTokenizerFast
from transformers.modeling_outputs import BaseModelOutputWithPoolingAndCrossAttentions as Encoded

from inference.errors import UserError
from inference.files.embedded import folder as embedded_folder
from training.batches import PretrainingBatch, Vocabulary

ENCODER = ("embeddings.", "encoder.", "pooler.")


def start_folder(start: str) -> Path:
    """Return the folder of the initial model; raise UserError if config.json or tokenizer.json is missing.

    The folder can also contain the weights of an encoder.
    """
    folder = embedded_folder() if start == "embedded" else Path(start)
    for name in ("config.json", "tokenizer.json"):
        if not (folder / name).is_file():
            raise UserError(f"{folder} holds no {name}, so no model can start from it.")
    return folder


def fits(folder: Path, length: int) -> None:
    """Raise UserError if the model in a folder reads fewer than ``length`` tokens."""
    most = BertConfig.from_pretrained(folder).max_position_embeddings
    if length > most:
        raise UserError(
            f"[data] length = {length} is too long: the model in {folder.name} reads at most {most} pieces."
        )


def vocabulary(folder: Path) -> Vocabulary:
    """Return the special token ids of a folder's tokenizer, and flags for tokens that continue a word."""
    tokenizer = BertTokenizerFast.from_pretrained(folder)
    tokens = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    special = {*tokenizer.all_special_ids, *(i for i, token in enumerate(tokens) if token.startswith("[unused"))}
    return Vocabulary(
        start=tokenizer.cls_token_id,
        end=tokenizer.sep_token_id,
        padding=tokenizer.pad_token_id,
        mask=tokenizer.mask_token_id,
        ordinary=np.array([i for i in range(len(tokens)) if i not in special], np.int64),
        continues=np.array([token.startswith("##") for token in tokens]),
    )


def build(folder: Path, seed: int) -> tuple[BertForPreTraining, bool]:
    """Build a BERT for pre-training from a folder; return it, and True if the folder has encoder weights.

    Dropout is off: a run of this size reads no text twice, so there is little to overfit. All other weights are random,
    drawn by the seed. Raise UserError if the stored weights do not fit config.json.
    """
    config = BertConfig.from_pretrained(
        folder, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, attn_implementation="eager"
    )
    torch.manual_seed(seed)
    model = BertForPreTraining(config)
    weights = folder / "model.safetensors"
    if not weights.is_file():
        return model, False
    stored = {name.removeprefix("bert."): value for name, value in load_file(weights).items()}
    encoder = {name: value.float() for name, value in stored.items() if name.startswith(ENCODER)}
    encoder.pop("embeddings.position_ids", None)  # a constant in older files, which the model does not load
    try:
        model.bert.load_state_dict(encoder, strict=True)
    except RuntimeError as error:
        raise UserError(
            f"The weights in {folder} are not a whole BERT encoder of the size its config.json says."
        ) from error
    return model, True


@dataclass(frozen=True)
class PretrainingOutput:
    """The outputs of BERT for a batch: vocabulary logits, next-sentence logits, and attention maps."""

    logits: Tensor  # (chosen, vocabulary)
    follows: Tensor  # (row, 2) next-sentence logits: 0 follows, 1 is from another document
    attentions: tuple[Tensor, ...]  # per layer (row, head, query, key); empty unless requested


def read(
    model: BertForPreTraining, batch: PretrainingBatch, device: torch.device, *, attentions: bool = False
) -> PretrainingOutput:
    """Run a forward pass of BERT on a batch and return its outputs.

    Vocabulary logits, the most expensive part, are computed only at the positions to predict.
    """
    output = encode(model.bert, batch, device, attentions=attentions)
    hidden = output.last_hidden_state.flatten(0, 1)[_to_device(batch.masked.places, device)]
    logits = model.cls.predictions(hidden)
    return PretrainingOutput(logits, model.cls.seq_relationship(output.pooler_output), output.attentions or ())


def encode(
    encoder: BertModel, batch: PretrainingBatch, device: torch.device, *, attentions: bool, rows: int | None = None
) -> Encoded:
    """Run the encoder on a batch, or on its first ``rows`` rows."""
    real = batch.real[:rows]
    return encoder(
        _to_device(batch.masked.pieces[:rows], device),
        attention_mask=None if real.all() else _to_device(real, device),
        token_type_ids=_to_device(batch.segments[:rows], device),
        output_attentions=attentions,
    )


def losses(reading: PretrainingOutput, batch: PretrainingBatch) -> tuple[Tensor, Tensor]:
    """Compute the mean cross-entropies in nats of masked tokens and of next-sentence prediction.

    BERT's pre-training loss is their sum.
    """
    device = reading.logits.device
    pieces = functional.cross_entropy(reading.logits.float(), _to_device(batch.masked.labels, device))
    pairs = functional.cross_entropy(reading.follows.float(), _to_device(batch.random, device))
    return pieces, pairs


def _to_device(array: np.ndarray, device: torch.device) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(array)).to(device, non_blocking=True)


LEAST = 1e-6  # attention weights are clamped to this before the logarithm, since smaller values are rounding errors


@torch.no_grad()
def teach(teacher: BertModel, batch: PretrainingBatch, device: torch.device, rows: int) -> tuple[Tensor, ...]:
    """Compute the teacher's attention maps for the first ``rows`` rows of a batch.

    Return a tensor (row, head, query, key) per layer.
    """
    maps: tuple[Tensor, ...] = encode(teacher, batch, device, attentions=True, rows=rows).attentions
    return maps


def divergence(taught: tuple[Tensor, ...], learnt: tuple[Tensor, ...]) -> Tensor:
    """Compute the Kullback-Leibler divergence D(teacher ‖ student) of attention maps.

    The result is in nats, averaged over queries, heads, rows and layers. ``taught`` and ``learnt`` have the maps of the
    teacher and the student per layer. Only the rows that the teacher has are compared.

    >>> even, one_sided = torch.tensor([[[[0.5, 0.5]]]]), torch.tensor([[[[0.25, 0.75]]]])
    >>> round(float(divergence((even, even), (even, one_sided))), 4)  # half of 0.5 log 2 + 0.5 log (2/3)
    0.0719
    """
    each = []
    for wanted, given in zip(taught, learnt, strict=True):
        wanted, given = wanted.float(), given[: len(wanted)].float()
        difference = wanted.clamp_min(LEAST).log() - given.clamp_min(LEAST).log()
        each.append((wanted * difference).sum(dim=-1).mean())
    return torch.stack(each).mean()


RIDGE = 0.01  # ridge penalty, as a share of the hidden states' mean variance
SAMPLE = 500  # positions from which the scale of the logits is chosen
SHIFT = 3.0  # offset, in standard deviations of GELU's input, at which GELU is nearly the identity


def ridge(hidden: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Fit an affine map from hidden states to targets, both (n, width), by ridge regression.

    Return its matrix and its offset.

    >>> states = torch.randn(200, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    >>> matrix, offset = ridge(states, states * 2 + 1)
    >>> torch.allclose(states @ matrix.T + offset, states * 2 + 1, atol=0.1)
    True
    """
    means = hidden.mean(dim=0), target.mean(dim=0)
    centred, wanted = hidden - means[0], target - means[1]
    products = centred.T @ centred
    products.diagonal().add_(RIDGE * products.diagonal().mean())
    matrix = torch.linalg.solve(products, centred.T @ wanted).T
    return matrix, means[1] - matrix @ means[0]


@torch.no_grad()
def warm_start(model: BertForPreTraining, batches: Iterable[PretrainingBatch], counts: NDArray[np.int64]) -> None:
    """Initialise the masked-LM head by a ridge regression from hidden states to word embeddings.

    The targets are the word embeddings of the masked tokens, and the output bias is the logarithm of the token
    frequencies. GELU comes between the fitted map and the embeddings. The map's output is therefore shifted into the
    range in which GELU is nearly the identity, and the following layer normalisation removes the shift.
    """
    head = model.cls.predictions
    embeddings = model.bert.embeddings.word_embeddings.weight.double().cpu()
    frequency = torch.from_numpy((counts + 1.0) / (counts.sum() + len(counts)))
    centre = (frequency[:, None] * embeddings).sum(dim=0)
    states: list[Tensor] = []
    asked: list[Tensor] = []
    hook = head.register_forward_pre_hook(lambda _, inputs: states.append(inputs[0].double().cpu()))
    try:
        for batch in batches:
            read(model, batch, model.device)
            asked.append(torch.from_numpy(batch.masked.labels))
    finally:
        hook.remove()
    hidden, labels = torch.cat(states), torch.cat(asked)
    matrix, offset = ridge(hidden, embeddings[labels] - centre)
    fitted = hidden @ matrix.T + offset
    scale = fitted.std()
    dense, norm = head.transform.dense, head.transform.LayerNorm
    dense.weight.copy_(matrix / scale)
    dense.bias.copy_(offset / scale + SHIFT)
    norm.weight.fill_(float(_best_scale(fitted, embeddings, frequency.log(), labels)))
    norm.bias.zero_()
    head.bias.copy_(frequency.log())


def _best_scale(fitted: Tensor, embeddings: Tensor, bias: Tensor, labels: Tensor) -> Tensor:
    """Return the scale of the normalised vectors that minimises the loss on a sample."""
    unit = functional.layer_norm(fitted[:SAMPLE], fitted.shape[1:])
    similarity = unit @ embeddings.T
    scales = torch.logspace(-2, 1, 10, dtype=torch.float64)
    entropy = [functional.cross_entropy(similarity * scale + bias, labels[:SAMPLE]) for scale in scales]
    return scales[int(torch.stack(entropy).argmin())]
