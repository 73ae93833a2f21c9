"""Each class, or each kind of name: precision, recall, F1 and support, as a table."""

from __future__ import annotations

import streamlit as st

from probing.intervals import wilson
from probing.labelled.spans import Score
from ui.pages.teach.results_measured import Measured
from ui.pages.teach.results_saving import save_table
from ui.run.refusals import say

FEW = 20  # true ones below which a class's figures say little
TITLES = {"classify": "Each class", "tag": "Each kind of name"}
FIRST = {"classify": "class", "tag": "kind"}
ABOUT = {
    "classify": "Precision: of the rows that were said to be of the class, the share that is. Recall: of the rows of"
    " the class, the share that was said to be. ",
    "tag": "Precision: of the names of the kind that were said, the share that is right. Recall: of the true names of"
    " the kind, the share that was found. ",
}


def draw_labels(results: Measured, model: str) -> None:
    """The table, which a click on a column's name sorts, and its file."""
    found, each = results.told, results.each
    st.subheader(TITLES[found.kind])
    names = [FIRST[found.kind], "precision", "recall", "F1", "support", "said", "low", "high"]
    rows = [_row(name, score) for name, score in each.items()]
    columns = {name: [row[at] for row in rows] for at, name in enumerate(names)}
    shares = {
        name: st.column_config.NumberColumn(format="%.3f") for name in ("precision", "recall", "F1", "low", "high")
    }
    st.dataframe(columns, hide_index=True, column_config=shares, key="teach_labels")
    st.caption(
        ABOUT[found.kind]
        + "F1: their harmonic mean. Support: how many there are; said: how many were said. Low and high:"
        " ends of recall's 95 % interval (Wilson). None: a share of nothing. A click on a column's name sorts."
    )
    if note := few(each):
        say(note, role="status")
    save_table("Save this table", names, rows, "labels", "All digits", found, model)


def few(each: dict[str, Score]) -> str:
    """Which figures stand on little, in a sentence; "" where none do."""
    count = sum(score.true < FEW for score in each.values())
    if not count:
        return ""
    what = "figures say" if count > 1 else "figure says"
    return f"{count} of these {len(each)} have fewer than {FEW} test cases: their {what} little."


def _row(name: str, score: Score) -> list[object]:
    """Shares of nothing are left out."""
    low, high = (end / 100 for end in wilson(score.right, score.true))
    precision, recall = score.precision if score.found else None, score.recall if score.true else None
    f1 = score.f1 if score.true or score.found else None
    return [name, precision, recall, f1, score.true, score.found, *([low, high] if score.true else [None] * 2)]
