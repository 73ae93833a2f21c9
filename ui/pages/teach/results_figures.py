"""Teach page: scores by label, confusion matrix and calibration on the test rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import streamlit as st

from i18n import _, gettext_lazy, translate
from probing.labelled.evaluation import (
    BINS,
    Calibration,
    Counts,
    SpanCounts,
    answer_confidences,
    calibration,
    confusion,
    most_mistaken,
    summed_up,
)
from probing.labelled.labeled_texts import OUTSIDE
from probing.labelled.predictions import load_predictions
from probing.statistics import wilson
from ui.input.controls import bound_widget
from ui.pages.teach.options import TeachOptions
from ui.pages.teach.results_data import EvaluationResults, evaluation_provenance, quote_label, save_table
from ui.run.notices import show_notice
from ui.show.chart import draw_chart, theme
from ui.show.tables import draw_table
from ui.state.params import get_params, set_params
from viz.figures import evaluation as figures
from viz.figures.evaluation import FEW, Bin
from viz.figures.evaluation import calibration as draw_bins
from viz.figures.vectors import picked_pair
from viz.paper.notebook import Computation

FEW_CASES = 20  # Scores of labels with less support are marked as unreliable.
HEADINGS = {
    "label": gettext_lazy("Label"),
    "precision": gettext_lazy("Precision"),
    "recall": gettext_lazy("Recall"),
    "F1": gettext_lazy("F1"),
    "support": gettext_lazy("Support"),
    "predicted": gettext_lazy("Predicted"),
    "low": gettext_lazy("Low"),
    "high": gettext_lazy("High"),
}
SHARES = ("precision", "recall", "F1", "low", "high")
LITTLE = 100  # With fewer predictions the sentence warns of a small sample.
WHAT = {"classify": gettext_lazy("rows"), "tag": gettext_lazy("words tagged as entities")}
COLUMNS = ["confidence from", "to", "answers", "mean confidence", "accuracy", "low", "high"]
MOST = 60  # The maximum number of labels in the figure.
UNITS = {"classify": gettext_lazy("rows"), "tag": gettext_lazy("words")}


def draw_labels(results: EvaluationResults, model: str) -> None:
    """Draw the table of scores by label, a note on rare labels and the CSV export."""
    found, each = results.predictions, results.each
    st.header(_("Scores by label"))
    names = ["label", "precision", "recall", "F1", "support", "predicted", "low", "high"]
    rows = [_row(name, score) for name, score in each.items()]
    columns = {name: [row[at] for row in rows] for at, name in enumerate(names)}
    shown = {
        name: st.column_config.Column(heading)
        if name not in SHARES
        else st.column_config.NumberColumn(heading, format="%.3f")
        for name in names
        for heading in (translate(HEADINGS[name]),)
    }
    draw_table(columns, column_config=shown, key="teach_labels")
    st.caption(
        _(
            "Precision: right predictions. Recall: true cases found. F1: their harmonic mean. "
            "Support: true cases. Low, high: recall's 95% interval (Wilson)."
        )
    )
    if note := describe_rare(each):
        show_notice(note, role="status")
    save_table(names, rows, "labels", found, model)


def describe_rare(each: dict[str, SpanCounts]) -> str:
    """Return a sentence on the labels with fewer than FEW_CASES test cases; "" if there are none."""
    count = sum(score.true < FEW_CASES for score in each.values())
    if not count:
        return ""
    return _(
        "Labels with fewer than {few} test cases: {n} of {all}.",
        n=count,
        all=len(each),
        few=FEW_CASES,
    )


def _row(name: str, score: SpanCounts) -> list[object]:
    """Return a label's row of the table; undefined ratios are None."""
    low, high = (end / 100 for end in wilson(score.right, score.true))
    precision, recall = score.precision if score.found else None, score.recall if score.true else None
    f1 = score.f1 if score.true or score.found else None
    return [name, precision, recall, f1, score.true, score.found, *([low, high] if score.true else [None] * 2)]


def _computation(saved: str) -> Computation:
    """Return notebook code that loads ``found``, the predictions in the downloaded folder ``saved``."""
    code = "# The folder in the zip file that “Save model” downloads.\nfound = load_predictions(Path(folder))"
    return Computation(code, folder=saved, Path=Path, load_predictions=load_predictions)


def draw_calibration(results: EvaluationResults, model: str, saved: str) -> None:
    """Draw the reliability diagram, its summary and its CSV export.

    ``saved`` is the folder in the zip file that users download.
    """
    st.header(_("Calibration"))
    found, told = results.predictions, results.sureness
    if told is None:
        show_notice(_("It tagged no word as an entity."), role="status")
        return
    for line in summary(told, WHAT[found.kind]):
        show_notice(line, role="status")
    bins, about_test = bins_of(told), partial(evaluation_provenance, found.scores, model)
    code = (
        "bins = calibration(answer_confidences(found))\n"
        "numbers = bins.right[bins.answers > 0][::-1]  # the most confident answers first"
    )
    computation = _computation(saved).then(code, calibration=calibration, answer_confidences=answer_confidences)
    figure = draw_bins(bins, theme(), _("Calibration"))
    draw_chart(figure, "teach_sureness", about=about_test, computation=computation)
    about = _(
        "Pale: fewer than {few} {what}. Error: mean distance of mark and bar "
        "([arXiv:1706.04599](https://arxiv.org/abs/1706.04599)), with its basic bootstrap interval.",
        what=WHAT[found.kind],
        few=FEW,
    )
    st.caption(about)
    rows = [[one.start, one.end, one.answers, one.sure, one.right, one.low, one.high] for one in bins]
    save_table(COLUMNS, rows, "calibration", found, model)


