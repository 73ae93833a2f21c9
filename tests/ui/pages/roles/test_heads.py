"""Sentences on the roles of heads."""

from __future__ import annotations

import pytest

from tests.support.asking import asked, notes


@pytest.mark.slow
def test_the_length_of_a_sinks_values_is_compared_with_other_tokens() -> None:
    (sink,) = (text for text in notes(asked("roles")) if text.startswith("Attention sink"))
    assert "times as long as others'" in sink
