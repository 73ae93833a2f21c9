"""Whether the model is right as often as it is sure."""

from __future__ import annotations

import numpy as np
import streamlit as st

from probing.intervals import wilson
from probing.labelled.calibration import BINS, Calibration
from ui.pages.teach.results_measured import Measured
from ui.pages.teach.results_saving import save_table
from ui.run.refusals import say
from ui.show.chart import draw_chart, theme
from viz.figures.calibration import FEW, Bin
from viz.figures.calibration import calibration as draw_bins

LITTLE = 100  # answers below which the whole figure says little
WHAT = {"classify": "rows", "tag": "words that it said to be of a name"}
COLUMNS = ["sure from", "to", "answers", "mean sureness", "right", "low", "high"]


def draw_sureness(results: Measured, model: str) -> None:
    """The figure, what it says, and its numbers."""
    st.subheader("How sure, how right")
    found, told = results.told, results.sureness
    if told is None:
        say("It said no word to be of a name, so there is nothing that it was sure of.", role="status")
        return
    for sentence in summary(told, WHAT[found.kind]):
        say(sentence, role="status")
    bins = bins_of(told)
    draw_chart(draw_bins(bins, theme(), "Right as often as sure?"), "teach_sureness")
    words = " Words that it said to be of none are left out: they are many and easy." if found.kind == "tag" else ""
    st.caption(
        f"Each bar: {WHAT[found.kind]} of which it was about as sure, and how many; how sure is the probability that it"
        " gives its own answer. Where the mark stands beyond the bar's end, it is surer than right. Pale: fewer than"
        f" {FEW}. The error is the distance between mark and end, averaged over all answers"
        " ([arXiv:1706.04599](https://arxiv.org/abs/1706.04599)); its interval is the basic bootstrap's." + words
    )
    rows = [[one.start, one.end, one.answers, one.sure, one.right, one.low, one.high] for one in bins]
    save_table("Save these numbers", COLUMNS, rows, "sureness", "All digits", found, model)


def bins_of(told: Calibration) -> list[Bin]:
    """The bins that have answers, each share with Wilson's interval."""
    found = []
    for at in np.flatnonzero(told.answers).tolist():
        count, right = int(told.answers[at]), float(told.right[at])
        low, high = (end / 100 for end in wilson(round(right * count), count))
        found.append(Bin(at / BINS, (at + 1) / BINS, count, float(told.sure[at]), right, low, high))
    return found


def summary(told: Calibration, what: str) -> list[str]:
    """What the numbers say: which way it errs, how far, and how much of that chance would do."""
    n = int(told.answers.sum())
    weights = np.nan_to_num(told.answers / n)
    sure, right = (float((weights * np.nan_to_num(values)).sum()) for values in (told.sure, told.right))
    beyond = "more than" if told.error > told.at_most else "no more than"
    lines = [
        f"It is {100 * sure:.1f} % sure on average, and right on {100 * right:.1f} % of {n:,} {what}. Expected"
        f" calibration error: {told.error:.3f} ({told.low:.3f} to {told.high:.3f}). That is {beyond} chance does: if it"
        f" were right exactly as often as it is sure, so many would show {told.by_chance:.3f}, and at most"
        f" {told.at_most:.3f} in 95 of 100 draws."
    ]
    if n < LITTLE:
        lines.append(f"These are {n} answers only: bars and error say little.")
    return lines
