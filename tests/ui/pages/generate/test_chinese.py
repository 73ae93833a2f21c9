"""The Generate page in Chinese: each of its views and what it says of odd links, none of it left in English."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.asking import allowed, asked, notes, press, text_of
from tests.support.tinymodels import save
from tests.support.words import english

TEXT = "The cat sat on the mat, and the dog"
EXAMPLE = "The animal didn't cross the street because it was too tired."


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    root = tmp_path_factory.mktemp("writers")
    folder = save(root / "gpt2", "gpt2")
    with allowed(root):
        yield str(folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({}, "排在第一的是“"),
        ({"text": EXAMPLE}, "示例原来的词“tired”"),
        ({"text": EXAMPLE, "whole": "1"}, "排在第一的是“"),
        ({"show": "looks"}, "往回看得最远的是"),
        ({"show": "looks", "over": "layer", "cell": "reach", "first": "0"}, "第 0 层各头平均：往回看“"),
        ({"show": "looks", "over": "all", "at": "2"}, "在“sat”出现之前，可以回看的内容太少"),
        ({"at": "0"}, "第一个词元之前没有内容"),
        ({"show": "heads"}, "每个词元只往回看"),
        ({"show": "layers"}, "下面逐层显示"),
        ({"show": "sink"}, "若均匀分配"),
        ({"show": "induction"}, "抛一次硬币"),
        ({"written": "1.x", "of": "0"}, "只显示提示"),
        ({"written": "301.300", "of": "deadbeef"}, "因此不予采用"),
    ],
)
def test_each_view_is_chinese(model: str, query: dict[str, str], said: str) -> None:
    page = asked("generate", lang="zh", **{"model": model, "text": TEXT, **query})
    assert any(said in note for note in notes(page)), notes(page)
    assert not page.exception
    assert english(page, TEXT, EXAMPLE) == []


@pytest.mark.slow
def test_what_is_written_has_its_tree_in_chinese(model: str) -> None:
    page = asked("generate", model=model, text=TEXT, lang="zh", show="looks")
    press(page, "下一个词元")
    assert "你走过的路径" in [expander.label for expander in page.expander]
    assert english(page, TEXT) == []


@pytest.mark.slow
def test_a_ready_prompt_is_named_in_chinese_and_read_in_english(model: str) -> None:
    page = asked("generate", model=model, text=TEXT, lang="zh")
    page.selectbox(key="generate_prompt").select("一个列表").run()
    assert text_of(page) == "Monday, Tuesday, Wednesday,"
    assert not page.exception
