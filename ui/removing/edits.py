"""What is removed: picked on the map and in the sentence, typed, or by whole layers; kept in the link."""

from __future__ import annotations

from collections.abc import Sequence

from attention.cause import Set
from attention.edits import Ablate, Cut, Edit, Hide, Uniform, unpack
from attention.view import View
from wording import said_by

NOTHING = "-"  # in the link: nothing is removed

Head = tuple[int, int]


def edits_of(chosen: str, head: Head | None) -> tuple[Set, list[str]]:
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
            notes.append(said_by(error))
    return tuple(dict.fromkeys(found)), notes


def toggled(edits: Set, some: Sequence[Edit]) -> Set:
    """The edits after a click: all of ``some`` added, or taken away where all are there.

    >>> toggled((Ablate(0, 1),), [Ablate(2, 3)]), toggled((Ablate(0, 1),), [Ablate(0, 1)])
    ((Ablate(layer=0, head=1, part=''), Ablate(layer=2, head=3, part='')), ())
    """
    if set(some) <= set(edits):
        return tuple(edit for edit in edits if edit not in some)
    return tuple(dict.fromkeys((*edits, *some)))


def keep_only(layer: int, places: Sequence[Head]) -> Set:
    """Every head removed but those of one layer.

    >>> keep_only(1, [(0, 0), (0, 1), (1, 0)])
    (Ablate(layer=0, head=0, part=''), Ablate(layer=0, head=1, part=''))
    """
    return tuple(Ablate(*place) for place in places if place[0] != layer)


def swapped(edits: Set, places: Sequence[Head]) -> Set:
    """Removed heads kept, and kept heads removed; other edits stay.

    >>> swapped((Ablate(0, 1), Uniform(1, 0)), [(0, 0), (0, 1), (1, 0)])
    (Ablate(layer=0, head=0, part=''), Ablate(layer=1, head=0, part=''), Uniform(layer=1, head=0, part=''))
    """
    gone = {(edit.layer, edit.head) for edit in edits if isinstance(edit, Ablate)}
    rest = [edit for edit in edits if not isinstance(edit, Ablate)]
    return (*(Ablate(*place) for place in places if place not in gone), *rest)


def told(edit: Edit, base: int) -> str:
    """One edit in words without the text's own; layers and heads are counted from ``base``, tokens from 0.

    >>> told(Ablate(3, 1), 0), told(Cut(3, 1, 8, 2), 1)
    ('head 3-1 removed', 'head 4-2: token 8 does not see token 2')
    """
    layer = edit.layer + base
    if isinstance(edit, Ablate):
        return f"head {layer}-{edit.head + base} removed"
    if isinstance(edit, Uniform):
        return f"head {layer}-{edit.head + base} even"
    if isinstance(edit, Cut):
        return f"head {layer}-{edit.head + base}: token {edit.query} does not see token {edit.key}"
    if isinstance(edit, Hide):
        return f"layer {layer}: nothing sees token {edit.key}"
    return f"layer {layer}: the value of token {edit.key} is zero"


def in_words(edits: Set, view: View, base: int) -> str:
    """All edits in a few words, those of whole words together: for a sentence that is shown as text."""
    kinds = {
        "removed": sorted((edit.layer, edit.head) for edit in edits if isinstance(edit, Ablate)),
        "even": sorted((edit.layer, edit.head) for edit in edits if isinstance(edit, Uniform)),
    }
    said = []
    for what, heads in kinds.items():
        if heads:
            names = ", ".join(f"{layer + base}-{head + base}" for layer, head in heads[:4])
            many = f"head{'s' * (len(heads) > 1)} {names}" if len(heads) <= 4 else f"{len(heads)} heads"
            said.append(f"{many} {what}")
    hidden = {
        view.keys[at].text: 0 for edit in edits if isinstance(edit, Hide) and (at := at_token(view, edit.key)) >= 0
    }
    said += [f"“{text}” hidden" for text in hidden]
    cuts = {
        (view.keys[one].text, view.keys[other].text, edit.layer + base, edit.head + base)
        for edit in edits
        if isinstance(edit, Cut) and min(one := at_token(view, edit.query), other := at_token(view, edit.key)) >= 0
    }
    said += [f"“{one}” no longer sees “{other}” in head {layer}-{head}" for one, other, layer, head in sorted(cuts)]
    muted = sum(not isinstance(edit, Ablate | Uniform | Hide | Cut) for edit in edits)
    if muted:
        said.append(f"{muted} value{'s' * (muted > 1)} at zero")
    return ", ".join(said)


def at_token(view: View, token: int) -> int:
    """The cell that a token belongs to; -1 where there is none."""
    return next((at for at, cell in enumerate(view.keys) if cell.pieces[0] <= token < cell.pieces[1]), -1)
