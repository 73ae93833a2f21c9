"""Tests of the figure of relation scores: marks at their numbers, names as plain text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from viz.figures.evaluation import RelationScore, relation_scores
from viz.figures.theme import DARK, LIGHT, Theme
from viz.paper.chart_table import chart_table

SCORES = [
    RelationScore("det", 921, "2-8", 80.6, 78.0, 83.0, 58.9, "always the next word", 9.1),
    RelationScore("<b>odd</b>", 12, "1-3", 27.2, 9.7, 55.0, 31.8, "always 2 words back", None),
]


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_each_relation_has_its_dot_interval_bar_and_ring(theme: Theme) -> None:
    random, rule, best, chosen = relation_scores(SCORES, theme, "t", selected="<b>odd</b>").data
    assert list(best.x) == [80.6, 27.2]
    assert list(best.error_x.array) == pytest.approx([2.4, 27.8])
    assert list(best.error_x.arrayminus) == pytest.approx([2.6, 17.5])
    assert list(rule.x) == [58.9, 31.8]
    assert (list(random.x), list(random.y)) == ([9.1], [0])
    assert best.marker.color == theme.heads
    assert (list(chosen.x), list(chosen.y), chosen.marker.color) == ([27.2], [1], theme.accent)
    assert chosen.name == "selected relation"
    assert len(relation_scores(SCORES, theme, "t").data) == 3, "nothing is selected"


def test_names_are_text_and_the_first_is_on_top() -> None:
    axis = relation_scores(SCORES, LIGHT, "t").layout.yaxis
    assert list(axis.ticktext) == ["det · 2-8", "&lt;b&gt;odd&lt;/b&gt; · 1-3"]
    assert axis.range[0] > axis.range[1]


def test_the_table_has_n_and_p_of_heads_and_the_chance_level() -> None:
    table = chart_table(relation_scores([replace(score, chance=50.0, p=0.25) for score in SCORES], LIGHT, "t"))
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    assert [(row["% found"], row["n"], row["p (Holm)"]) for row in rows if row["n"] is not None] == [
        (80.6, 921, 0.25),
        (27.2, 12, 0.25),
    ]
    assert [row["% found"] for row in rows if row["Relation"] is None] == [50.0]
    assert None not in table["% found"]
