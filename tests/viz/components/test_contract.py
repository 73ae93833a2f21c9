"""Tests that Python's payload and the microscope's script use the same names."""

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attention.measures import MEASURES, Measure, summarize_heads
from attention.view import View
from i18n import _, use_language
from tests.support.repository import ROOT
from tests.support.seen import picture_trace
from tests.support.traces import sentence_trace
from tools import contract
from tools.contract import main
from ui.state import view_state
from viz.components.explore import content
from viz.components.explore.explore import payload
from viz.components.explore.options import MicroscopeOptions
from viz.options import options_of

FOLDER = ROOT / "viz" / "components" / "explore"


def typedef(name: str, optional: bool = False) -> set[str]:
    """Return the fields of an object type in types.js, with its optional fields if ``optional`` is set."""
    source = (FOLDER / "types.js").read_text(encoding="utf-8")
    found = re.search(rf"@typedef \{{object\}} {name}\b.*?\*/", source, re.DOTALL)
    assert found, f"types.js has no {name}"
    plain = found[0].replace("{value}", "value")
    fields = {line.rsplit("} ", 1)[-1].split()[0] for line in plain.splitlines() if "@property" in line}
    return {field.strip("[]") for field in fields if optional or not field.startswith("[")}


def sent() -> dict[str, Any]:
    view = View(sentence_trace())
    selection: dict[str, Any] = {"layer": 0, "head": 0, "focus": None, "target": None, "pinned": []}
    return payload(view, summarize_heads(view, 4), {**selection, **vars(MicroscopeOptions())}, "/trace/x", "part=")


def test_script_types_match_the_declarations() -> None:
    assert main(["--check"]) == 0


def test_changed_declaration_fails_the_check(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(contract, "FILE", tmp_path / "contract.js")
    assert main([]) == 0
    assert main(["--check"]) == 0
    contract.FILE.write_text(contract.FILE.read_text(encoding="utf-8").replace('"linear"', '"cube"'), encoding="utf-8")
    assert main(["--check"]) == 1


def test_default_is_the_first_choice() -> None:
    for name, declared in options_of(MicroscopeOptions).items():
        assert next(iter(declared.choices)) == declared.default
        assert declared.name == name


def test_payload_offers_the_choices_of_addresses() -> None:
    offered = {name: [choice["value"] for choice in one["choices"]] for name, one in sent()["options"].items()}
    assert offered == {name: list(declared.choices) for name, declared in options_of(MicroscopeOptions).items()}
    for name, values in offered.items():
        for value in values:
            read, notes = view_state.parse({name: value})
            assert (getattr(read, name), notes) == (value, [])


def test_payload_labels_are_translated() -> None:
    with use_language("zh"):
        assert sent()["options"]["scale"]["label"] == _("Scale") != "Scale"


def test_every_measure_is_an_order_of_the_grid() -> None:
    assert list(options_of(MicroscopeOptions)["order"].choices) == ["layer", *(one.name for one in MEASURES), "focus"]


@pytest.mark.parametrize("name", ["layer", "entropy", "distance", "focus"])
def test_orders_that_links_have_said_are_still_said(name: str) -> None:
    read, notes = view_state.parse({"order": name})
    assert (read.order, notes) == (name, [])


def test_the_payload_has_the_fields_that_the_script_reads() -> None:
    assert typedef("Payload") <= set(sent()) <= typedef("Payload", optional=True)
    assert set(sent()["selection"]) == typedef("SelectedPlace") | set(options_of(MicroscopeOptions))


def test_a_measure_is_a_row_with_the_fields_that_the_script_reads() -> None:
    for row, measure in zip(sent()["measures"], MEASURES, strict=True):
        assert set(row) == typedef("Measure")
        assert np.shape(row["values"]) == (2, 3)
        told = {field.name for field in fields(Measure)} - {"of", "needs_words", "order"}
        assert {name: row[name] for name in told} == {name: getattr(measure, name) for name in told}
        assert not measure.clause or "{value}" in measure.clause


def test_a_picture_is_told_in_patches_and_has_no_measures_of_words() -> None:
    view = View(picture_trace())
    named = {name: names[0] for name, names in content.choices(view).items()}
    data = payload(view, summarize_heads(view, 4), {"layer": 0, "head": 0, **named}, "/trace/x", "part=")
    assert data["patches"]
    without_words = [measure.name for measure in MEASURES if not measure.needs_words]
    assert [row["name"] for row in data["measures"]] == without_words != [measure.name for measure in MEASURES]
    assert {row["name"]: row["unit"] for row in data["measures"]}["distance"] == "patches"
    orders = [choice["value"] for choice in data["options"]["order"]["choices"]]
    assert orders == ["layer", *without_words, "focus"]
    assert data["options"]["by"] != sent()["options"]["by"]
    assert not sent()["patches"]
