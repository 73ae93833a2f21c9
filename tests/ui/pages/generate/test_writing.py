"""Clicks before a page shows the result of the previous click; generation continues from the address."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from inference.tasks.decoding import DecodingStep, NextToken
from ui.pages.generate import writing
from ui.pages.generate.options import mark_of, write_path
from ui.pages.generate.writing import JOB, WritingJob

DRAWN = NextToken(model="any", text="The animal", written=(5,))  # The page shows this state.


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    monkeypatch.setattr(writing, "st", SimpleNamespace(session_state=kept))
    return kept


def stands_at(monkeypatch: pytest.MonkeyPatch, *path: int, of: str = "") -> None:
    query = {"written": write_path(path), "of": of or mark_of(DRAWN)}
    monkeypatch.setattr(writing, "own_query", lambda: query)


@pytest.mark.parametrize("path", [(5,), (5, 7), (8,), ()])
def test_many_tokens_begin_where_the_address_stands(
    state: dict[str, Any], monkeypatch: pytest.MonkeyPatch, path: tuple[int, ...]
) -> None:
    stands_at(monkeypatch, *path)
    writing.begin(DRAWN, 20, "likeliest")
    assert state[JOB] == WritingJob(replace(DRAWN, written=path), 20, "likeliest", path, path)


def test_every_click_on_next_token_counts(state: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[tuple[NextToken, int]] = []
    monkeypatch.setattr(writing, "write", lambda request, token: written.append((request, token)))
    step = cast("DecodingStep", SimpleNamespace(chosen=3, greedy=4))
    stands_at(monkeypatch, 5)
    writing.write_next(DRAWN, step, "likeliest")
    assert written == [(DRAWN, 4)]
    assert not state
    stands_at(monkeypatch, 5, 4)
    for clicks in (1, 2, 3):
        writing.write_next(DRAWN, step, "likeliest")
        assert state[JOB].start == replace(DRAWN, written=(5, 4))
        assert state[JOB].many == clicks
    assert len(written) == 1


def test_tokens_after_another_text_are_not_gone_on_from(state: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    stands_at(monkeypatch, 5, 4, of="another")
    writing.begin(DRAWN, 1, "likeliest")
    assert state[JOB].start.written == ()
