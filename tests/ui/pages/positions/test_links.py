"""Odd links of the page Positions are answered in a sentence."""

from __future__ import annotations

import pytest

from tests.support.asking import asked, says


@pytest.mark.slow
def test_a_bad_link_gives_the_usual_view_and_a_sentence() -> None:
    page = asked("positions", show="<b>", seed="x", mix="swap", first=999)
    says(page, "“show” is unknown")
    says(page, "“seed” should be a whole number")
    assert any("in another order" in part.proto.json for part in page.get("bidi_component"))
    assert not page.exception
