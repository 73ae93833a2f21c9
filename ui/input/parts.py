"""Which of a model's attentions is shown, for models that have several; and what a model cannot show."""

from __future__ import annotations

import streamlit as st

from attention.trace import Trace
from i18n import _, gettext_lazy, translate
from ui.run.notices import show_notice
from ui.run.services import ViewOptions
from ui.state.session import UNSELECTED, set_view_state

KEY = "pick_part"
NAMES: dict[str, str] = {
    "encoder": gettext_lazy("Encoder: source looks at source"),
    "decoder": gettext_lazy("Decoder: target looks back at target"),
    "cross": gettext_lazy("Cross: target looks at source"),
}
HELP = gettext_lazy(
    "A translation model reads the source with its encoder and writes the target with its decoder, which looks back at"
    " what it has written and across at the source."
)


def pick_part(trace: Trace, look: ViewOptions) -> None:
    """Draw the choice where there is one."""
    if len(trace.parts) > 1:
        st.session_state[KEY] = look.part or trace.part
        st.radio(
            _("Attention"),
            list(trace.parts),
            key=KEY,
            format_func=lambda part: translate(NAMES[part]),
            horizontal=True,
            on_change=lambda: set_view_state(**UNSELECTED, part=st.session_state[KEY]),
            help=translate(HELP),
        )
    if not trace.has_qkv(look.part or None):
        show_notice(_describe_missing(trace, look), role="status")


def _describe_missing(trace: Trace, look: ViewOptions) -> str:
    """Why there are no queries, keys and values."""
    if trace.is_signed(look.part or None):
        return _(
            "These maps were given: numbers with signs, such as attributions, and no attention weights. They may be "
            "below zero, and a row need not sum to one; there are no queries, keys and values."
        )
    return _(
        "{architecture} computes attention in its own way: its maps are shown as it reports them; "
        "queries, keys and values are not available for it.",
        architecture=trace.model.architecture,
    )
