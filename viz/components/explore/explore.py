"""The attention microscope on a Streamlit page, drawn by explore.js.

The payload is small; the component fetches maps from ``base`` as binary messages when they become visible. The script
is served at an address for each language, so that no payload contains the messages.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from i18n import ENGLISH, _, active_language, use_language
from viz.components.base_path import BASE
from viz.components.explore.content import payload, places, script, style

__all__ = ["ADDRESS", "address", "mount", "payload", "places", "script", "script_in_language", "style"]

HERE = Path(__file__).parent


def mount(data: dict[str, Any], key: str, on_selection: Callable[[], None], on_again: Callable[[], None]) -> None:
    """Draw the microscope; call ``on_selection`` if the visitor changes the selection.

    The new selection is session_state[key].selection. ``on_again`` is called if the server has dropped the trace.
    """
    _component(active_language())(data=data, key=key, on_selection_change=on_selection, on_again_change=on_again)


@cache
def script_in_language(code: str) -> str:
    """Return the component's JavaScript with its messages in the language ``code``."""
    with use_language(code):
        return script()


def address(code: str) -> str:
    """Return the path at which the script is served; it contains the script's hash, because browsers cache it."""
    return ADDRESS.format(code=code, digest=hashlib.sha256(script_in_language(code).encode()).hexdigest()[:16])


@cache
def _component(code: str) -> Callable[..., Any]:
    with use_language(code):
        missing = json.dumps(_("The page's script is missing. Reload the page."), ensure_ascii=False)
    loader = (HERE / "loader.js").read_text(encoding="utf-8")
    loader = loader.replace("SCRIPT_ADDRESS", address(code))
    return st.components.v2.component(
        "headlight_explore" if code == ENGLISH else f"headlight_explore_{code}",
        html='<div id="explore" aria-busy="true"></div>',
        js=loader.replace('"SCRIPT_MISSING"', missing),
        css=style(),
    )


ADDRESS = f"{BASE}/headlight/script/{{code}}/{{digest}}.js"
_component(ENGLISH)
