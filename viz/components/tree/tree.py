"""A tree of generated tokens and their alternatives, drawn by tree.js."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from types import MappingProxyType
from typing import Any, Literal

import streamlit as st

from i18n import gettext_lazy, translate
from viz.components.script import script, stylesheet, words_field

NAMES = MappingProxyType(
    {
        "kept": gettext_lazy("kept"),
        "ended": gettext_lazy("ended"),
        "dropped": gettext_lazy("dropped"),
        "other": gettext_lazy("tried"),
    }
)


Kind = Literal["kept", "ended", "dropped", "other"]  # a node's kind sets its shape, line and colour


@dataclass(frozen=True)
class TreeNode:
    """A token of the tree; ``parent`` is the id of the token before it."""

    id: str
    parent: str | None  # None for the root
    text: str
    value: float | None = None  # a probability or a score, drawn next to the text
    kind: Kind = "other"
    note: str = ""  # for hover, focus and screen readers


def payload(  # noqa: PLR0913  (the fields of the payload)
    nodes: Sequence[TreeNode], title: str, current: str | None, picks: bool, unit: str, names: Mapping[str, str]
) -> dict[str, Any]:
    """Return the data for tree.js, with the fields of its typedef TreeData; parents are given by index.

    ``current`` is the id of the node at the end of the bold path. If ``picks`` is set, nodes can be clicked. ``unit``
    is the unit of the values, and ``names`` are the meanings of the kinds. Raises ValueError unless the first node is
    the only root, every parent precedes its children, and all ids and kinds are valid.
    """
    places: dict[str, int] = {}
    plain = []
    for node in nodes:
        if node.id in places:
            raise ValueError(f"Two nodes of the tree are called {node.id!r}; each needs an id of its own.")
        if node.kind not in NAMES:
            raise ValueError(f"A node is of kind {node.kind!r}; there are {', '.join(NAMES)}.")
        if (node.parent is None) != (not places):
            raise ValueError(f"Node {node.id!r} has parent {node.parent!r}; the first node is the root, the only one.")
        if node.parent is not None and node.parent not in places:
            raise ValueError(f"Node {node.id!r} stands before its parent {node.parent!r}; parents come first.")
        plain.append(_node(node, -1 if node.parent is None else places[node.parent]))
        places[node.id] = len(places)
    if not plain:
        raise ValueError("A tree has at least its root; no node was given.")
    named = {kind: translate(names.get(kind, name)) for kind, name in NAMES.items()}
    drawn = {"title": title, "picks": picks, "unit": unit, "names": named, "current": current, "nodes": plain}
    return {**drawn, **words_field("tree/tree")}


def mount(  # noqa: PLR0913  (the drawing and its keyword options)
    nodes: Sequence[TreeNode],
    key: str,
    *,
    title: str,
    current: str | None = None,
    on_pick: Callable[[], None] | None = None,
    unit: str = "",
    names: Mapping[str, str] = NAMES,
) -> None:
    """Draw the tree from left to right, children in order, with the path to ``current`` in bold.

    ``on_pick`` is called if the visitor picks a node; inside it, ``picked_node(key)`` returns the node's id. ``unit``
    is the unit of the values, ``names`` the meaning of each kind. Raises ValueError if the nodes do not form a tree.
    """
    data = payload(nodes, title, current, on_pick is not None, unit, names)
    _COMPONENT(data=data, key=key, on_picked_change=on_pick or _nothing)


def picked_node(key: str) -> str | None:
    """Return the id of the picked node, or None; call it inside ``on_pick``."""
    node = st.session_state.get(key, {}).get("picked")
    return node if isinstance(node, str) else None


def _nothing() -> None:
    return None


def _node(node: TreeNode, parent: int) -> dict[str, Any]:
    """Return a node's fields without an empty value or note, since a long search has thousands of nodes."""
    value = {} if node.value is None or not isfinite(node.value) else {"value": float(node.value)}
    note = {"note": node.note} if node.note else {}
    return {"id": node.id, "parent": parent, "text": node.text, "kind": node.kind, **value, **note}


_COMPONENT = st.components.v2.component(
    "headlight_tree", html='<div id="tree"></div>', js=script("tree/tree"), css=stylesheet("shared/look", "tree/tree")
)
