"""Tests that Python's payload and the microscope's script use the same names."""

import json
import re
import subprocess
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from attention.measures import MEASURES, Measure, summarize_heads
from attention.view import View
from tests.support.cases import loop_over
from tests.support.repository import ROOT
from tests.support.seen import picture_trace
from tests.support.traces import sentence_trace
from tools.javascript import node
from ui.state import view_state
from viz.components.explore import content
from viz.components.explore.explore import payload

FOLDER = ROOT / "viz" / "components" / "explore"
# A script for Node.js that prints the keys of each table in contract.js.
ASK = "import(process.argv[1]).then((known) => console.log(JSON.stringify(Object.fromEntries(" + (
    "Object.entries(known).map(([name, table]) => [name, Object.keys(table)])))))"
)


@pytest.fixture(scope="module")
def known() -> dict[str, list[str]]:
    """Return the names in each table of contract.js."""
    program = node()
    assert program, "the JavaScript tests need Node.js"
    answer = subprocess.run(
        [program, "--input-type=module", "-e", ASK, (FOLDER / "contract.js").as_uri()],
        check=True,
        capture_output=True,
        text=True,
    )
    tables: dict[str, list[str]] = json.loads(answer.stdout)
    return tables


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
    named = {name: names[0] for name, names in content.CHOICES.items()}
    return payload(view, summarize_heads(view, 4), {**selection, **named}, "/trace/x", "part=")


@loop_over(
    ("table", "names"),
    [
        ("TABS", content.TABS),
        ("SCALES", content.SCALES),
        ("FILTERS", content.FILTERS),
        ("STRENGTHS", content.STRENGTHS),
        ("FACINGS", content.FACINGS),
        ("TOPS", content.TOPS),
    ],
)
def test_both_sides_know_the_same_names(known: dict[str, list[str]], table: str, names: tuple[str, ...]) -> None:
    assert sorted(known[table]) == sorted(names)


def test_an_order_is_known_by_name_or_is_a_measure_that_comes_with_the_payload(known: dict[str, list[str]]) -> None:
    rows = [row["name"] for row in sent()["measures"]]
    assert sorted(content.ORDERS) == sorted([*known["ORDERS"], *rows])
    assert not set(known["ORDERS"]) & set(rows)


def test_there_is_no_other_table(known: dict[str, list[str]]) -> None:
    assert set(known) == {"TABS", "SCALES", "FILTERS", "STRENGTHS", "FACINGS", "TOPS", "ORDERS"}


def test_an_address_may_say_what_the_payload_names() -> None:
    data = sent()
    assert data["choices"] == {name: list(view_state.CHOICES[name]) for name in data["choices"]}
    assert set(data["choices"]) == typedef_of_choices()


def typedef_of_choices() -> set[str]:
    source = (FOLDER / "types.js").read_text(encoding="utf-8")
    found = re.search(r"@typedef \{\{(tab: .*?)\}\} Choices", source, re.DOTALL)
    assert found
    return set(re.findall(r"(\w+): ", found[1]))


@pytest.mark.parametrize("name", ["layer", "entropy", "distance", "focus"])
def test_orders_that_links_have_said_are_still_said(name: str) -> None:
    read, notes = view_state.parse({"order": name})
    assert (read.order, notes) == (name, [])


def test_the_payload_has_the_fields_that_the_script_reads() -> None:
    assert typedef("Payload") <= set(sent()) <= typedef("Payload", optional=True)
    assert set(sent()["selection"]) == typedef("Selection")


def test_a_measure_is_a_row_with_the_fields_that_the_script_reads() -> None:
    for row, measure in zip(sent()["measures"], MEASURES, strict=True):
        assert set(row) == typedef("Measure")
        assert np.shape(row["values"]) == (2, 3)
        told = {field.name for field in fields(Measure)} - {"of", "needs_words"}
        assert {name: row[name] for name in told} == {name: getattr(measure, name) for name in told}
        assert not measure.clause or "{value}" in measure.clause


def test_a_picture_is_told_in_patches_and_has_no_measures_of_words() -> None:
    view = View(picture_trace())
    named = {name: names[0] for name, names in content.choices(view).items()}
    data = payload(view, summarize_heads(view, 4), {"layer": 0, "head": 0, **named}, "/trace/x", "part=")
    assert data["patches"]
    assert [(row["name"], row["unit"]) for row in data["measures"]] == [("entropy", "bits"), ("distance", "patches")]
    assert data["choices"]["order"] == ["layer", "entropy", "distance", "focus"]
    assert not sent()["patches"]
