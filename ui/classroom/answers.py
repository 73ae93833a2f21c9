"""What a class answered, beside the truth: a map of heads, bars, or the sentences themselves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from classroom.question import Question, count_answers, count_correct, format_answer, heads, is_correct
from i18n import _, ngettext
from ui.run.notices import show_notice
from ui.show.chart import draw_chart, theme
from ui.show.format_list import join_sentences
from ui.show.markdown import escape_markdown
from viz.figures.bars import bars
from viz.figures.head_map import head_map

LEAST = (6, 12)  # layers and heads of the map at least: those of the embedded model
MOST = 30  # answers that are drawn


def answers(question: Question, said: Sequence[str], key: str, own: str | None = None) -> None:
    """Draw them; ``own`` is the answer of who looks, if they gave one."""
    show_notice(summary(question, said, own), role="status")
    if not said:
        return
    if question.kind == "head":
        _map(question, said, key)
    elif question.kind == "text":
        st.markdown("\n".join(f"- {escape_markdown(answer)}" for answer in said[:MOST]))
    else:
        found = count_answers(question, said)[:MOST]
        marked = [at for at, (answer, _n) in enumerate(found) if question.truth and is_correct(question, answer)]
        figure = bars(
            [answer for answer, _n in found],
            [n for _answer, n in found],
            theme(),
            _("What the class answered"),
            _("answers"),
            marked=marked,
        )
        draw_chart(figure, key)


def summary(question: Question, said: Sequence[str], own: str | None) -> str:
    """How many answered, how many were right, and one's own."""
    parts = [ngettext("{n} answer.", "{n} answers.", len(said), n=len(said))]
    if question.truth:
        parts.append(_("The model’s answer: {truth}.", truth=format_answer(question, question.truth)))
        found = count_correct(question, said) or 0
        parts.append(ngettext("{n} of them says so.", "{n} of them say so.", found, n=found))
    if own is not None:
        parts.append(_("Yours: {own}.", own=format_answer(question, own)))
    return join_sentences(*parts)


def _map(question: Question, said: Sequence[str], key: str) -> None:
    """How many named each head, the true one outlined."""
    found = heads(said)
    named = [*found, *heads([question.truth] if question.truth else ())]
    size = [max(least, 1 + max(head[axis] for head in named)) for axis, least in enumerate(LEAST)]
    counts = np.zeros((min(size[0], 200), min(size[1], 200)), np.float32)
    for (layer, head), n in found.items():
        if layer < counts.shape[0] and head < counts.shape[1]:
            counts[layer, head] = n
    truth = next(iter(heads([question.truth])), None) if question.truth else None
    draw_chart(head_map(counts, theme(), _("Which head the class named"), _("answers"), selected=truth), key)
