"""The Teach page in Chinese, from the data to the changes in a fine-tuned model's heads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from i18n import use_language
from inference.files import sources
from inference.task_heads import CLASSIFY, TAG
from tests.support import comparedfolders, toldfolders
from tests.support.asking import LONGEST, asked
from tests.support.taughtfolders import evaluation, plan, put, step, taught_in
from tests.support.tinylabels import save
from tests.support.trainings import kept
from tests.support.words import QUOTED, SENTENCE, english
from tests.ui.pages.teach.test_changes import Answering
from tests.ui.pages.teach.test_results import TAGGED, changed
from training.jobs import job as jobs
from training.jobs.job import CHARACTERS, State
from ui.pages.teach import results_figures
from ui.pages.teach.changes_results import describe_changes, describe_head, describe_wait
from ui.pages.teach.changes_results import load_changes as compared
from ui.pages.teach.results import headline
from ui.pages.teach.results_data import load_results
from ui.pages.teach.training_progress import TrainingProgress, in_words

TWO_OF_A_KIND = {"kind": "collapse", "step": 20, "only": "a"}
HALF_WAY = [plan(133), {"kind": "baseline", "accuracy": 0.75}, evaluation(0, accuracy=0.2), step(20, 1.5),
            evaluation(20, "a", accuracy=0.9), TWO_OF_A_KIND, step(40, 0.5)]  # fmt: skip
TITLES = "".join(f"第{at}个{'球赛' if at % 2 else '股市'}\t{at % 2}\n" for at in range(40)).encode()

MOVED: tuple[dict[str, Any], ...] = ({}, {"task": 1e-6}, {"step": 0}, {"task": 0.01})
STATES: tuple[State, ...] = ("waiting", "running", "stopped", "failed", "done")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    with taught_in(tmp_path / "taught") as found:
        yield found


def none_left(page: AppTest, *read: str) -> None:
    """Assert that the page has no exception and no English sentence of its own."""
    assert not page.exception
    assert english(page, *read) == []


def chinese(*said: str) -> None:
    """Assert that each text is non-empty and has no English sentence."""
    for text in said:
        assert text
        assert not SENTENCE.search(QUOTED.sub(" · ", text)), text


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    [
        {},
        {"data": "uner-zh", "start": CHARACTERS, "length": 8},
        {"data": "own"},
        {"data": "own", "kind": "tag"},
        {"job": "no-such-training"},
    ],
)
@pytest.mark.usefixtures("place")
def test_nothing_is_left_in_english_before_a_training(query: dict[str, object]) -> None:
    none_left(asked("teach", lang="zh", **query), "Snips Voice Platform, arXiv")


@pytest.mark.slow
def test_files_of_ones_own_are_read_in_chinese(place: Path) -> None:
    put(place, "done", title="another", owner="another", saved=True)
    for start in (CHARACTERS, "headlight-en-fr"):
        page = asked("teach", lang="zh", data="own", start=start)
        with use_language("zh"):  # AppTest formats the options again in this language.
            page.file_uploader(key="teach_file_train").set_value(("titles.tsv", TITLES, "text/plain")).run()
        none_left(page, "Snips Voice Platform", "Coucke et al")


@pytest.mark.slow
@pytest.mark.parametrize("state", ["waiting", "running", "stopped", "failed", "done"])
def test_a_training_is_followed_in_chinese(place: Path, state: Any) -> None:
    put(place, "running")
    none_left(asked("teach", lang="zh", job=put(place, state, said="Why." * (state == "failed"), lines=HALF_WAY).id))


@pytest.mark.slow
def test_a_model_is_kept_in_chinese(place: Path) -> None:
    none_left(
        asked("teach", lang="zh", job=kept(place).id, show="keep"),
        "a fine film",
        "from transformers import AutoModelForSequenceClassification",
    )


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "head"), [("classify", CLASSIFY), ("tag", TAG)])
def test_a_sentence_of_ones_own_is_told_in_chinese(place: Path, kind: Any, head: str) -> None:
    job = put(place, "done", kind=kind)
    folder = place / job.id / sources.MODEL
    save(folder, "BERT", head, ("O", "B-y", "B-x"))
    (folder / sources.SCORES).write_text("{}")
    (folder / jobs.PREDICTIONS).write_text(json.dumps({"text": "the animal was a cat"}) + "\n", encoding="utf-8")
    none_left(asked("teach", lang="zh", job=job.id, show="try"), "the animal was a cat")


def results(folder: str) -> None:
    from pathlib import Path

    from i18n import use_language
    from ui.pages.teach.results import draw_results
    from ui.state.session import begin

    begin("teach")
    with use_language("zh"):
        draw_results(Path(folder), "taught/tiny", "tiny")


def changes(folder: str) -> None:
    from dataclasses import replace
    from pathlib import Path

    from i18n import use_language
    from tests.support.comparedfolders import LOOK
    from ui.pages.teach.changes import draw_changes
    from ui.state.session import begin

    begin("teach")
    with use_language("zh"):
        draw_changes(replace(LOOK, folder=Path(folder)))


def alone(script: Any, folder: Path, **query: object) -> AppTest:
    page = AppTest.from_function(script, kwargs={"folder": str(folder)}, default_timeout=LONGEST)
    page.query_params.update({name: str(value) for name, value in query.items()})
    return page.run()


@pytest.mark.slow
def test_results_are_told_in_chinese(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(st, "page_link", lambda *_, **_more: None)  # The linked pages do not exist in this script.
    texts = toldfolders.drawn(tmp_path / "texts", classes=12, rows=60, right=0.7)
    words = toldfolders.words(tmp_path / "words", TAGGED)
    none_left(alone(results, texts, outcome="all"), toldfolders.HOSTILE)
    none_left(alone(results, texts, outcome="all", true=1, said=2), toldfolders.HOSTILE)
    none_left(alone(results, words, outcome="all", true=1), *(row[0] for row in TAGGED))


@pytest.mark.slow
def test_what_changed_is_told_in_chinese(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(st, "page_link", lambda *_, **_more: None)
    monkeypatch.setattr("ui.pages.teach.changes_effects.get_backend", Answering)
    comparedfolders.job(tmp_path)
    none_left(alone(changes, tmp_path, removed=1))
    none_left(alone(changes, tmp_path, rows="telling"))
    comparedfolders.job(tmp_path / "few", telling=False, film=False)
    none_left(alone(changes, tmp_path / "few", rows="telling"))


def test_the_headline_is_chinese_whoever_wins(tmp_path: Path) -> None:
    found = load_results(toldfolders.drawn(tmp_path / "texts", classes=3, rows=60, right=0.7))
    dev = {"dev": {"step": 40}, "rows": {"train": 100, "dev": 10}}
    long = {"texts": 14, "of": 4403, "length": 64}
    with use_language("zh"):
        for counted in (0.5, 0.7, 0.9):
            test = {**found.predictions.test, "accuracy": 0.7, "baseline_accuracy": counted}
            test |= {"only_model_right": 9, "only_baseline_right": 4}
            chinese(*headline(changed(found, test=test, finished=False, cut=long, **dev)))
        chinese(results_figures.describe_rare(found.each))
        assert found.sureness is not None
        for error in (0.0, 1.0):
            chinese(*results_figures.summary(replace(found.sureness, error=error), "样本"))


def test_a_model_that_says_one_thing_is_told_in_chinese(tmp_path: Path) -> None:
    alike = [("a", 0, (0.9, 0.1)), ("b", 1, (0.8, 0.2))]
    with use_language("zh"):
        chinese(*headline(load_results(toldfolders.texts(tmp_path / "texts", ("a", "b"), alike))))
        names = toldfolders.words(tmp_path / "words", [("a b", "B-X O", "O O", (0.9, 0.9))])
        chinese(*headline(load_results(names)))


def test_the_truth_about_a_change_is_chinese(tmp_path: Path) -> None:
    with use_language("zh"):
        for number, more in enumerate(MOVED):
            folder = comparedfolders.job(tmp_path / str(number), **more).folder / "changes"
            found = compared(folder, "all")
            assert found is not None
            chinese(*describe_changes(found))
            if not number:
                chinese(*(describe_head(found, (layer, head)) for layer in range(2) for head in range(3)))


@pytest.mark.parametrize("phase", ["teach", "twin", "changes"])
def test_how_far_it_is_is_told_in_chinese(tmp_path: Path, phase: Any) -> None:
    look = replace(comparedfolders.LOOK, phase=phase, folder=tmp_path)
    (tmp_path / "twin" / "run").mkdir(parents=True)
    (tmp_path / "twin" / "run" / "metrics.jsonl").write_text(
        '{"kind": "plan", "step": 0, "last": 90, "twin": 1}\n{"kind": "step", "step": 30, "loss": 1, "seconds": 9.0}\n'
    )
    with use_language("zh"):
        for state in STATES:
            chinese(describe_wait(replace(look, state=state, said="磁盘已满。")))
            chinese(in_words(replace(look, state=state, said="磁盘已满。" * (state == "failed"))))
        chinese(in_words(replace(look, state="waiting", ahead=2)))


def test_what_is_left_is_told_in_chinese() -> None:
    with use_language("zh"):
        left = [TrainingProgress(40, 133, seconds).time_left for seconds in (4.0, 60.0, 92.0)]
    assert left == ["还剩几秒", "约剩 1 分钟", "约剩 1.5 分钟"]
