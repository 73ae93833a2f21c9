"""Tests of the spaces between values and the text around them."""

from __future__ import annotations

import random

from i18n import format_and_list, gettext_lazy, join_sentences, translate, use_language
from i18n.translation import fill_with_spacing, needs_space
from tests.support.cases import draw_seeds, loop_over

LETTERS = "猫层𠮷〇A3b “”‘’，。（）：-—[é"
PARTS = ("{a}", "{b}", "{n:.1f}", " ", "第", "BERT", "。", "{{", "}}", "  ", "”")


@draw_seeds(30)
def test_nothing_but_single_spaces_of_the_template_beside_a_value_is_left_out(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(30):
        template = "".join(dice.choices(PARTS, k=8))
        a, b = ("".join(dice.choices(LETTERS, k=dice.randrange(4))) for _ in range(2))
        values = {"a": a, "b": b, "n": dice.random()}
        whole, told_ = template.format(**values), fill_with_spacing(template, values)
        assert told_.replace(" ", "") == whole.replace(" ", "")
        assert fill_with_spacing(template.replace(" ", ""), values) == template.replace(" ", "").format(**values)
        if len(told_) < len(whole):  # With the spaces put back, the text must equal the original.
            at = next((at for at, (one, two) in enumerate(zip(told_, whole, strict=False)) if one != two), len(told_))
            assert whole[at] == " "
            assert not needs_space(whole[at - 1], whole[at + 1])


def test_a_template_with_numbers_alone_is_python_s_own() -> None:
    assert fill_with_spacing("第 {n} 层，{m:,} 个", {"n": 3, "m": 1200}) == "第 3 层，1,200 个"
    assert fill_with_spacing("a {brace}", {}) == "a {brace}"


@loop_over(
    ("template", "value", "said"),
    [
        ("第 {x} 层", "3", "第 3 层"),
        ("{x} 的头", "BERT", "BERT 的头"),
        ("{x} 的头", "模型", "模型的头"),
        ("{x} 最关注", "“it”", "“it”最关注"),
        ("关注 {x} （0.68）", "it", "关注 it（0.68）"),
        ("在 {x} 中", "“猫”", "在“猫”中"),
        ("用 {x}", "[CLS]", "用 [CLS]"),
        ("{x} BERT", "“it”", "“it” BERT"),
        ("{x:>3} 个", "a", "  a 个"),
        ("{x!r} 个", "猫", "'猫' 个"),
        (" {x} ", "猫", " 猫 "),
    ],
)
def test_cases(template: str, value: str, said: str) -> None:
    assert fill_with_spacing(template, {"x": value}) == said


def test_lists_and_paragraphs_are_set_as_chinese_sets_them() -> None:
    with use_language("zh"):
        assert translate(format_and_list(["猫", "狗", "马"])) == "猫、狗和马"
        assert translate(format_and_list(["Q", "K"])) == "Q 和 K"
        assert translate(join_sentences("它看。", "", "它说。")) == "它看。它说。"
        assert translate(join_sentences("DistilBERT.", "它说")) == "DistilBERT. 它说"
        assert translate(join_sentences("公式 $x$", "公式 $y$")) == "公式 $x$ 公式 $y$"
    assert join_sentences("It looks.", "", "It says.") == "It looks. It says."
    assert str(gettext_lazy("{a} 和 {b}", a="猫", b="狗")) == "猫 和 狗", "the English is as it is written"
