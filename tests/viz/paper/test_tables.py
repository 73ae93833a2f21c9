"""Tidy tables: every digit in CSV and Parquet, read by their common readers without arguments."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from attention.view import View
from tests.support.traces import sentence_trace
from viz.paper.page import BadOption, PaperOptions, paper_options
from viz.paper.tables import table_file, weights_table

NAMES = ["layer", "head", "query_position", "query", "key_position", "key", "weight"]


def test_tables_hold_every_weight_with_its_tokens() -> None:
    view = View(sentence_trace())
    table = weights_table(view, 1, 2)
    read = [
        pd.read_csv(io.BytesIO(table_file(table, "csv", {}))),
        pd.read_parquet(io.BytesIO(table_file(table, "parquet", {}))),
    ]
    for frame in read:
        assert list(frame) == NAMES
        square = frame.pivot(index="query_position", columns="key_position", values="weight")
        np.testing.assert_array_equal(square.to_numpy(np.float32), view.weights(1, 2))
        assert frame["key"].iloc[:6].tolist() == [cell.label for cell in view.keys]
        assert set(frame["head"]) == {2}


def test_the_provenance_is_in_the_metadata_of_parquet() -> None:
    table = {"word": ["那"], "p": ["0.5"]}
    about = {"model": "tiny", "text": "那只"}
    meta = pq.read_schema(io.BytesIO(table_file(table, "parquet", about))).metadata
    assert json.loads(meta[b"headlight"]) == about


@pytest.mark.parametrize("fields", [{"format": "exe"}, {"size": "6"}, {"width": ""}, {"frame": "yes"}])
def test_options_that_are_not_offered_are_refused(fields: dict[str, str]) -> None:
    with pytest.raises(BadOption, match=next(iter(fields))):
        paper_options(fields)
    assert paper_options({}) == PaperOptions()
