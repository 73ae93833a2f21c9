"""Errors from packages below the pages are translated into the page's language, with their values."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from attention.edits import unpack
from attention.measures import MEASURES
from headlight.token_rows import row
from i18n import error_message, gettext_lazy, translate, use_language
from inference.catalogue import listing
from inference.catalogue.listing import EMBEDDED_CARD
from inference.files import sources
from inference.hub_cards import ModelCard
from inference.settings import Settings
from inference.task_heads import MASKED
from inference.text.encoding import check_text
from probing import alignments, formats
from probing.labelled.data_checks import Balance
from probing.labelled.files import File
from probing.labelled.loading import TaskFiles, read_labeled
from tests.support.cases import loop_over

FEW = b"text,label\na,x\nb,x\n"


@loop_over(
    ("do", "english", "chinese"),
    [
        (
            lambda: check_text(" "),
            "The text is empty. Type a word or a sentence.",
            "文本是空的。请输入一个词或一个句子。",
        ),
        (
            lambda: check_text("a\x00", gettext_lazy("second text")),
            "The second text has the control character U+0000 at position 2. Remove it.",
            "第二段文本的第 2 位有控制字符 U+0000。请删掉它。",
        ),
        (
            lambda: sources.resolve_folder("/x", []),
            "Local models must be in the operator's HEADLIGHT_MODEL_FOLDERS. Use one, or"
            ' a hub id such as "google-bert/bert-base-uncased".',
            "本地模型必须位于管理者设置的 HEADLIGHT_MODEL_FOLDERS 中。请用其中之一，或用模型库的名称，例如"
            ' "google-bert/bert-base-uncased"。',
        ),
        (
            lambda: read_labeled(TaskFiles(File("mine.csv", FEW))),
            "mine.csv: All 2 rows have the label “x”. Add another class, or name the label column.",
            "mine.csv：全部 2 行的标签都是“x”。请添加其他类别的行，或指明标签列。",
        ),
        (
            lambda: alignments.parse(b"a b\tc\t0-7\n"),
            "Line 1: Got the link 0-7; source words are 0 to 1, target words 0 to 0.",
            "第 1 行：收到对应关系 0-7；而源语言的词编号为 0 到 1，目标语言的词编号为 0 到 0。",
        ),
        (
            lambda: alignments.parse(b"a\x07\tc\t0-0\n"),
            'The "source" of line 1 has the control character U+0007 at position 2. Remove it.',
            "第 1 行的“source”的第 2 位有控制字符 U+0007。请删掉它。",
        ),
        (
            lambda: formats.parse(b"text,source,target,distractor\n", "csv"),
            "The file has nothing to score: it has only a header.",
            "文件里没有可评分的内容：只有表头。",
        ),
        (
            lambda: unpack("q{0}"),
            "'q{0}' is not an edit. a3-1: ablate head 3-1. u3-1: uniform weights. c3-1-8-2: mask edge 8 → 2. "
            "In layer 3, h3-2 masks token 2, m3-2 zeroes its value.",
            "'q{0}' 不是编辑代码。a3-1：消融头 3-1。u3-1：均匀权重。c3-1-8-2：屏蔽边 8 → 2。"
            "在第 3 层，h3-2 屏蔽词元 2，m3-2 把它的值置零。",
        ),
    ],
)
def test_a_refusal_is_told_in_chinese(do: Callable[[], Any], english: str, chinese: str) -> None:
    with pytest.raises(ValueError, match=re.escape(english)) as refused:
        do()
    said = error_message(refused.value)
    with use_language("zh"):
        assert (str(said), translate(said)) == (english, chinese)


def test_a_missing_head_is_told_with_the_models_that_have_one(monkeypatch: pytest.MonkeyPatch) -> None:
    here = ModelCard(
        "a", gettext_lazy("DINOv2 small, with registers"), "encoder", "", "masked words", None, "", downloaded=True
    )
    there = [ModelCard(name, name, "encoder", "", "masked words", None, "") for name in ("b/b", "c/c")]
    monkeypatch.setattr(listing, "catalogue", lambda _settings: [here, *there])
    refusal = listing.refusal(MASKED, "GPT-2", Settings())
    assert refusal.message == (
        "GPT-2 has no masked-word head. Installed: DINOv2 small, with registers. On the hub: b/b or c/c."
    )
    with use_language("zh"):
        assert translate(refusal.message) == (
            "GPT-2 这个模型没有掩码词任务头。已安装：DINOv2 small（带寄存器）。模型库上的：b/b 或 c/c。"
        )
    assert translate(refusal.copy().message) == refusal.message


def test_cards_and_names_are_told() -> None:
    with use_language("zh"):
        assert translate(EMBEDDED_CARD.task) == "句子相似度"
        assert [translate(measure.label) for measure in MEASURES][:2] == ["熵", "平均距离"]
        assert translate(MEASURES[1].clause).format(value="2.0") == "平均看向 2.0 个词元以外"


def test_what_is_counted_is_told() -> None:
    balance = Balance({"train": {"x": 9, "y": 1}, "dev": {}, "test": {}}, "classify")
    with use_language("zh"):
        assert translate(balance.sentence) == (
            "共 2 个类别；总是猜“x”，在训练集中能对 90%。准确率在这里说明不了多少：请看宏平均 F1。"
        )


def test_a_notebook_is_told_at_once() -> None:
    with use_language("zh"), pytest.raises(ValueError, match="请每个词元给一项"):
        row(["a", "b"], special=[True])
