"""Remedies of refusals: each has its button or link on the page."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from inference import UserError
from inference.task_heads import CLASSES, CLASSIFY, WHAT
from tests.support.repository import ROOT, files
from ui.run import notices
from ui.state.navigation import BY_VIEW
from ui.state.view_state import ViewState

REMEDIES: dict[str, dict[str, Any]] = {  # The values are the details of each remedy.
    "busy": {},
    "cut": {"limit": 9, "tokens": 12},
    "download": {},
    "embedded": {},
    "head": {"head": CLASSIFY, "models": []},
    "pair": {},
    "reads": {"model": "some/model", "title": "Some model", "summary": "Reads Chinese."},
    "retry": {},
    "revision": {"revision": "refs/pr/7"},
}
ON_THE_PAGE = {"text"}  # The text box is next to the refusal.


class Drawn:
    """A stub for Streamlit that records the labels of buttons and the views of links."""

    def __init__(self) -> None:
        self.buttons: list[str] = []
        self.links: list[str] = []

    def html(self, _body: str) -> None:
        """Do nothing."""

    def button(self, label: str, **_more: Any) -> None:
        """Record the label."""
        self.buttons.append(label)

    def link_to_view(self, view: str, _label: str, **_more: Any) -> None:
        """Record the view."""
        assert view in BY_VIEW
        self.links.append(view)


def shown(monkeypatch: pytest.MonkeyPatch, way_out: str, details: dict[str, Any]) -> Drawn:
    """Draw a refusal with this remedy on a page with a model other than the embedded model."""
    drawn = Drawn()
    monkeypatch.setattr(notices, "st", drawn)
    monkeypatch.setattr(notices, "link_to_view", drawn.link_to_view)
    monkeypatch.setattr(notices, "get_view_state", lambda: ViewState(model="another/model"))
    notices.show_error(UserError("No.", way_out=way_out, details=details))
    return drawn


def ways_out() -> set[str]:
    """Return all remedies that modules of the repository name."""
    found = set()
    for file in files():
        if file.suffix == ".py" and file.parts[0] not in ("tests", "tools", "bench"):
            for node in ast.walk(ast.parse((ROOT / file).read_text(encoding="utf-8"))):
                if isinstance(node, ast.keyword) and node.arg == "way_out" and isinstance(node.value, ast.Constant):
                    found.add(str(node.value.value))
    return found - {"None"}


def test_every_way_out_has_a_remedy() -> None:
    assert ways_out() == {*REMEDIES, *ON_THE_PAGE}


@pytest.mark.parametrize("way_out", REMEDIES)
def test_a_way_out_has_a_button_or_a_link(way_out: str, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = shown(monkeypatch, way_out, REMEDIES[way_out])
    assert drawn.buttons or drawn.links


@pytest.mark.parametrize("head", WHAT)
def test_a_head_that_can_be_taught_leads_to_teach(head: str, monkeypatch: pytest.MonkeyPatch) -> None:
    links = shown(monkeypatch, "head", {"head": head, "models": []}).links
    assert links == (["teach"] if head in CLASSES else [])
