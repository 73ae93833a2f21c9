"""Teach page: the learning curves of a training, against the bag-of-words baseline."""

from __future__ import annotations

import streamlit as st

from i18n import _, translate
from training.jobs.job import JobStatus
from ui.pages.teach.progress import MEASURES, NAMES
from ui.run.notices import show_notice
from ui.show.chart import draw_chart, theme
from ui.show.tables import csv_table, download_button
from ui.show.text import join_sentences
from viz.figures.training import learning_curve

SCORES, LOSSES = "teach_scores", "teach_losses"


def curves(look: JobStatus) -> None:
    """Draw the scores on the dev rows and the training loss, with a summary and a CSV export.

    Draw nothing before the first evaluation.
    """
    kind = look.job.kind
    scored = [(int(line["step"]), float(line[MEASURES[kind]])) for line in look.lines("evaluation", "teach")]
    learned = [(int(line["step"]), float(line["loss"])) for line in look.lines("step", "teach")]
    if not scored:
        return
    plans, counted = look.lines("plan", "teach"), look.lines("baseline", "teach")
    last = int(plans[-1]["last"]) if plans else None
    baseline = float(counted[-1]["accuracy"]) if counted else None
    # The role is not "status", because the text changes every few seconds.
    show_notice(describe_best(scored, NAMES[kind], baseline), role="note")
    made = {"training": look.job.title, "model": look.job.model, "seed": str(look.job.settings.seed)}
    left, right = st.columns(2)
    collapsed = [(int(line["step"]), str(line["only"])) for line in look.lines("collapse", "teach")]
    figure = learning_curve(scored, theme(), _("Dev score"), translate(NAMES[kind]),
                            last=last, baseline=baseline, collapsed=collapsed, ceiling=1.0)  # fmt: skip
    draw_chart(figure, SCORES, place=left, about=lambda: made)
    figure = learning_curve(learned, theme(), _("Training loss"), _("loss (nats)"), last=last)
    draw_chart(figure, LOSSES, place=right, about=lambda: made)
    rows = [("dev " + NAMES[kind], *point) for point in scored] + [("loss", *point) for point in learned]
    download_button(
        _("Save curves"),
        csv_table(("curve", "step", "value"), rows),
        "headlight-training.csv",
        _("All digits"),
        provenance=made,
    )


def describe_best(scored: list[tuple[int, float]], measure: str, baseline: float | None) -> str:
    """Return a sentence on the best score so far, compared with the bag-of-words baseline if known.

    >>> describe_best([(0, 0.1), (13, 0.9), (26, 0.8)], "accuracy", 0.95)
    'Best so far: accuracy 0.900 on the dev rows, at step 13. Bag of words: 0.950.'
    """
    step, score = max(scored, key=lambda point: point[1])
    said = _(
        "Best so far: {measure} {score:.3f} on the dev rows, at step {step:,}.", measure=measure, score=score, step=step
    )
    if baseline is None:
        return said
    return join_sentences(said, _("Bag of words: {baseline:.3f}.", baseline=baseline))
