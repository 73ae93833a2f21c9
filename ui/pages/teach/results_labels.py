"""Teach page: precision, recall, F1 and support of each class or entity type."""

from __future__ import annotations

import streamlit as st

from i18n import _, gettext_lazy, ngettext, translate
from probing.labelled.evaluation import SpanCounts
from probing.statistics import wilson
from ui.pages.teach.results_data import EvaluationResults
from ui.pages.teach.results_saving import save_table
from ui.run.notices import show_notice
from ui.show.tables import draw_table

FEW = 20  # Scores of labels with less support are marked as unreliable.
TITLES = {"classify": gettext_lazy("Scores by class"), "tag": gettext_lazy("Scores by entity")}
FIRST = {"classify": "class", "tag": "kind"}
HEADINGS = {
    "class": gettext_lazy("class"),
    "kind": gettext_lazy("kind"),
    "precision": gettext_lazy("precision"),
    "recall": gettext_lazy("recall"),
    "F1": gettext_lazy("F1"),
    "support": gettext_lazy("support"),
    "said": gettext_lazy("predicted"),
    "low": gettext_lazy("low"),
    "high": gettext_lazy("high"),
}
SHARES = ("precision", "recall", "F1", "low", "high")
ABOUT = {
    "classify": gettext_lazy(
        "Precision: share of the predicted rows that are right. Recall: share of the true rows that are found."
    ),
    "tag": gettext_lazy(
        "Precision: share of the predicted entities that are right. Recall: share of the true entities that are found."
    ),
}


def draw_labels(results: EvaluationResults, model: str) -> None:
    """Draw the table of scores by label, a note on rare labels and the CSV export."""
    found, each = results.predictions, results.each
    st.subheader(translate(TITLES[found.kind]))
    names = [FIRST[found.kind], "precision", "recall", "F1", "support", "said", "low", "high"]
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
            "{about} F1: their harmonic mean. Support: true cases. Low and high: recall's 95 % interval "
            "(Wilson). None: undefined.",
            about=ABOUT[found.kind],
        )
    )
    if note := describe_rare(each):
        show_notice(note, role="status")
    save_table(_("Save scores"), names, rows, "labels", _("All digits"), found, model)


def describe_rare(each: dict[str, SpanCounts]) -> str:
    """Return a sentence on the labels with fewer than FEW test cases; "" if there are none."""
    count = sum(score.true < FEW for score in each.values())
    if not count:
        return ""
    return ngettext(
        "{n} of these {all} have fewer than {few} test cases: their figure says little.",
        "{n} of these {all} have fewer than {few} test cases: their figures say little.",
        count,
        n=count,
        all=len(each),
        few=FEW,
    )


def _row(name: str, score: SpanCounts) -> list[object]:
    """Return a label's row of the table; undefined ratios are None."""
    low, high = (end / 100 for end in wilson(score.right, score.true))
    precision, recall = score.precision if score.found else None, score.recall if score.true else None
    f1 = score.f1 if score.true or score.found else None
    return [name, precision, recall, f1, score.true, score.found, *([low, high] if score.true else [None] * 2)]
