"""A run's model as a folder that transformers reads: half-precision weights, tokenizer, card, curves, scores."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from transformers import BertConfig, BertForPreTraining, BertTokenizerFast

from inference.errors import UserError, format_os_error
from training import checkpoint, corpus
from training.bert import EVALUATION_SEED
from training.card import card
from training.config import PretrainingConfig
from training.curves import curves
from training.evaluate import evaluate
from training.folder import SCORES, save_half, write_checksums
from training.model import build, fits, start_folder, vocabulary
from training.precision import precision
from training.prepare import held_out_batches, prepare, training_text
from training.pronoun_score import pronoun_score

# Evaluation while training reads the first batches of another seed's order; the final one has an order of its own.
FINAL_SEED = EVALUATION_SEED + 1


def export(config: PretrainingConfig, folder: Path, *, pairs: int, further: Path | None = None) -> None:
    """Writes the last checkpoint's model, evaluates what was written, and adds card, curves and scores.

    ``further`` is a JSON file of more scores (of a probe, say), which is taken into the scores and the card as it is.
    """
    torch.set_num_threads(config.loop.threads)
    more = {} if further is None else {"further": _load_more_scores(further)}
    saved = checkpoint.finished_checkpoint(config.run, "pretrain")
    start = start_folder(config.start)
    fits(start, config.data.length)
    prepare(config, start / "tokenizer.json")
    model, _ = build(start, config.loop.seed)
    progress = checkpoint.load(saved, model)
    dropout = BertConfig.from_pretrained(start)
    model.config.hidden_dropout_prob = dropout.hidden_dropout_prob
    model.config.attention_probs_dropout_prob = dropout.attention_probs_dropout_prob
    save_half(model, folder)
    _write_tokenizer(start, folder, model.config.max_position_embeddings)
    scores: dict[str, Any] = {"step": progress.step, "pieces": progress.pieces, "hours": progress.seconds / 3600}
    scores |= evaluate_folder(config, folder, pairs) | more
    (folder / SCORES).write_text(json.dumps(scores, indent=1) + "\n", encoding="utf-8")
    (folder / "curves.svg").write_text(curves(config.run / "metrics.jsonl"), encoding="utf-8")
    (folder / "README.md").write_text(card(config, folder, scores), encoding="utf-8")
    write_checksums(folder)


def _load_more_scores(file: Path) -> dict[str, dict[str, Any]]:
    """More scores from a JSON file, each table with its title; raises Refusal where it holds something else."""
    try:
        tables = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"--further {format_os_error(error)}") from error
    except ValueError as error:
        raise UserError(f"--further {file} is not JSON. Give a file of tables of scores.") from error
    if not isinstance(tables, dict) or not all(isinstance(rows, dict) for rows in tables.values()):
        raise UserError(f'--further {file} must hold tables: {{"title": {{"row": 73, ...}}, ...}}')
    return tables


def _write_tokenizer(start: Path, folder: Path, longest: int) -> None:
    """The tokenizer that the run read with, free of what the start's files say about cutting and padding."""
    backend = corpus.tokenizer(start / "tokenizer.json")
    lower_case = bool(getattr(backend.normalizer, "lowercase", True))
    BertTokenizerFast(tokenizer_object=backend, do_lower_case=lower_case, model_max_length=longest).save_pretrained(
        folder
    )


def evaluate_folder(config: PretrainingConfig, folder: Path, pairs: int) -> dict[str, Any]:
    """Scores of a folder's model, computed in float32, on the configuration's held-out texts and on the slide."""
    where = precision("fp32")
    model = BertForPreTraining.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").to(
        where.device
    )
    counts = corpus.read(training_text(config)).counts
    held_out = held_out_batches(config, vocabulary(folder), FINAL_SEED)
    sources = {name: asdict(evaluate(model, batches, pairs, counts, where)) for name, batches in held_out.items()}
    return {"sources": sources, "slide": asdict(pronoun_score(model, BertTokenizerFast.from_pretrained(folder)))}
