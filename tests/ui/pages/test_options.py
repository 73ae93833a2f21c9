"""Options of all pages: declared in a class for each view, and representable in an address."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from tests.support.page_options import page_options
from tests.support.repository import ROOT
from ui.state.params import format_params, parse_params
from ui.state.view_state import DECLARED, PACKED
from viz.options import options_of

KINDS = {"str", "int", "bool", "int | None"}


def test_every_option_is_declared_in_the_class_of_its_view() -> None:
    declaring = {path.parent.name for path in (ROOT / "ui/pages").glob("*/*.py") if "= option(" in path.read_text()}
    assert declaring
    assert declaring <= set(page_options())


def fields_are_of_kinds_that_an_address_can_hold(options: type[Any]) -> None:
    assert {field.type for field in fields(options)} <= KINDS


def a_page_opens_without_anything_in_its_address(options: type[Any]) -> None:
    assert format_params(options()) == {}
    assert parse_params(options, {}) == (options(), [])


def no_name_in_the_address_is_the_shared_choices_own(options: type[Any]) -> None:
    assert not {declared.name for declared in options_of(options).values()} & {*DECLARED, PACKED}


def names_in_an_address_differ(options: type[Any]) -> None:
    names = [declared.name for declared in options_of(options).values()]
    assert len(set(names)) == len(names)


def every_field_comes_back_from_the_address(options: type[Any]) -> None:
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


LAWS = (
    fields_are_of_kinds_that_an_address_can_hold,
    a_page_opens_without_anything_in_its_address,
    no_name_in_the_address_is_the_shared_choices_own,
    names_in_an_address_differ,
    every_field_comes_back_from_the_address,
)


def test_every_class_of_options_can_be_kept_in_an_address(subtests: pytest.Subtests) -> None:
    for view, options in sorted(page_options().items()):
        for law in LAWS:
            with subtests.test(view=view, law=law.__name__):
                law(options)
