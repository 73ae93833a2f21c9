"""Comparisons of two atlases: an atlas equals itself, and changes are found where they are made."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from headlight.command import main
from inference import LocalBackend, UserError
from inference.settings import Settings
from inference.tasks.atlas import ATLAS_MEASURES
from probing.atlas.build import AtlasPlan
from probing.atlas.compare import compare_atlases, comparison_rows, shared_links
from probing.atlas.create import UncachedBackend, create_atlas
from probing.atlas.store import Atlas
from tests.support.tinymodels import save

SENTENCES = [f"the {word} cat was tired and it crossed the street" for word in ("playing", "played", "it", "was") * 8]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("atlases")
    for kind in ("bert", "gpt2"):
        save(root / kind, kind)
    texts, others = root / "texts.txt", root / "others.txt"
    texts.write_text("\n\n".join(SENTENCES), encoding="utf-8")
    others.write_text("\n\n".join(SENTENCES[:9]), encoding="utf-8")
    backend = UncachedBackend(LocalBackend(Settings(model_folders=(root,))))
    for name, kind, file in (("one", "bert", texts), ("gpt2", "gpt2", texts), ("other", "bert", others)):
        plan = AtlasPlan((file,), str(root / kind), most=50)
        create_atlas(backend, plan, root / f"atlas-{name}", checks=False)
    return {name: root / f"atlas-{name}" for name in ("one", "gpt2", "other")}


def shift_measure(atlas: Atlas, head: int, measure: str, by: float) -> Atlas:
    copy = Atlas(atlas.folder, atlas.manifest)
    arrays = {name: np.array(array) for name, array in atlas.arrays.items()}
    for name in ("mean", "low", "high"):
        arrays[f"encoder.{name}"][head, ATLAS_MEASURES.index(measure)] += by
    copy.__dict__["arrays"] = arrays
    return copy


def test_an_atlas_equals_itself(folders: dict[str, Path]) -> None:
    atlas = Atlas.open(folders["one"])
    found = compare_atlases(atlas, atlas)
    assert found.same_texts
    assert not found.clear.any()
    assert not found.distances.any()
    assert np.nanmin(found.shared) == 1


def test_a_change_of_a_head_is_found_and_its_sign_follows_the_order(folders: dict[str, Path]) -> None:
    atlas = Atlas.open(folders["one"])
    other = shift_measure(atlas, 2, "previous", 0.25)
    forwards, backwards = compare_atlases(atlas, other), compare_atlases(other, atlas)
    assert np.argwhere(forwards.clear).tolist() == [[2, ATLAS_MEASURES.index("previous")]]
    np.testing.assert_allclose(forwards.difference, -backwards.difference)
    np.testing.assert_allclose(forwards.low, -backwards.high)
    np.testing.assert_array_equal(forwards.clear, (forwards.low > 0) | (forwards.high < 0))
    first = comparison_rows(forwards)[0]
    assert first["measures"]["previous"]["difference"] == pytest.approx(0.25, abs=1e-6)
    assert first["distance"] == pytest.approx(0.25, abs=1e-6)


def test_shared_links_by_hand(folders: dict[str, Path]) -> None:
    atlas = Atlas.open(folders["one"])
    assert np.nanmin(shared_links(atlas, atlas, 3)) == 1
    assert np.nanmean(shared_links(atlas, Atlas.open(folders["other"]), 5)) < 1


def test_other_texts_are_said(folders: dict[str, Path]) -> None:
    found = compare_atlases(Atlas.open(folders["one"]), Atlas.open(folders["other"]))
    assert not found.same_texts
    assert np.isnan(found.shared).all()


def test_other_heads_are_refused(folders: dict[str, Path]) -> None:
    with pytest.raises(UserError):
        compare_atlases(Atlas.open(folders["one"]), Atlas.open(folders["gpt2"]))


def test_the_command_writes_every_head(
    folders: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "changes.json"
    assert main(["atlas", "compare", str(folders["one"]), str(folders["other"]), "--json", str(file)]) == 0
    content = json.loads(file.read_text(encoding="utf-8"))
    assert len(content["heads"]) == len(Atlas.open(folders["one"]).heads)
    assert not content["same_texts"]
    assert set(content["heads"][0]["measures"]) == set(ATLAS_MEASURES)
    assert capsys.readouterr().out
    assert main(["atlas", "compare", str(folders["one"]), str(tmp_path)]) == 2
