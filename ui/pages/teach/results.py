"""Teach page, view "Results": the scores of a fine-tuned model on the test rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from i18n import _
from inference import UserError
from probing.labelled.predictions import TestPredictions
from probing.statistics import sign_flip_test, wilson
from training.jobs.job import JobStatus
from ui.pages.teach.results_answers import draw_answers
from ui.pages.teach.results_data import EvaluationResults, describe_evaluation, load_results, quote_label
from ui.pages.teach.results_figures import draw_calibration, draw_confusion, draw_labels
from ui.pages.teach.results_rows import draw_rows
from ui.run.notices import show_error, show_notice
from ui.show.text import join_sentences


def draw(look: JobStatus) -> None:
    """Draw the results of a training with a saved model."""
    if look.job.kind == "answer":
        draw_answers(look.model, look.job.name)
    else:
        draw_results(look.model, look.job.name, look.job.slug)


def draw_results(folder: Path, model: str, saved: str) -> None:
    """Draw the results in ``folder``.

    ``model`` is the model's name in the app, and ``saved`` the folder in the zip file that users download.
    """
    try:
        found = load_results(folder)
    except UserError as refusal:
        show_error(refusal)
        return
    for line in headline(found):
        show_notice(line, role="status")
    draw_labels(found, model)
    draw_confusion(found, model, saved)
    draw_rows(found, model)
    draw_calibration(found, model, saved)


def headline(results: EvaluationResults) -> list[str]:
    """Return sentences on the scores, the baseline and the evaluation, with warnings if there are any.

    The warnings are about truncated texts, and about a model that gives every row the same label.
    """
    found = results.predictions
    lines = [_of_names(found, *results.f1) if found.kind == "tag" else _of_texts(found)]
    if "baseline_accuracy" in found.test:
        lines.append(_describe_baseline(found))
    if alike := _one_label(found):
        lines.append(alike)
    if shortened := _cut(found):
        lines.append(shortened)
    return [*lines, describe_evaluation(found.scores)]


def _of_texts(found: TestPredictions) -> str:
    right, n = sum(row.hit for row in found.rows), len(found.rows)
    low, high = wilson(right, n)
    return _(
        "Test accuracy: {accuracy:.1f}% ({low:.1f} to {high:.1f}), {right:,} of {n:,} rows; macro F1 {f1:.3f}.",
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
        "Entity F1 in {n:,} test rows: {f1:.3f} ({low:.3f} to {high:.3f}); precision "
        "{precision:.1f}%, recall {recall:.1f}% (type and both ends right).",
        n=len(found.rows),
        f1=test["f1"],
        low=low,
        high=high,
        precision=100 * test["precision"],
        recall=100 * test["recall"],
    )


def _describe_baseline(found: TestPredictions) -> str:
    """Return sentences that compare the accuracy with TF-IDF and logistic regression, in rows, with a paired test.

    A count of rows shows how small a small lead is. The sign test counts the rows that only one of both gets right;
    models that were saved before these were counted have no test.
    """
    n, test = len(found.rows), found.test
    counted = test["baseline_accuracy"]
    compared = _(
        "Right of {n:,} rows: baseline (TF-IDF, logistic regression) {baseline:,} ({counted:.1f}%), model {model:,}.",
        baseline=round(counted * n),
        counted=100 * counted,
        model=round(test["accuracy"] * n),
        n=n,
    )
    if "only_model_right" not in test:
        return compared
    signs = np.repeat([1, -1], [test["only_model_right"], test["only_baseline_right"]])
    p = float(sign_flip_test(signs[:, None])[0])
    return join_sentences(compared, _("Sign test, two-sided: p {p}.", p="< 0.001" if p < 0.001 else f"= {p:.2g}"))


def _one_label(found: TestPredictions) -> str:
    """Return a warning if the model predicts a single label for every row; "" otherwise."""
    said = {pair[1] for row in found.rows for pair in row.pairs}
    if len(said) != 1:
        return ""
    return _(
        "It predicts {label} for every row: the model collapsed.",
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
