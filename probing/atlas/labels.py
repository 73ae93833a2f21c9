"""Labels of heads, chosen on half of the texts and kept if they hold on the other half.

A label must also exceed all heads with random weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from inference.tasks.atlas import ATLAS_MEASURES
from probing.atlas.relations import FIELDS
from probing.atlas.store import Atlas
from probing.corpus import ALL

SINKS = ("first", "special", "punctuation")  # labels of heads that often do nothing (arXiv:2309.17453)
SHARES = ("previous", "next", "itself", "first", "special", "punctuation")  # measures that can be a label
LEAST_SHARE = 0.4  # of a head's attention
LEAST_ACCURACY, MARGIN = 40.0, 5.0  # percent of the links of a relation, and percent above the rule, when it is chosen
LEVEL = 0.05


@dataclass(frozen=True)
class HeadLabel:
    """A label of a head with its evidence on held-out texts.

    A label is a relation between words, or a share: the part of the head's attention on some kind of token. ``kind`` is
    the name of the relation, or of the share (a measure in SHARES). ``value`` is the share itself, or the part of the
    relation's links that the head finds, from 0 to 1. It was measured, with its 95 % interval ``low`` to ``high``, on
    ``n`` links or texts that had no part in the choice of the label.

    ``random`` is the largest such value of any head with random weights (for a share, the upper end of its interval).
    ``rule`` is the accuracy of the best rule without a model, from 0 to 1; None for a share.
    """

    head: int  # number in Atlas.heads
    kind: str
    direction: str  # of a relation, such as "dependent to head": the word that attends comes first; "" for a share
    value: float
    low: float
    high: float
    n: int
    random: float
    rule: float | None = None


def head_labels(atlas: Atlas) -> list[HeadLabel]:
    """Return the labels that hold on held-out texts, at most one per head: a relation, else a share.

    A relation is chosen on half of the sentences: the relation whose accuracy is furthest above the best rule's. On the
    other half, its 95 % interval must lie above the rule and above every head with random weights. The difference from
    the rule must also be significant (Holm-corrected).

    A share is the part of the attention that goes to some kind of token. The largest share on the texts with even
    numbers is chosen. On the other texts, the lower end of its 95 % interval must be at least LEAST_SHARE, and above
    every head with random weights.

    Relations come first, because half of the heads of a trained encoder give special tokens most of their weight. There
    are no labels if the atlas has no control with random weights.
    """
    found = []
    for at, head in enumerate(atlas.heads):
        own = (_relation_label(atlas, at) if head.part != "cross" else None) or _share_label(atlas, at)
        if own is not None:
            found.append(own)
    return found


def local_index(atlas: Atlas, head: int) -> tuple[str, int]:
    """Return the stack of a head, and its index in this stack, from its index in the atlas."""
    part = atlas.heads[head].part
    return part, head - next(at for at, name in enumerate(atlas.heads) if name.part == part)


def _share_label(atlas: Atlas, head: int) -> HeadLabel | None:
    part, own = local_index(atlas, head)
    arrays = atlas.arrays
    if f"{part}.control.high" not in arrays:
        return None
    places = {name: ATLAS_MEASURES.index(name) for name in SHARES}
    chosen = max(SHARES, key=lambda name: float(arrays[f"{part}.mean0"][own, places[name]]))
    at = places[chosen]
    value, low, high = (float(arrays[f"{part}.{name}1"][own, at]) for name in ("mean", "low", "high"))
    chance = float(arrays[f"{part}.control.high"][:, at].max())
    holds = arrays[f"{part}.mean0"][own, at] >= LEAST_SHARE and low >= LEAST_SHARE and low > chance
    texts = atlas.manifest["texts"]
    return HeadLabel(head, chosen, "", value, low, high, max(1, texts // 2), chance) if holds else None


def relation_rows(atlas: Atlas, head: int) -> list[dict[str, Any]]:
    """Return the scores of a head on the gold relations, with the largest accuracy above the best rule first.

    Each entry has the FIELDS of probing.atlas.relations, and the names of the ``relation`` and of the best ``rule``.
    ``random`` is the largest accuracy of a head with random weights.
    """
    name = atlas.heads[head]
    first = next(iter(atlas.manifest["stacks"]))
    if name.part != first:
        return []
    found: list[dict[str, Any]] = []
    for relation, scores in atlas.manifest.get("relations", {}).items():
        rows: Sequence[Sequence[Any]] = scores["rows"]
        found += [
            {
                "relation": relation,
                "random": scores["random"],
                "rule": scores["rule"],
                **dict(zip(FIELDS, row, strict=True)),
            }
            for row in rows
            if tuple(row[:2]) == (name.layer, name.head)
        ]
    return sorted(found, key=lambda row: row["baseline"] - row["accuracy"])


def _relation_label(atlas: Atlas, head: int) -> HeadLabel | None:
    rows = [row for row in relation_rows(atlas, head) if row["relation"] != ALL and row["random"] is not None]
    rows = [row for row in rows if row["chosen"] >= LEAST_ACCURACY and row["chosen"] >= row["chosen_rule"] + MARGIN]
    if not rows:
        return None
    row = max(rows, key=lambda row: float(row["chosen"] - row["chosen_rule"]))
    chance = max(row["baseline"], row["random"])
    if row["low"] <= chance or row["p"] > LEVEL:
        return None
    value, low, high, random, rule = (row[name] / 100 for name in ("accuracy", "low", "high", "random", "baseline"))
    return HeadLabel(head, row["relation"], row["direction"], value, low, high, row["n"], random, rule)
