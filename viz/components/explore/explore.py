"""The microscope's main component: payload and mount. It is drawn by explore.js.

The payload is small; maps travel as binary frames that the component fetches from ``base`` as they come into view.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from viz.components.explore.content import payload, places, script, style

__all__ = ["ADDRESS", "mount", "payload", "places", "script", "style"]

HERE = Path(__file__).parent


def mount(data: dict[str, Any], key: str, on_selection: Callable[[], None], on_again: Callable[[], None]) -> None:
    """Draw it; ``on_selection`` runs when a click keeps something, found in session_state[key].selection."""
    _COMPONENT(data=data, key=key, on_selection_change=on_selection, on_again_change=on_again)


ADDRESS = f"/headlight/script/{hashlib.sha256(script().encode()).hexdigest()[:16]}.js"
_LOADER = (HERE / "loader.js").read_text(encoding="utf-8").replace("SCRIPT_ADDRESS", ADDRESS)
_COMPONENT = st.components.v2.component(
    "headlight_explore", html='<div id="explore" aria-busy="true"></div>', js=_LOADER, css=style()
)
