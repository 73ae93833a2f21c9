"""Which of a model's attentions is shown, for models that have several; and what a model cannot show."""

from __future__ import annotations

import streamlit as st

from attention.trace import Trace
from ui.run.refusals import say
from ui.run.shelf import Look
from ui.state.session import UNSELECTED, choose
from wording import _, sentence, told

KEY = "pick_part"
NAMES: dict[str, str] = {
    "encoder": sentence("Encoder: source looks at source"),
    "decoder": sentence("Decoder: target looks back at target"),
    "cross": sentence("Cross: target looks at source"),
}
HELP = sentence(
    "A translation model reads the source with its encoder and writes the target with its decoder, which looks back at"
    " what it has written and across at the source."
)


def pick_part(trace: Trace, look: Look) -> None:
    """Draw the choice where there is one."""
    if len(trace.parts) > 1:
        st.session_state[KEY] = look.part or trace.part
        st.radio(
            _("Attention"),
            list(trace.parts),
            key=KEY,
            format_func=lambda part: told(NAMES[part]),
            horizontal=True,
            on_change=lambda: choose(**UNSELECTED, part=st.session_state[KEY]),
            help=told(HELP),
        )
    if not trace.has_qkv(look.part or None):
        say(_lacking(trace, look), role="status")


def _lacking(trace: Trace, look: Look) -> str:
    """Why there are no queries, keys and values."""
    if trace.signed(look.part or None):
        return _(
            "These maps were given: numbers with signs, such as attributions, and no attention weights. They may be "
            "below zero, and a row need not sum to one; there are no queries, keys and values."
        )
    return _(
        "{architecture} computes attention in its own way: its maps are shown as it reports them; "
        "queries, keys and values are not available for it.",
        architecture=trace.model.architecture,
    )
