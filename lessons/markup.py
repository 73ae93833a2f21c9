"""Conversion of a lesson's Markdown and formulas to a tree of HTML and MathML elements.

A tree is a list of nodes; a node is a text, or a list of a tag and its children. Only a fixed set of tags is created,
so text of a lesson cannot become markup. HTML is shown as text, and images are not converted.
"""

from __future__ import annotations

import re
from typing import Any

Node = Any  # str | [tag, *children]
INLINE = re.compile(
    r"(?P<escape>\\[!-/:-@\[-`{-~])|\$\$(?P<block>[^$]+)\$\$|\$(?P<math>[^$\n]+)\$|`(?P<code>[^`]+)`"
    r"|\*\*(?P<strong>.+?)\*\*|\*(?P<em>(?!\s)(?:\*\*[^*]+\*\*|[^*])+(?<!\s))\*",
    re.DOTALL,
)
BULLET = re.compile(r"(?:[-*]|(?P<number>\d+)\.)\s+")
HEADING = re.compile(r"#{1,6}\s+")
RULE = re.compile(r"\|?[\s|:-]+\|?")  # the line below the head of a table


def tree(text: str) -> list[Node]:
    """Convert a Markdown text to a list of nodes; a node is a text, or a list of a tag and its children.

    >>> tree("A **head** of $d_k$.")
    [['p', 'A ', ['strong', 'head'], ' of ', ['math', ['msub', ['mi', 'd'], ['mi', 'k']]], '.']]
    >>> tree("- one\\n- <b>")
    [['ul', ['li', 'one'], ['li', '<b>']]]
    """
    blocks = re.split(r"\n\s*\n", text.replace("\r\n", "\n").strip())
    return [_block([line.strip() for line in block.split("\n")]) for block in blocks if block.strip()]


def inline(text: str) -> list[Node]:
    """Convert a line of Markdown to a list of nodes: texts, and elements for emphasis, code and formulas.

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


# Formulas, from the part of TeX that lessons use

TOKEN = re.compile(r"\\(?:text|mathrm|operatorname)\s*\{[^{}]*\}|\\[a-zA-Z]+|\\.|\d+(?:\.\d+)?|\S")
NAMES = ("log", "exp", "max", "min", "softmax", "sin", "cos")
SYMBOLS = {
    "cdot": "⋅", "times": "×", "approx": "≈", "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "ne": "≠", "neq": "≠",
    "in": "∈", "sum": "∑", "dots": "…", "ldots": "…", "cdots": "⋯", "to": "→", "rightarrow": "→", "top": "⊤",
    "infty": "∞", "pm": "±", "mid": "|",
}  # fmt: skip
GREEK = {"alpha": "α", "beta": "β", "gamma": "γ", "theta": "θ", "lambda": "λ", "mu": "μ", "sigma": "σ", "pi": "π"}
SPACES = {"qquad": "2em", "quad": "1em", ",": "0.17em", ";": "0.28em", " ": "0.25em"}
DEEPEST = 20  # nested groups


class UnknownTex(ValueError):
    """Raised if a formula contains a TeX command that cannot be converted."""


def formula(tex: str) -> list[Node] | None:
    """Convert a TeX formula to the children of a MathML element; return None if a command is unknown.

    >>> formula("2 \\\\cdot x")
    [['mn', '2'], ['mo', '⋅'], ['mi', 'x']]
    >>> formula("\\\\sqrt{d_k}"), formula("\\\\unknown")
    ([['msqrt', ['msub', ['mi', 'd'], ['mi', 'k']]]], None)
    """
    try:
        nodes, rest = _group(TOKEN.findall(tex), DEEPEST)
    except UnknownTex:
        return None
    return None if rest else nodes


def _group(tokens: list[str], deep: int) -> tuple[list[Node], list[str]]:
    """Return the nodes up to the closing brace, and the tokens after it."""
    nodes: list[Node] = []
    while tokens:
        if tokens[0] == "}":
            return nodes, tokens
        if tokens[0] in ("^", "_"):
            if not nodes:
                raise UnknownTex(tokens[0])
            script, rest = _atom(tokens[1:], deep)
            nodes[-1] = ["msup" if tokens[0] == "^" else "msub", nodes[-1], script]
            tokens = rest
        else:
            node, tokens = _atom(tokens, deep)
            nodes.append(node)
    return nodes, tokens


def _atom(tokens: list[str], deep: int) -> tuple[Node, list[str]]:
    """Return the node of the first token or group, and the tokens after it."""
    if not tokens or not deep:
        raise UnknownTex("")
    token, rest = tokens[0], tokens[1:]
    if token == "{":
        nodes, rest = _group(rest, deep - 1)
        if not rest:
            raise UnknownTex(token)
        return nodes[0] if len(nodes) == 1 else ["mrow", *nodes], rest[1:]
    if token.startswith("\\") and token.endswith("}") and len(token) > 2:
        return ["mtext", token[token.index("{") + 1 : -1]], rest
    if token.startswith("\\"):
        return _command(token[1:], rest, deep)
    if token[0].isdigit():
        return ["mn", token], rest
    return ["mi" if token.isalpha() else "mo", "−" if token == "-" else token], rest


def _command(name: str, rest: list[str], deep: int) -> tuple[Node, list[str]]:
    if name == "sqrt":
        inner, rest = _atom(rest, deep - 1)
        return ["msqrt", inner], rest
    if name == "frac":
        above, rest = _atom(rest, deep - 1)
        below, rest = _atom(rest, deep - 1)
        return ["mfrac", above, below], rest
    if name in SYMBOLS:
        return ["mo", SYMBOLS[name]], rest
    if name in GREEK or name in NAMES:
        return ["mi", GREEK.get(name, name)], rest
    if name in SPACES:
        return ["mspace", SPACES[name]], rest
    raise UnknownTex(name)
