"""Changes beyond the shuffled-label control: laws of the test and its error rate by chance."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from attention.mask import FloatArray
from i18n import gettext_lazy, translate, use_language
from probing import fine_tuning_changes
from probing.fine_tuning_changes import (
    BITS,
    EARLIER,
    FILM,
    MAPS,
    ROWS,
    ChangeFacts,
    ComparedSentence,
    compare_drift,
    lead_threshold,
    load_arrays,
    load_by_model,
    mean,
    mean_lead,
    save_arrays,
)
from probing.statistics import LEVEL

SETS, SENTENCES, HEADS = 100, 8, 6


def moved(sets: int, seed: int = 0) -> FloatArray:
    """Return long-tailed divergences, shape (set, sentence, layer, head), float32."""
    found: FloatArray = (
        np.random.default_rng(seed).gamma(0.7, 0.05, (sets, SENTENCES, 2, HEADS // 2)).astype(np.float32)
    )
    return found


@pytest.mark.slow
def test_a_twin_like_the_task_is_seldom_taken_for_less() -> None:
    """Error rates if task and control have the same distribution."""
    told = [compare_drift(task, twin) for task, twin in zip(moved(SETS), moved(SETS, seed=1), strict=True)]
    covered = np.mean([(one.more.low <= 0) & (one.more.high >= 0) for one in told])
    assert 0.9 <= covered <= 0.99
    lucky = sum(len(one.more_heads) > 0 for one in told)
    assert lucky <= 0.05 * SETS + 3 * (0.05 * 0.95 * SETS) ** 0.5


def test_a_task_that_moves_a_head_further_is_found() -> None:
    twin = moved(1)[0]
    further = twin + moved(1, seed=1)[0] * [[0, 0, 0], [0, 8, 0]]
    told = compare_drift(further, twin)
    assert told.more_heads.tolist() == [4]
    assert told.more.low[4] > 0
    assert compare_drift(twin, further).more_heads.size == 0


def test_the_same_training_goes_nowhere_beyond_itself() -> None:
    told = compare_drift(moved(1)[0], moved(1)[0])
    assert not told.more.mean.any()
    assert (told.p == 1).all()


@pytest.mark.parametrize("together", [0.0, 0.5, 1.0], ids=["heads apart", "mixed", "heads together"])
def test_a_third_twin_is_seldom_beyond_chance_in_any_head(together: float) -> None:
    """Family-wise error rate over all heads, if heads of a training share part of their drift."""
    chance = np.random.default_rng(0)
    parts = together * chance.normal(size=(3, 400, 1, 1)) + (1 - together) * chance.normal(size=(3, 400, 6, 12))
    drawn = ((0.3 + 0.03 * parts) ** 2).astype(np.float32)  # The axes are training, model, layer and head.
    wrong = np.mean([(mean_lead(one, both) > lead_threshold(both)).any() for one, *both in drawn.swapaxes(0, 1)])
    assert wrong <= LEVEL + 2 * (LEVEL * (1 - LEVEL) / 400) ** 0.5


def test_a_head_far_ahead_of_both_twins_is_beyond_chance() -> None:
    one, other = np.full((2, 2, 3), 0.04), np.full((2, 2, 3), 0.0441)
    task = one[0].copy()
    task[1, 2] = 0.25
    np.testing.assert_array_equal(
        mean_lead(task, [one[0], other[0]]) > lead_threshold([one[0], other[0]]), task == 0.25
    )


def test_luck_is_the_same_whichever_twin_is_called_the_first() -> None:
    one, other = moved(2).mean(axis=1)
    assert lead_threshold([one, other]) == lead_threshold([other, one]) > 0
    assert lead_threshold([one, one]) == 0
    np.testing.assert_allclose(mean_lead(one, [one, one]), 0, atol=1e-7)


def test_a_mean_over_nothing_is_no_number() -> None:
    values = np.array([[0.5, np.nan], [0.25, np.nan]], np.float32)
    np.testing.assert_array_equal(mean(values, axis=0), np.array([0.375, np.nan], np.float32))


def written(folder: Path, telling: FloatArray) -> Path:
    sentences = tuple(
        ComparedSentence(f"text {at}", "a", ("[CLS]", "<b>") if at < 2 else None) for at in range(SENTENCES)
    )
    bits = {(who, "all"): array for who, array in zip(fine_tuning_changes.WHO, moved(3), strict=True)}
    bits |= {(who, "telling"): telling for who in fine_tuning_changes.WHO}
    maps = {(side, at): np.full((2, 3, 2, 2), 0.5, np.float32) for side in fine_tuning_changes.SIDES for at in range(2)}
    fine_tuning_changes.write(
        folder, ChangeFacts("bert", "tag", 12, "the rows of tagged words", sentences), bits, maps, None
    )
    return folder


def test_what_was_written_is_read(tmp_path: Path) -> None:
    assert not fine_tuning_changes.is_complete(tmp_path)
    telling = moved(1)[0]
    telling[3] = np.nan  # NaN marks a sentence without a tagged word.
    folder = written(tmp_path, telling)
    assert fine_tuning_changes.is_complete(folder)
    facts = fine_tuning_changes.facts(folder)
    assert (facts.shown_sentences, facts.sentences[0].pieces) == ((0, 1), ("[CLS]", "<b>"))
    assert fine_tuning_changes.maps(folder, "twin", 1).dtype == np.float32
    assert fine_tuning_changes.film(folder) is None
    assert [array.tobytes() for array in load_by_model(folder, "all").values()] == [
        array.tobytes() for array in moved(3)
    ]
    assert len(load_by_model(folder, "telling")["task"]) == SENTENCES - 1


def test_what_is_written_anew_is_not_there_until_it_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = written(tmp_path, moved(1)[0])

    def broken(*_: object) -> None:
        raise OSError("full")

    monkeypatch.setattr("probing.fine_tuning_changes.save_arrays", broken)
    with pytest.raises(OSError, match="full"):
        written(folder, moved(1)[0])
    assert not fine_tuning_changes.is_complete(folder)


def test_arrays_are_kept_whole(tmp_path: Path) -> None:
    file = tmp_path / "a.safetensors"
    save_arrays(file, {"one": np.arange(3)})
    assert load_arrays(file)["one"].tolist() == [0, 1, 2]
    assert [found.name for found in tmp_path.iterdir()] == ["a.safetensors"]


def test_files_of_an_earlier_version_are_read_until_they_are_replaced(tmp_path: Path) -> None:
    frames = {"step": np.arange(2.0), "maps": np.zeros((2, 1)), **{rows: np.ones((2, 3, 1, 1)) for rows in ROWS}}
    folder = written(tmp_path, moved(1)[0])
    new = [load_by_model(folder, "all")["task"], fine_tuning_changes.maps(folder, "twin", 1)]
    for name, arrays in ((BITS, load_arrays(folder / BITS)), (MAPS, load_arrays(folder / MAPS)), (FILM, frames)):
        np.savez_compressed((folder / name).with_suffix(EARLIER), **arrays)
        (folder / name).unlink(missing_ok=True)
    np.testing.assert_array_equal(load_by_model(folder, "all")["task"], new[0])
    np.testing.assert_array_equal(fine_tuning_changes.maps(folder, "twin", 1), new[1])
    film = fine_tuning_changes.film(folder)
    assert film is not None
    assert film.steps == (0, 1)
    written(tmp_path, moved(1)[0])
    assert not [*folder.glob(f"*{EARLIER}")]
    assert fine_tuning_changes.film(folder) is None


@pytest.mark.slow
def test_what_is_said_of_it_is_told_in_the_language_of_who_looks(tmp_path: Path) -> None:
    fine_tuning_changes.refuse(
        tmp_path, gettext_lazy("The maps of {name} cannot be recorded in training.", name="BERT")
    )
    with use_language("zh"):
        assert translate(fine_tuning_changes.failure_reason(tmp_path)) == "训练 BERT 时无法记录它的注意力图。"
    telling = ChangeFacts("bert", "classify", 3, gettext_lazy("the row of {first}", first="[CLS]"), ())
    fine_tuning_changes.write(tmp_path, telling, {}, {}, None)
    with use_language("zh"):
        assert translate(fine_tuning_changes.facts(tmp_path).telling) == "[CLS] 那一行"
