"""Changes inside the attention, as values: what would the model say if this head, or this one look, were gone?

An edit names a layer and a head of one part of the model ("encoder", "decoder" or "cross"; "" is the only part of a
model that has one, the encoder of one that has three). Layers, heads and tokens count from 0.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from i18n import gettext_lazy


@dataclass(frozen=True, order=True)
class Ablate:
    """The head says nothing: its slice of what enters W_O is zero.

    Its own map stays what it would have been looked at, since only what it passes on is dropped.
    """

    layer: int
    head: int
    part: str = ""


@dataclass(frozen=True, order=True)
class MaskEdge:
    """One query does not see one key in this head: the weight is zero, and the row's others share what it had."""

    layer: int
    head: int
    query: int
    key: int
    part: str = ""


@dataclass(frozen=True, order=True)
class Uniform:
    """The head looks at every key that it may look at alike."""

    layer: int
    head: int
    part: str = ""


@dataclass(frozen=True, order=True)
class MaskKey:
    """Nothing sees this key in any head of the layer: the other keys share its weight."""

    layer: int
    key: int
    part: str = ""


@dataclass(frozen=True, order=True)
class ZeroValue:
    """The key is looked at as before, but its value is zero in every head of the layer (arXiv:2301.12971)."""

    layer: int
    key: int
    part: str = ""


Edit = Ablate | MaskEdge | Uniform | MaskKey | ZeroValue

_LETTERS: dict[str, type[Ablate | Uniform | MaskKey | ZeroValue]] = {
    "a": Ablate,
    "u": Uniform,
    "h": MaskKey,
    "m": ZeroValue,
}
_PARTS = {"": "", "e": "encoder", "d": "decoder", "x": "cross"}
_ONE = re.compile(r"([auchm])([edx]?)(\d{1,4}(?:-\d{1,6}){1,3})")


def pack(edits: Sequence[Edit]) -> str:
    """Edits as one short word for an address; ``unpack`` is its inverse.

    >>> pack([Ablate(3, 1), MaskEdge(2, 4, 5, 7), Uniform(0, 2, "cross")])
    'a3-1,c2-4-5-7,ux0-2'
    """
    return ",".join(_pack_edit(edit) for edit in edits)


def unpack(packed: str) -> tuple[Edit, ...]:
    """The edits that an address names; raises ValueError in one sentence.

    >>> unpack("a3-1,c2-4-5-7") == (Ablate(3, 1), MaskEdge(2, 4, 5, 7))
    True
    """
    return tuple(_unpack_edit(word) for word in packed.split(",") if word)


def drop_token_edits(packed: str) -> str:
    """Packed edits without those that name tokens, which mean nothing in another text.

    >>> drop_token_edits("a3-1,c2-4-5-7,ux0-2,h3-2")
    'a3-1,ux0-2'
    """
    words = (word.strip() for word in packed.split(","))
    return ",".join(word for word in words if not (word[:1] in ("c", "h", "m") and _ONE.fullmatch(word)))


def _pack_edit(edit: Edit) -> str:
    part = next(short for short, name in _PARTS.items() if name == edit.part)
    if isinstance(edit, MaskEdge):
        return f"c{part}{edit.layer}-{edit.head}-{edit.query}-{edit.key}"
    letter = next(letter for letter, kind in _LETTERS.items() if isinstance(edit, kind))
    return f"{letter}{part}{edit.layer}-{edit.head if isinstance(edit, Ablate | Uniform) else edit.key}"


def _unpack_edit(word: str) -> Edit:
    found = _ONE.fullmatch(word)
    places = [] if found is None else [int(place) for place in found[3].split("-")]
    if found is None or len(places) != (4 if found[1] == "c" else 2):
        raise ValueError(
            gettext_lazy(
                "An edit should read like a3-1 (no head 3-1), u3-1 (head 3-1 even), c3-1-8-2 (token 8 does not see"
                " token 2 there), h3-2 (nothing sees token 2 in layer 3) or m3-2 (its value is zero there), but is"
                " {word!r}; it is left out.",
                word=word[:40],
            )
        )
    part = _PARTS[found[2]]
    if found[1] == "c":
        return MaskEdge(places[0], places[1], places[2], places[3], part)
    return _LETTERS[found[1]](places[0], places[1], part)
