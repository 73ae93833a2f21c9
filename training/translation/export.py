"""A translator as a folder that transformers reads: half-precision weights, tokenizer, card, curves, scores."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from transformers import MarianMTModel, PreTrainedTokenizerFast

from training import checkpoint
from training.checkpoint import RunProgress
from training.folder import SCORES, save_half, write_checksums
from training.precision import precision
from training.translation import vocabulary
from training.translation.alignment import alignment
from training.translation.batches import TranslationBatches
from training.translation.card import card
from training.translation.config import TranslationConfig
from training.translation.curves import curves
from training.translation.evaluate import sacrebleu, score_translations, teacher_forcing_scores, translate
from training.translation.model import BEAMS, build
from training.translation.pairs import HeldOut, Pair, pairs, split
from training.translation.run import own_tokenizer, read_batches, sample_held_out

SHORT, LONG = 7, 12  # words: a source with at most, or at least, so many
# Sentences of our own that show what the model can do and what it cannot.
SHOWN = (
    "I am tired.",
    "The black cat sleeps under the table.",
    "Where did you put my red shoes?",
    "We will have to leave before it gets dark.",
    "My sister bought three books yesterday.",
    "If I had known, I would not have come.",
    "The animal didn't cross the street because it was too tired.",
    "The committee approved the annual budget despite strong opposition.",
)


def export(config: TranslationConfig, folder: Path, *, sentences: int | None = None) -> None:
    """Writes the last checkpoint's model, evaluates what was written, and adds card, curves and scores.

    All held-out sentences are translated, or ``sentences`` of them, from the whole list.
    """
    sacrebleu()
    torch.set_num_threads(config.loop.threads)
    saved = checkpoint.finished_checkpoint(config.run, "translate")
    train, held = split(pairs(config.pairs.path), config.data.held_out)
    tokenizer = own_tokenizer(config, train)
    model = build(config.shape, tokenizer, config.loop.seed)
    progress = checkpoint.load(saved, model)
    save_half(model, folder)
    vocabulary.wrap_tokenizer(tokenizer.backend_tokenizer, config.shape.positions).save_pretrained(folder)
    scores = _run(config, progress, read_batches(config, tokenizer, train), held) | evaluate_folder(
        folder, train, sample_held_out(held, sentences)
    )
    (folder / SCORES).write_text(json.dumps(scores, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (folder / "curves.svg").write_text(curves(config.run / "metrics.jsonl"), encoding="utf-8")
    (folder / "README.md").write_text(card(config, folder, scores), encoding="utf-8")
    write_checksums(folder)


def evaluate_folder(folder: Path, train: Sequence[Pair], held: Sequence[HeldOut]) -> dict[str, Any]:
    """Scores of a folder's model, computed in float32, on sentences that are not in ``train``."""
    tokenizer = vocabulary.load(folder)
    where = precision("fp32")
    model = MarianMTModel.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").to(where.device)
    found = {
        "greedy": translate(model, tokenizer, [one.source for one in held], beams=1),
        "beams": translate(model, tokenizer, [one.source for one in held], beams=BEAMS),
        "copy": [one.source for one in held],
    }
    lengths = [len(one.source.split()) for one in held]
    written = {target for _, target in train}
    groups = {
        "all": range(len(held)),
        "short": [at for at, words in enumerate(lengths) if words <= SHORT],
        "long": [at for at, words in enumerate(lengths) if words >= LONG],
        "new": [at for at, one in enumerate(held) if written.isdisjoint(one.references)],
    }
    return {
        "scores": {name: _group(found, held, places) for name, places in groups.items() if places},
        "forced": asdict(teacher_forcing_scores(model, tokenizer, held, where)),
        "alignment": asdict(alignment(model, tokenizer)),
        "samples": samples(model, tokenizer),
    }


def samples(model: MarianMTModel, tokenizer: PreTrainedTokenizerFast) -> list[dict[str, str]]:
    """Translations of sentences of our own, with beams."""
    return [
        {"source": source, "translation": translation}
        for source, translation in zip(SHOWN, translate(model, tokenizer, SHOWN, beams=BEAMS), strict=True)
    ]


def _group(found: dict[str, list[str]], held: Sequence[HeldOut], places: Sequence[int]) -> dict[str, Any]:
    """Every way to translate, scored on some of the sentences; with beams also against one reference only."""
    some = [held[at] for at in places]
    scores = {name: asdict(score_translations([texts[at] for at in places], some)) for name, texts in found.items()}
    scores["beams, one reference"] = asdict(
        score_translations([found["beams"][at] for at in places], some, references=1)
    )
    return scores


def _run(
    config: TranslationConfig, progress: RunProgress, batches: TranslationBatches, held: Sequence[HeldOut]
) -> dict[str, Any]:
    """What was read, and for how long."""
    return {
        "step": progress.step,
        "pieces": progress.pieces,
        "hours": progress.seconds / 3600,
        "pairs": len(batches.targets.lengths),
        "held_out": len(held),
        "share_held_out": config.data.held_out,
    }
