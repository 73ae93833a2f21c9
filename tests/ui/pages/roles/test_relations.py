"""The sentence about relations: heads by the held-out test, with the random-weights null."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from probing.results import RelationRow
from tests.support.asking import asked, notes
from ui.pages.roles.evidence import Relations, describe_relations


def row(p: float, accuracy: float = 95.0) -> RelationRow:
    return RelationRow("coref", 1, 0, "source to target", accuracy, 20, 60.0, "earlier candidate", 50.0, 70.0, 99.0, p)


def test_no_count_of_the_choosing_half_is_told() -> None:
    told = {(layer, 0): row(0.4) for layer in range(61)}
    said = describe_relations(Relations(told, {(0, 0): row(0.2)}), 72)
    assert re.findall(r"\d+", said) == ["100", "61", "0", "20"]
    assert "–" not in said
    assert "No head finds a relation significantly more often than the baseline." in said


def test_a_head_is_named_if_it_finds_more_and_not_if_less() -> None:
    said = describe_relations(Relations({(1, 0): row(0.01), (2, 0): row(0.001, accuracy=20.0)}), 72)
    assert re.findall(r"\d+", said)[:4] == ["1", "72", "1", "0"]
    assert re.findall(r"\d+", said)[-1] == "20", "the number of links of a test"
    assert "1-0 coref" in said
    assert "2-0" not in said


def test_the_largest_test_is_stated() -> None:
    said = describe_relations(Relations({(1, 0): row(0.4), (2, 0): replace(row(0.4), n=12)}), 72)
    assert re.findall(r"\d+", said)[-1] == "20"
    assert "12" not in said


@pytest.mark.slow
def test_roles_and_scores_name_the_same_pronoun_head() -> None:
    roles, scores = asked("roles"), asked("measure", data="pronouns")
    said = " ".join(notes(roles))
    head, found, links = re.findall(r"(\d+-\d+): \D*(\d+)% of ([\d,]+) held-out", said)[0]
    assert any(f"{head} " in note and f"{found}.0%" in note and f"of {links} " in note for note in notes(scores))
