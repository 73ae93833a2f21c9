"""Unsupported queries of the Find page, and their messages."""

from __future__ import annotations

import pytest

from tests.support.asking import asked, says


@pytest.mark.slow
def test_a_text_of_two_words_says_what_is_missing() -> None:
    says(asked("find", text="Hello there"), "three words")
