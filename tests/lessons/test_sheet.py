"""A sheet for paper: both formats contain every block, and no text becomes markup."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from lessons.library import come_along
from lessons.sheet import Block, Choices, Figure, Heading, Prose, Quotation, Room, Table, in_html, in_markdown
from lessons.steps import markdown_of

SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><title>t</title></svg>'
BLOCKS: list[Block] = [
    Heading("2. A score", 2),
    Prose("One **row** of $\\sqrt{d_k}$.\n\n- item"),
    Choices((("yes <b>", True), ("no", False))),
    Quotation("<script>alert(1)</script>"),
    Room("Your answer", 3),
    Table(("Head 3-1", "it →"), (("</s>", "0.100"), ("a|b", "0.900"))),
    Figure("all heads", SVG),
]


def page_of(blocks: list[Block]) -> ET.Element:
    """Return the page as a tree; it is well-formed apart from the doctype and the metadata."""
    text = in_html("A & B", blocks, "en")
    return ET.fromstring(text[text.index("<body>") : text.index("</html>")])  # our own page


def test_the_page_has_every_block_and_only_text_of_the_lesson() -> None:
    body = page_of(BLOCKS)
    assert body.findtext("h2") == "2. A score"
    assert body.find(".//msqrt") is not None
    assert [item.get("data-box") for item in body.findall("ul[@class='choices']/li")] == ["☒", "☐"]
    assert body.findtext("blockquote") == "<script>alert(1)</script>"
    assert len(body.findall("div/i")) == 3
    assert [[cell.text for cell in row] for row in body.findall("table/tr")][1:] == [
        ["</s>", "0.100"],
        ["a|b", "0.900"],
    ]
    assert body.find("figure/{http://www.w3.org/2000/svg}svg") is not None
    assert body.find(".//script") is None


def test_the_page_prints_itself_and_asks_for_no_other_file() -> None:
    text = in_html("A & B", BLOCKS, "zh")
    assert "print()" in text
    assert '<html lang="zh">' in text
    assert "<title>A &amp; B</title>" in text
    assert not any(part in text for part in ("<link", " src=", "@import", "url("))


def test_the_markdown_has_every_block() -> None:
    text = in_markdown(BLOCKS)
    assert text.startswith("## 2. A score\n\nOne **row** of")
    assert "- [x] yes <b>\n- [ ] no\n" in text
    assert "| a\\|b | 0.900 |" in text
    assert "](data:image/svg+xml;base64," in text


@pytest.mark.parametrize("name", come_along())
def test_texts_of_lessons_are_well_formed(name: str) -> None:
    texts = [said for step in come_along()[name].steps for said in (step.text, step.question and step.question.ask)]
    page_of([Prose(markdown_of(said)) for said in texts if said])
