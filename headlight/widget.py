"""An interactive widget for notebooks: the kernel answers the browser, and Python reads the selection.

Only this module imports anywidget, an optional dependency. The messages between browser and kernel are documented in
notebook.js.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import anywidget
import numpy as np
import traitlets

from attention.external_maps import InvalidAttention
from attention.measures import HeadSummary
from attention.record import Unavailable
from attention.trace import without_attention
from attention.view import View
from headlight.token_rows import whole_number
from i18n import _, active_language, error_message, translate, use_language
from viz.components.explore import content
from viz.components.explore.content import BadRequest, choices, payload, script, style

MOST_PINNED = 8


class Widget(anywidget.AnyWidget):
    """A notebook widget whose ``selection`` is synchronised with the page in both directions.

    ``selection`` is a dictionary of the layer, the head, the focus (query) and the target (key), all counted from 0,
    and of the view options. A target of None selects the strongest link. View options are named like the app's URL
    parameters. Keys that are missing from an assigned dictionary keep their values. ``observe(function, "selection")``
    calls the function after every change.
    """

    _esm = traitlets.Unicode().tag(sync=True)
    _css = traitlets.Unicode().tag(sync=True)
    _payload = traitlets.Dict().tag(sync=True)
    selection = traitlets.Dict().tag(sync=True)

    def __init__(self, view: View, survey: HeadSummary, selection: Mapping[str, Any], said: str) -> None:
        self._view, self._survey, self._said = view, survey, said
        drawn = payload(view, survey, {}, "", "")
        del drawn["selection"]
        super().__init__(_esm=_script(active_language()), _css=_style(), _payload=drawn, selection=dict(selection))
        self.on_msg(self._hear)

    def __repr__(self) -> str:
        """Return the text that a saved notebook shows in place of the widget."""
        return self._said

    @traitlets.validate("selection")
    def _fitting(self, proposal: Mapping[str, Any]) -> dict[str, Any]:
        """Return the assigned selection merged into the previous selection.

        A new focus resets the target to the strongest link, unless both are assigned; the roles swap if "facing"
        is not "out".
        """
        new: dict[str, Any] = proposal["value"]
        chosen = {**self.selection, **{name: self._one(name, value) for name, value in new.items()}}
        asked, other = ("focus", "target") if chosen["facing"] == "out" else ("target", "focus")
        return {**chosen, other: None} if asked in new and other not in new else chosen

    def _one(self, name: str, value: Any) -> Any:
        """Return the validated value of a selection entry; raise InvalidAttention with a one-sentence message."""
        view = self._view
        ends = {"layer": view.layers, "head": view.heads, "focus": len(view.queries), "target": len(view.keys)}
        if name == "pinned" and isinstance(value, list | tuple) and all(np.shape(pin) == (2,) for pin in value):
            return [[self._one("layer", layer), self._one("head", head)] for layer, head in value][-MOST_PINNED:]
        if value is None and name in ("focus", "target"):
            return None
        try:
            if name in ends:
                number = whole_number(value)
                found = content.number({name: str(value if number is None else number)}, name, ends[name])
                if name == "layer" and found not in view.attending:
                    raise InvalidAttention(translate(without_attention(found, view.attending)))
                return found
        except content.BadRequest as error:
            raise InvalidAttention(translate(error_message(error))) from error
        names = choices(view)
        if value not in names.get(name, ()):
            known = ", ".join(names[name]) if name in names else ", ".join((*ends, *names, "pinned"))
            raise InvalidAttention(
                _("{name}={value!r} is not part of a selection; use {known}.", name=name, value=value, known=known)
            )
        return value

    def _hear(self, _widget: Widget, content: Mapping[str, Any], _buffers: object) -> None:
        """Answer a request of the browser with a frame, as the app's routes do, or with an error message."""
        asked = {name: str(value) for name, value in content["asked"].items()}
        try:
            frame = self._frame(content["what"], asked)
        except (BadRequest, Unavailable) as error:
            self.send({"id": content["id"], "refused": translate(error_message(error))})
        else:
            self.send({"id": content["id"]}, [frame])

    def _frame(self, what: str, asked: content.QueryFields) -> bytes:
        if what == "grid":
            return content.grid(self._survey, None)
        return content.OF_A_VIEW[what](self._view, asked)


@cache
def _script(code: str) -> str:
    with use_language(code):
        return script("notebook/notebook")


@cache
def _style() -> str:
    return style()
