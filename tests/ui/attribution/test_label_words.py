"""Attribution of a label to words: all methods, on tiny models through the app's backend."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from attention.edits import MaskKey
from attention.view import View
from inference import LocalBackend, TraceRequest
from inference.task_heads import CLASSIFY, TAG
from inference.tasks.edit_effects import LabelEffects
from inference.tasks.labels import LabelGradients
from tests.support.asking import allowed
from tests.support.present import present
from tests.support.tinylabels import save
from ui.attribution.methods import (
    EFFECT,
    GRADIENTS,
    PATH,
    AttributionRequest,
    AttributionSet,
    TargetLabel,
    compute_attributions,
)

TEXT = "the animal was a cat"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LocalBackend, Path]]:
    root = tmp_path_factory.mktemp("models")
    with allowed(root) as backend:
        yield backend, root


@pytest.mark.slow
@pytest.mark.parametrize(("head", "at"), [(CLASSIFY, None), (TAG, 2)])
def test_the_ways_about_a_label(models: tuple[LocalBackend, Path], head: str, at: int | None) -> None:
    backend, root = models
    folder = str(save(root / head, "BERT", head))
    request = TraceRequest(folder, TEXT)
    trace = backend.trace(request)
    runs = tuple(cell.pieces for cell in View(trace, words=True).keys if not cell.special)
    ways = compute_attributions(
        AttributionRequest(trace, request, (0, 1) if at is None else (at, at + 1), runs, TargetLabel(3, at))
    )
    assert not [problem for problem in ways.problems if PATH not in problem]
    hides = tuple(tuple(MaskKey(layer, key) for layer in (0, 1) for key in range(*run)) for run in runs)
    logits = backend.predict(LabelEffects(folder, text=TEXT, at=at, edits=((), *hides))).values[:, 3]
    found = present(ways.values(EFFECT))
    np.testing.assert_array_equal(found, logits[0] - logits[1:])
    assert found.min() < 0 < found.max(), "words speak for the label and against it"
    sizes = backend.predict(LabelGradients(folder, text=TEXT, at=at, label=3)).values
    by_hand = [sizes[start:stop].sum() for start, stop in runs]
    np.testing.assert_allclose(present(ways.values(GRADIENTS)), by_hand, rtol=1e-5)
    _same_without(backend, ways, AttributionRequest(trace, request, (0, 1) if at is None else (at, at + 1), runs))


def _same_without(_backend: LocalBackend, ways: AttributionSet, vector: AttributionRequest) -> None:
    """Assert that methods independent of the output give the same values as for the head's input vector."""
    for way in compute_attributions(vector).attributions:
        if way.name not in (EFFECT, GRADIENTS, PATH):
            np.testing.assert_array_equal(way.values, present(ways.values(way.name)))
