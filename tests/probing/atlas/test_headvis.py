"""The export for HeadVis has the fields that its specification states, and the weights of the model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attention.view import View
from headlight.command import main
from inference import LocalBackend, TraceRequest
from inference.settings import Settings
from probing.atlas.build import AtlasPlan
from probing.atlas.create import UncachedBackend, create_atlas
from probing.atlas.headvis import INTERVALS, LEAST, TOP
from probing.atlas.store import Atlas
from tests.support.tinymodels import save

SENTENCES = [f"the {word} cat was tired and it crossed the street" for word in ("playing", "played", "it", "was") * 8]
SEQUENCE = {
    "sequence_id",
    "interval",
    "tokens",
    "attention_indices",
    "attention_values",
    "seq_len",
    "max_activation",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("headvis")
    save(root / "bert", "bert")
    file = root / "texts.txt"
    file.write_text("\n\n".join(SENTENCES), encoding="utf-8")
    backend = UncachedBackend(LocalBackend(Settings(model_folders=(root,))))
    create_atlas(backend, AtlasPlan((file,), str(root / "bert"), most=50), root / "atlas", checks=False)
    assert main(["atlas", "export", str(root / "atlas"), "--out", str(root / "data"), "--windows", "20"]) == 0
    return root


def read(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def test_every_file_has_its_fields(root: Path) -> None:
    config, scatter = read(root / "data" / "config.json"), read(root / "data" / "scatter_data.json")
    heads = Atlas.open(root / "atlas").heads
    assert config["heads"] == [[head.layer, head.head] for head in heads]
    assert len(scatter) == len(heads)
    assert set(scatter[0]) == {"layer", "head", *config["metrics"]}
    assert set(config["metric_descriptions"]) == set(config["metrics"])
    for layer, head in config["heads"]:
        content = read(root / "data" / "heads" / config["head_data_pattern"].format(layer=layer, head=head))
        assert all(set(sequence) == SEQUENCE for sequence in content["sequences"])
        for plot in config["custom_plots"]:
            assert len(content[plot["key"]]["bin_edges"]) == len(content[plot["key"]]["bin_values"]) + 1
        for table in config["custom_tables"]:
            assert set(content[table["key"]][0]) == {"token", "weight"}


def test_deciles_are_equal_and_ordered(root: Path) -> None:
    sequences = read(root / "data" / "heads" / "L1H2.json")["sequences"]
    assert sorted(sequence["interval"] for sequence in sequences) == sorted(list(range(1, INTERVALS + 1)) * 2)
    assert [sequence["max_activation"] for sequence in sequences] == sorted(
        (sequence["max_activation"] for sequence in sequences), reverse=True
    )


def test_weights_are_those_of_the_model(root: Path) -> None:
    sequence = read(root / "data" / "heads" / "L1H2.json")["sequences"][0]
    text = Atlas.open(root / "atlas").windows["text"][sequence["sequence_id"]].as_py()
    backend = LocalBackend(Settings(model_folders=(root,)))
    weights = View(backend.trace(TraceRequest(str(root / "bert"), text))).weights(1, 2)
    length = sequence["seq_len"]
    assert weights.shape == (length, length)
    dense = np.zeros(length * length)
    dense[sequence["attention_indices"]] = sequence["attention_values"]
    dense = dense.reshape(length, length)
    stored = dense > 0
    np.testing.assert_allclose(dense[stored], weights[stored], atol=1e-4)
    assert (stored.sum(axis=1) <= TOP).all()
    for row, kept in zip(weights, stored, strict=True):
        assert kept.sum() == min(TOP, (row >= LEAST).sum())
        assert row[~kept].max(initial=0) <= row[kept].min() + 1e-6
    inner = np.array(weights[1:, 1:])
    np.fill_diagonal(inner, 0)
    assert sequence["max_activation"] == pytest.approx(inner.max(), abs=1e-4)


def test_a_folder_with_files_is_refused(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["atlas", "export", str(root / "atlas"), "--out", str(root / "data")]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
