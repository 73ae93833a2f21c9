"""Links of the Explore page that name what is not to be opened."""

from __future__ import annotations

import pytest

from tests.support.asking import asked, notes


@pytest.mark.parametrize("model", ["../../etc", "/etc/passwd", "https://example.org/x", "a/b/c", "<b>x</b>"])
def test_a_model_s_name_opens_no_door(model: str) -> None:
    page = asked("explore", model=model)
    assert notes(page, "refusal")
    assert not page.exception
