"""What the page Why attention says in Chinese has nothing left in English."""

from __future__ import annotations

import pytest

from attention.complexity import TABLE, ComplexitySetting
from i18n import use_language
from tests.support.asking import asked, says
from tests.support.words import english
from training.jobs.baseline_runs import BaselineStatus
from ui.pages.why_attention import descriptions
from ui.pages.why_attention.numbers import CostSetting, row_of, summary
from ui.pages.why_attention.recorded_runs import load_recorded
from ui.pages.why_attention.train_one import sentence

OWN = ("pages/why_attention.py", "ui/pages/why_attention")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({}, "自注意力的代价是循环层的 1/24"),
        ({"task": "parity", "when": "before", "n": 500, "d": 64}, "循环层的代价是自注意力的 1/7.81"),
        ({"task": "order", "n": 64, "d": 64}, "自注意力与循环层的代价相同"),
    ],
)
def test_the_page_speaks_chinese(query: dict[str, object], said: str) -> None:
    page = asked("why_attention", lang="zh", **query)
    says(page, said)
    assert english(page) == []


def test_what_the_runs_say_is_chinese() -> None:
    found = load_recorded()
    with use_language("zh"):
        assert descriptions.describe_winners(found).startswith("LSTM 更擅长：“奇偶”距离不超过 16 时（1.00 对 0.85）和")
        assert "更差的有：没有位置（" in descriptions.describe_ablation(found, "parity")
        assert "文本第一个词元处为零；" in descriptions.describe_gradients(found, "recall", "before")
        runs = found.runs_of("recall", "transformer", "norm")
        assert sentence(runs[1], runs).startswith("Transformer（条件：不做归一化），")
        assert sentence(runs[1], runs).endswith("其中一次用的正是这个种子；在任何距离上，两者相差都不超过 0.00。")


def test_the_table_has_chinese_names_for_its_columns() -> None:
    with use_language("zh"):
        names = list(row_of(TABLE[0], CostSetting(ComplexitySetting(512), 100)))
        assert summary(CostSetting(ComplexitySetting(512), 512)).startswith("当 n = d = 512 时")
    assert [name.strip() for name in names] == [
        "层的类型",
        "每层的复杂度",
        "取值",
        "顺序操作数",
        "取值",
        "最大路径长度",
        "取值",
    ]


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
    says(asked("why_attention", lang="zh"), "已停止。没有保留任何结果。")
