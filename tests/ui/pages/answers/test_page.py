"""The view Question answering with a tiny model, with a model that a visitor trained, and without a head."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from inference.files import sources
from inference.files.embedded import BERT
from inference.task_heads import ANSWER
from tests.support.asking import allowed, asked, notes, says, stands
from tests.support.taughtfolders import put, taught_in
from tests.support.tinylabels import save
from ui.pages.answers.spans import EXAMPLE

QUESTION, PASSAGE = "who played", "the animal <b>was</b> a cat and it played"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the folder of a tiny model with a head for answers, which the pages may open."""
    root = tmp_path_factory.mktemp("answers")
    with allowed(root):
        yield str(save(root / "tiny", "BERT", ANSWER, ("start", "end")))


@pytest.mark.slow
def test_answers_attention_and_ablations_are_shown(tiny: str) -> None:
    page = asked("answers", model=tiny, text=QUESTION, pair=PASSAGE)
    stands(page)
    assert notes(page, "refusal") == []
    says(page, "with probability")
    assert len(page.get("plotly_chart")) >= 3
    strip = next(part.proto for part in page.get("bidi_component") if part.proto.component_name == "headlight_strip")
    assert "<b>was</b>" in strip.json


@pytest.mark.slow
def test_a_trained_model_answers_on_the_page(tmp_path: Path) -> None:
    with taught_in(tmp_path):
        job = put(tmp_path, "done", kind="answer", title="Mine", saved=True)
        folder = tmp_path / job.id / sources.MODEL
        save(folder, "BERT", ANSWER, ("start", "end"))
        (folder / sources.SCORES).write_text("{}")
        page = asked("answers", model=job.name, text=QUESTION, pair=PASSAGE)
        stands(page)
        says(page, "Mine")
        says(page, "with probability")


@pytest.mark.slow
def test_without_a_head_the_page_leads_to_the_training(tmp_path: Path) -> None:
    with allowed(tmp_path):
        page = asked("answers", model=BERT)
    stands(page)
    says(page, EXAMPLE[1].split(". ")[1])
    links = [link.proto for link in page.get("page_link")]
    assert any("data=questions-en" in str(link) for link in links)
