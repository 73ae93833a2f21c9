"""The text box of the app, drawn by composer.js."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from i18n import translate
from viz.components.script import script, stylesheet, words_field

CONTINUES = "2"  # marks a text that is typed on after a pause (CONTINUES of composer.js)


def payload(  # noqa: PLR0913  (the fields of the payload)
    text: str,
    pair: str,
    target: str,
    takes_pair: bool,
    takes_target: bool,
    examples: Sequence[Mapping[str, Any]],
    live: bool,
    shared_fields: Mapping[str, str],
    replaced_fields: Mapping[str, str],
) -> dict[str, Any]:
    """Return the data for composer.js, with the fields of its typedef ComposerData.

    ``pair`` is the second text, and ``target`` the input of a decoder; ``takes_pair`` and ``takes_target`` show fields
    for them. The menu offers the texts in ``examples``. If ``live`` is set, a text is read while the visitor types.
    A copied link always contains the fields of the address in ``shared_fields``, and the values in ``replaced_fields``
    replace those of the address; "" deletes a field.
    """
    shown = [{"title": translate(e["title"]), "text": e["text"], "pair": e.get("pair", "")} for e in examples]
    return {
        "text": text,
        "pair": pair,
        "target": target,
        "takesPair": takes_pair,
        "takesTarget": takes_target,
        "examples": shown,
        "live": live,
        "sharedFields": dict(shared_fields),
        "replacedFields": dict(replaced_fields),
        **words_field("composer/composer"),
    }


def mount(data: dict[str, Any], key: str, on_submit: Callable[[], None]) -> None:
    """Draw the text box; call ``on_submit`` if the visitor submits a text.

    The text is in session_state[key].submitted.
    """
    _COMPONENT(data=data, key=key, on_submitted_change=on_submit)


_COMPONENT = st.components.v2.component(
    "headlight_composer",
    html='<div id="composer"></div>',
    js=script("composer/composer"),
    css=stylesheet("composer/composer"),
)
