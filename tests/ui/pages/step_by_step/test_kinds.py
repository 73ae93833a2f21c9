"""The page "Step by step" with models of every kind, each with its own explanation and numbers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from i18n import translate
from inference import LocalBackend, TraceRequest
from tests.support.asking import allowed, asked, notes
from tests.support.tinymodels import save
from ui.pages.step_by_step.weight import STAGES

KINDS = ["gpt2", "llama", "t5", "marian"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    models = tmp_path_factory.mktemp("models")
    for kind in KINDS:
        save(models / kind, kind)
    return models


@pytest.fixture(scope="module")
def backend(folder: Path) -> Iterator[LocalBackend]:
    with allowed(folder) as opened:
        yield opened


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [
        ("gpt2", "decoder", "(causal mask)"),
        ("llama", "decoder", "3 query heads share 1"),
        ("t5", "encoder", "A bias that depends"),
        ("t5", "decoder", "multiplied by 1;"),
        ("marian", "cross", "No mask"),
    ],
)
def test_models_of_every_kind_are_explained_as_they_are(
    folder: Path, backend: LocalBackend, case: tuple[str, str, str]
) -> None:
    kind, part, words = case
    model, text, target = str(folder / kind), "The small cat played.", "Le chat dort."
    written = target if kind in ("t5", "marian") else None
    two = {"target": written} if written else {}
    page = asked("step_by_step", model=model, text=text, layer=1, head=2, focus=1, to=0, part=part, stage="all", **two)
    assert any(words in said.value for said in page.markdown)
    assert [title.value for title in page.header] == [translate(title) for title in STAGES.values()]
    weights = backend.trace(TraceRequest(model=model, text=text, target=written)).weights(1, 2, part)
    [said] = [note for note in notes(page) if "Head 1-2" in note]
    assert f"{weights[1, 0]:.0%} of its attention" in said
