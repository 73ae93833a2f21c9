"""Evaluation results of a fine-tuned model: cached, quoted in sentences, and saved as CSV."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from i18n import _
from probing.labelled.evaluation import (
    Calibration,
    Counts,
    SpanCounts,
    answer_confidences,
    calibration,
    confusion,
    f1_interval,
    per_label,
)
from probing.labelled.predictions import ROWS, TestPredictions, ToldRow, load_predictions, worst_first
from ui.pages.teach.training_progress import BASELINES, CHOICE, MEASURES, NOT_RECORDED
from ui.show.tables import csv_table, download_button
from viz.figures.theme import truncate

LONGEST = 60  # The maximum number of characters of a quoted label.
KEPT = 4  # The capacity of the cache, in models.


def quote_label(label: str) -> str:
    """Return the label in quotation marks, truncated and in Unicode isolates.

    The isolates keep a right-to-left label from reordering the text around it.

    >>> quote_label("a")
    '“\\u2068a\\u2069”'
    """
    return f"“\u2068{truncate(label, LONGEST)}\u2069”"


@dataclass(frozen=True, eq=False)
class EvaluationResults:
    """Predictions for the test rows and the statistics computed from them."""

    predictions: TestPredictions
    rows: tuple[ToldRow, ...]  # Errors with the highest confidence come first.
    counts: Counts  # The shape is (true label, predicted label).
    each: dict[str, SpanCounts]  # The keys are classes or entity types.
    f1: tuple[float, float]  # The 95 % interval of the entity F1.
    sureness: Calibration | None  # None if the model predicted no entity.


def load_results(folder: Path) -> EvaluationResults:
    """Load the results in a model's folder; raise UserError if they cannot be read.

    Results are cached by the modification time of the file.
    """
    rows = folder / ROWS
    return _load_results(folder, rows.stat().st_mtime_ns if rows.exists() else 0)


@lru_cache(KEPT)
def _load_results(folder: Path, _written: int) -> EvaluationResults:
    found = load_predictions(folder)
    given = answer_confidences(found)
    return EvaluationResults(
        found,
        tuple(worst_first(found.rows)),
        confusion(found),
        per_label(found),
        f1_interval(found),
        calibration(given) if len(given.sure) else None,
    )


def save_table(
    names: Sequence[str], rows: Iterable[Sequence[object]], file: str, found: TestPredictions, model: str
) -> None:
    """Draw a button that saves ``rows`` as CSV, with the model, its task, seed and steps."""
    download_button(_("Save as CSV"), csv_table(names, rows), f"headlight-results-{file}.csv", _("All digits"),
         key=f"teach_save_{file}", provenance=evaluation_provenance(found.scores, model))  # fmt: skip


def evaluation_provenance(scores: Mapping[str, Any], model: str) -> dict[str, Any]:
    """Return the provenance of scores on test rows: the model, the rows, the settings and the choice of the step.

    Models that were saved by earlier versions lack the data, the settings and the hash of the weights.
    """
    rows, recipe, dev = scores.get("rows", {}), scores.get("recipe", {}), scores.get("dev") or {}
    task, data = scores.get("task", ""), f"{rows.get('test', 'all')} test rows"
    baseline = scores.get("test", {}).get(f"baseline_{MEASURES.get(task)}")
    known = {
        "model": model,
        "weights_sha256": scores.get("weights_sha256", NOT_RECORDED),
        "data": f"{data} of {scores['data']}" if scores.get("data") else f"{data} (data set {NOT_RECORDED})",
        "task": task,
        "seed": str(scores.get("seed", "")),
        "steps": str(scores.get("steps", "")),
        "started from": scores.get("model"),
        "train_rows": rows.get("train"),
        "dev_rows": rows.get("dev"),
        "epochs": scores.get("epochs", NOT_RECORDED),
        "batch": recipe.get("batch", NOT_RECORDED),
        "peak_learning_rate": recipe.get("rate", NOT_RECORDED),
        "most_tokens": recipe.get("length"),
        "frozen_layers": recipe.get("frozen layers"),
        "step": dev.get("step"),
        "choice": CHOICE.format(measure=MEASURES[task]) if task in MEASURES else None,
        "baseline": None if baseline is None else f"{BASELINES[task]} {baseline:.3f}",
    }
    return {name: value for name, value in known.items() if value not in (None, "")}


def describe_evaluation(scores: Mapping[str, Any]) -> str:
    """Return a sentence on the training and on the choice of the checkpoint; neither used the test rows."""
    stopped = "" if scores["finished"] else _(" (stopped early)")
    dev = scores.get("dev") or {}
    chosen = (
        _(
            " step {step:,} was chosen on {rows:,} dev rows (ties: lower loss);",
            step=dev["step"],
            rows=scores["rows"]["dev"],
        )
        if dev
        else ""
    )
    recipe = scores.get("recipe")
    settings = (
        _(
            " ({epochs:.1f} epochs, batch {batch}, learning rate {rate:g})",
            epochs=scores["epochs"],
            batch=recipe["batch"],
            rate=recipe["rate"],
        )
        if recipe
        else _(" (settings not recorded)")
    )
    return _(
        "{model}, {rows:,} train rows, {steps:,} steps{settings} in {minutes:.1f} minutes{stopped}, seed "
        "{seed};{chosen} test rows scored {scorings}×.",
        model=scores["model"],
        rows=scores["rows"]["train"],
        steps=scores["steps"],
        settings=settings,
        minutes=scores["seconds"] / 60,
        stopped=stopped,
        seed=scores["seed"],
        chosen=chosen,
        scorings=scores.get("scorings", 1),
    )
