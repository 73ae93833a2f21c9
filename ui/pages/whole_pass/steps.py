"""Going along the pass: how close, which stage, one back and one on."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from inference.questions.whole_pass import Stage
from ui.input.picking import control
from ui.pages.whole_pass.asking import Asked
from ui.pages.whole_pass.names import place, title
from ui.pages.whole_pass.options import HEADS, ZOOMS, Options
from ui.state.options import choose_own


def head_and_zoom(asked: Asked) -> None:
    """What the pass ends with, and how close it is looked at."""
    closeness, ending = st.columns(2)
    heads = HEADS[asked.trace.model.kind]
    if len(heads) > 1:
        st.session_state["pass_head"] = asked.head
        ending.segmented_control(
            "Ends with",
            list(heads),
            key="pass_head",
            required=True,
            format_func=heads.__getitem__,
            on_change=lambda: choose_own(Options, ends=st.session_state["pass_head"], stage=None, column=None),
            help="The head that reads the last state; without one, the pass ends with that state",
        )
    control(
        Options,
        "zoom",
        closeness.segmented_control,
        "How close",
        list(ZOOMS),
        required=True,
        format_func=ZOOMS.__getitem__,
        help="All parts, the stages of one layer, or the numbers of one stage; a click in the picture goes closer",
    )


def along(asked: Asked, chosen: Stage, shown: Sequence[Stage]) -> None:
    """The chosen stage by name, and the one before and after it among those that are shown, by the keyboard too."""
    stages = asked.passed.stages
    at, back, on = st.columns([4, 1, 1], vertical_alignment="bottom")
    st.session_state["pass_stage"] = stages.index(chosen)
    at.selectbox(
        "Stage",
        [stages.index(stage) for stage in shown],
        key="pass_stage",
        format_func=lambda index: f"{place(stages[index], asked.base, asked.two)}: {title(stages[index])}",
        on_change=lambda: _go(st.session_state["pass_stage"]),
        help="What the model computes, in the order in which it does",
    )
    here = shown.index(chosen)
    for column, label, step, keys in ((back, "Back", -1, "Alt+PageUp"), (on, "On", 1, "Alt+PageDown")):
        other = here + step
        column.button(
            label,
            key=f"pass_{label}",
            disabled=not 0 <= other < len(shown),
            on_click=_go,
            args=(stages.index(shown[other]) if 0 <= other < len(shown) else 0,),
            shortcut=keys,
            width="stretch",
            help="One part further back" if step < 0 else "One part further on",
        )


def _go(stage: int) -> None:
    choose_own(Options, stage=stage, column=None)
