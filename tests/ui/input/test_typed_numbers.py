"""Typed numbers: common notations are parsed, and others are refused."""

from __future__ import annotations

import pytest

from inference import UserError
from tests.support.cases import loop_over
from ui.input.controls import LARGEST, format_shortest, read_number


@loop_over(
    ("text", "number"),
    [
        ("1e2", 100), ("1E-2", 0.01), ("1,5", 1.5), (" -0,25 ", -0.25), ("−3", -3), ("+4", 4), (".5", 0.5),
        ("2.", 2), ("1/3", 1 / 3), ("-1/4", -0.25), ("", 0), ("1000000", LARGEST), ("1.234", 1.234), ("0,125", 0.125),
        ("1500", 1500), ("1.5", 1.5), ("34.5/1.5", 23), ("0,5 / 2", 0.25),
    ],
)  # fmt: skip
def test_what_is_meant(text: str, number: float) -> None:
    assert read_number(text) == number


@loop_over(
    ("text", "said"),
    [
        ("5000000", "“5000000” is out of range, from -1,000,000 to 1,000,000."),
        ("-1e300", "“-1e300” is out of range"),
        ("1e999", "“1e999” is out of range"),
        ("1,500", "“1,500” may be thousands or a fraction"),
        ("1.500.000", "“1.500.000” may be thousands"),
        ("1/0", "“1/0” is not a number"),
        ("1/2/3", "“1/2/3” is not a number"),
        ("1/", "“1/” is not a number"),
        ("1e999/1e999", "“1e999/1e999” is out of range"),
        ("1,500/2", "“1,500/2” may be thousands"),
        ("two", "“two” is not a number, such as 0.5, 1e2 or 1/3."),
        ("1_000", "“1_000” is not a number"),
        ("nan", "“nan” is not a number"),
        ("1 2", "“1 2” is not a number"),
        ("٣", "“٣” is not a number"),
        ("<b>" + "x" * 99, "“<b>xxx"),
    ],
)
def test_what_is_not_one_number_is_refused(text: str, said: str) -> None:
    with pytest.raises(UserError) as refused:
        read_number(text)
    assert refused.value.message.startswith(said)
    assert len(refused.value.message) < 140


@pytest.mark.parametrize("number", [0.1, -3.0, 1e-5, 1 / 3, 1e6])
def test_what_stands_in_a_cell_is_read_again(number: float) -> None:
    assert read_number(format_shortest(number)) == number
