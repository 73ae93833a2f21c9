"""Signs on a map of heads."""

from __future__ import annotations

import numpy as np
import pytest

from attention.roles import ROLES
from viz.figures.role_map import SIGNS, role_map
from viz.figures.theme import DARK, LIGHT, Theme

SHARES = np.array([[0.9, np.nan, 0.5], [np.nan, 0.2, 0.6]])
NAMES = [["previous", "", "first"], ["", "broad", "repeat"]]
RELATIONS = [["", "det", "obj"], ["", "", "<i>long</i>"]]


def test_every_role_has_a_sign_of_its_own() -> None:
    assert set(SIGNS) == set(ROLES)
    assert len(set(SIGNS.values())) == len(ROLES)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_signs_and_relations_stand_on_their_cells(theme: Theme) -> None:
    figure = role_map(SHARES, NAMES, RELATIONS, theme, "t", base=1)
    signs = figure.data[-1]
    written = {(y, x): text for y, x, text in zip(signs.y, signs.x, signs.text, strict=True)}
    assert SIGNS["previous"] in written[1, 1]
    assert written[1, 2] == "det"
    assert SIGNS["first"] in written[1, 3]
    assert written[1, 3].endswith("<br>obj")
    assert written[2, 1] == ""
    assert written[2, 3].endswith("<br>&lt;i&gt;l…")


def test_ink_differs_from_the_cell() -> None:
    light = role_map(SHARES, NAMES, RELATIONS, LIGHT, "t").data[-1].textfont.color
    dark = role_map(SHARES, NAMES, RELATIONS, DARK, "t").data[-1].textfont.color
    assert (light[0], light[1]) == ("#ffffff", "#111111")  # a dark cell, and none
    assert (dark[0], dark[1]) == ("#111111", "#ffffff")
