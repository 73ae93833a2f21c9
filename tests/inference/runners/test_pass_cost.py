"""Measurements of a pass: required fields, and bytes counted by hand. Durations are never asserted."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from i18n import typeset_number
from inference import LocalBackend
from inference.errors import UserError
from inference.runners.anatomy import MemoryTracker
from inference.settings import Settings
from inference.tasks.anatomy import CostRequest
from tests.support import tinymodels


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def backend(folder: Path) -> LocalBackend:
    for kind in ("bert", "deberta", "t5", "gpt2"):
        tinymodels.save(folder / kind, kind)
    return LocalBackend(Settings(model_folders=(folder,)))


@pytest.mark.parametrize("kind", ["bert", "deberta", "t5", "gpt2"])
def test_a_length_is_measured(backend: LocalBackend, folder: Path, kind: str) -> None:
    found = backend.inspect(CostRequest(model=str(folder / kind), tokens=11))
    assert found.tokens == 11
    assert found.seconds
    assert min(found.seconds) == found.best > 0
    assert found.busy >= 0
    assert found.threads == torch.get_num_threads()
    assert found.peak_bytes > 11 * 24 * 4, "the vectors themselves"


def test_maps_that_are_kept_grow_with_the_square(backend: LocalBackend, folder: Path) -> None:
    """DeBERTa keeps its maps and BERT's fused attention does not, as the second difference of the peaks shows."""
    bends = {}
    for kind in ("bert", "deberta"):
        peaks = [backend.inspect(CostRequest(model=str(folder / kind), tokens=n)).peak_bytes for n in (12, 24, 36)]
        bends[kind] = peaks[2] - 2 * peaks[1] + peaks[0]
    assert bends["bert"] == 0
    assert bends["deberta"] >= 2 * 12**2 * 3 * 4, "at least one layer's maps of 3 heads"


def test_an_answer_is_kept_until_it_is_asked_for_anew(backend: LocalBackend, folder: Path) -> None:
    first = CostRequest(model=str(folder / "bert"), tokens=9)
    assert backend.inspect(first) is backend.inspect(CostRequest(model=str(folder / "bert"), tokens=9))
    assert backend.inspect(CostRequest(model=str(folder / "bert"), tokens=9, again=1)) is not backend.inspect(first)


@pytest.mark.parametrize("tokens", [0, -3, 41])
def test_a_length_that_the_model_does_not_read_is_refused(backend: LocalBackend, folder: Path, tokens: int) -> None:
    with pytest.raises(
        UserError, match=f"{typeset_number(str(tokens))} tokens were requested; .*bert reads 1 to 40 here"
    ):
        backend.inspect(CostRequest(model=str(folder / "bert"), tokens=tokens))


def test_bytes_of_living_tensors_by_hand() -> None:
    weight = torch.ones(1000)
    with torch.inference_mode(), MemoryTracker([weight]) as living:
        first = weight * 2  # 4,000 bytes
        view = first[:10]  # no memory of its own
        second = first + 1  # 8,000
        del first, view
        third = second * 3  # 8,000 again; the first is freed.
        del second, third
        torch.zeros(10)  # 40
    assert living.peak == 8000


def test_weights_are_not_the_pass_s_own() -> None:
    layer = torch.nn.Linear(50, 7)
    with torch.inference_mode(), MemoryTracker(list(layer.parameters())) as living:
        layer(torch.ones(3, 50))
    assert living.peak == 3 * 50 * 4 + 3 * 7 * 4
