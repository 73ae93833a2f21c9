"""Words that a pronoun may refer to, stated or guessed."""

from __future__ import annotations

from ui.input.candidates import known_words
from ui.input.probes import LIBRARY


def test_a_changed_text_has_the_other_candidate_as_its_noun() -> None:
    for probe in LIBRARY:
        known = known_words(probe.other)
        if probe.other_right:
            assert known is not None
            assert known.right == probe.other_right
            assert {known.right, known.other} == set(probe.candidates)
    assert known_words("One text for all pages.") is None
