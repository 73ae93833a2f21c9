"""Figures of the embedded translator as its evaluation file has them; nothing for others or a broken file."""

from __future__ import annotations

import json
import math

import pytest

from inference.embedded import TRANSLATOR
from inference.published import Measured, published


def scores(**changes):
    one = {"sentences": 30, "references": 60, "bleu": 31.5, "chrf": 52.25, "bleu_signature": "x"}
    found = {group: dict.fromkeys(("greedy", "beams", "copy"), one) for group in ("all", "short", "long")}
    found["all"] = {**found["all"], "copy": {**one, "bleu": 2.5, "chrf": 19}}
    return {"scores": {**found, **changes}}


def put(folder, text):
    (folder / TRANSLATOR).mkdir()
    (folder / TRANSLATOR / "evaluation.json").write_text(text, encoding="utf-8")


def test_the_figures_are_the_file_s(tmp_path):
    put(tmp_path, json.dumps(scores()))
    found = published(TRANSLATOR, tmp_path)
    assert found is not None
    assert found.greedy == found.beams == found.short == Measured(30, 31.5, 52.25)
    assert found.copied == Measured(30, 2.5, 19.0)
    assert published("t5-small", tmp_path) is None


def odd(**figures):
    """A file in which one group's figures are changed."""
    one = {"sentences": 30, "bleu": 31.5, "chrf": 52.25, **figures}
    return json.dumps(scores(long={"greedy": one}))


BROKEN = ["", "{}", "[]", '{"scores": 3}', "[" * 100_000, json.dumps(scores(long=None)), odd(bleu=math.nan),
          odd(chrf=math.inf), odd(sentences=math.inf), odd(sentences="many")]  # fmt: skip


def test_what_is_changed_in_broken_files_is_read_otherwise(tmp_path):
    put(tmp_path, odd())
    assert published(TRANSLATOR, tmp_path)


@pytest.mark.parametrize("text", BROKEN, ids=range(len(BROKEN)))
def test_a_broken_file_gives_nothing(tmp_path, text):
    put(tmp_path, text)
    assert published(TRANSLATOR, tmp_path) is None


def test_no_file_gives_nothing(tmp_path):
    assert published(TRANSLATOR, tmp_path) is None
