"""A widget's kernel answers with the bytes of the app's routes; browser and Python share the selection."""

from __future__ import annotations

import builtins
import re
import subprocess
import sys
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

import headlight
from attention.storage import dump
from attention.trace import without_attention
from headlight.widget import Widget
from tests.support.cases import loop_over
from tests.support.repository import ROOT
from tests.support.traces import hybrid_trace, sentence_trace
from ui.routes.traces import PREFIX, routes
from ui.run.services import ViewOptions, get_trace_store, trace_seal

QUESTIONS: list[tuple[str, dict[str, int]]] = [
    ("grid", {"size": 48}),
    ("rows", {"query": 1}),
    ("columns", {"key": 2}),
    ("tile", {"layer": 1, "head": 2, "q0": 1, "q1": 3, "k0": 0, "k1": 2, "size": 512}),
]


@pytest.fixture
def widget() -> Widget:
    return headlight.Shown(sentence_trace()).widget()


@pytest.fixture
def sent(widget: Widget, monkeypatch: pytest.MonkeyPatch) -> list[tuple[dict[str, Any], list[bytes]]]:
    """Record the messages from the kernel to the browser."""
    found: list[tuple[dict[str, Any], list[bytes]]] = []
    monkeypatch.setattr(widget, "send", lambda content, buffers=(): found.append((content, list(buffers))))
    return found


def ask(widget: Widget, what: str, asked: dict[str, int]) -> None:
    """Send the kernel a message as the browser does."""
    widget._handle_custom_msg({"id": "a.1", "what": what, "asked": asked}, [])  # noqa: SLF001  (ipywidgets' own way in)


@pytest.mark.parametrize(("what", "asked"), QUESTIONS)
def test_a_message_is_answered_as_the_route_answers(
    widget: Widget, sent: Any, what: str, asked: dict[str, int]
) -> None:
    trace = get_trace_store().open(dump(sentence_trace()))
    address = f"{PREFIX}/{trace.id}/{what}?{ViewOptions().query()}&seal={trace_seal(trace.id)}&{urlencode(asked)}"
    route = TestClient(Starlette(routes=routes())).get(address)
    ask(widget, what, asked)
    assert sent == [({"id": "a.1"}, [route.content])]


def test_what_is_not_there_is_refused_in_a_sentence(widget: Widget, sent: Any) -> None:
    ask(widget, "rows", {"query": 99})
    assert sent == [({"id": "a.1", "refused": "“query” is '99'; expected a whole number from 0 to 5."}, [])]


def test_the_browser_gets_the_script_and_what_it_draws(widget: Widget) -> None:
    state = widget.get_state()
    assert "export default { render };" in state["_esm"]
    assert "import " not in state["_esm"].replace("@import", "")
    assert state["_payload"]["base"] == ""
    assert "selection" not in state["_payload"]
    assert state["selection"] == headlight.Shown(sentence_trace()).selection
    assert repr(widget) == repr(headlight.Shown(sentence_trace()))


def test_a_choice_of_the_browser_is_read_in_python(widget: Widget) -> None:
    heard: list[Any] = []
    widget.observe(lambda change: heard.append(change["new"]["head"]), "selection")
    widget.set_state({"selection": {**widget.selection, "layer": 1, "head": 2, "focus": 3, "target": 1}})
    assert [widget.selection[name] for name in ("layer", "head", "focus", "target")] == [1, 2, 3, 1]
    assert heard == [2]


def test_what_is_set_in_python_completes_what_is_chosen(widget: Widget) -> None:
    before = widget.selection
    widget.selection = {"layer": np.int64(1), "target": 4, "pinned": [(0, 1)]}
    assert widget.selection == {**before, "layer": 1, "target": 4, "pinned": [[0, 1]]}
    assert type(widget.selection["layer"]) is int
    widget.selection = {"focus": 2}
    assert (widget.selection["focus"], widget.selection["target"]) == (2, None)
    widget.selection = {"facing": "in", "target": 2}
    assert (widget.selection["focus"], widget.selection["target"]) == (None, 2)


@loop_over(
    ("wrong", "said"),
    [
        ({"layer": 9}, "“layer” is '9'; expected a whole number from 0 to 1."),
        ({"head": None}, "“head” is 'None'"),
        ({"focus": -1}, "“focus” is '-1'"),
        ({"pinned": [[0, 9]]}, "“head” is '9'"),
        ({"pinned": 3}, "pinned=3 is not part of a selection; use layer, head"),
        ({"pinned": [3]}, "pinned=[3] is not part"),
        ({"tab": "map"}, "tab='map' is not part of a selection; use matrix, lines."),
        ({"word": 1}, "word=1 is not part of a selection; use layer, head, focus"),
    ],
)
def test_what_cannot_be_chosen_is_refused(widget: Widget, wrong: dict[str, Any], said: str) -> None:
    before = widget.selection
    with pytest.raises(ValueError) as refused:  # noqa: PT011  (the message is checked below)
        widget.selection = wrong
    assert said in str(refused.value)
    assert widget.selection == before


def test_without_anywidget_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "headlight.widget":
            raise ModuleNotFoundError("No module named 'anywidget'")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"^A widget [^.]*\.$"):
        headlight.Shown(sentence_trace()).widget()


@pytest.mark.slow
def test_a_widget_needs_neither_streamlit_nor_torch() -> None:
    program = (
        "import sys, headlight; headlight.view([[[0.9, 0.1], [0.4, 0.6]]], ['a', 'cat']).widget();"
        "print(sorted({'streamlit', 'torch', 'starlette', 'plotly'} & set(sys.modules)))"
    )
    answer = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True, text=True)
    assert answer.stdout.strip() == "[]"


def test_a_layer_without_attention_cannot_be_chosen() -> None:
    widget = headlight.Shown(hybrid_trace()).widget()
    assert widget.selection["layer"] in (1, 3)
    widget.selection = {"layer": 3}
    with pytest.raises(ValueError, match=re.escape(without_attention(2, (1, 3)))):
        widget.selection = {"layer": 2}
    assert widget.selection["layer"] == 3
