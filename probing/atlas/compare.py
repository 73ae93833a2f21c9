"""Comparison of two atlases head by head, such as before and after fine-tuning."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from i18n import gettext_lazy
from inference.errors import UserError
from inference.tasks.atlas import ATLAS_MEASURES, Integers
from probing.atlas.heads import profiles
from probing.atlas.labels import HeadLabel, head_labels
from probing.atlas.store import ERRORS_95, Atlas, HeadName

LEVEL = 0.05  # of all heads and measures together
SHARED = 1_000  # strongest links of each head that are compared
OTHER_TEXTS = gettext_lazy("The atlases read different texts, which explains some changes.")


@dataclass(frozen=True, eq=False)
class AtlasComparison:
    """The changes of each head from a first to a second atlas.

    ``values`` has the mean of each of ATLAS_MEASURES over the texts of the first and of the second atlas, shape (2,
    head, measure). ``low`` and ``high`` (head, measure) are the interval of the second mean minus the first. All
    intervals of all heads and measures contain the true differences at 95 % (Bonferroni correction). ``clear`` is True
    if the interval does not contain zero.

    ``distances`` (head,) are Euclidean distances between a head's profiles (probing.atlas.heads.profiles) in the two
    atlases. ``shared`` (head,) is the share of its strongest links that both atlases have. It is NaN if the atlases
    have read different windows.
    """

    heads: tuple[HeadName, ...]
    values: Integers
    low: Integers
    high: Integers
    clear: Integers
    distances: Integers
    shared: Integers
    labels: tuple[dict[int, HeadLabel], dict[int, HeadLabel]]  # by head, of both atlases
    same_texts: bool

    @property
    def difference(self) -> Integers:
        """Return the mean in the second atlas minus that in the first, shape (head, measure)."""
        found: Integers = self.values[1] - self.values[0]
        return found

    @property
    def order(self) -> list[int]:
        """Return the indices of the heads, beginning with the head whose profile has changed most."""
        order: list[int] = np.argsort(-self.distances, kind="stable").tolist()
        return order


def compare_atlases(first: Atlas, second: Atlas) -> AtlasComparison:
    """Return the changes from the first to the second atlas; raise UserError if their heads do not correspond.

    The interval of a difference treats the two atlases as independent samples of texts. If both have read the same
    texts, it is too wide rather than too narrow.
    """
    shapes = [atlas.manifest["stacks"] for atlas in (first, second)]
    if shapes[0] != shapes[1]:
        raise UserError(
            gettext_lazy(
                "The atlases have different heads: {first} and {second}. Choose models of the same size.",
                first=_shape(shapes[0]),
                second=_shape(shapes[1]),
            )
        )
    mean, errors = [], []
    for atlas in (first, second):
        mean.append(np.concatenate([atlas.arrays[f"{part}.mean"] for part in shapes[0]]))
        ends = [np.concatenate([atlas.arrays[f"{part}.{end}"] for part in shapes[0]]) for end in ("low", "high")]
        errors.append((ends[1] - ends[0]) / 2 / ERRORS_95)
    values, error = np.stack(mean), np.hypot(*errors)
    difference = values[1] - values[0]
    limit = NormalDist().inv_cdf(1 - LEVEL / 2 / difference.size)
    same = first.windows["text"].equals(second.windows["text"]) and first.windows["forms"] == second.windows["forms"]
    return AtlasComparison(
        first.heads,
        values,
        difference - limit * error,
        difference + limit * error,
        np.abs(difference) > limit * error,
        np.sqrt(((profiles(first) - profiles(second)) ** 2).sum(axis=1)),
        shared_links(first, second) if same else np.full(len(first.heads), np.nan, np.float32),
        (_labels_by_head(first), _labels_by_head(second)),
        same,
    )


def _shape(stacks: Any) -> str:
    return ", ".join(f"{part} {layers} × {heads}" for part, (layers, heads) in stacks.items())


def _labels_by_head(atlas: Atlas) -> dict[int, HeadLabel]:
    return {label.head: label for label in head_labels(atlas)}


def shared_links(first: Atlas, second: Atlas, most: int = SHARED) -> Integers:
    """Return the share of each head's ``most`` strongest links that both atlases have, 0 to 1, shape (head,).

    Both atlases must have read the same windows of text. If an atlas stores only n links of a head, the n strongest are
    compared. The value is NaN if an atlas stores none.
    """
    both = [_strongest(atlas) for atlas in (first, second)]
    found = np.full(len(first.heads), np.nan, np.float32)
    for head in range(len(found)):
        one, other = (links.get(head, np.zeros(0, np.int64)) for links in both)
        size = min(len(one), len(other), most)
        if size:
            found[head] = len(np.intersect1d(one[:size], other[:size])) / size
    return found


def _strongest(atlas: Atlas) -> dict[int, Integers]:
    """Return the links of each head as numbers of their window, query and key, the largest excess first."""
    table = atlas.table("links", columns=["head", "window", "query", "key", "excess"])
    columns = {name: table[name].to_numpy() for name in table.column_names}
    order = np.lexsort((-columns["excess"], columns["head"]))
    place = (columns["window"].astype(np.int64) << 16) + (columns["query"].astype(np.int64) << 8) + columns["key"]
    heads = columns["head"][order]
    names, starts = np.unique(heads, return_index=True)
    return dict(zip(names.tolist(), np.split(place[order], starts[1:]), strict=True))


def comparison_rows(found: AtlasComparison) -> list[dict[str, Any]]:
    """Return the comparison as JSON values, beginning with the head whose profile has changed most."""
    several = len({head.part for head in found.heads}) > 1
    labels = [{head: label.kind for head, label in labelled.items()} for labelled in found.labels]
    rows = []
    for at in found.order:
        head = found.heads[at]
        numbers = (found.values[0], found.values[1], found.difference, found.low, found.high)
        names = ("first", "second", "difference", "low", "high")
        rows.append(
            {
                **({"part": head.part} if several else {}),
                "layer": head.layer,
                "head": head.head,
                "distance": float(found.distances[at]),
                "shared_links": None if np.isnan(found.shared[at]) else float(found.shared[at]),
                "first_label": labels[0].get(at),
                "second_label": labels[1].get(at),
                "measures": {
                    measure: {
                        **{name: float(values[at, place]) for name, values in zip(names, numbers, strict=True)},
                        "clear": bool(found.clear[at, place]),
                    }
                    for place, measure in enumerate(ATLAS_MEASURES)
                },
            }
        )
    return rows
