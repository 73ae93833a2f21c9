"""What the page By hand says in Chinese: its states and its refusals have nothing left in English."""

from __future__ import annotations

import pytest

from attention.toy_example import ToyRules, compute_example
from i18n import translate, use_language
from inference import UserError
from tests.support.asking import asked, says
from tests.support.words import english
from ui.pages.by_hand import attention_matrices
from ui.pages.by_hand.as_csv import read
from ui.pages.by_hand.example import apply_table_edits, example_of, resize
from ui.pages.by_hand.layer_matrices import mix_heads, next_word_steps, residual_steps
from ui.pages.by_hand.learn import gradient
from ui.pages.by_hand.steps import sum_of

OWN = ("pages/by_hand.py", "ui/pages/by_hand")
LEGEND = "scores as they are"  # of the figure, which says the same in words of its own


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({}, "头 1：“it”把 0.92 的注意力给了“cat”"),
        ({"numbers": "garbage"}, "链接中的数字已损坏"),
        ({"preset": "sentence", "heads": 3}, "3 个头无法平分 4 列"),
        ({"preset": "tutorial"}, "这里确实如此：“french” → “I”"),
        ({"preset": "tutorial", "heads": 4, "onward": 0}, "头 3 最接近"),
        ({"preset": "sentence", "causal": 1, "positions": 1, "cell": "masked-0-2"}, "后面的词元 = (−∞)"),
    ],
)
def test_the_page_speaks_chinese(query: dict[str, object], said: str) -> None:
    page = asked("by_hand", lang="zh", **query)
    says(page, said)
    assert english(page, LEGEND) == []
    assert "四个词，两个头" in page.selectbox[0].options


def test_the_matrices_are_named_in_chinese() -> None:
    small = example_of("sentence")
    found = compute_example(small, ToyRules(heads=2, causal=True, positions=True))
    with use_language("zh"):
        steps = [*attention_matrices.enter(small, found), *attention_matrices.project(small, found, 1)]
        steps += attention_matrices.compare(small, found.worked, 1, (2, 1), True) + attention_matrices.mix(
            small, found.worked, 1, 2
        )
        steps += mix_heads(small, found) + residual_steps(small, found) + next_word_steps(small, found)
        steps += gradient(small, found.worked, 1, 2)
        notes = {step.key: step.sheet.note for step in steps}
        assert sum_of(steps[0], 0, 0) == "X，“the”与“1”：0.20，按输入原样。"
    assert notes["q"] == "4 个词元 × 4：每个词元要找什么；框出的是头 2 的列"
    assert notes["dot"] == "头 2：每个查询与每个键的点积"
    assert [note for note in notes.values() if not any("\u4e00" <= letter <= "\u9fff" for letter in note)] == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfe", "该文件不是 UTF-8 编码的 CSV"),
        (b"Z,a,1", "第 1 行的矩阵名是 'Z'"),
        (b"X,,1", "第 1 行（X）的第二格需要一个"),
        (b"X,a,two", "第 1 行：“two”不是数字"),
        (b"X,a,1", "缺少 W_Q"),
        (b"X,a,1\nX,b,1,2", "X 各行长短不一"),
        (b"X,a,1\nW_Q,1,1\nW_K,1,1\nW_V,1,1", "X 是 1 × 1"),
    ],
)
def test_a_file_is_refused_in_chinese(content: bytes, said: str) -> None:
    with pytest.raises(UserError) as refused:
        read(content)
    with use_language("zh"):
        assert translate(refused.value.message).startswith(said)


def test_what_cannot_be_read_and_what_has_no_name_yet() -> None:
    small = example_of("lookup")
    problems = apply_table_edits(small, {"x": {0: {"2": "two"}}})[1]
    with use_language("zh"):
        assert translate(problems[0]).startswith("X，第 1 行，第 2 列：“two”不是数字")
        assert resize(small, 4, 3, 3).tokens[-1] == "词元 4"
