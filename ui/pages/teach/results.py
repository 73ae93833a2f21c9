"""Teach page, view "Results": the scores of a fine-tuned model on the test rows."""

from __future__ import annotations

from pathlib import Path

from i18n import _
from inference import UserError
from probing.labelled.predictions import TestPredictions
from probing.statistics import wilson
from training.jobs.job import JobStatus
from ui.pages.teach.results_data import EvaluationResults, load_results, quote_label
from ui.pages.teach.results_figures import draw_calibration, draw_confusion, draw_labels
from ui.pages.teach.results_rows import draw_rows
from ui.run.notices import show_error, show_notice


def draw(look: JobStatus) -> None:
    """Draw the results of a training with a saved model."""
    draw_results(look.model, look.job.name)


def draw_results(folder: Path, model: str) -> None:
    """Draw the results in ``folder``; ``model`` is the model's name in the app."""
    try:
        found = load_results(folder)
    except UserError as refusal:
        show_error(refusal)
        return
    for line in headline(found):
        show_notice(line, role="status")
    draw_labels(found, model)
    draw_confusion(found, model)
    draw_rows(found, model)
    draw_calibration(found, model)


def headline(results: EvaluationResults) -> list[str]:
    """Return sentences on the scores, the baseline, a collapse, truncation and the evaluation."""
    found = results.predictions
    lines = [_of_names(found, *results.f1) if found.kind == "tag" else _of_texts(found)]
    if "baseline_accuracy" in found.test:
        lines.append(_describe_baseline(found))
    if alike := _one_label(found):
        lines.append(alike)
    if shortened := _cut(found):
        lines.append(shortened)
    return [*lines, _describe_evaluation(found)]


def _of_texts(found: TestPredictions) -> str:
    right, n = sum(row.hit for row in found.rows), len(found.rows)
    low, high = wilson(right, n)
    return _(
        "Test accuracy: {accuracy:.1f} % ({low:.1f} to {high:.1f}), {right:,} of {n:,} rows; macro F1 {f1:.3f}.",
        n=n,
        right=right,
        accuracy=100 * found.test["accuracy"],
        low=low,
        high=high,
        f1=found.test["macro_f1"],
    )


def _of_names(found: TestPredictions, low: float, high: float) -> str:
    test = found.test
    return _(
        "Entity F1 in {n:,} test rows: {f1:.3f} ({low:.3f} to {high:.3f}); precision {precision:.1f} %, "
        "recall {recall:.1f} %. Type and both ends must be right.",
        n=len(found.rows),
        f1=test["f1"],
        low=low,
        high=high,
        precision=100 * test["precision"],
        recall=100 * test["recall"],
    )


def _describe_baseline(found: TestPredictions) -> str:
    """Return a sentence that compares the accuracy with TF-IDF and logistic regression, in rows.

    A count of rows shows how small a small lead is.
    """
    n, counted = len(found.rows), found.test["baseline_accuracy"]
    lead = round((found.test["accuracy"] - counted) * n)
    if lead > 0:
        return _(
            "The bag-of-words baseline (TF-IDF, logistic regression) reaches {counted:.1f} %: {lead:,} of "
            "{n:,} rows fewer.",
            counted=100 * counted,
            lead=lead,
            n=n,
        )
    if lead < 0:
        return _(
            "The bag-of-words baseline (TF-IDF, logistic regression) reaches {counted:.1f} %: {lead:,} of "
            "{n:,} rows more. Use it here.",
            counted=100 * counted,
            lead=-lead,
            n=n,
        )
    return _(
        "The bag-of-words baseline (TF-IDF, logistic regression) reaches the same {counted:.1f} %.",
        counted=100 * counted,
    )


def _one_label(found: TestPredictions) -> str:
    """Return a warning if the model predicts a single label for every row; "" otherwise."""
    said = {pair[1] for row in found.rows for pair in row.pairs}
    if len(said) != 1:
        return ""
    if found.kind == "tag":
        return _("It finds no entity: the model has collapsed.")
    return _(
        "It predicts {label} for every row: the model has collapsed.",
        label=quote_label(found.labels[said.pop()]),
    )


def _cut(found: TestPredictions) -> str:
    """Return a sentence on texts that were cut to the model's length; "" if no text was cut or measured."""
    cut = found.scores.get("cut") or {}
    if not cut.get("texts"):
        return ""
    return _(
        "{texts:,} of {of:,} texts were cut to {length:,} tokens.",
        texts=cut["texts"],
        of=cut["of"],
        length=cut["length"],
    )


def _describe_evaluation(found: TestPredictions) -> str:
    """Return a sentence on the training and the checkpoint choice, which did not use the test rows."""
    scores = found.scores
    stopped = "" if scores["finished"] else _(" (stopped early)")
    dev = scores.get("dev") or {}
    chosen = (
        _(
            " step {step:,} was chosen on {rows:,} dev rows;",
            step=dev["step"],
            rows=scores["rows"]["dev"],
        )
        if dev
        else ""
    )
    return _(
        "{model}, {rows:,} train rows, {steps:,} steps in {minutes:.1f} minutes{stopped}, seed "
        "{seed};{chosen} the test rows were scored once.",
        model=scores["model"],
        rows=scores["rows"]["train"],
        steps=scores["steps"],
        minutes=scores["seconds"] / 60,
        stopped=stopped,
        seed=scores["seed"],
        chosen=chosen,
    )
