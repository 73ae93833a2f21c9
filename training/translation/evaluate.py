"""A randomly initialised Marian model, its loss, its scores on held-out sentences, and its alignment head."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from transformers import GenerationConfig, MarianConfig, MarianMTModel, PreTrainedTokenizerFast

from inference.errors import UserError
from training.loop import Precision
from training.translation.config import MarianShape
from training.translation.data import HeldOut, TranslationBatch, laid_out

# Source, target, and aligned words (target word, source word). Each word occurs once in its sentence.
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
    """The cross-attention head that aligns words best, with its accuracies on annotated word pairs.

    A pair counts as right if the target word's largest weight is on the aligned source word. Layers and heads are
    counted from 0.
    """

    layer: int
    head: int
    share: float  # accuracy over the word pairs, between 0 and 1, at the step that generates the word
    own_place: float  # the head's accuracy at the word's own position, one step later
    diagonal: float  # accuracy of a diagonal alignment from first to last token
    with_end: float  # the head's accuracy if the end token is not excluded
    words: int
    sentences: int


@torch.no_grad()
def alignment(
    model: MarianMTModel, tokenizer: PreTrainedTokenizerFast, sentences: Sequence[Aligned] = ALIGNED
) -> AlignmentHead:
    """Find the cross-attention head that aligns annotated word pairs best.

    The decoder reads the given translations (teacher forcing).
    """
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
            writing, reading = weights[:, :, rows[0]], weights[:, :, rows[0] + 1]  # query i generates token i
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
    """Return the positions of the tokens of the first occurrence of a word in an encoded text."""
    begin, end = next(re.finditer(rf"\b{word}\b", text)).span()
    offsets = encoding.encodings[0].offsets
    return [at for at, (first, last) in enumerate(offsets) if first < end and last > begin and first < last]


ROWS = 64  # sentences in a batch


@dataclass(frozen=True)
class TeacherForcingScores:
    """Loss and accuracy of next-token prediction under teacher forcing."""

    pieces: int  # target tokens
    loss: float  # nats per token
    accuracy: float  # share of tokens with the largest logit, between 0 and 1


@dataclass(frozen=True)
class TranslationScore:
    """BLEU and chrF of translations, from 0 to 100, computed by sacrebleu (arXiv:1804.08771)."""

    sentences: int
    references: int  # references of all sentences
    bleu: float
    chrf: float
    bleu_signature: str
    chrf_signature: str


@torch.no_grad()
def teacher_forcing_scores(
    model: MarianMTModel, tokenizer: PreTrainedTokenizerFast, held: Sequence[HeldOut], precision: Precision
) -> TeacherForcingScores:
    """Compute the next-token loss and accuracy on the first reference translation of each sentence."""
    sides = [one.source for one in held], [one.references[0] for one in held]
    rows = list(zip(*(_truncate_rows(model, encode_sentences(tokenizer, side)) for side in sides), strict=True))
    rows.sort(key=lambda row: (len(row[1]), len(row[0])))
    sums = np.zeros(3)
    model.eval()
    for at in range(0, len(rows), ROWS):
        sources, targets = zip(*rows[at : at + ROWS], strict=True)
        pad = tokenizer.pad_token_id
        with precision.autocast():
            logits, labels = read(
                model, TranslationBatch(laid_out(sources, pad), laid_out(targets, pad), pad), precision.device
            )
        right = (logits.argmax(dim=1) == labels).sum()
        sums += [len(labels), len(labels) * float(loss(logits, labels)), float(right)]
    model.train()
    return TeacherForcingScores(int(sums[0]), sums[1] / sums[0], sums[2] / sums[0])


@torch.no_grad()
def translate(
    model: MarianMTModel, tokenizer: PreTrainedTokenizerFast, sentences: Sequence[str], *, beams: int
) -> list[str]:
    """Translate sentences by beam search with ``beams`` beams; 1 means greedy decoding."""
    model.eval()
    rows = _truncate_rows(model, encode_sentences(tokenizer, sentences))
    order = sorted(range(len(rows)), key=lambda at: len(rows[at]))
    found = [""] * len(rows)
    for at in range(0, len(order), ROWS):
        chosen = order[at : at + ROWS]
        source = torch.from_numpy(laid_out([rows[one] for one in chosen], tokenizer.pad_token_id)).to(model.device)
        written = model.generate(
            input_ids=source,
            attention_mask=(source != tokenizer.pad_token_id).long(),
            num_beams=beams,
            max_length=min(model.config.max_position_embeddings, 2 * source.shape[1] + 20),
        )
        texts = tokenizer.batch_decode(written, skip_special_tokens=True)
        for one, text in zip(chosen, texts, strict=True):
            found[one] = text
    model.train()
    return found


def score_translations(
    translations: Sequence[str], held: Sequence[HeldOut], *, references: int | None = None
) -> TranslationScore:
    """Compute BLEU and chrF of translations against the first ``references`` references of each sentence.

    If ``references`` is None, all references count.
    """
    metrics = sacrebleu().metrics
    kept = [one.references[:references] for one in held]
    most = max(map(len, kept))
    streams = [[refs[at] if at < len(refs) else None for refs in kept] for at in range(most)]
    bleu, chrf = metrics.BLEU(), metrics.CHRF()
    bleu_score = bleu.corpus_score(list(translations), streams).score
    chrf_score = chrf.corpus_score(list(translations), streams).score
    return TranslationScore(
        len(held),
        sum(map(len, kept)),
        float(bleu_score),
        float(chrf_score),
        str(bleu.get_signature()),
        str(chrf.get_signature()),
    )


def sacrebleu() -> ModuleType:
    """Import sacrebleu; raise UserError if it is not installed."""
    try:
        import sacrebleu
    except ImportError as error:
        raise UserError(
            "Translations are scored by sacrebleu. Install it: pip install -r requirements-test.txt"
        ) from error
    return sacrebleu


def encode_sentences(tokenizer: PreTrainedTokenizerFast, sentences: Sequence[str]) -> list[list[int]]:
    """Return the token ids of every sentence, including the end token."""
    pieces: list[list[int]] = tokenizer(list(sentences))["input_ids"]
    return pieces


def _truncate_rows(model: MarianMTModel, rows: list[list[int]]) -> list[list[int]]:
    """Truncate rows to the model's number of positions, keeping the end token."""
    most = model.config.max_position_embeddings
    return [row if len(row) <= most else [*row[: most - 1], row[-1]] for row in rows]


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
    """Run a forward pass; return the logits (position, token) and labels (position,) of all target tokens.

    Padding is left out. The decoder input is the target shifted right by one position, so each position predicts its
    own token.
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
