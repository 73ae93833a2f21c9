"""Teach page: exact match, F1 and baseline of a model that answers questions, and its answers in their passages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import streamlit as st

from attention.answer_windows import Letters
from i18n import _, translate
from inference import UserError
from probing.labelled.answer_predictions import AnswerPrediction, AnswerResults, load_answers
from probing.labelled.answer_scores import TOKEN
from probing.statistics import wilson
from probing.text_pairs import Mean
from ui.pages.teach.changes_results import interval
from ui.pages.teach.options import TeachOptions
from ui.pages.teach.results_data import describe_evaluation, evaluation_provenance, quote_label
from ui.pages.teach.results_rows import HITS, MARKS, drop_empty_filter
from ui.pages.teach.saved_model import answering_link
from ui.run.notices import show_error, show_notice
from ui.show.scored_links import paginate
from ui.show.tables import csv_table, download_button
from ui.show.text import percent
from ui.state.params import get_params
from ui.state.view_state import ViewState, fits
from viz.components.token_strip.token_strip import Mark, TokenChip, mount

AROUND = 25  # The number of words of a passage that are shown before and after an answer.
COLUMNS = ["id", "question", "true", "predicted", "probability", "exact match", "F1", "baseline F1"]


def draw_answers(folder: Path, model: str) -> None:
    """Draw the results in ``folder``; ``model`` is the model's name in the app."""
    try:
        found = load_answers(folder)
    except UserError as refusal:
        show_error(refusal)
        return
    for line in headline(found):
        show_notice(line, role="status")
    st.caption(_("Intervals: bootstrap over questions, and Wilson's; questions about one passage are dependent."))
    st.header(_("Test rows"))
    shown = paginate(found.rows, TeachOptions, drop_empty_filter(get_params(TeachOptions), found.rows), translate(HITS))
    for number, row in enumerate(shown):
        mount(list(mark_answers(row)), f"teach_row_{number}", title=title(row))
        there = ViewState(model=model, text=row.asked.question, pair=row.asked.passage)
        if fits(there):
            answering_link(there)
    st.caption(translate(MARKS))
    _save(found, model)


def headline(found: AnswerResults) -> list[str]:
    """Return sentences on F1 and exact match, on the baseline, and on the evaluation."""
    rows, f1 = found.rows, found.f1
    exact = sum(row.hit for row in rows)
    low, high = wilson(exact, len(rows))
    lines = [
        _(
            "Test F1: {f1:.3f}{interval}; exact match: {exact:.1f}% ({low:.1f} to {high:.1f}) of {n:,} questions.",
            f1=f1.mean[0],
            interval=interval(_within(f1), 0),
            exact=100 * exact / len(rows),
            low=low,
            high=high,
            n=len(rows),
        ),
        _(
            "Baseline (the sentence with most words of the question): F1 {baseline:.3f}; difference "
            "{lead:+.3f}{interval}.",
            baseline=np.mean([row.baseline for row in rows]),
            lead=found.lead.mean[0],
            interval=interval(found.lead, 0),
        ),
    ]
    groups = [[row.f1 for row in rows if bool(row.asked.answers) is has] for has in (True, False)]
    if all(groups):
        lines.append(
            _(
                "F1 of {n:,} questions with an answer: {f1:.3f}; of {m:,} without: {other:.3f}.",
                n=len(groups[0]),
                f1=np.mean(groups[0]),
                m=len(groups[1]),
                other=np.mean(groups[1]),
            )
        )
    return [*lines, describe_evaluation(found.scores)]


def _within(mean: Mean) -> Mean:
    """Return the mean with its interval cut to the range of F1, 0 to 1."""
    return replace(mean, low=np.clip(mean.low, 0, 1), high=np.clip(mean.high, 0, 1))


def title(row: AnswerPrediction) -> str:
    """Return the heading of a row: hit or miss, the question, the model's answer and the right answer."""
    verdict = _("Hit") if row.hit else _("Miss")
    said = quote_label(row.said) if row.said else _("no answer")
    true = quote_label(row.golds[0]) if row.golds else _("no answer")
    sure = "" if row.probability is None else percent(row.probability)
    predicted = _("predicted {tag} {sure}", tag=said, sure=sure)
    given = predicted if row.hit else _("{said}, true {tag}", said=predicted, tag=true)
    return f"{verdict} · {quote_label(row.asked.question)} · {given}"


def mark_answers(row: AnswerPrediction) -> Iterator[TokenChip]:
    """Yield the words of the passage near the true and the predicted answer.

    Words of an answer are marked as right, missed or wrong; "…" replaces the words between and around.
    """
    passage = row.asked.passage
    words = [match.span() for match in TOKEN.finditer(passage)]
    golds = [(answer.start, answer.end) for answer in row.asked.answers]
    marks = [_mark(word, row.place, golds) for word in words]
    places = [at for at, mark in enumerate(marks) if mark] or [0]
    near = {at for place in places for at in range(place - AROUND, place + AROUND + 1)}
    last = -1
    for at, ((start, end), mark) in enumerate(zip(words, marks, strict=True)):
        if at in near:
            if at > last + 1:
                yield TokenChip("…")
            glued = at == last + 1 and at > 0 and words[at - 1][1] == start
            yield TokenChip(passage[start:end], mark=mark, glued=glued)
            last = at
    if last + 1 < len(words):
        yield TokenChip("…")


def _mark(word: Letters, said: Letters | None, golds: list[Letters]) -> Mark:
    """Return the verdict on a word by the answers that cover it; "" for a word outside of all answers."""
    covered = said is not None and said[0] < word[1] and word[0] < said[1]
    right = any(start < word[1] and word[0] < end for start, end in golds)
    if covered:
        return "right" if right else "wrong"
    return "missed" if right else ""


def _save(found: AnswerResults, model: str) -> None:
    """Draw the button that saves all answers as CSV."""
    lines = [
        [row.asked.id, row.asked.question, " · ".join(row.golds), row.said, row.probability, row.exact_match, row.f1,
         row.baseline]
        for row in found.rows
    ]  # fmt: skip
    download_button(_("Save as CSV"), csv_table(COLUMNS, lines), "headlight-results-answers.csv", _("All digits"),
         key="teach_save_answers", provenance=evaluation_provenance(found.scores, model))  # fmt: skip
