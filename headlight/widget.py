"""The microscope alive in a notebook's cell: the kernel answers what is looked at, and Python reads along.

Only this file imports anywidget, which need not be installed. The messages are told in notebook.js.
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
    """A cell's output; ``selection`` is what is chosen in it, and what is set here is chosen there.

    ``selection`` has a layer, a head, the focus (the token that looks) and the target (that is looked at; None is the
    one with the strongest link), all counted from 0, and by the app's names how they are shown. Of a dictionary that is
    set, what is missing stays as it is. ``observe(function, "selection")`` hears every change.
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
        """What a saved notebook shows in the widget's place."""
        return self._said

    @traitlets.validate("selection")
    def _fitting(self, proposal: Mapping[str, Any]) -> dict[str, Any]:
        """What is set, within what was chosen before: a word that is asked about anew has its own strongest link."""
        new: dict[str, Any] = proposal["value"]
        chosen = {**self.selection, **{name: self._one(name, value) for name, value in new.items()}}
        asked, other = ("focus", "target") if chosen["facing"] == "out" else ("target", "focus")
        return {**chosen, other: None} if asked in new and other not in new else chosen

    def _one(self, name: str, value: Any) -> Any:
        """One entry of a selection, if it is one; raises NotMaps in one sentence."""
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
                _("{name}={value!r} is no part of a selection; there is {known}.", name=name, value=value, known=known)
            )
        return value

    def _hear(self, _widget: Widget, content: Mapping[str, Any], _buffers: object) -> None:
        """A question of the browser, answered with the frame that the app's routes give, or refused in a sentence."""
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
