"""How well a translator does on sentences that it never saw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType

import numpy as np
import torch
from transformers import MarianMTModel, PreTrainedTokenizerFast

from inference.errors import UserError
from training.precision import Precision
from training.translation.batches import TranslationBatch, laid_out
from training.translation.model import loss, read
from training.translation.pairs import HeldOut

ROWS = 64  # sentences read at once


@dataclass(frozen=True)
class TeacherForcingScores:
    """Answers where the right translation so far is given."""

    pieces: int  # of the targets
    loss: float  # nats a piece
    accuracy: float  # share of pieces that are the first choice, between 0 and 1


@dataclass(frozen=True)
class TranslationScore:
    """Translations against references, as sacrebleu counts them: BLEU and chrF (arXiv:1804.08771), from 0 to 100."""

    sentences: int
    references: int  # of all sentences together
    bleu: float
    chrf: float
    bleu_signature: str
    chrf_signature: str


@torch.no_grad()
def teacher_forcing_scores(
    model: MarianMTModel, tokenizer: PreTrainedTokenizerFast, held: Sequence[HeldOut], precision: Precision
) -> TeacherForcingScores:
    """Loss and accuracy on the first reference of each sentence."""
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
    """Translations, in the order of the sentences; greedy where ``beams`` is 1."""
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
    """BLEU and chrF against every reference, or against the first so many of each sentence."""
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
    """The library that counts; raises Refusal where it is not installed."""
    try:
        import sacrebleu
    except ImportError as error:
        raise UserError(
            "Translations are scored by sacrebleu. Install it: pip install -r requirements-test.txt"
        ) from error
    return sacrebleu


def encode_sentences(tokenizer: PreTrainedTokenizerFast, sentences: Sequence[str]) -> list[list[int]]:
    """Pieces of every sentence, end mark included."""
    pieces: list[list[int]] = tokenizer(list(sentences))["input_ids"]
    return pieces


def _truncate_rows(model: MarianMTModel, rows: list[list[int]]) -> list[list[int]]:
    """The rows, cut where one is longer than the model reads; the end mark stays."""
    most = model.config.max_position_embeddings
    return [row if len(row) <= most else [*row[: most - 1], row[-1]] for row in rows]
