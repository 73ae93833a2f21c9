"""Search of an atlas for the links between two words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc

from attention.head_names import describe_missing_head
from attention.strongest_links import LEAST
from i18n import gettext_lazy
from inference.errors import UserError
from probing.atlas.store import Atlas, HeadName


@dataclass(frozen=True)
class LinkQuery:
    """A search for links from the word ``query`` to the word ``key``, with limits; "" allows any word.

    ``query_tag`` and ``key_tag`` are parts of speech of these words, such as NOUN, "" for any. ``nearest`` and
    ``farthest`` limit the distance between the words, in tokens. ``least`` is the smallest excess. ``head`` is (layer,
    head), and ``part`` a stack, such as "decoder". None removes a limit.
    """

    query: str = ""
    key: str = ""
    head: tuple[int, int] | None = None
    part: str | None = None
    query_tag: str = ""
    key_tag: str = ""
    nearest: int = 0
    farthest: int | None = None
    least: float = 0.0


@dataclass(frozen=True, eq=False)
class FoundLinks:
    """The links that a search of an atlas has found, sorted by excess, as columns (link,) of links.parquet.

    An atlas stores only the strongest links of each head, so a search may miss weaker links. ``complete`` is True if no
    link is missing whose excess is above the search's limit and above attention.strongest_links.LEAST.
    """

    columns: Mapping[str, Any]
    heads: tuple[HeadName, ...]
    floor: Mapping[str, float]
    complete: bool
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.columns["excess"])


def find_links(atlas: Atlas, query: LinkQuery) -> FoundLinks:
    """Return the stored links that match a search; raise UserError if the atlas lacks a word or a head."""
    notes: list[str] = []
    words = [(name, _form(atlas, word, notes)) for name, word in (("query", query.query), ("key", query.key))]
    chosen = [at for at, head in enumerate(atlas.heads) if _matches(head, query)]
    if not chosen:
        raise UserError(_no_head(atlas, query))
    filters: list[tuple[str, str, Any]] = [(f"{name}_form", "=", form) for name, form in words if form is not None]
    if len(chosen) < len(atlas.heads):
        filters.append(("head", "in", chosen))
    if query.least > 0:
        filters.append(("excess", ">=", np.float32(query.least)))
    table = atlas.table("links", filters=filters or None)
    columns = {name: table[name].to_numpy() for name in table.column_names}
    kept = np.ones(len(table), bool)
    distance = np.abs(columns["query"].astype(np.int64) - columns["key"])
    kept &= distance >= query.nearest
    if query.farthest is not None:
        kept &= distance <= query.farthest
    for name, tag in (("query", query.query_tag), ("key", query.key_tag)):
        if tag:
            kept &= _has_tag(atlas, columns["window"], columns[name], tag)
    places = np.nonzero(kept)[0]
    order = places[
        np.lexsort(
            [columns[name][places] for name in ("key", "query", "window", "head")] + [-columns["excess"][places]]
        )
    ]
    floors = atlas.manifest["floors"]
    return FoundLinks(
        {name: values[order] for name, values in columns.items()},
        atlas.heads,
        {
            atlas.heads[at].label
            if len(atlas.manifest["stacks"]) == 1
            else f"{atlas.heads[at].part} {atlas.heads[at].label}": floors[at]
            for at in chosen
        },
        all(not atlas.manifest["full"][at] or max(query.least, float(LEAST)) > floors[at] for at in chosen),
        tuple(notes),
    )


def _matches(head: HeadName, query: LinkQuery) -> bool:
    return query.head in (None, (head.layer, head.head)) and query.part in (None, head.part)


def _no_head(atlas: Atlas, query: LinkQuery) -> str:
    if query.part is not None and query.part not in atlas.manifest["stacks"]:
        return gettext_lazy(
            "There is no part “{part}”, only {parts}.", part=query.part, parts=", ".join(atlas.manifest["stacks"])
        )
    layers, heads = next(iter(atlas.manifest["stacks"].values()))
    layer, head = query.head or (0, 0)
    return describe_missing_head(layer, head, layers, heads)


def _form(atlas: Atlas, word: str, notes: list[str]) -> int | None:
    """Return the number of the form that a typed word means, None for any word; add a note about several tokens.

    The form is the word in lower case, else the token that continues a word, such as "##ing" for "ing".
    """
    asked = word.strip().casefold()
    if not asked or asked == "*":
        return None
    number = next((atlas.numbers[name] for name in (asked, f"##{asked}") if name in atlas.numbers), None)
    if number is None:
        raise UserError(
            gettext_lazy("“{word}” does not occur in this atlas. Give another word, or * for any.", word=word)
        )
    size = atlas.forms["size"][number].as_py()
    if size > 1:
        notes.append(gettext_lazy("“{word}” has {size} tokens; the first is searched.", word=word, size=size))
    return number


def _has_tag(atlas: Atlas, windows: Any, positions: Any, tag: str) -> Any:
    """Return True for each token with a part of speech; raise UserError if the atlas has none."""
    if "tags" not in atlas.windows.column_names:
        raise UserError(gettext_lazy("This atlas has no parts of speech. Build one from a CoNLL-U file."))
    tags = atlas.windows["tags"]
    lengths = np.nan_to_num(pc.list_value_length(tags).to_numpy()).astype(np.int64)
    flat = np.array(pc.list_flatten(tags).to_numpy(zero_copy_only=False), object) == tag.strip().upper()
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    known = positions < lengths[windows]
    found = np.zeros(len(windows), bool)
    found[known] = flat[starts[windows[known]] + positions[known]]
    return found


def hits(atlas: Atlas, found: FoundLinks, most: int | None = None) -> list[dict[str, Any]]:
    """Return the links as JSON values: layer, head, weight, excess, text, query_position and key_position.

    ``text`` is the window that the model read. Positions count tokens from 0, special tokens included. If the
    model has several stacks, a link also has its ``part``, and ``target`` if the window has a target text.
    """
    columns = {name: values[:most] for name, values in found.columns.items()}
    several = len(atlas.manifest["stacks"]) > 1
    names = ["text", "target"] if "target" in atlas.windows.column_names else ["text"]
    texts = [atlas.windows[name].take(columns["window"]).to_pylist() for name in names]
    return [
        {
            **({"part": found.heads[head].part} if several else {}),
            "layer": found.heads[head].layer,
            "head": found.heads[head].head,
            "weight": weight,
            "excess": excess,
            **{name: text[at] for name, text in zip(names, texts, strict=True)},
            "query_position": query,
            "key_position": key,
        }
        for at, (head, weight, excess, query, key) in enumerate(_rows(columns))
    ]


def _rows(columns: Mapping[str, Any]) -> Sequence[tuple[int, float, float, int, int]]:
    return list(zip(*(columns[name].tolist() for name in ("head", "weight", "excess", "query", "key")), strict=True))
