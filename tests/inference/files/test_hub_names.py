"""Valid names and revisions of models."""

from __future__ import annotations

import re
import threading

import pytest

from inference.errors import UserError
from inference.files.hub import check_id, check_revision, convert_hub_errors, run_with_timeout
from tests.support.cases import loop_over

BERT = "google-bert/bert-base-uncased"  # the example in the error message


@pytest.mark.parametrize("name", ["gpt2", BERT, "answerdotai/ModernBERT-base"])
def test_ids(name: str) -> None:
    assert check_id(name) == name


@pytest.mark.parametrize("revision", [None, "main", "refs/pr/12", "v1.0", "a" * 40])
def test_revisions(revision: str | None) -> None:
    assert check_revision(revision) == revision


@loop_over("name", ["", "a/b/c", "../x", "https://x.y/z", "a b", "a\0b", "x" * 97, "-x", "a--b", "é"])
def test_names_that_cannot_be_ids(name: str) -> None:
    with pytest.raises(UserError, match=re.escape(BERT)):
        check_id(name)


@loop_over("revision", ["../../x", "/x", "a b", "a\0", "x" * 201, "", ".."])
def test_revisions_that_cannot_be(revision: str) -> None:
    with pytest.raises(UserError, match="a revision"):
        check_revision(revision)


def test_an_answer_that_does_not_come() -> None:
    late = threading.Event()
    with pytest.raises(UserError, match="be reached"), convert_hub_errors("a/b"):
        run_with_timeout(0.05, lambda: late.wait(60))
    late.set()
    assert run_with_timeout(60, lambda: 7) == 7
    empty: dict[str, int] = {}
    with pytest.raises(KeyError):
        run_with_timeout(60, lambda: empty["x"])
