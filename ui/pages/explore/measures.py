"""The folded figures below the microscope, which compare the selected head with all heads."""

from __future__ import annotations

import streamlit as st

from attention.measures import HeadSummary, attention_received, by_offset
from attention.view import View
from i18n import _
from ui.input.controls import head_name
from ui.run.notices import show_notice
from ui.show.chart import draw_chart, theme
from viz.figures.layers import MapSize, distance_by_layer, entropy_by_layer, offset_profile
from viz.figures.token_bars import received_by_token

KEY = "measures"
REACH = 12  # largest distance in the offset profile, in tokens
WHOLE_MAP = 2048  # queries or keys; larger maps have no figures of single heads


def is_unfolded() -> bool:
    """Return whether the figures are open in this run."""
    return bool(st.session_state.get(KEY, False))


def draw_measures(view: View, survey: HeadSummary, layer: int, head: int) -> None:
    """Draw the figures if they are open; otherwise nothing is computed."""
    folded = st.expander(_("Compare measures"), key=KEY, on_change="rerun")
    if not folded.open:
        return
    colours = theme()
    name = head_name(layer, head)
    size = MapSize(len(view.queries), len(view.keys), view.causal)
    chosen = (layer, head)
    with folded:
        left, right = st.columns(2)
        figure = entropy_by_layer(survey.entropy, size, colours, selected=chosen)
        draw_chart(figure, "entropy", place=left)
        if view.part != "cross":  # the place of a target token and of a source token are no distance apart
            figure = distance_by_layer(survey.distance, size, colours, selected=chosen)
            draw_chart(figure, "distance", place=right)
        if max(size.queries, size.keys) > WHOLE_MAP:
            show_notice(
                _("Figures of one head are drawn up to {most} tokens; this text has more.", most=WHOLE_MAP),
                role="status",
            )
            return
        weights = view.weights(layer, head)
        if view.part != "cross":
            shares = by_offset(weights, min(REACH, max(weights.shape) - 1))
            draw_chart(offset_profile(shares, colours, name), "profile", place=left)
        tokens = [cell.label for cell in view.keys]
        figure = received_by_token(attention_received(weights), survey.received, tokens, colours, name)
        draw_chart(figure, "received", place=right)
