"""Saved matrices of a page: each states its model and text."""

from __future__ import annotations

import numpy as np
import pytest

from attention.codec import decode_frame
from tests.support.asking import asked
from ui.show.microscope import LONGEST, draw_matrices
from ui.state.view_state import DEFAULT_MODEL
from viz.components.matrices import matrices
from viz.components.matrices.matrices import MatrixSpec, payload

SHEET = MatrixSpec("Q", np.array([[1.0, 2.0]], np.float32))


def test_the_caption_travels_with_the_numbers() -> None:
    header, arrays = decode_frame(payload([SHEET], False, None, [("model", "tiny"), ("text", "<b>")]))
    assert header["about"] == [["model", "tiny"], ["text", "<b>"]]
    assert arrays["0"].tolist() == [[1.0, 2.0]]


@pytest.mark.slow
def test_a_page_s_matrices_name_its_model_and_text(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[list[tuple[str, str]]] = []
    monkeypatch.setattr(matrices, "mount", lambda *_given, about, **_more: told.append(about))
    page = asked("step_by_step", text="It was tired.")
    assert not page.exception
    assert told
    for about in told:
        named = dict(about)
        assert (named["model"], named["text"]) == (DEFAULT_MODEL, "It was tired.")
        assert len(named["weights_sha256"]) == 64


def test_a_long_text_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, str]] = []
    monkeypatch.setattr(matrices, "mount", lambda *_given, about, **_more: told.extend(about))
    draw_matrices([SHEET], "key", about=[("text", "a" * (LONGEST + 5))])
    assert told == [("text", "a" * (LONGEST - 1) + "…")]
