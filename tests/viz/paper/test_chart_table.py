"""The numbers of a figure as a table: equal to the numbers that the figure was drawn from."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pytest

from tests.support.gallery import FIGURES
from viz.figures.evaluation import RelationScore, relation_scores
from viz.figures.head_maps import head_map, mark_heads, role_map
from viz.figures.head_scatter import head_scatter
from viz.figures.layers import patching_map
from viz.figures.theme import LIGHT
from viz.figures.token_bars import bars
from viz.paper.chart_table import axis_names, chart_table
from viz.paper.tables import table_file


def test_a_head_map_has_a_row_for_each_head() -> None:
    values = np.array([[0.1, np.nan, 0.3], [0.4, 0.5, 0.6]], np.float32)
    figure = head_map(values, LIGHT, "Effect", "logits", selected=(0, 0))
    mark_heads(figure, [(0, 2), (1, 0)], "circle-open", LIGHT, "above baseline")
    mark_heads(figure, [(1, 1)], "x", LIGHT, "ablated")
    table = chart_table(figure)
    assert table["above baseline"] == [False, False, True, True, False, False]
    assert table["ablated"] == [False] * 4 + [True, False]
    assert (table["Head"], table["Layer"]) == ([0, 1, 2, 0, 1, 2], [0, 0, 0, 1, 1, 1])
    np.testing.assert_array_equal(np.array(table["Logits"], np.float32).reshape(2, 3), values)
    assert set(table["series"]) == {"Effect"}
    table = chart_table(role_map(values, [["next", "", ""]] * 2, [["", "", "obj"]] * 2, LIGHT, "Roles"))
    assert table["text"] == ["→", None, "obj"] * 2


def test_a_patching_map_names_its_axes() -> None:
    moved = np.eye(3, 2, dtype=np.float32)
    figure = patching_map(moved, ["it", "<b>"], LIGHT, "Patched", beyond=moved > 0)
    table = chart_table(figure)
    assert list(table) == ["series", "Word", "Layer", "patching effect", "beyond random changes"]
    assert table["beyond random changes"] == [True, False, False, True, False, False]
    assert table["Word"][:2] == ["it", "<b>"]
    assert table["Layer"][::2] == ["into layer 0", "into layer 1", "every layer"]
    assert axis_names(figure) == ["Word", "Layer", "patching effect"]
    heads = head_map(moved, LIGHT, "Heads", "patching effect", diverging=True, meaning=("away from it", "towards it"))
    assert axis_names(heads) == ["Head", "Layer", "patching effect"]


def test_bars_have_the_names_of_their_tokens() -> None:
    table = chart_table(bars(["<b>", "it"], [0.75, 0.25], LIGHT, "Next token", "share"))
    assert table["y"] == ["<b>", "it"]
    assert table["Share"] == [0.75, 0.25]


def test_every_head_of_a_scatter_plot_is_named_with_its_label() -> None:
    values = np.array([0.1, 0.4], np.float32)
    figure = head_scatter(values, values, ("<i>", "bits"), [(0, 3), (1, 5)], ["", "obj"], LIGHT, "", selected=(1, 5))
    table = chart_table(figure)
    assert list(zip(table["layer"], table["head"], table["label"], strict=True)) == [
        (0, 3, None),
        (1, 5, "obj"),
        (1, 5, "obj"),
    ]
    assert "text" not in table
    assert table["Bits"] == table["<i>"]


def test_a_scatter_plot_names_heads_of_one_place_while_there_is_room() -> None:
    values = np.array([0.1, *[0.4] * 8], np.float32)
    heads = [(0, head) for head in range(9)]
    (trace,) = head_scatter(values, values, ("a", "b"), heads, ["obj"] * 9, LIGHT, "").data
    named = [place for text, place in zip(trace.text, trace.textposition, strict=True) if text]
    assert trace.text[0] == "0-0"
    assert sorted(named[1:]) == sorted(set(named[1:]))  # one name at each side of the place
    assert chart_table(head_scatter(values, values, ("a", "b"), heads, ["obj"] * 9, LIGHT, ""))["head"] == [*range(9)]


def test_relations_are_named_and_a_line_of_chance_has_one_row() -> None:
    scores = [RelationScore(name, 20, "1-3", 90, 70, 97, 65, "first", 50, 50.0, 0.2) for name in ("coref", "own")]
    table = pd.DataFrame(chart_table(relation_scores(scores, LIGHT, "Best head")))
    assert set(table.columns) == {"series", "% found", "Relation", "minus", "plus", "head", "n", "p (Holm)"}
    chance = table[table["Relation"].isna()]
    assert chance["% found"].tolist() == [50]
    assert set(table["Relation"].dropna()) == {"coref", "own"}


def test_every_figure_is_a_table_in_every_format(subtests: pytest.Subtests) -> None:
    for name in sorted(FIGURES):
        with subtests.test(name=name):
            table, about = chart_table(FIGURES[name](LIGHT)), {"model": "a model"}
            counts = {len(column) for column in table.values()}
            assert len(counts) == 1
            assert len(pd.read_csv(io.BytesIO(table_file(table, "csv", about)))) == counts.pop()
            read = json.loads(table_file(table, "json", about))
            assert read["provenance"] == about
            assert read["columns"].keys() == table.keys()
            assert list(pd.read_parquet(io.BytesIO(table_file(table, "parquet", about)))) == list(table)
