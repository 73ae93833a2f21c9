"""The selected head, token and target, and their positions after an edit of the text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np
import streamlit as st

from attention.comparison import Aligned, align
from attention.excess import PositionalPrior
from attention.head_names import describe_missing_head
from attention.head_search import between_words, head_of_link
from attention.mask import BoolArray
from attention.measures import HeadSummary
from attention.trace import Trace, without_attention
from attention.view import DisplayToken, View
from i18n import gettext_lazy
from inference.cancellation import Cancelled
from ui.input.probes import SUBJECTS, earlier_nouns
from ui.run.notices import show_error
from ui.run.services import ViewOptions, get_trace_store, prior_of
from ui.state.session import get_view_state, set_view_state
from ui.state.view_state import PINNED, ViewState
from viz.components.explore.options import DECLARED as MICROSCOPE

LOOKED_AT = "looked_at"  # Session key of (model, layer, head), the enlarged head on the last page.
SEEN = "seen_view"  # Session key of (trace id, shown fields of the choice).


def last_view_entries(model: str, trace_id: str, view: dict[str, Any]) -> dict[str, Any]:
    """Return session-state entries that record the head, token and target shown on this page.

    A head or token is recorded even if it is only the default.
    """
    seen = {name: view[name] for name in ("layer", "head", "focus", "to")}
    return {LOOKED_AT: (model, view["layer"], view["head"]), SEEN: (trace_id, seen)}


def set_last_view(model: str, trace_id: str, view: dict[str, Any]) -> None:
    """Store in the session the head, token and target that this page shows for a trace."""
    st.session_state.update(last_view_entries(model, trace_id, view))


def get_last_view(trace_id: str) -> dict[str, Any]:
    """Return the head, token and target last shown for a trace; {} if another trace was shown last."""
    last, view = st.session_state.get(SEEN, ("", {}))
    return dict(view) if last == trace_id else {}


def begin_with(choice: ViewState) -> ViewState:
    """Return the view state; if no head is selected, select the head last shown for the same model.

    The head that was shown is then forgotten, so that the browser's back button can undo the selection.
    """
    model, layer, head = st.session_state.pop(LOOKED_AT, ("", None, None))
    if choice.layer is not None or model != choice.model:
        return choice
    set_view_state(layer=layer, head=head)
    return get_view_state()


SHARE = 0.5  # Minimum share of the old tokens in an edited text.


def carry_over(choice: ViewState, old: Trace, new: Trace) -> tuple[dict[str, Any], list[str]] | None:
    """Move the selection to the tokens of an edited text; return it with notes, or None if the text is new.

    ``old`` and ``new`` are the traces of both texts. The notes are sentences about words that were removed or replaced.
    A text is new if less than a share SHARE of the old tokens remains.
    """
    part = choice.part if choice.part in old.parts and choice.part in new.parts else None
    left, right = View(old, part), View(new, part)
    queries, keys = align(left, right)
    if not _is_edit(left.keys, right.keys, keys):
        return None
    found: dict[str, Any] = {name: getattr(choice, name) for name in ("layer", "head", "facing", "pins")}
    notes: list[str] = []
    for name, cells, aligned in (
        ("focus", (left.queries, right.queries), queries),
        ("to", (left.keys, right.keys), keys),
    ):
        found[name] = _new_place(getattr(choice, name), *cells, aligned, notes)
    if found["focus" if choice.facing == "out" else "to"] is None:
        found |= {"focus": None, "to": None}  # The page selects another word.
    return found, notes


def _is_edit(old: tuple[DisplayToken, ...], new: tuple[DisplayToken, ...], aligned: Aligned) -> bool:
    """Return True if the new text has at least SHARE of the old tokens, without special tokens."""
    same = sum(
        not old[one[0]].special and _text(old, one) == _text(new, other) for one, other in aligned.pairs
    )  # fmt: skip
    return same >= SHARE * sum(not cell.special for cell in old) and same > 0


def _text(cells: tuple[DisplayToken, ...], run: tuple[int, int]) -> str:
    return "".join(cell.text for cell in cells[slice(*run)]).casefold()


def _new_place(
    at: int | None, old: tuple[DisplayToken, ...], new: tuple[DisplayToken, ...], aligned: Aligned, notes: list[str]
) -> int | None:
    """Return the index of a token in the new text, or None if it was removed.

    Append a sentence to ``notes`` if the token was removed or replaced.
    """
    if at is None or at >= len(old):
        return None
    pair = aligned.pair_of(0, at)
    if pair is None:
        notes.append(gettext_lazy("The selected “{text}” is gone from the text.", text=old[at].text))
        return None
    one, other = aligned.pairs[pair]
    if _text(old, one) != _text(new, other):
        words = ["".join(cell.text for cell in side[slice(*run)]) for side, run in ((old, one), (new, other))]
        notes.append(
            gettext_lazy(
                "“{old}” is gone from the text; “{new}” in its place is selected.",
                old=words[0],
                new=words[1],
            )
        )
    return other[0] + min(at - one[0], other[1] - other[0] - 1)


def resolve_view(choice: ViewState, trace: Trace) -> tuple[ViewOptions, list[str]]:
    """Return the view options for a trace, and a sentence if the trace lacks the stack that the link names."""
    look = ViewOptions(choice.part, choice.words, choice.special, choice.renormalise)
    if choice.part and choice.part not in trace.parts:
        note = gettext_lazy("There is no part “{part}”, only {parts}.", part=choice.part, parts=", ".join(trace.parts))
        return ViewOptions("", look.words, look.special, look.renormalise), [note]
    return look, []


def select(choice: ViewState, view: View, example: Mapping[str, Any] | None) -> tuple[dict[str, Any], list[str]]:
    """Return the selection to show in the microscope, and sentences on impossible parts of ``choice``.

    A head or token is impossible if the trace lacks it. Missing parts are chosen by default: the words of ``example``,
    the first pronoun, or the link with the largest weight above baseline.
    """
    notes: list[str] = []
    head = _head(choice, view, notes)
    if head is not None and head[0] not in view.attending:
        notes.append(without_attention(head[0], view.attending))
        head = None
    focus = _cell(choice.focus, view.queries, "focus", notes)
    target = _cell(choice.to, view.keys, "to", notes)
    if focus is None and example is not None:
        focus = find_word(view.queries, example.get("focus", ""))
    if target is None and example is not None and choice.focus is None:
        target = find_word(view.keys, example.get("target", ""))
    if focus is None:
        focus = pronoun_in(view)
    if focus is None:
        head, focus = _own_link(choice, view, head)
    if head is None:
        head = _head_of_link(choice, view, focus, target)
    selection = {
        "layer": head[0],
        "head": head[1],
        "focus": focus,
        "target": target,
        **{name: getattr(choice, name) for name in MICROSCOPE},
        "pinned": [pin for pin in choice.pinned_heads() if pin[0] in view.attending and pin[1] < view.heads],
    }
    return selection, notes


def directed_selection(selection: Mapping[str, Any], choice: ViewState, view: View) -> dict[str, Any]:
    """Return the selection, adapted to the links that the microscope shows: outgoing or incoming.

    For incoming links, a missing target (the selected key) becomes the word with the largest weight. If the visitor has
    selected only a target, the query is removed from the selection.
    """
    found = dict(selection)
    if choice.facing == "out":
        return found
    layer, head, focus = (int(found[name]) for name in ("layer", "head", "focus"))
    if found["target"] is None:
        found["target"] = int(between_words(view.rows(focus), view, focus)[layer, head].argmax())
    elif choice.focus is None and choice.to is not None:
        found["focus"] = None
    return found


def marked_target(selection: Mapping[str, Any], view: View) -> int | None:
    """Return the key that the microscope marks: the selected key, or the word that the query weights most.

    The weight is that of the selected head, or in the order by the link the largest of all heads; signed values are
    compared by size. The result is None if no query is selected.
    """
    focus: int | None = selection["focus"]
    target: int | None = selection["target"]
    if focus is None or target is not None:
        return target
    weights = np.abs(between_words(view.rows(focus), view, focus))
    if selection["order"] == "focus":
        return int(weights.max(axis=(0, 1)).argmax())
    return int(weights[selection["layer"], selection["head"]].argmax())


def changes(selection: Mapping[str, Any], view: View) -> dict[str, Any]:
    """Return the new values of the view state's fields after a click in the attention microscope, by name.

    Indices outside of the view are left out.
    """
    layer, head = selection.get("layer"), selection.get("head")
    focus, target = selection.get("focus"), selection.get("target")
    found: dict[str, Any] = {}
    if _inside(layer, view.layers) and _inside(head, view.heads):
        found |= {"layer": layer, "head": head}
    found["focus"] = view.queries[focus].pieces[0] if _inside(focus, len(view.queries)) else None
    found["to"] = view.keys[target].pieces[0] if _inside(target, len(view.keys)) else None
    # Values from a browser may be unhashable, so they are compared with a tuple.
    found |= {name: selection[name] for name, one in MICROSCOPE.items() if selection.get(name) in tuple(one.choices)}
    pins = selection.get("pinned")
    kept = [pin for pin in pins if _is_pin(pin, view)] if isinstance(pins, list) else []
    found["pins"] = ",".join(f"{a}-{b}" for a, b in kept[:PINNED])
    return found


def _is_pin(pin: Any, view: View) -> bool:
    return isinstance(pin, list) and len(pin) == 2 and _inside(pin[0], view.layers) and _inside(pin[1], view.heads)


def _inside(value: Any, length: int) -> TypeGuard[int]:
    return type(value) is int and 0 <= value < length


def _head(choice: ViewState, view: View, notes: list[str]) -> tuple[int, int] | None:
    layer, head = choice.layer, choice.head
    if layer is None and head is None:
        return None
    if _inside(layer, view.layers) and _inside(head, view.heads):
        return layer, head
    notes.append(describe_missing_head(layer, head, view.layers, view.heads))
    notes.append(gettext_lazy("The head of the strongest link is shown."))
    return None


def _cell(token: int | None, cells: Sequence[DisplayToken], name: str, notes: list[str]) -> int | None:
    if token is None:
        return None
    end = cells[-1].pieces[1] if cells else 0
    if token >= end:
        notes.append(gettext_lazy("There is no token {token}; tokens are 0 to {last}.", token=token, last=end - 1))
        notes.append(gettext_lazy("The link's “{name}” is left out.", name=name))
    return next((i for i, cell in enumerate(cells) if cell.pieces[0] <= token < cell.pieces[1]), None)


def find_word(cells: Sequence[DisplayToken], word: str) -> int | None:
    """Return the index of the first displayed token with this word, ignoring case, or None."""
    return next((i for i, cell in enumerate(cells) if not cell.special and cell.text.lower() == word.lower()), None)


def pronoun_in(view: View) -> int | None:
    """Return the index of the first pronoun with a word before it, or None."""
    words = [i for i, cell in enumerate(view.queries) if not cell.special]
    return next((i for i in words[1:] if view.queries[i].text.casefold() in SUBJECTS), None)


def load_baselines(choice: ViewState, view: View) -> tuple[HeadSummary, PositionalPrior | None]:
    """Return the summary of all heads on this text, and the model's positional prior (None if unknown).

    Stop the script if the visitor has left or the time limit is exceeded.
    """
    look = ViewOptions(view.part or "", view.words, view.special, view.renormalise)
    part = view.part or view.trace.part
    try:
        survey = get_trace_store().survey(view.trace, look)
    except Cancelled as over:
        if over.timed_out:  # Otherwise the visitor has left.
            show_error(over)
        st.stop()
    return survey, prior_of(choice.model, choice.revision, view.trace, part)


def _own_link(choice: ViewState, view: View, head: tuple[int, int] | None) -> tuple[tuple[int, int] | None, int]:
    """Return the head and the token of the link with the highest excess over its baselines.

    This is the default if no token is chosen. ``head`` restricts the search. Without a link between words, return
    ``head`` and the first word, or the last word if words attend to earlier words only.
    """
    survey, habits = load_baselines(choice, view)
    asked = None
    if head is not None:
        asked = np.zeros((view.layers, view.heads), dtype=bool)
        asked[head] = True
    link = survey.own.best(view, habits, asked)
    if link is not None:
        return (link.layer, link.head), link.query
    words = [i for i, cell in enumerate(view.queries) if not cell.special]
    return head, words[-1 if view.causal else 0] if words else 0


def _head_of_link(choice: ViewState, view: View, focus: int, target: int | None) -> tuple[int, int]:
    """Return the head with the highest excess over its baselines for links from ``focus``.

    If ``target`` is given, only the link to it counts. A pronoun refers back: without a target, only the heads count in
    which its largest weight on a word is on an earlier noun, if there are such heads.
    """
    heads = None
    if target is None and view.queries[focus].text.casefold() in SUBJECTS:
        heads = _heads_that_refer_back(view, focus)
    return head_of_link(view, *load_baselines(choice, view), focus, target, heads)


def _heads_that_refer_back(view: View, focus: int) -> BoolArray | None:
    """Return True for each head whose largest weight from ``focus`` on a word is on an earlier noun, (layer, head).

    Return None if there is no such head.
    """
    weights = np.abs(between_words(view.rows(focus), view, focus))
    heads = np.isin(weights.argmax(axis=-1), earlier_nouns(view, focus)) & (weights.max(axis=-1) > 0)
    return heads if heads.any() else None
