"""Several ways of telling which words matter, as two matrices: by word, and how well the ways agree."""

from __future__ import annotations

from collections.abc import Sequence

from attention.mask import FloatArray
from i18n import _
from viz.components.matrices.matrices import MatrixSpec


def agreement_matrices(
    names: Sequence[str], words: Sequence[str], shares: FloatArray, agreement: FloatArray, marked: Sequence[int] = ()
) -> list[MatrixSpec]:
    """``shares`` is (way, word), rows summing to one; ``agreement`` (way, way), rank correlations from -1 to 1.

    ``marked`` ways are framed in the second.
    """
    return [
        MatrixSpec(
            _("Which words matter, by each way"),
            shares,
            tuple(names),
            tuple(words),
            _("Each row is scaled to sum to one, so rows compare in their pattern, not in their size."),
            "sequential",
        ),
        MatrixSpec(
            _("How well the ways agree"),
            agreement,
            tuple(names),
            tuple(names),
            _("Spearman's rank correlation over the words: 1 the same order, 0 none in common, -1 the reverse."),
            "diverging",
            1.0,
            tuple(marked),
            tuple(marked),
        ),
    ]
