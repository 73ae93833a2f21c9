"""Formulas of lessons in MathML, from the part of TeX that lessons use."""

from __future__ import annotations

import re
from typing import Any

Node = Any  # str | [tag, *children]
TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|\d+(?:\.\d+)?|\S")
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
    """Raised if a formula has a command that is not converted."""


def formula(tex: str) -> list[Node] | None:
    """Return the children of a math element, or None if a command of the formula is unknown.

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
