"""What the page The whole pass says in Chinese: every zoom, end and refusal has nothing left in English."""

from __future__ import annotations

import pytest

from i18n import use_language
from inference.files.embedded import TRANSLATOR
from inference.tasks import anatomy, whole_pass
from inference.tasks.whole_pass import Opened, Origin, Stage, Term
from tests.support.asking import asked, says
from tests.support.words import english
from ui.pages.whole_pass.names import WORDS, describe_origin, format_terms

OWN = ("pages/whole_pass.py", "ui/pages/whole_pass")
BERT = {"model": "headlight-bert", "text": "The cat [MASK] on the mat."}
HEAD = {**BERT, "zoom": "stage", "stage": 9, "row": 3, "column": 5, "change": "head"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"text": "The cat sat."}, "没有概率"),
        (BERT, "前向计算以对被遮住的词（词元 3）的猜测结尾：最可能的是“"),
        ({**BERT, "ends": "next", "pair": "It was tired."}, "“第二段接在后面”"),
        ({**BERT, "zoom": "stage", "stage": 40, "row": 3, "change": "stage"}, "处的前向计算原本以“"),
        ({**BERT, "zoom": "stage", "stage": 40, "change": "stage", "becomes": "much"}, "“much”不是数字"),
        ({**HEAD}, "头 0-0 什么也不传递下去。"),
        ({**HEAD, "lender": "The dog [MASK]"}, "头 0-0 传递它在另一段文本里传递的内容，涉及 9 个词元中的 5 个。"),
        ({**HEAD, "becomes": "1"}, "一个头要么变为 0"),
        ({**HEAD, "change": "stage", "lender": "The dog [MASK]"}, "即在另一段文本里有对应词元的那些。"),
        ({**HEAD, "change": "token", "row": 6, "lender": "The cat"}, "另一段文本里没有与“mat”（词元 6）对应的词"),
        ({"text": "The cat sat.", "zoom": "stage", "stage": 2, "row": 1, "column": 3}, "选中的数："),
        ({"model": TRANSLATOR, "text": "The cat sleeps.", "zoom": "layer", "stage": 60}, "解码器，第 0 层，"),
        ({"model": TRANSLATOR, "text": "The cat sleeps."}, "之后的内容结尾：最可能的是"),
    ],
)
def test_the_page_speaks_chinese(query: dict[str, object], said: str) -> None:
    page = asked("whole_pass", lang="zh", **query)
    says(page, said)
    assert english(page, "The cat [MASK] on the mat", "Paris is the [MASK] of France") == []
    assert list(page.button_group[0].options) == ["整叠", "一层", "一个阶段"]


def test_a_number_is_written_in_chinese() -> None:
    three = Term(0.5, (Origin(0.5), Origin(2.0)))
    stage = Stage(4, "linear", "decoder", 0, "cross-attention", "queries, keys", "", (), (), (1, 3, 4), (), 0, 1)
    with use_language("zh"):
        assert format_terms(Opened(1, "products", "x", (three,), 3, 0.0, 1)) == "1 = 0.5 · 2 + 0（其余 3 项）"
        origin = Origin(1, stage=4, place=(0, 1, 2))
        told = describe_origin(origin, {4: stage}, True, ("[CLS]", "<b>", "sat"))
    assert told == "解码器，第 0 层，交叉注意力，查询、键：x · Wᵀ + b，词元 1“<b>”，第 2 个数"


def test_every_part_and_role_of_a_pass_has_a_word() -> None:
    parts = [value for name, value in vars(whole_pass).items() if name.isupper() and isinstance(value, str) and value]
    tables = [anatomy.TOKENS, anatomy.POSITIONS, anatomy.SEGMENTS, anatomy.RELATIVE, anatomy.OTHER]
    assert [word for word in (*parts, *tables) if word not in WORDS] == []
