"""Effect of an ablation on the attention of later heads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from attention.edits import heads_moved
from attention.mask import FloatArray
from attention.trace import Trace
from attention.view import View
from i18n import _
from ui.ablation.edits import Head
from ui.pages.cause.experiment import AblationExperiment
from ui.pages.cause.options import CauseOptions
from ui.run.notices import show_notice
from ui.run.services import get_backend
from ui.show.chart import draw_chart, theme
from ui.show.tables import csv_table, download_button, page_provenance
from ui.state.params import set_params
from viz.components.token_strip.token_strip import TokenChip, mount
from viz.figures.head_maps import head_map, picked_head

LATER = "cause_later"


def later_heads(case: AblationExperiment) -> None:
    """Draw how much the attention of each head moves, and the rows of a head before and after."""
    plain = case.watch.request
    before, after = get_backend().traces([plain, replace(plain, edits=case.edits)])
    moved = heads_moved(before, after)
    first = min((edit.layer for edit in case.edits), default=0)
    layer, head = (int(at) for at in np.unravel_index(int(moved.argmax()), moved.shape))
    st.subheader(_("What changes in later heads?"))
    if not moved.any():
        show_notice(
            _("No other head looks elsewhere: what is removed lies in the last layer, or is nothing."), role="status"
        )
        return
    later = moved[first + 1 :]
    most = _(
        "Head {head} looks elsewhere most: {moved:.0f} % of its attention moves.",
        head=case.name((layer, head)),
        moved=100 * moved[layer, head],
    )
    if later.size:
        most = _("{most} In later layers {mean:.1f} % moves on average.", most=most, mean=100 * later.mean())
    show_notice(most, role="status")
    shown = _shown_head(case, moved.shape, (layer, head))
    left, right = st.columns(2)
    with left:
        _map(moved, shown)
    with right:
        _strips(case, before, after, shown)


def _map(moved: FloatArray, shown: Head) -> None:
    """Draw the share of each head's attention that moves, as a map on which the reader picks a head."""
    figure = head_map(100 * moved, theme(), _("Attention that moves"), _("% of a head's attention"), selected=shown)
    draw_chart(figure, LATER, on_click=partial(_on_pick, moved.shape[1]))
    st.caption(
        _(
            "Each cell is a head: the share of its attention that moves to other words, mean over queries. Click "
            "a head to see its rows."
        )
    )
    rows = [(at, one, float(moved[at, one])) for at in range(moved.shape[0]) for one in range(moved.shape[1])]
    table = csv_table(["layer", "head", "share of attention that moves"], rows)
    about = _("Every later head as CSV")
    download_button(
        _("Save the table"),
        table,
        "headlight-later-heads.csv",
        about,
        key="cause_save_later",
        provenance=page_provenance(),
    )


def _shown_head(case: AblationExperiment, shape: tuple[int, ...], most: Head) -> Head:
    later = case.options.later
    return most if later is None or later >= shape[0] * shape[1] else divmod(later, shape[1])


def _on_pick(heads: int, key: str) -> None:
    place = picked_head(st.session_state[key])
    if place is not None:
        set_params(CauseOptions, later=place[0] * heads + place[1])


def _strips(case: AblationExperiment, before: Trace, after: Trace, shown: Head) -> None:
    """Draw the sentence shaded by a head's weights before and after, for the word whose row changes most."""
    views = [View(trace, words=True) for trace in (before, after)]
    focus = _moved_most(views, shown)
    rows = [view.weights(*shown)[focus] for view in views]
    cells = views[0].keys
    gone, come = int((rows[1] - rows[0]).argmin()), int((rows[1] - rows[0]).argmax())
    show_notice(
        _(
            "In head {head}, “{word}” changes most: “{less}” {less_before:.2f} → {less_after:.2f}, “{more}”"
            " {more_before:.2f} → {more_after:.2f}.",
            head=case.name(shown),
            word=cells[focus].text,
            less=cells[gone].text,
            less_before=rows[0][gone],
            less_after=rows[1][gone],
            more=cells[come].text,
            more_before=rows[0][come],
            more_after=rows[1][come],
        ),
        role="status",
    )
    for key, title, row in zip(("before", "after"), (_("Before"), _("After")), rows, strict=True):
        chips = [
            TokenChip(
                cell.text,
                shade=float(weight),
                mark="chosen" if at == focus else "",
                special=cell.special,
                title=f"{weight:.2f}",
            )
            for at, (cell, weight) in enumerate(zip(cells, row, strict=True))
        ]
        mount(chips, f"cause_{key}", title=title)
    st.caption(_("Shade: attention of the outlined word in that head."))


def _moved_most(views: Sequence[View], shown: Head) -> int:
    """Return the cell of the word with the largest change of its row."""
    one, other = (view.weights(*shown) for view in views)
    rows: FloatArray = np.abs(other - one).sum(axis=1)
    return int(rows.argmax())
