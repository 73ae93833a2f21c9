"""Heads, edges and layers that a reader removes, and what each removal changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import streamlit as st

from attention.edits import Ablate, Edit, EditSet, MaskEdge, MaskKey, Uniform, pack, unpack
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


AT_ONCE = 16384  # tokens of one question, all sets together
MOST_SETS = 1000  # in one question


def measure_changes(  # noqa: PLR0913  # what is asked, and what is said meanwhile
    mark: str,
    sets: Sequence[EditSet],
    tokens: int,
    doing: str,
    numbers: Callable[[Sequence[EditSet]], FloatArray],
    at_once: int = AT_ONCE,
) -> FloatArray:
    """By how much each set moves the number, (set,); fewer where the reader has stopped. Raises Refusal.

    ``numbers`` gives the number of every set of a text of so many tokens; ``mark`` tells what is asked, ``at_once``
    how many tokens one question may have.
    """
    step = min(MOST_SETS, max(1, at_once // tokens))
    starts = range(0, len(sets), step)
    found = [np.zeros(0, np.float32)]
    for at in stoppable_steps(f"{mark}:{hash(tuple(sets))}", len(starts), doing):
        with st.spinner(doing, show_time=True):
            told = numbers([(), *sets[starts[at] : starts[at] + step]])
        found.append(told[1:] - told[0])
    return np.concatenate(found)


NOTHING = "-"  # in the link: nothing is removed

Head = tuple[int, int]
MOST_NAMED = 4  # heads that are named; of more their number is said


def edits_of(chosen: str, head: Head | None) -> tuple[EditSet, list[str]]:
    """The edits that a link holds, and a sentence for each that could not be read; without any, ``head`` is removed.

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
    """The edits after a click: all of ``some`` added, or taken away where all are there.

    >>> toggle_edits((Ablate(0, 1),), [Ablate(2, 3)]), toggle_edits((Ablate(0, 1),), [Ablate(0, 1)])
    ((Ablate(layer=0, head=1, part=''), Ablate(layer=2, head=3, part='')), ())
    """
    if set(some) <= set(edits):
        return tuple(edit for edit in edits if edit not in some)
    return tuple(dict.fromkeys((*edits, *some)))


def keep_only(layer: int, places: Sequence[Head]) -> EditSet:
    """Every head removed but those of one layer.

    >>> keep_only(1, [(0, 0), (0, 1), (1, 0)])
    (Ablate(layer=0, head=0, part=''), Ablate(layer=0, head=1, part=''))
    """
    return tuple(Ablate(*place) for place in places if place[0] != layer)


def swap_heads(edits: EditSet, places: Sequence[Head]) -> EditSet:
    """Removed heads kept, and kept heads removed; other edits stay.

    >>> swap_heads((Ablate(0, 1), Uniform(1, 0)), [(0, 0), (0, 1), (1, 0)])
    (Ablate(layer=0, head=0, part=''), Ablate(layer=1, head=0, part=''), Uniform(layer=1, head=0, part=''))
    """
    gone = {(edit.layer, edit.head) for edit in edits if isinstance(edit, Ablate)}
    rest = [edit for edit in edits if not isinstance(edit, Ablate)]
    return (*(Ablate(*place) for place in places if place not in gone), *rest)


def describe_edit(edit: Edit) -> str:
    """One edit in words without the text's own; layers and heads are counted from ``base``, tokens from 0.

    >>> describe_edit(Ablate(3, 1), 0), describe_edit(MaskEdge(3, 1, 8, 2), 1)
    ('head 3-1 removed', 'head 4-2: token 8 does not see token 2')
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
    """All edits in a few words, those of whole words together: for a sentence that is shown as text."""
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
    return format_comma_list([f"{layer}-{head}" for layer, head in heads])


def at_token(view: View, token: int) -> int:
    """The cell that a token belongs to; -1 where there is none."""
    return next((at for at, cell in enumerate(view.keys) if cell.pieces[0] <= token < cell.pieces[1]), -1)


def places_of(trace: Trace) -> list[Head]:
    """Return every head of a model that reads one text."""
    records = trace.records()
    return [(layer, head) for layer in trace.attending() for head in range(records[layer].heads)]


def as_head_map(places: Sequence[Head], found: FloatArray) -> FloatArray:
    """Numbers (place,) as (layer, head), no number where there is none; fewer may be known than there are places.

    >>> as_head_map([(0, 0), (0, 1), (1, 0)], np.array([1.0, 2.0], np.float32)).tolist()
    [[1.0, 2.0], [nan, nan]]
    """
    layers, heads = (1 + max(place[axis] for place in places) for axis in (0, 1))
    laid = np.full((layers, heads), np.nan, np.float32)
    for place, number in zip(places, found, strict=False):
        laid[place] = number
    return laid


def heads_csv(places: Sequence[Head], found: FloatArray, unit: str) -> str:
    """The same as CSV; layers and heads are counted from ``base``."""
    known = zip(places, found, strict=False)
    rows = [(layer, head, float(number)) for (layer, head), number in known]
    return csv_table([_("layer"), _("head"), unit], rows)


def keep_edits(kind: type[Any], edits: EditSet) -> None:
    """In a callback: these edits become those of the page whose options are ``kind``, in the link too."""
    set_params(kind, edits=pack(edits) or NOTHING)


def draw_edit_fields(kind: type[Any], edits: EditSet, names: Sequence[str], form: str) -> None:
    """Edits by their ``names`` as a list, and as typed (``form`` says how), for the page whose options ``kind`` have
    a field ``edits``."""
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
    """What could not be read, each in its sentence."""
    for note in notes:
        show_notice(note, role="status")
