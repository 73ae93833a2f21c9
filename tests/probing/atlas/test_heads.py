"""Facts of heads: labels on held-out texts, sampled strata, similar heads and tokens."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from inference import LocalBackend
from inference.settings import Settings
from inference.tasks.atlas import ATLAS_MEASURES
from probing.atlas.build import AtlasPlan
from probing.atlas.create import UncachedBackend, create_atlas
from probing.atlas.heads import (
    ablation_windows,
    measure_values,
    sample_windows,
    similar_heads,
    strongest_links,
    top_forms,
)
from probing.atlas.labels import LEAST_SHARE, head_labels
from probing.atlas.store import Atlas, mean_interval
from tests.support.tinymodels import save

SENTENCES = [f"the {word} cat was tired and it crossed the street" for word in ("playing", "played", "it", "was") * 8]


@pytest.fixture(scope="module")
def atlas(tmp_path_factory: pytest.TempPathFactory) -> Atlas:
    root = tmp_path_factory.mktemp("atlas")
    save(root / "bert", "bert")
    file = root / "texts.txt"
    file.write_text("\n\n".join(SENTENCES), encoding="utf-8")
    backend = UncachedBackend(LocalBackend(Settings(model_folders=(root,))))
    state, complete = create_atlas(backend, AtlasPlan((file,), str(root / "bert"), most=50), root / "out")
    assert complete
    assert state.tokens
    return Atlas.open(root / "out")


def test_random_weights_have_no_labels(atlas: Atlas) -> None:
    assert atlas.manifest["control_tokens"]
    assert head_labels(atlas) == []


def test_a_share_on_all_texts_is_a_label(atlas: Atlas) -> None:
    changed = Atlas(atlas.folder, atlas.manifest)
    at = ATLAS_MEASURES.index("previous")
    arrays = {name: np.array(array) for name, array in atlas.arrays.items()}
    for name in ("mean0", "mean1", "low1", "high1"):
        arrays[f"encoder.{name}"][1, at] = LEAST_SHARE + 0.3
        arrays[f"encoder.{name}"][2, at] = LEAST_SHARE + 0.3
    arrays["encoder.low1"][2, at] = LEAST_SHARE - 0.1  # the other half of the texts disagrees
    changed.__dict__["arrays"] = arrays
    [label] = head_labels(changed)
    assert (label.head, label.kind) == (1, "previous")


def test_strata_follow_the_largest_excess(atlas: Atlas) -> None:
    sampled = sample_windows(atlas, 1, top=2, each=2)
    assert [window.stratum for window in sampled] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    least = [min(window.excess for window in sampled if window.stratum == stratum) for stratum in range(1, 6)]
    most = [max(window.excess for window in sampled if window.stratum == stratum) for stratum in range(1, 6)]
    assert all(low >= high for low, high in zip(least[:-1], most[1:], strict=True))
    assert len({window.window for window in sampled}) == len(sampled)


def test_a_head_is_most_similar_to_itself_elsewhere(atlas: Atlas) -> None:
    copy = replace(atlas, folder=Path("elsewhere"))
    copy.__dict__["arrays"] = atlas.arrays
    assert similar_heads(atlas, 3, copy, 1) == [(3, 0.0)]
    assert 3 not in dict(similar_heads(atlas, 3, atlas, 99))


def test_top_forms_are_sorted_by_their_mean(atlas: Atlas) -> None:
    forms = top_forms(atlas, 0, "queries")
    means = [mean for *_rest, mean, _usual in forms if mean >= 0]
    assert means == sorted(means, reverse=True)
    assert {"cat", "the"} <= {form for form, *_rest in forms}


def test_values_have_an_entry_for_every_head(atlas: Atlas) -> None:
    for measure in (*ATLAS_MEASURES, "excess", "random"):
        assert np.isfinite(measure_values(atlas, measure)).all()
        assert measure_values(atlas, measure).shape == (len(atlas.heads),)


def test_an_interval_by_hand() -> None:
    mean, low, high = mean_interval(np.array([[1.0], [3.0]]))
    assert mean.tolist() == [2.0]
    np.testing.assert_allclose([low[0], high[0]], [2 - 1.96, 2 + 1.96], rtol=1e-6)


def test_the_strongest_links_of_a_head_are_sorted(atlas: Atlas) -> None:
    for kind in ("links", "written"):
        rows = strongest_links(atlas, 5, kind, 7)
        table = atlas.table(kind, filters=[("head", "=", 5)])
        assert [row["strength"] for row in rows] == sorted(table["excess"].to_pylist(), reverse=True)[:7]
        texts = atlas.windows["text"].take([row["window"] for row in rows]).to_pylist()
        assert all(row["query"].removeprefix("##") in text for row, text in zip(rows, texts, strict=True))


def test_ablations_use_the_same_random_windows_each_time(atlas: Atlas) -> None:
    texts = ablation_windows(atlas, 5)
    assert texts == ablation_windows(atlas, 5)
    assert len(texts) == 5
    assert len(ablation_windows(atlas, 10**6)) == len(atlas.windows)
