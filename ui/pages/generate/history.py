"""History of generated tokens as a tree; each node leads back to its state."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from i18n import _
from inference.tasks.decoding import DecodingStep, NextCandidate, NextToken
from ui.pages.generate.prompt import HISTORY, go_to, mark_of, read_path, write_path
from viz.components.tree import tree as tree_view
from viz.components.tree.tree import Kind, TreeNode

TREE = "generate_tree"
MOST = 2000  # tokens in the history of a prompt
PROMPTS = 8  # prompts with a history

Path = tuple[int, ...]


@dataclass(frozen=True)
class WrittenToken:
    """A generated token and the model's probability of it before the sampling rule; None if unknown."""

    piece: str
    probability: float | None


def history_of(request: NextToken) -> dict[Path, WrittenToken]:
    """Return the tokens generated after this prompt in this session, by path."""
    kept: dict[str, dict[Path, WrittenToken]] = st.session_state.setdefault(HISTORY, {})
    mine = kept.setdefault(mark_of(request), {})
    while len(kept) > PROMPTS:
        del kept[next(name for name in kept if kept[name] is not mine)]
    return mine


def write(request: NextToken, candidate: NextCandidate) -> None:
    """Append a token: note it in the history, and move the address to the new path."""
    note(request, candidate)
    go_to(request, (*request.written, candidate.token))


def note(request: NextToken, candidate: NextCandidate) -> None:
    """Add the next token to the history."""
    history = history_of(request)
    if len(history) < MOST:
        history[*request.written, candidate.token] = WrittenToken(candidate.piece, candidate.probability)


def remember(request: NextToken, step: DecodingStep) -> None:
    """Add a step's path to the history; tokens of a link have no known probability."""
    history, path = history_of(request), request.written
    pieces = step.row.pieces[len(step.row) - len(path) :]
    for end, piece in enumerate(pieces, start=1):
        if path[:end] not in history and len(history) < MOST:
            history[path[:end]] = WrittenToken(piece, None)


def _kind(path: Path, current: Path) -> Kind:
    """Return "kept" for nodes on the current path, else "other"."""
    return "kept" if current[: len(path)] == path else "other"


def nodes_of(history: dict[Path, WrittenToken], current: Path) -> list[TreeNode]:
    """Return the nodes of the tree, the prompt first and parents before children.

    Nodes on the path to ``current`` are "kept", all others "other".

    >>> [(node.id, node.parent, node.kind) for node in nodes_of({(5,): WrittenToken("a", 0.5), (5,
    ...     7): WrittenToken("b", None)}, (5,))]
    [('', None, 'kept'), ('5', '', 'kept'), ('5.7', '5', 'other')]
    """
    nodes = [TreeNode("", None, _("the prompt"), kind="kept")]
    for path in sorted(history, key=len):
        been, kind = history[path], _kind(path, current)
        nodes.append(TreeNode(write_path(path), write_path(path[:-1]), been.piece, been.probability, kind))
    return nodes


def tree(request: NextToken) -> None:
    """Draw the tree of generated tokens; a click returns to a node."""
    history = history_of(request)
    if not history:
        return
    with st.expander(_("History"), expanded=True):  # a changing label would reopen the expander
        tree_view.mount(
            nodes_of(history, request.written),
            TREE,
            title=_("Tokens written: {tokens:,}. Click one to go back", tokens=len(history)),
            current=write_path(request.written),
            on_pick=lambda: _go_to_node(request),
            unit=_("probability"),
            names={"kept": _("shown path"), "other": _("other path")},
        )


def _go_to_node(request: NextToken) -> None:
    path = read_path(tree_view.picked_node(TREE) or "")
    if path is not None and (not path or path in history_of(request)):
        go_to(request, path)
