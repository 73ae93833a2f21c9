"""Attribution methods that are shown only if their values satisfy their definition."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from i18n import typeset_number
from inference import UserError
from inference.tasks.attribution import WordPath, WordScores
from tests.support.asking import allowed, asked, notes, says
from tests.support.decoders import save_decoder
from ui.attribution import methods


def path(missed: float, rise: float) -> Any:
    """Return the attributions of a path that misses ``missed`` of a difference ``rise``."""
    return methods._path(WordScores(np.array([rise + missed, 0.0], np.float32), missed, rise))  # noqa: SLF001  # The test calls the private rule.


@pytest.mark.parametrize(("missed", "rise"), [(0.04, 1.0), (-0.04, 1.0), (0.02, -0.5), (0.0, 0.0)])
def test_steps_that_add_up_to_the_path_are_shown(missed: float, rise: float) -> None:
    assert path(missed, rise).tolist() == pytest.approx([rise + missed, 0])


@pytest.mark.parametrize(("missed", "rise"), [(0.06, 1.0), (-0.38, 1.0), (0.66, 1.0), (0.03, -0.5), (0.01, 0.0)])
def test_steps_that_miss_more_than_a_twentieth_are_refused(missed: float, rise: float) -> None:
    first, last = (typeset_number(f"{number:.2f}") for number in (rise, rise + missed))
    with pytest.raises(UserError, match=rf" {first}\W .* 32 .* {last}\W .* {methods.MOST_MISSED:.0%}"):
        path(missed, rise)


@pytest.mark.slow
def test_the_page_says_why_a_row_is_left_out(tmp_path: Path) -> None:
    """RMSNorm cancels the scale of word vectors, so nearly all of the path's change is near zero."""
    folder = save_decoder(tmp_path / "Llama", "Llama")
    with allowed(tmp_path) as backend:
        told = backend.inspect(WordPath(str(folder), text="The cat sat on the mat", focus=(5, 6)))
        page = asked("agreement", model=folder, text="The cat sat on the mat")
        assert abs(told.missed) > methods.MOST_MISSED * abs(told.rise)
        says(page, "integration steps")
        says(page, "of 6 other")


@pytest.mark.slow
def test_the_embedded_model_s_row_is_there() -> None:
    page = asked("agreement", text="The animal didn't cross the street because it was too tired.")
    says(page, "of 7 other")
    assert "Integrated gradients is missing" not in " ".join(notes(page))
