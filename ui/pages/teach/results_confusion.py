"""Teach page: the confusion matrix; a click on a cell filters the test rows."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from i18n import _, gettext_lazy, translate
from probing.labelled.evaluation import Counts, most_mistaken, summed_up
from probing.labelled.labeled_texts import OUTSIDE
from ui.input.controls import bound_widget
from ui.pages.teach.options import TeachOptions
from ui.pages.teach.results_data import EvaluationResults
from ui.pages.teach.results_quoting import quote_label
from ui.pages.teach.results_saving import save_table
from ui.run.notices import show_notice
from ui.show.chart import draw_chart, theme
from ui.state.params import get_params, set_params
from viz.figures import evaluation as figures
from viz.figures.vectors import picked_pair

MOST = 60  # The maximum number of labels in the figure.
UNITS = {"classify": gettext_lazy("rows"), "tag": gettext_lazy("words")}


def draw_confusion(results: EvaluationResults, model: str) -> None:
    """Draw the confusion matrix, its summary and its CSV export.

    If there are many labels, the labels with the fewest errors are summed up in a last row and column.
    """
    st.subheader(_("Confusion matrix"))
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
        summed_up(counts, kept), names, theme(), _("True and predicted"), unit, rest=bool(others),
        chosen=_shown_cell(kept, options),
    )  # fmt: skip
    draw_chart(figure, "teach_confusion", on_click=lambda key: _on_click(key, kept), about=lambda: {"model": model})
    about = _(
        "Rows: true label; columns: predicted label; cells: {unit}; colour: share of the row. Click a cell "
        "to list its rows below.",
        unit=unit,
    )
    if found.kind == "tag":
        about = _("{about} {outside}: no entity.", about=about, outside=OUTSIDE)
    if len(names) > figures.NAMED:
        about = _("{about} Columns are numbered as the rows.", about=about)
    st.caption(about)
    rows = ([label, *row] for label, row in zip(found.labels, counts.tolist(), strict=True))
    save_table(_("Save matrix"), ["true \\ said", *found.labels], rows, "confusion", _("All digits"), found, model)


def describe_worst(counts: Counts, labels: Sequence[str], unit: str) -> str:
    """Return a sentence on the largest off-diagonal cell, or on the absence of errors."""
    wrong = counts.copy()
    wrong[range(len(wrong)), range(len(wrong))] = 0
    if not wrong.any():
        return _("All {n:,} {unit} are right.", n=counts.sum(), unit=unit)
    true, said = divmod(int(wrong.argmax()), len(wrong))
    return _(
        "{wrong:,} of {n:,} {unit} are wrong. Most often {true} is predicted as {said}: {often:,} of {times:,}.",
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
