"""Parsing of head names: all usual notations are accepted, other strings are not; and comparison of typed words."""

from __future__ import annotations

from attention.head_names import normalize_word, parse_head
from tests.support.cases import loop_over

WRITTEN = (
    *("3-1", "3.1", "3/1", "3:1", "3,1", "3 1", "3·1", "3_1", "3;1", "3|1", " 3 - 1 ", "03.001", "3 . 1"),
    *("3–1", "3—1", "3−1", "3‐1", "3‑1"),  # The separators are an en dash, an em dash, a minus sign and two hyphens.
    *("(3, 1)", "[3, 1]", "（3，1）", "(3,1)"),
    *("L3H1", "l3h1", "l3 h1", "L3-H1", "L3.H1", "L3, H1", "L 3 H 1"),
    *("layer 3 head 1", "Layer 3, head 1", "head 3-1", "layer3head1", "Layer: 3, Head: 1", "LAYER 3 / HEAD 1"),
    *("head 1 of layer 3", "head 1, layer 3", "H1 L3", "head 1 in layer 3"),
    *(
        "第3层头1",
        "第 3 层 · 头 1",
        "第3层第1头",
        "第3层第1个头",
        "第3层的第1个头",
        "第3层，头1",
        "层3头1",
        "第3层注意力头1",
    ),
    *("３-１", "３．１", "３－１", "第３层头１", "Ｌ３Ｈ１", "3／1", "3：1"),  # These use full-width digits and signs.
)


@loop_over("text", WRITTEN)
def test_a_written_head_is_read(text: str) -> None:
    assert parse_head(text) == (3, 1)


@loop_over(
    "text",
    [
        *("", "3", "three", "-1.2", "3--1", "3-1-2", "1.2.3", "3-", "-3-1", "٣.٧", "3.7x", "layer 3", "head 1"),
        *("1234-1", "3-1234", "31", "a head", "3-1 or 3-2", "(3, 1", "²-1x", "L3", "3e1", "第3层"),
    ],
)
def test_another_text_is_no_head(text: str) -> None:
    assert parse_head(text) is None


@loop_over("layer", [0, 9, 10, 11, 100])
@loop_over("head", [0, 1, 10, 127])
def test_a_name_gives_its_numbers_back(layer: int, head: int) -> None:
    forms = ("{}-{}", "{}.{}", "L{}H{}", "layer {} head {}", "layer {} · head {}", "第 {} 层 · 头 {}", "({}, {})")
    assert {parse_head(form.format(layer, head)) for form in forms} == {(layer, head)}
    assert parse_head(f"head {head} of layer {layer}") == (layer, head)


@loop_over(
    ("text", "word"),
    [
        *(
            (text, "dog")
            for text in ("dog", " DOG ", "the dog", "The  dog.", "a dog", "an ‘dog’!", "“the dog”", "dog…", "「dog」。")
        ),
        *((word, word) for word in ("the", "a", "an", "theory", "anna dog", "hot dog", "dogs", ".", "?", "")),
        ("“The”.", "the"),
        *((text, "cls") for text in ("CLS", "[CLS]", "[cls].", "“[CLS]”", "<cls>")),
        *((text, text) for text in ("[]", "<", "[two words]")),
    ],
)
def test_articles_quotes_brackets_and_final_punctuation_do_not_count(text: str, word: str) -> None:
    assert normalize_word(text) == word
