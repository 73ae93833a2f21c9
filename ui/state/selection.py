"""Which head, word and target are in focus: the reader's choice where there is one, else the strongest link there is.

Choices count in tokens of the trace, the component in cells of the view; both directions are translated here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np

from attention.trace import Trace
from attention.view import Cell, View
from ui.run.shelf import Look
from ui.state.choice import Choice

WHOLE_MAP = 2048  # tokens up to which the strongest link of a head is looked for in its whole map


def settle(choice: Choice, trace: Trace) -> tuple[Look, list[str]]:
    """How to look at the trace, and a sentence when the link asked for a part it does not have."""
    look = Look(choice.part, choice.words, choice.special, choice.renormalise)
    if choice.part and choice.part not in trace.parts:
        sentence = f"The link asks for the part “{choice.part}”; {trace.model.name} has {', '.join(trace.parts)}."
        return Look("", look.words, look.special, look.renormalise), [sentence]
    return look, []


def select(choice: Choice, view: View, example: Mapping[str, Any] | None) -> tuple[dict[str, Any], list[str]]:
    """The component's selection, and a sentence for each choice that this trace cannot follow."""
    notes: list[str] = []
    head = _head(choice, view, notes)
    focus = _cell(choice.focus, view.queries, "focus", notes)
    target = _cell(choice.to, view.keys, "to", notes)
    if focus is None and example is not None:
        focus = _word(view.queries, example.get("focus", ""))
    if target is None and example is not None and choice.focus is None:
        target = _word(view.keys, example.get("target", ""))
    if focus is None:
        focus = _strongest_query(view, head or (0, 0))
    rows = view.rows(focus)  # (layer, head, key)
    if head is None:
        head = _strongest_head(rows, view, focus, target)
    selection = {
        "layer": head[0],
        "head": head[1],
        "focus": focus,
        "target": target,
        "tab": choice.tab,
        "order": choice.order,
        "scale": choice.scale,
        "filter": choice.filter,
        "pinned": [pin for pin in choice.pinned() if pin[0] < view.layers and pin[1] < view.heads],
    }
    return selection, notes


def changes(selection: Mapping[str, Any], view: View) -> dict[str, Any]:
    """The choice that a selection made in the component stands for; nothing where it does not fit the view."""
    layer, head = selection.get("layer"), selection.get("head")
    focus, target = selection.get("focus"), selection.get("target")
    found: dict[str, Any] = {}
    if _inside(layer, view.layers) and _inside(head, view.heads):
        found |= {"layer": layer, "head": head}
    found["focus"] = view.queries[focus].pieces[0] if _inside(focus, len(view.queries)) else None
    found["to"] = view.keys[target].pieces[0] if _inside(target, len(view.keys)) else None
    found |= {name: selection[name] for name in ("tab", "order", "scale", "filter") if selection.get(name)}
    pins = [
        pin for pin in selection.get("pinned") or [] if _inside(pin[0], view.layers) and _inside(pin[1], view.heads)
    ]
    found["pins"] = ",".join(f"{a}-{b}" for a, b in pins)
    return found


def _inside(value: Any, length: int) -> TypeGuard[int]:
    return isinstance(value, int) and 0 <= value < length


def _head(choice: Choice, view: View, notes: list[str]) -> tuple[int, int] | None:
    layer, head = choice.layer, choice.head
    if layer is None and head is None:
        return None
    if _inside(layer, view.layers) and _inside(head, view.heads):
        return layer, head
    notes.append(
        f"The link asks for layer {layer} and head {head}, counted from 0; {view.trace.model.name} has layers 0 to "
        f"{view.layers - 1} and heads 0 to {view.heads - 1}. The head that links the words most is shown."
    )
    return None


def _cell(token: int | None, cells: Sequence[Cell], name: str, notes: list[str]) -> int | None:
    if token is None:
        return None
    end = cells[-1].pieces[1] if cells else 0
    if token >= end:
        notes.append(f"The link's “{name}” is token {token}; this text has tokens 0 to {end - 1}. It is left out.")
    return next((i for i, cell in enumerate(cells) if cell.pieces[0] <= token < cell.pieces[1]), None)


def _word(cells: Sequence[Cell], word: str) -> int | None:
    """The first cell that reads like the word, whatever the case."""
    return next((i for i, cell in enumerate(cells) if not cell.special and cell.text.lower() == word.lower()), None)


def _strongest_query(view: View, head: tuple[int, int]) -> int:
    """The word that looks most at one other word in this head."""
    candidates = [i for i, cell in enumerate(view.queries) if not cell.special]
    if not candidates or len(view.queries) > WHOLE_MAP:
        return candidates[0] if candidates else 0
    links = _between_words(view.weights(*head), view, np.arange(len(view.queries)))
    return max(candidates, key=lambda i: float(links[i].max()))


def _strongest_head(rows: np.ndarray[Any, Any], view: View, focus: int, target: int | None) -> tuple[int, int]:
    """The head that gives the target most from the focus; without a target, the most to any other word."""
    flat = rows.reshape(-1, rows.shape[-1])
    links = flat[:, target] if target is not None else _between_words(flat, view, np.full(len(flat), focus)).max(axis=1)
    layer, head = np.unravel_index(int(links.argmax()), rows.shape[:2])
    return int(layer), int(head)


def _between_words(weights: np.ndarray[Any, Any], view: View, queries: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Weights (row, key) with special tokens and each row's own word at zero; rows stand at ``queries``."""
    special = np.array([cell.special for cell in view.keys])
    links = np.where(special[None, :], 0, weights)
    if view.part != "cross":
        links[np.arange(len(links)), np.minimum(queries, links.shape[1] - 1)] = 0
    return links
