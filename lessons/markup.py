"""Markdown of lessons as a tree of elements, for pages that build elements without an HTML parser.

A tree is a list of nodes; a node is a text, or a list of a tag and its children. Only the tags below are made, so text
of a lesson cannot become markup. HTML is shown as text, and the syntax of images stays as it is written.
"""

from __future__ import annotations

import re
from typing import Any

from lessons.formulas import formula

Node = Any  # str | [tag, *children]
INLINE = re.compile(
    r"(?P<escape>\\[\\*_`$\[\]#-])|\$\$(?P<block>[^$]+)\$\$|\$(?P<math>[^$\n]+)\$|`(?P<code>[^`]+)`"
    r"|\*\*(?P<strong>.+?)\*\*|\*(?P<em>(?!\s)(?:\*\*[^*]+\*\*|[^*])+(?<!\s))\*",
    re.DOTALL,
)
BULLET = re.compile(r"(?:[-*]|(?P<number>\d+)\.)\s+")
HEADING = re.compile(r"#{1,6}\s+")
RULE = re.compile(r"\|?[\s|:-]+\|?")  # the line below the head of a table


def tree(text: str) -> list[Node]:
    """Return the elements of a Markdown text.

    >>> tree("A **head** of $d_k$.")
    [['p', 'A ', ['strong', 'head'], ' of ', ['math', ['msub', ['mi', 'd'], ['mi', 'k']]], '.']]
    >>> tree("- one\\n- <b>")
    [['ul', ['li', 'one'], ['li', '<b>']]]
    """
    blocks = re.split(r"\n\s*\n", text.replace("\r\n", "\n").strip())
    return [_block([line.strip() for line in block.split("\n")]) for block in blocks if block.strip()]


def inline(text: str) -> list[Node]:
    """Return the nodes of a line: texts, emphasis, code and formulas.

    >>> inline("*one* `a*b`")
    [['em', 'one'], ' ', ['code', 'a*b']]
    >>> inline("*under **the** table*")
    [['em', 'under ', ['strong', 'the'], ' table']]
    """
    nodes: list[Node] = []
    at = 0
    for found in INLINE.finditer(text):
        nodes += [text[at : found.start()], _span(str(found.lastgroup), found)]
        at = found.end()
    joined: list[Node] = []
    for node in [*nodes, text[at:]]:
        if joined and isinstance(node, str) and isinstance(joined[-1], str):
            joined[-1] += node
        elif node:
            joined.append(node)
    return joined


def _span(kind: str, found: re.Match[str]) -> Node:
    inner = found[kind]
    if kind == "escape":
        return inner[1:]
    if kind in ("block", "math"):
        drawn = formula(inner)
        return ["code", inner.strip()] if drawn is None else ["math", *drawn]
    return [kind, inner] if kind == "code" else [kind, *inline(inner)]


def _block(lines: list[str]) -> Node:
    if all(line.startswith("|") for line in lines) and len(lines) > 1 and RULE.fullmatch(lines[1]):
        return _table(lines)
    if HEADING.match(lines[0]):
        return ["h4", *inline(HEADING.sub("", " ".join(lines), count=1))]
    if first := BULLET.match(lines[0]):
        return ["ol" if first["number"] else "ul", *_items(lines)]
    return ["p", *inline(" ".join(lines))]


def _items(lines: list[str]) -> list[Node]:
    """Return the items of a list; a line without a mark continues the item before it."""
    texts: list[str] = []
    for line in lines:
        if mark := BULLET.match(line):
            texts.append(line[mark.end() :])
        else:
            texts[-1] += f" {line}"
    return [["li", *inline(text)] for text in texts]


def _table(lines: list[str]) -> Node:
    def row(line: str, tag: str) -> Node:
        return ["tr", *([tag, *inline(cell.strip())] for cell in line.strip("|").split("|"))]

    return ["table", ["thead", row(lines[0], "th")], ["tbody", *(row(line, "td") for line in lines[2:])]]
