"""Maps streamed during a pass, equal to those of a trace for every kind of attention."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from attention.trace import ModelId
from inference import LocalBackend, TraceRequest, UserError
from inference.loaded_model import LoadedModel
from inference.record import batching, capture
from inference.runners.blanks import read, tensors
from inference.settings import Settings
from tests.support.architectures import EVERY_RECORDED, MAPS_ONLY, build, inputs
from tests.support.cases import loop_over
from tests.support.tinymodels import save

TEXTS = ["The animal was playing.", "It was the cat, and the street was it."]
KINDS = {"bert": "encoder", "roberta": "encoder", "gpt2": "decoder", "llama": "decoder", "deberta": "encoder",
         "t5": "encoder", "marian": "encoder"}  # fmt: skip


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> LocalBackend:
    root = tmp_path_factory.mktemp("models")
    for kind in KINDS:
        save(root / kind, kind)
    return LocalBackend(Settings(model_folders=(root,)))


def streamed(backend: LocalBackend, kind: str) -> list[np.ndarray]:
    """Return the maps of each layer, shape (text, head, query, key)."""
    loaded = backend.loaded(f"./{kind}", None)
    readings = [read(loaded, text) for text in TEXTS]
    layers: dict[int, list[tuple[int, np.ndarray]]] = {}
    batching.stream(
        loaded,
        tensors(loaded, *readings),
        [len(reading.row) for reading in readings],
        lambda layer, first, maps: layers.setdefault(layer, []).append((first, np.array(maps))),
    )
    for blocks in layers.values():
        firsts = np.cumsum([0, *(maps.shape[1] for _, maps in blocks)])
        assert [first for first, _ in blocks] == firsts[:-1].tolist()
    return [np.concatenate([maps for _, maps in layers[at]], axis=1) for at in range(len(layers))]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("most", [batching.MOST_BYTES, 1])
def test_streamed_maps_are_those_of_the_trace(
    backend: LocalBackend, kind: Any, most: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batching, "MOST_BYTES", most)  # A limit of 1 byte streams single heads.
    layers = streamed(backend, kind)
    for text, sentence in enumerate(TEXTS):
        target = "it" if kind in ("t5", "marian") else None
        trace = backend.trace(TraceRequest(f"./{kind}", sentence, target=target))
        assert len(layers) == len(trace.records(KINDS[kind]))
        for layer, maps in enumerate(layers):
            for head in range(maps.shape[1]):
                weights = trace.weights(layer, head, KINDS[kind])
                n = len(weights)
                np.testing.assert_allclose(maps[text, head, :n, :n], weights, atol=2e-6)


@loop_over("kind", KINDS)
def test_a_pass_for_maps_only_ends_at_the_last_attention(backend: LocalBackend, kind: str) -> None:
    loaded = backend.loaded(f"./{kind}", None)
    readings = [read(loaded, text) for text in TEXTS]

    def note(layers: dict[int, int], layer: int, first: int, maps: np.ndarray) -> None:
        layers[layer] = first + maps.shape[1]

    for maps_only in (False, True):
        layers: dict[int, int] = {}
        outputs: list[Any] = []
        model = loaded.model.get_encoder() if kind in ("t5", "marian") else loaded.model
        hook = model.register_forward_hook(lambda *seen, outputs=outputs: outputs.append(seen))
        batching.stream(
            loaded,
            tensors(loaded, *readings),
            [len(reading.row) for reading in readings],
            partial(note, layers),
            maps_only=maps_only,
        )
        hook.remove()
        assert layers == dict.fromkeys(range(3 if kind == "t5" else 2), 3)
        assert len(outputs) == (not maps_only or not loaded.records)


def test_two_sides_with_finished_maps_only_are_refused_in_words(backend: LocalBackend) -> None:
    loaded = backend.loaded("./t5", None)
    readings = [read(loaded, text) for text in TEXTS]
    with pytest.raises(UserError, match="run alone"):
        batching.stream(replace(loaded, records=False), tensors(loaded, *readings), [1, 1], lambda *_: None)


READERS = [row for row in (*EVERY_RECORDED, *MAPS_ONLY) if row.kind in ("encoder", "decoder")]


@pytest.mark.slow
@loop_over("row", READERS, ids=[row.name for row in READERS])
def test_every_architecture_streams_what_it_records(row: Any) -> None:
    """In a padded batch all values are finite, also those of padding, for every kind of attention."""
    model = build(row, capture.NAME if row in EVERY_RECORDED else "eager")
    records = capture.prepare(model)
    given, lengths = inputs(row, (5, 9)), [5, 9]
    unread: Any = None  # The tokens are passed directly.
    loaded = LoadedModel(model, unread, ModelId(row.name, None, row.kind, row.name), 64, 0, records, False)
    layers: dict[int, np.ndarray] = {}
    batching.stream(loaded, given, lengths, lambda layer, _first, maps: layers.update({layer: np.array(maps)}))
    for text, parts in enumerate(capture.record_parts(model, given, lengths)):
        [expected] = parts.values()
        assert len(layers) == len(expected)
        for layer, record in enumerate(expected):
            assert np.isfinite(layers[layer]).all()
            for head in range(record.heads):
                weights = record.weights(head)
                mine = layers[layer][text, head, : weights.shape[0], : weights.shape[1]]
                np.testing.assert_allclose(mine, weights, atol=5e-6)
