"""A link to the page "Why attention" with numbers out of range."""

from __future__ import annotations

import pytest

from tests.support.asking import asked, says
from tests.support.words import english
from training.jobs.baseline_runs import BaselineStatus


@pytest.mark.slow
def test_numbers_out_of_bounds_are_brought_within() -> None:
    page = asked("why_attention", k=1, n=9999999, d="x")
    says(page, "At n = 100,000 and d = 384")
    says(page, "(width 2)")
    says(page, "“d”")


@pytest.mark.slow
def test_a_run_here_is_watched_in_chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    class Scripted:
        seen = BaselineStatus("running", ((20, 1.5), (40, 1.0)))

        def look(self, _ask: object) -> BaselineStatus:
            return self.seen

    scripted = Scripted()
    monkeypatch.setattr("ui.pages.why_attention.train_one.get_runs", lambda: scripted)
    page = asked("why_attention", lang="zh")
    assert english(page) == []
    scripted.seen = BaselineStatus("unasked")
    page = asked("why_attention", lang="zh")
    assert "训练" in [button.label for button in page.button]
    scripted.seen = BaselineStatus("stopped")
    says(asked("why_attention", lang="zh"), "已停止。这次训练的结果不保留。")
