"""Teach page: calibration of a fine-tuned model on its test rows."""

from __future__ import annotations

import numpy as np
import streamlit as st

from i18n import _, gettext_lazy
from probing.labelled.evaluation import BINS, Calibration
from probing.statistics import wilson
from ui.pages.teach.results_data import EvaluationResults
from ui.pages.teach.results_saving import save_table
from ui.run.notices import show_notice
from ui.show.chart import draw_chart, theme
from viz.figures.evaluation import FEW, Bin
from viz.figures.evaluation import calibration as draw_bins

LITTLE = 100  # With fewer predictions the sentence warns of a small sample.
BEYOND = gettext_lazy(
    "{said} That exceeds chance: perfect calibration gives {by_chance:.3f}, and at most {at_most:.3f} in 95 "
    "of 100 draws."
)
WITHIN = gettext_lazy(
    "{said} That is within chance: perfect calibration gives {by_chance:.3f}, and at most {at_most:.3f} in "
    "95 of 100 draws."
)
WHAT = {"classify": gettext_lazy("rows"), "tag": gettext_lazy("words tagged as entities")}
COLUMNS = ["sure from", "to", "answers", "mean sureness", "right", "low", "high"]


def draw_calibration(results: EvaluationResults, model: str) -> None:
    """Draw the reliability diagram, its summary and its CSV export."""
    st.subheader(_("Calibration"))
    found, told = results.predictions, results.sureness
    if told is None:
        show_notice(_("It tagged no word as an entity."), role="status")
        return
    for line in summary(told, WHAT[found.kind]):
        show_notice(line, role="status")
    bins = bins_of(told)
    draw_chart(draw_bins(bins, theme(), _("Reliability diagram")), "teach_sureness", about=lambda: {"model": model})
    about = _(
        "Bars: accuracy of {what}, binned by confidence (the probability of the answer). Mark beyond the "
        "bar: overconfident. Pale: fewer than {few}. Error: mean distance of mark and bar "
        "([arXiv:1706.04599](https://arxiv.org/abs/1706.04599)), with its basic bootstrap interval.",
        what=WHAT[found.kind],
        few=FEW,
    )
    if found.kind == "tag":
        about = _("{about} Words without an entity are left out.", about=about)
    st.caption(about)
    rows = [[one.start, one.end, one.answers, one.sure, one.right, one.low, one.high] for one in bins]
    save_table(_("Save calibration"), COLUMNS, rows, "sureness", _("All digits"), found, model)


def bins_of(told: Calibration) -> list[Bin]:
    """Return the non-empty bins, with Wilson intervals of the accuracy."""
    found = []
    for at in np.flatnonzero(told.answers).tolist():
        count, right = int(told.answers[at]), float(told.right[at])
        low, high = (end / 100 for end in wilson(round(right * count), count))
        found.append(Bin(at / BINS, (at + 1) / BINS, count, float(told.sure[at]), right, low, high))
    return found


def summary(told: Calibration, what: str) -> list[str]:
    """Return sentences on the mean confidence, the accuracy and the expected calibration error.

    The error is compared with the errors that chance gives a perfectly calibrated model. A warning follows if
    there are fewer than LITTLE predictions.
    """
    n = int(told.answers.sum())
    weights = np.nan_to_num(told.answers / n)
    sure, right = (float((weights * np.nan_to_num(values)).sum()) for values in (told.sure, told.right))
    said = _(
        "Mean confidence {sure:.1f} %, accuracy {right:.1f} % of {n:,} {what}. Expected calibration error: "
        "{error:.3f} ({low:.3f} to {high:.3f}).",
        sure=100 * sure,
        right=100 * right,
        n=n,
        what=what,
        error=told.error,
        low=told.low,
        high=told.high,
    )
    beside = BEYOND if told.error > told.at_most else WITHIN
    lines = [_(beside, said=said, by_chance=told.by_chance, at_most=told.at_most)]
    if n < LITTLE:
        lines.append(_("Only {n} answers: the error is uncertain.", n=n))
    return lines
