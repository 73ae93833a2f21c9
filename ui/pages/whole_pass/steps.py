"""Controls for moving through the pass: task head, zoom level, stage, and previous or next stage."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from i18n import _, translate
from inference.tasks.whole_pass import Stage
from ui.input.controls import bound_widget
from ui.pages.whole_pass.inspector import PassInspector
from ui.pages.whole_pass.names import place, title
from ui.pages.whole_pass.options import HEADS, WholePassOptions
from ui.state.params import set_params


def head_and_zoom(asked: PassInspector) -> None:
    """Draw the controls for the task head and the zoom level."""
    closeness, ending = st.columns(2)
    heads = HEADS[asked.trace.model.kind]
    if len(asked.heads) > 1:
        st.session_state["pass_head"] = asked.head
        ending.segmented_control(
            _("Task head"),
            list(asked.heads),
            key="pass_head",
            required=True,
            format_func=lambda head: translate(heads[head]),
            on_change=lambda: set_params(WholePassOptions, ends=st.session_state["pass_head"], stage=None, column=None),
            help=_("Reads the last hidden state; without one, the pass ends there"),
        )
    bound_widget(WholePassOptions, "zoom", closeness.segmented_control, required=True)


def draw_stage_steps(asked: PassInspector, chosen: Stage, shown: Sequence[Stage]) -> None:
    """Draw the stage selector, and buttons for the previous and next of the ``shown`` stages."""
    stages = asked.result.stages
    at, beside = st.columns([2, 1], vertical_alignment="bottom")
    st.session_state["pass_stage"] = stages.index(chosen)
    at.selectbox(
        _("Stage"),
        [stages.index(stage) for stage in shown],
        key="pass_stage",
        format_func=lambda index: _stage(asked, stages[index]),
        on_change=lambda: _open_stage(st.session_state["pass_stage"]),
    )
    here = shown.index(chosen)
    both = beside.container(horizontal=True)  # keeps the buttons in a row on narrow screens too
    for label, step, keys in ((_("Back"), -1, "Alt+PageUp"), (_("Next"), 1, "Alt+PageDown")):
        other = here + step
        both.button(
            label,
            key="pass_back" if step < 0 else "pass_on",
            disabled=not 0 <= other < len(shown),
            on_click=_open_stage,
            args=(stages.index(shown[other]) if 0 <= other < len(shown) else 0,),
            shortcut=keys,
            width="stretch",
        )


def _stage(asked: PassInspector, stage: Stage) -> str:
    return _("{place}: {stage}", place=place(stage, asked.two), stage=title(stage))


def _open_stage(stage: int) -> None:
    set_params(WholePassOptions, stage=stage, column=None)
