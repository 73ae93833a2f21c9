"""The CSV file of an attention row."""

import csv
import io

import numpy as np

from attention.mask import Mask
from attention.walkthrough import weigh
from tests.support.traces import numbers, record
from ui.pages.step_by_step.steps import row_csv


def test_the_file_gives_back_every_number() -> None:
    rec = record(mask=Mask(5, 5, causal=True), bias=numbers(3, 5, 5))
    rows = np.array([2])
    weighing = weigh(rec.query[1][rows], rec.key[1], rec, 1, rows)
    file = row_csv(("a", 'b,"', "=1+1", "d", "e"), weighing)
    header, *lines = csv.reader(io.StringIO(file.removeprefix("\ufeff")))
    assert header == ["key", "token", "q·k", "scaled", "bias", "score", "weight"]
    assert [line[1] for line in lines] == ["a", 'b,"', "'=1+1", "d", "e"]
    assert [np.float32(line[-1]) for line in lines] == weighing.weights[0].tolist()
    assert [line[5] for line in lines[3:]] == ["-inf", "-inf"]
