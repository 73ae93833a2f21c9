"""Tests of the role symbols on a map of heads."""

from __future__ import annotations

import numpy as np
import pytest

from attention.roles import ROLES
from viz.figures.head_maps import SIGNS, role_map
from viz.figures.theme import DARK, LIGHT, Theme, color_at, luminance, sequential_scale

SHARES = np.array([[0.9, np.nan, 0.5], [np.nan, 0.2, 0.6]])
NAMES = [["previous", "", "first"], ["", "broad", "repeat"]]
RELATIONS = [["", "det", "obj"], ["", "", "<i>long</i>"]]


def test_every_role_has_a_sign_of_its_own() -> None:
    assert set(SIGNS) == set(ROLES)
    assert len(set(SIGNS.values())) == len(ROLES)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_signs_and_relations_stand_on_their_cells(theme: Theme) -> None:
    figure = role_map(SHARES, NAMES, RELATIONS, theme, "t")
    signs = figure.data[-1]
    written = {(y, x): text for y, x, text in zip(signs.y, signs.x, signs.text, strict=True)}
    assert SIGNS["previous"] in written[0, 0]
    assert written[0, 1] == "det"
    assert SIGNS["first"] in written[0, 2]
    assert written[0, 2].endswith("<br>obj")
    assert written[1, 0] == ""
    assert written[1, 2].endswith("<br>&lt;i&gt;l…")


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_signs_can_be_read_on_every_share(theme: Theme) -> None:
    """The contrast is at least 4.5 : 1 (WCAG AA), also on the middle tones."""
    shares = np.linspace(0, 1, 101, dtype=np.float32)
    inks = role_map(shares[None], [["first"] * 101], [[""] * 101], theme, "t").data[-1].textfont.color
    assert set(inks) == {"#000000", "#ffffff"}
    for share, ink in zip(shares.tolist(), inks, strict=True):
        high, low = sorted((luminance(color_at(sequential_scale(theme), share)), luminance(ink)), reverse=True)
        assert (high + 0.05) / (low + 0.05) >= 4.5, share


def test_a_head_without_a_share_has_the_ink_of_the_ground() -> None:
    inks = [role_map(SHARES, NAMES, RELATIONS, theme, "t").data[-1].textfont.color[1] for theme in (LIGHT, DARK)]
    assert inks == ["#000000", "#ffffff"]
