"""Options of all pages: defined in options.py and representable in an address."""

from __future__ import annotations

import importlib
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from tests.support.repository import ROOT
from ui.state.params import format_params, parse_params
from ui.state.view_state import DECLARED, PACKED
from viz.options import options_of

PAGES = ROOT / "ui" / "pages"
KINDS = {"str", "int", "bool", "int | None"}


def class_of(page: Path) -> type[Any]:
    """Return the class that a page's options.py defines."""
    module = importlib.import_module(f"ui.pages.{page.parent.name}.options")
    (found,) = (one for one in vars(module).values() if isinstance(one, type) and one.__module__ == module.__name__)
    return found


@pytest.fixture(params=sorted(PAGES.glob("*/options.py")), ids=lambda path: path.parent.name)
def options(request: pytest.FixtureRequest) -> type[Any]:
    return class_of(request.param)


def test_no_other_module_of_a_page_states_options() -> None:
    elsewhere = [path for path in PAGES.glob("*/*.py") if path.name != "options.py" and "= option(" in path.read_text()]
    assert not elsewhere


def test_fields_are_of_kinds_that_an_address_can_hold(options: type[Any]) -> None:
    assert {field.type for field in fields(options)} <= KINDS


def test_a_page_opens_without_anything_in_its_address(options: type[Any]) -> None:
    assert format_params(options()) == {}
    assert parse_params(options, {}) == (options(), [])


def test_no_name_in_the_address_is_the_shared_choices_own(options: type[Any]) -> None:
    assert not {declared.name for declared in options_of(options).values()} & {*DECLARED, PACKED}


def test_names_in_an_address_differ(options: type[Any]) -> None:
    names = [declared.name for declared in options_of(options).values()]
    assert len(set(names)) == len(names)


def test_every_field_comes_back_from_the_address(options: type[Any]) -> None:
    choices = {name: tuple(declared.choices) for name, declared in options_of(options).items() if declared.choices}
    usual, other = options(), {"str": "other", "int": 7, "int | None": 7}
    changed = {
        field.name: choices[field.name][-1] if field.name in choices
        else not field.default if field.type == "bool" else other[str(field.type)]
        for field in fields(options)
    }  # fmt: skip
    after = options(**changed)
    assert after != usual
    assert parse_params(options, format_params(after)) == (after, [])
