"""Teach page, view "Results": the scores of a fine-tuned model on the test rows."""

from __future__ import annotations

from pathlib import Path

from i18n import _
from inference import UserError
from probing.labelled.predictions import TestPredictions
from probing.statistics import wilson
from training.jobs.job import JobStatus
from ui.pages.teach.results_calibration import draw_calibration
from ui.pages.teach.results_confusion import draw_confusion
from ui.pages.teach.results_data import EvaluationResults, load_results
from ui.pages.teach.results_labels import draw_labels
from ui.pages.teach.results_quoting import quote_label
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
        "Of {n:,} test rows it tells {right:,} rightly: accuracy {accuracy:.1f} % ({low:.1f} to {high:.1f}), macro F1"
        " {f1:.3f}.",
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
        "In {n:,} test rows it finds names with F1 {f1:.3f} ({low:.3f} to {high:.3f}): of those that it says,"
        " {precision:.1f} % are right (precision), of the true ones it finds {recall:.1f} % (recall). A name is right"
        " where its kind and both its ends are.",
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
            "Counting words (TF-IDF and logistic regression) tells {counted:.1f} % of the same rows rightly, {lead:,}"
            " of {n:,} fewer.",
            counted=100 * counted,
            lead=lead,
            n=n,
        )
    if lead < 0:
        return _(
            "Counting words (TF-IDF and logistic regression) tells {counted:.1f} % of the same rows rightly, {lead:,}"
            " of {n:,} more: it wins here, without any attention.",
            counted=100 * counted,
            lead=-lead,
            n=n,
        )
    return _(
        "Counting words (TF-IDF and logistic regression) tells {counted:.1f} % of the same rows rightly, as many: the"
        " model wins nothing by its attention here.",
        counted=100 * counted,
    )


def _one_label(found: TestPredictions) -> str:
    """Return a warning if the model predicts a single label for every row; "" otherwise."""
    said = {pair[1] for row in found.rows for pair in row.pairs}
    if len(said) != 1:
        return ""
    if found.kind == "tag":
        return _("It finds no name at all: that is a collapse, and its figures say nothing about the task.")
    return _(
        "It says {label} of every row: that is a collapse, and it has told nothing apart.",
        label=quote_label(found.labels[said.pop()]),
    )


def _cut(found: TestPredictions) -> str:
    """Return a sentence on texts that were cut to the model's length; "" if no text was cut or measured."""
    cut = found.scores.get("cut") or {}
    if not cut.get("texts"):
        return ""
    return _(
        "{texts:,} of {of:,} texts are longer than {length:,} tokens: the model read only their first {length:,}.",
        texts=cut["texts"],
        of=cut["of"],
        length=cut["length"],
    )


def _describe_evaluation(found: TestPredictions) -> str:
    """Return a sentence on the training and the checkpoint choice, which did not use the test rows."""
    scores = found.scores
    stopped = "" if scores["finished"] else _(", stopped before the last")
    dev = scores.get("dev") or {}
    chosen = (
        _(
            " the weights of step {step:,} were chosen on {rows:,} other rows,",
            step=dev["step"],
            rows=scores["rows"]["dev"],
        )
        if dev
        else ""
    )
    return _(
        "{model} learned from {rows:,} rows: {steps:,} steps in {minutes:.1f} minutes{stopped}, seed {seed};{chosen} "
        "and the test split was scored once, at the end.",
        model=scores["model"],
        rows=scores["rows"]["train"],
        steps=scores["steps"],
        minutes=scores["seconds"] / 60,
        stopped=stopped,
        seed=scores["seed"],
        chosen=chosen,
    )
