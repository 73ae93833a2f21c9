"""Blocks of a printed worksheet, and their two formats: Markdown, and an HTML page that opens the print dialog."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass

from i18n import _
from lessons.markup import Node, inline, tree

BLANK = "_" * 60  # room for an answer in Markdown


@dataclass(frozen=True)
class Heading:
    """A heading of level 1 or 2, whose text is a line of Markdown."""

    text: str
    level: int


@dataclass(frozen=True)
class Prose:
    """A text in Markdown, of any number of paragraphs."""

    text: str


@dataclass(frozen=True)
class Choices:
    """The choices of a question, each with a box that is ticked or empty."""

    answers: tuple[tuple[str, bool], ...]


@dataclass(frozen=True)
class Quotation:
    """A plain text that is quoted, such as the text that a model reads."""

    text: str


@dataclass(frozen=True)
class Room:
    """A label with empty lines for a handwritten answer."""

    label: str
    lines: int = 1


@dataclass(frozen=True)
class Table:
    """Column headings and rows of plain text; the first column has the names of the rows."""

    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Figure:
    """A picture as SVG, with its caption."""

    caption: str
    svg: bytes


Block = Heading | Prose | Choices | Quotation | Room | Table | Figure


def in_markdown(blocks: Sequence[Block]) -> str:
    """Return the blocks as a Markdown file.

    >>> print(in_markdown([Heading("Look", 2), Choices((("yes", True), ("no", False)))]))
    ## Look
    <BLANKLINE>
    - [x] yes
    - [ ] no
    <BLANKLINE>
    """
    return "\n\n".join(map(_block_markdown, blocks)) + "\n"


def _block_markdown(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"{'#' * level} {text}"
        case Prose(text):
            return text.strip()
        case Choices(answers):
            return "\n".join(f"- [{'x' if ticked else ' '}] {text}" for text, ticked in answers)
        case Quotation(text):
            return "\n".join(f"> {line}" for line in text.splitlines())
        case Room(label, _lines):
            return _("{name}: {text}", name=label, text=BLANK)
        case Table(names, rows):
            lines = [names, ["---"] * len(names), *rows]
            return "\n".join(f"| {' | '.join(map(_escape_cell, line))} |" for line in lines)
        case Figure(caption, svg):
            return f"![{caption}](data:image/svg+xml;base64,{base64.b64encode(svg).decode()})"


def _escape_cell(text: str) -> str:
    """Escape the characters that end a cell or begin a tag.

    >>> _escape_cell("</s>"), _escape_cell("a|b")
    ('\\\\</s>', 'a\\\\|b')
    """
    return text.replace("|", "\\|").replace("<", "\\<")


STYLE = """
body { font: 11pt/1.45 system-ui, "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif;
       max-width: 46rem; margin: 2rem auto; padding: 0 1rem; color: #000; background: #fff; }
h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin-top: 2em; } h1, h2, h4 { break-after: avoid; }
table { border-collapse: collapse; font-size: 0.85em; margin: 0.6em 0; break-inside: avoid; }
th, td { border: 1px solid #888; padding: 0.1em 0.5em; text-align: left; font-variant-numeric: tabular-nums; }
blockquote { margin: 0.6em 0; padding-left: 0.8em; border-left: 3px solid #888; white-space: pre-wrap; }
figure { margin: 0.8em 0; break-inside: avoid; } figure svg { width: 100%; height: auto; }
figcaption { font-size: 0.85em; } p, li, figure { orphans: 3; widows: 3; }
.choices { list-style: none; padding-left: 0; } .choices li::before { content: attr(data-box) " "; }
.room { display: grid; grid-template-columns: auto 1fr; column-gap: 0.5em; margin: 1em 0; break-inside: avoid; }
.room i { height: 1.8em; border-bottom: 1px solid #000; }
.room span { align-self: end; } .room i + i { grid-column: 1 / -1; }
@page { margin: 15mm; }
@media print { body { margin: 0; padding: 0; max-width: none; } }
"""


def in_html(title: str, blocks: Sequence[Block], language: str) -> str:
    """Return the blocks as a self-contained HTML page that opens the browser's print dialog."""
    body = "\n".join(map(_block_html, blocks))
    return f"""<!doctype html>
<html lang="{html.escape(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)}</title>
<style>{STYLE}</style>
<script>addEventListener("load", () => print());</script>
</head>
<body>
{body}
</body>
</html>
"""


def _block_html(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"<h{level}>{_inner_html(text)}</h{level}>"
        case Prose(text):
            return "\n".join(map(_node_html, tree(text)))
        case Choices(answers):
            items = (f'<li data-box="{"☒" if ticked else "☐"}">{_inner_html(text)}</li>' for text, ticked in answers)
            return f'<ul class="choices">{"".join(items)}</ul>'
        case Quotation(text):
            return f"<blockquote>{html.escape(text)}</blockquote>"
        case Room(label, lines):
            named = _("{name}: {text}", name=label, text="").rstrip()
            return f'<div class="room"><span>{html.escape(named)}</span>{"<i></i>" * lines}</div>'
        case Table(names, rows):
            return f"<table>{_row_html(names, 'th')}{''.join(_row_html(row, 'td') for row in rows)}</table>"
        case Figure(caption, svg):
            drawn = re.sub(r"<title>.*?</title>", "", svg.decode(), flags=re.DOTALL)
            return f"<figure>{drawn}<figcaption>{html.escape(caption)}</figcaption></figure>"


def _row_html(cells: Sequence[str], tag: str) -> str:
    return f"<tr>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells)}</tr>"


def _inner_html(text: str) -> str:
    """Return a line of Markdown as HTML.

    >>> _inner_html("**a** < $x_1$")
    '<strong>a</strong> &lt; <math><msub><mi>x</mi><mn>1</mn></msub></math>'
    """
    return "".join(map(_node_html, inline(text)))


def _node_html(node: Node) -> str:
    """Return a node of `lessons.markup.tree` as HTML; texts are escaped."""
    if isinstance(node, str):
        return html.escape(node)
    tag, *children = node
    if tag == "mspace":
        return f'<mspace width="{children[0]}"/>'
    if tag == "mo":  # brackets around a list of numbers keep the size of the text
        return f'<mo stretchy="false">{html.escape(children[0])}</mo>'
    return f"<{tag}>{''.join(map(_node_html, children))}</{tag}>"
