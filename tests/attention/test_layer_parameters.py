"""Properties derived from the parameters of an attention layer."""

import numpy as np

from attention.walkthrough import LayerParameters, Norm, ProjectionParameters


def test_every_trained_number_is_counted_once() -> None:
    weight = np.zeros((7, 6, 4), np.float32)
    query = ProjectionParameters(weight, np.zeros((6, 4), np.float32), Norm("rms", 1e-6, np.ones(4, np.float32)))
    shared = ProjectionParameters(np.zeros((7, 2, 4), np.float32))
    wiring = LayerParameters(query, shared, shared, np.zeros((6, 4, 5), np.float32), np.zeros(5, np.float32))
    assert wiring.parameters == {"W_Q": 7 * 24 + 24 + 4, "W_K": 56, "W_V": 56, "W_O": 24 * 5 + 5}
    assert len(list(wiring.arrays())) == 7
    assert (wiring.heads, wiring.kv_heads) == (6, 2)