def bins_of(told: Calibration) -> list[Bin]:
    """Return the non-empty bins of the reliability diagram, with Wilson intervals of the accuracy."""
    found = []
    for at in np.flatnonzero(told.answers).tolist():
        count, right = int(told.answers[at]), float(told.right[at])
        low, high = (end / 100 for end in wilson(round(right * count), count))
        found.append(Bin(at / BINS, (at + 1) / BINS, count, float(told.sure[at]), right, low, high))
    return found


def summary(told: Calibration, what: str) -> list[str]:
    """Return sentences on the mean confidence, the accuracy and the expected calibration error.

    The error is compared with that of a perfectly calibrated model, which is not zero by chance. ``what`` is the noun
    for the predictions. A warning follows if there are fewer than LITTLE predictions.
    """
    n = int(told.answers.sum())
    weights = np.nan_to_num(told.answers / n)
    sure, right = (float((weights * np.nan_to_num(values)).sum()) for values in (told.sure, told.right))
    said = _(
        "Mean confidence {sure:.1f}%, accuracy {right:.1f}% of {n:,} {what}. Expected calibration error: "
        "{error:.3f} ({low:.3f} to {high:.3f}); if perfectly calibrated {by_chance:.3f}, and at most {at_most:.3f} in "
        "95% of draws.",
        sure=100 * sure,
        right=100 * right,
        n=n,
        what=what,
        error=told.error,
        low=told.low,
        high=told.high,
        by_chance=told.by_chance,
        at_most=told.at_most,
    )
    lines = [said]
    if n < LITTLE:
        lines.append(_("Only {n} answers: the error is uncertain.", n=n))
    return lines


def draw_confusion(results: EvaluationResults, model: str, saved: str) -> None:
    """Draw the confusion matrix, its summary and its CSV export.

    If there are many labels, those with the fewest errors are summed in a last row and column. ``saved`` is the folder
    in the zip file that users download.
    """
    st.header(_("Confusion matrix"))
    found, counts, options = results.predictions, results.counts, get_params(TeachOptions)
    unit = translate(UNITS[found.kind])
    kept = list(range(len(found.labels)))
    if len(kept) > TeachOptions.classes:
        most = min(MOST, len(kept))
        shown = max(2, min(options.classes, most))
        bound_widget(
            TeachOptions, "classes", st.columns([1, 2])[0].number_input, min_value=2, max_value=most, shown=shown
        )
        kept = most_mistaken(counts, shown)
    others = len(found.labels) - len(kept)
    names = [found.labels[at] for at in kept] + ([_("{n} others", n=others)] if others else [])
    show_notice(describe_worst(counts, found.labels, unit), role="status")
    figure = figures.confusion(
        summed_up(counts, kept), names, theme(), _("Confusion matrix"), unit, rest=bool(others),
        chosen=_shown_cell(kept, options),
    )  # fmt: skip
    code = (
        f"counts = summed_up(confusion(found), {kept})\n"
        "numbers = np.where(counts, counts / np.maximum(counts.sum(axis=1, keepdims=True), 1), np.nan)"
    )
    computation = _computation(saved).then(code, summed_up=summed_up, confusion=confusion)
    draw_chart(figure, "teach_confusion", on_click=lambda key: _on_click(key, kept), computation=computation,
               about=partial(evaluation_provenance, found.scores, model))  # fmt: skip
    about = _(
        "Cells: {unit}. Click one to list its rows.",
        unit=unit,
    )
    if found.kind == "tag":
        about = _("{about} {outside}: no entity.", about=about, outside=OUTSIDE)
    if len(names) > figures.NAMED:
        about = _("{about} Columns follow the rows.", about=about)
    st.caption(about)
    rows = ([label, *row] for label, row in zip(found.labels, counts.tolist(), strict=True))
    save_table(["true \\ predicted", *found.labels], rows, "confusion", found, model)


def describe_worst(counts: Counts, labels: Sequence[str], unit: str) -> str:
    """Return a sentence on the largest off-diagonal cell, or on the absence of errors."""
    wrong = counts.copy()
    wrong[range(len(wrong)), range(len(wrong))] = 0
    if not wrong.any():
        return _("All {n:,} {unit} are right.", n=counts.sum(), unit=unit)
    true, said = divmod(int(wrong.argmax()), len(wrong))
    return _(
        "{wrong:,} of {n:,} {unit} are wrong; most often, {true} is predicted as {said} ({often:,} of {times:,}).",
        wrong=wrong.sum(),
        n=counts.sum(),
        unit=unit,
        true=quote_label(labels[true]),
        said=quote_label(labels[said]),
        often=wrong[true, said],
        times=counts[true].sum(),
    )


def _shown_cell(kept: list[int], options: TeachOptions) -> tuple[int | None, int | None]:
    """Return the chosen cell as indices of the figure; (None, None) if the figure does not contain it."""
    if any(at is not None and at not in kept for at in (options.true, options.said)):
        return None, None
    return tuple(None if at is None else kept.index(at) for at in (options.true, options.said))  # type: ignore[return-value]


def _on_click(key: str, kept: list[int]) -> None:
    cell = picked_pair(st.session_state[key])
    if cell is not None:
        set_params(TeachOptions, true=kept[cell[0]], said=kept[cell[1]], outcome="all", leaf=1)
