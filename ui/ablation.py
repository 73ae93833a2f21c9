"""Ablations of heads, edges and layers by the visitor, and the effects of each ablation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import streamlit as st

from attention.edits import Ablate, Edit, EditSet, MaskEdge, MaskKey, Uniform, pack, unpack
from attention.head_names import head_label
from attention.mask import FloatArray
from attention.trace import Trace
from attention.view import View
from i18n import _, error_message, ngettext, translate
from ui.run.notices import show_notice
from ui.run.progress import stoppable_steps
from ui.show.tables import csv_table
from ui.show.text import format_comma_list
from ui.state.params import set_params, widget_key

RANDOM_SETS = 100
SEED = 0


AT_ONCE = 16384  # Maximum number of tokens in a request, over all edit sets.
MOST_SETS = 1000  # Maximum number of edit sets in a request.


def measure_changes(  # noqa: PLR0913  # independent values of a request and its progress bar
    mark: str,
    sets: Sequence[EditSet],
    tokens: int,
    doing: str,
    numbers: Callable[[Sequence[EditSet]], FloatArray],
    at_once: int = AT_ONCE,
) -> FloatArray:
    """Return the change of a number under each edit set, shape (set,). Raise UserError.

    ``numbers`` returns the number under each edit set, for a text of ``tokens`` tokens. ``mark`` identifies the
    work, ``doing`` describes it on the page, and ``at_once`` is the maximum number of tokens in a batch. The array
    is shorter if the visitor has stopped.
    """
    step = min(MOST_SETS, max(1, at_once // tokens))
    starts = range(0, len(sets), step)
    found = [np.zeros(0, np.float32)]
    for at in stoppable_steps(f"{mark}:{hash(tuple(sets))}", len(starts), doing):
        with st.spinner(doing, show_time=True):
            told = numbers([(), *sets[starts[at] : starts[at] + step]])
        found.append(told[1:] - told[0])
    return np.concatenate(found)


NOTHING = "-"  # Value in the link for an empty list of edits.

Head = tuple[int, int]
MOST_NAMED = 4  # Maximum number of heads listed by name; a longer list is only counted.


def edits_of(chosen: str, head: Head | None) -> tuple[EditSet, list[str]]:
    """Return the edits in a link, and a sentence for each edit that could not be parsed.

    Without edits in the link, return the ablation of ``head``, or no edits if it is None.

    >>> edits_of("", (3, 1)), edits_of("", None), edits_of("u0-2", (3, 1))
    (((Ablate(layer=3, head=1, part=''),), []), ((), []), ((Uniform(layer=0, head=2, part=''),), []))
    """
    if not chosen:
        return () if head is None else (Ablate(*head),), []
    found: list[Edit] = []
    notes: list[str] = []
    for word in chosen.split(",") if chosen != NOTHING else []:
        try:
            found += unpack(word.strip())
        except ValueError as error:
            notes.append(error_message(error))
    return tuple(dict.fromkeys(found)), notes


def toggle_edits(edits: EditSet, some: Sequence[Edit]) -> EditSet:
    """Return the edits after a click: add all of ``some``, or remove them if all of them are present.

    >>> toggle_edits((Ablate(0, 1),), [Ablate(2, 3)]), toggle_edits((Ablate(0, 1),), [Ablate(0, 1)])
    ((Ablate(layer=0, head=1, part=''), Ablate(layer=2, head=3, part='')), ())
    """
    if set(some) <= set(edits):
        return tuple(edit for edit in edits if edit not in some)
    return tuple(dict.fromkeys((*edits, *some)))


def keep_only(layer: int, places: Sequence[Head]) -> EditSet:
    """Return the ablations of all heads outside ``layer``.

    >>> keep_only(1, [(0, 0), (0, 1), (1, 0)])
    (Ablate(layer=0, head=0, part=''), Ablate(layer=0, head=1, part=''))
    """
    return tuple(Ablate(*place) for place in places if place[0] != layer)


def swap_heads(edits: EditSet, places: Sequence[Head]) -> EditSet:
    """Ablate the heads that are not ablated, and restore the ablated heads; other edits stay.

    >>> swap_heads((Ablate(0, 1), Uniform(1, 0)), [(0, 0), (0, 1), (1, 0)])
    (Ablate(layer=0, head=0, part=''), Ablate(layer=1, head=0, part=''), Uniform(layer=1, head=0, part=''))
    """
    gone = {(edit.layer, edit.head) for edit in edits if isinstance(edit, Ablate)}
    rest = [edit for edit in edits if not isinstance(edit, Ablate)]
    return (*(Ablate(*place) for place in places if place not in gone), *rest)


def describe_edit(edit: Edit) -> str:
    """Return a phrase for an edit; layers, heads and tokens count from 0.

    >>> describe_edit(Ablate(3, 1)), describe_edit(MaskEdge(3, 1, 8, 2))
    ('head 3-1 removed', 'head 3-1: token 8 does not see token 2')
    """
    layer = edit.layer
    if isinstance(edit, Ablate):
        return _("head {layer}-{head} removed", layer=layer, head=edit.head)
    if isinstance(edit, Uniform):
        return _("head {layer}-{head} even", layer=layer, head=edit.head)
    if isinstance(edit, MaskEdge):
        return _(
            "head {layer}-{head}: token {query} does not see token {key}",
            layer=layer,
            head=edit.head,
            query=edit.query,
            key=edit.key,
        )
    if isinstance(edit, MaskKey):
        return _("layer {layer}: nothing sees token {key}", layer=layer, key=edit.key)
    return _("layer {layer}: the value of token {key} is zero", layer=layer, key=edit.key)


def describe_edits(edits: EditSet, view: View) -> str:
    """Return a short phrase for all edits as plain text, with the edits of a word merged."""
    said = []
    if removed := sorted((edit.layer, edit.head) for edit in edits if isinstance(edit, Ablate)):
        names = _names(removed)
        said.append(
            ngettext("head {heads} removed", "heads {heads} removed", len(removed), heads=names)
            if len(removed) <= MOST_NAMED
            else _("{many} heads removed", many=len(removed))
        )
    if even := sorted((edit.layer, edit.head) for edit in edits if isinstance(edit, Uniform)):
        names = _names(even)
        said.append(
            ngettext("head {heads} even", "heads {heads} even", len(even), heads=names)
            if len(even) <= MOST_NAMED
            else _("{many} heads even", many=len(even))
        )
    hidden = {
        view.keys[at].text: 0 for edit in edits if isinstance(edit, MaskKey) and (at := at_token(view, edit.key)) >= 0
    }
    said += [_("“{text}” hidden", text=text) for text in hidden]
    cuts = {
        (view.keys[one].text, view.keys[other].text, edit.layer, edit.head)
        for edit in edits
        if isinstance(edit, MaskEdge) and min(one := at_token(view, edit.query), other := at_token(view, edit.key)) >= 0
    }
    said += [
        _("“{one}” no longer sees “{other}” in head {layer}-{head}", one=one, other=other, layer=layer, head=head)
        for one, other, layer, head in sorted(cuts)
    ]
    muted = sum(not isinstance(edit, Ablate | Uniform | MaskKey | MaskEdge) for edit in edits)
    if muted:
        said.append(ngettext("{many} value at zero", "{many} values at zero", muted, many=muted))
    return format_comma_list(said) if said else ""


def _names(heads: Sequence[Head]) -> str:
    return format_comma_list([head_label(layer, head) for layer, head in heads])


def at_token(view: View, token: int) -> int:
    """Return the index of the cell that contains a token, or -1 if there is none."""
    return next((at for at, cell in enumerate(view.keys) if cell.pieces[0] <= token < cell.pieces[1]), -1)


def places_of(trace: Trace) -> list[Head]:
    """Return (layer, head) for all heads of a model with a single text."""
    records = trace.records()
    return [(layer, head) for layer in trace.attending() for head in range(records[layer].heads)]


def as_head_map(places: Sequence[Head], found: FloatArray) -> FloatArray:
    """Return values (place,) as an array (layer, head), NaN for missing heads.

    ``found`` may be shorter than ``places``.

    >>> as_head_map([(0, 0), (0, 1), (1, 0)], np.array([1.0, 2.0], np.float32)).tolist()
    [[1.0, 2.0], [nan, nan]]
    """
    layers, heads = (1 + max(place[axis] for place in places) for axis in (0, 1))
    laid = np.full((layers, heads), np.nan, np.float32)
    for place, number in zip(places, found, strict=False):
        laid[place] = number
    return laid


def heads_csv(places: Sequence[Head], found: FloatArray, unit: str) -> str:
    """Return the values (place,) as CSV."""
    known = zip(places, found, strict=False)
    rows = [(layer, head, float(number)) for (layer, head), number in known]
    return csv_table([_("layer"), _("head"), unit], rows)


def keep_edits(kind: type[Any], edits: EditSet) -> None:
    """Store the edits in the page's options ``kind`` and in its address; call this in a callback."""
    set_params(kind, edits=pack(edits) or NOTHING)


def draw_edit_fields(kind: type[Any], edits: EditSet, names: Sequence[str], form: str) -> None:
    """Draw the edits as a multi-select box and as a text field, for options ``kind`` with ``edits``.

    ``names`` are the labels of the edits; ``form`` is the help text of the text field.
    """
    listed, typed = widget_key(kind, "removed"), widget_key(kind, "typed")

    def keep() -> None:
        keep_edits(kind, tuple(edits[at] for at in sorted(st.session_state[listed])))

    st.session_state[listed] = list(range(len(edits)))
    st.multiselect(
        _("Removed"),
        range(len(edits)),
        key=listed,
        format_func=lambda at: translate(names[at]) if at < len(names) else "",
        on_change=keep,
        placeholder=_("Nothing picked"),
        help=_("Take one out of the list to put it back."),
    )
    st.session_state[typed] = pack(edits)
    st.text_input(
        _("As typed"),
        key=typed,
        on_change=lambda: set_params(kind, edits=st.session_state[typed].strip() or NOTHING),
        help=translate(form),
    )


def typing_notes(notes: Sequence[str]) -> None:
    """Show a notice for each part that could not be parsed."""
    for note in notes:
        show_notice(note, role="status")
