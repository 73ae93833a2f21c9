"""The Translate page in Chinese: each of its views and its refusals, none of its own sentences left in English."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.asking import allowed, asked, notes, says, stands
from tests.support.translators import tiny
from tests.support.words import english

TEXT = "The animal sat on the mat."


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    root = tmp_path_factory.mktemp("translators")
    folder = tiny(root / "tiny-marian")
    with allowed(root):
        yield str(folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({}, "最关注的词是"),
        ({"way": "beam", "late": "1"}, "读完“"),
        ({"target": "the cat", "cross": "mean"}, "所有交叉注意力头的平均最关注"),
        ({"way": "own"}, "请在上方的“译文”框中"),
        ({"target": "the cat", "way": "greedy"}, "请选择“自己的译文”"),
        ({"show": "step", "step": "1"}, "第 2 步，共 "),
        ({"show": "beams", "dropped": "1"}, "种续写；最好的是"),
        ({"show": "heads", "side": "cross"}, "每一行以该步写出的词元命名"),
        ({"show": "heads", "side": "decoder"}, "每一行以最后读到的词元命名"),
        ({"show": "without"}, "去掉交叉注意力头 "),
        ({"show": "without", "edits": "-"}, "没有移除任何内容"),
        (
            {"show": "without", "clicking": "cut", "step": "0", "edits": "ae0-0,ax0-0,cx0-0-1-2"},
            "去掉编码器头 0-0、交叉注意力头 0-0，让第 2 步在 1 个头里看不到“he”：",
        ),
        (
            {"show": "without", "edits": "cx0-0-0-0,cx0-0-0-1,cx0-0-0-2,cx0-0-0-3,ux0-1"},
            "，另切断 1 处关注，另有 1 处改动",
        ),
        ({"show": "best"}, "对齐错误率"),
    ],
)
def test_each_view_is_chinese(model: str, query: dict[str, str], said: str) -> None:
    page = asked("translate", lang="zh", **{"model": model, "text": TEXT, **query})
    assert any(said in note for note in notes(page)), notes(page)
    assert not page.exception
    assert english(page, TEXT, "the cat") == []


@pytest.mark.slow
def test_unknown_words_are_told_in_chinese(model: str) -> None:
    page = asked("translate", model=model, text="my cat is my 猫", lang="zh")
    says(page, "写出的译文")
    assert english(page, "my cat is my 猫") == []


@pytest.mark.slow
def test_english_is_as_before(model: str) -> None:
    page = asked("translate", model=model, text=TEXT, lang="en")
    says(page, "the word “")
    stands(page)
