"""The 2-D projection of vectors without a browser: the minimum number of points for UMAP."""

from __future__ import annotations

import pytest

from tests.support.asking import asked, says


@pytest.mark.slow
def test_umap_of_a_few_tokens_is_not_drawn() -> None:
    says(asked("vectors", flat="umap"), "here are 16.")
