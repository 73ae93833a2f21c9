"""Detection of cross-attention heads that attend to source words in turn, on maps by hand and of a model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from attention.alignment import covering_heads, source_coverage
from attention.record import Unavailable
from inference import LocalBackend, TraceRequest
from inference.settings import Settings
from tests.support.tinymodels import save


def test_a_head_that_is_peaked_and_leaves_nothing_out_comes_highest() -> None:
    still = np.eye(4, dtype=np.float32)
    shuffled = still[[2, 0, 3, 1]]
    assert source_coverage(shuffled) == source_coverage(still) == 1
    assert source_coverage(np.full((6, 4), 0.25, np.float32)) == source_coverage(np.tile(still[2], (6, 1))) == 0.25
    half = np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0], [0, 1.0, 0, 0]], np.float32)
    assert source_coverage(half) == 0.5
    both = source_coverage(np.stack([shuffled, np.full((4, 4), 0.25, np.float32)]))
    assert both.tolist() == [1, 0.25]


@pytest.mark.slow
def test_of_a_trace_the_words_alone_count_and_the_steps_that_wrote_a_token(tmp_path: Path) -> None:
    folder = save(tmp_path / "marian", "marian")
    backend = LocalBackend(Settings(model_folders=(tmp_path,)))
    trace = backend.trace(TraceRequest(str(folder), "The cat sat on the mat.", target="Le chat dort."))
    found = covering_heads(trace)
    assert found.shape == (3, 3)
    words = [at for at, special in enumerate(trace.source.special) if not special]
    assert len(words) < len(trace.source)
    for layer, head in np.ndindex(found.shape):
        weights = trace.weights(layer, head, "cross")[:-1]
        assert found[layer, head] == pytest.approx(np.mean([weights[:, at].max() for at in words]), abs=1e-6)
    with pytest.raises(Unavailable, match="no part"):
        covering_heads(backend.trace(TraceRequest(text="a cat")))
