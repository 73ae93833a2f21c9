"""The check of Streamlit's version, and functions that depend on its private names."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData, ScriptRequests

from tests.support.repository import ROOT
from ui import streamlit_internals
from ui.streamlit_internals import EXPECTED, WRONG_VERSION, check_version


@pytest.mark.parametrize("installed", ["1.66.9", f"{EXPECTED}0.1", "2.0", ""])
def test_another_release_is_refused_by_name(installed: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        check_version(installed)
    assert str(caught.value) == WRONG_VERSION.format(installed=installed, expected=EXPECTED)
    assert f"streamlit=={EXPECTED}" in str(caught.value)


def test_the_expected_release_is_the_pinned_one() -> None:
    """The requirements, the wheel and the scripts expect the same release."""
    pinned = re.findall(r"^streamlit==(\S+)", (ROOT / "requirements.txt").read_text("utf-8"), re.MULTILINE)
    check_version(*pinned)
    assert f'"streamlit>={EXPECTED},<' in (ROOT / "pyproject.toml").read_text("utf-8")
    script = (ROOT / "viz/components/shared/streamlit_internals.js").read_text("utf-8")
    assert re.findall(r'EXPECTED = "(.*?)"', script) == [EXPECTED]


def test_outside_a_run_there_is_no_session() -> None:
    assert streamlit_internals.session_id() is None
    assert not streamlit_internals.is_fragment_run()
    assert not streamlit_internals.is_pressed("stop")
    assert not streamlit_internals.send_query("nobody", {"layer": "1"})


def test_a_press_is_seen_while_the_page_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    requests, is_pressed = ScriptRequests(), streamlit_internals.is_pressed
    monkeypatch.setattr(streamlit_internals, "script_run", lambda: SimpleNamespace(script_requests=requests))
    assert not is_pressed("stop_a")
    states = WidgetStates(widgets=[WidgetState(id="$$ID-0123456789abcdef-stop_a", trigger_value=True)])
    requests.request_rerun(RerunData(widget_states=states, fragment_id="the picture"))
    assert (is_pressed("stop_a"), is_pressed("stop_b")) == (True, False)
    requests.on_scriptrunner_ready()
    assert not is_pressed("stop_a"), "the run that the press began"


@pytest.mark.parametrize(("fragments", "kept"), [(["outer"], 4), (None, 0)])
def test_unsent_elements_stay_if_a_fragment_runs_next(fragments: list[str] | None, kept: int) -> None:
    queue = ForwardMsgQueue()
    for fragment, path in (("", [0, 0]), ("outer", [0, 1]), ("inner", [0, 1, 0]), ("", [0, 2])):
        message = ForwardMsg()
        message.delta.fragment_id = fragment
        message.delta.add_block.allow_empty = True
        message.metadata.delta_path.extend(path)
        queue.enqueue(message)
    session: Any = SimpleNamespace(_browser_queue=queue)
    AppSession._clear_queue(session, fragments)  # noqa: SLF001  # There is no public interface.
    assert len(queue) == kept
