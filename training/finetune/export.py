"""A taught model as a folder that transformers reads, told once on the test rows as it was written, with its card."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from probing.labelled.data_checks import LengthFit
from probing.labelled.labeled_texts import LabeledDataset, LabeledText, TaggedText
from training import schedule
from training.finetune import best_weights
from training.finetune.card import card
from training.finetune.encoding import Encoded, encode_rows
from training.finetune.labeled_task import LabeledTask
from training.finetune.model_setup import reopen_model
from training.finetune.predictions import LabelShares, answers, classes, tags
from training.finetune.run import MEASURE, FinetuneRun, scores
from training.finetune.scores import Scores
from training.finetune.settings import FinetuneSettings
from training.folder import SCORES, save_half, write_checksums
from training.precision import precision

PREDICTIONS = "predictions.jsonl"  # of the test rows, a JSON object a line


def export(  # noqa: PLR0913  # a finished run, and what was measured before it
    task: LabeledTask, run: FinetuneRun, settings: FinetuneSettings, folder: Path, counted: Scores, measured: LengthFit
) -> Scores:
    """Writes the best model, scores what was written on the test rows, in float32, and adds card and predictions.

    ``counted`` contains the baseline's scores on the same rows; it is empty for tags, which have none.
    ``measured`` states how many texts were cut.
    """
    best_weights.load_best_weights(run.folder, run.model)
    save(run.model, run.tokenizer, folder)
    labels, where = task.labels, precision("fp32")
    rows = encode_rows(labels.test, labels.labels, run.tokenizer, run.length)
    said = answers(reopen_model(folder, labels.kind).to(where.device), rows, run.batches.padding, where)
    test = scores(labels.kind, rows, said, labels.labels) | counted
    reached = best_weights.mark(run.folder)
    found = {
        "task": labels.kind,
        "model": run.start,
        "seed": settings.seed,
        "test": test,
        "dev": None if reached is None else {MEASURE[labels.kind]: reached.score, "step": reached.step},
        "rows": {"train": len(labels.train), "dev": len(labels.dev), "test": len(labels.test)},
        "cut": {"texts": measured.cut, "of": measured.texts, "length": measured.length},
        "steps": run.progress.step,
        "finished": run.progress.step >= run.progress.schedule.last,
        "seconds": round(run.progress.seconds, 1),
        "rates": schedule.to_json(run.progress.schedule),
    }
    lines = (json.dumps(row, ensure_ascii=False) for row in _predictions(labels, rows, said))
    (folder / PREDICTIONS).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (folder / SCORES).write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (folder / "README.md").write_text(card(task, run, found, settings, folder), encoding="utf-8")
    write_checksums(folder)
    run.metrics.note(f"saved in {folder.name}: test {MEASURE[labels.kind]} {test[MEASURE[labels.kind]]:.3f}")
    return found


def save(model: Any, tokenizer: Any, folder: Path) -> None:
    """Writes weights, in half precision where that can hold them all, configuration and tokenizer."""
    if all(bool(value.half().isfinite().all()) for value in model.state_dict().values() if value.is_floating_point()):
        save_half(model, folder)
    else:
        model.save_pretrained(folder)
    if tokenizer.is_fast:  # its file would go on cutting and filling up
        tokenizer.backend_tokenizer.no_truncation()
        tokenizer.backend_tokenizer.no_padding()
    tokenizer.save_pretrained(folder)


def _predictions(labels: LabeledDataset, rows: Encoded, said: LabelShares) -> Iterator[dict[str, Any]]:
    """What was said of every test row, and how sure: of a text each class's share, of a word its own tag's."""
    if rows.places is None:
        for row, label, shares in zip(labels.test, classes(said, labels.labels), said.shares, strict=True):
            if isinstance(row, LabeledText):
                each = [round(float(share), 6) for share in shares[0]]
                yield {"text": row.text, "label": row.label, "said": label, "shares": each}
        return
    for row, (told, sure) in zip(labels.test, tags(said, rows.places, labels.labels), strict=True):
        if isinstance(row, TaggedText):
            known = [None if share is None else round(share, 6) for share in sure]
            yield {"text": row.text, "words": row.words, "tags": row.tags, "said": told, "shares": known}
