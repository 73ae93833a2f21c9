"""Facts about a head of an atlas: sampled windows, ranks, most frequent tokens, and similar heads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from attention.edits import Ablate
from inference.tasks.atlas import ATLAS_MEASURES, Integers
from inference.tasks.edit_effects import VectorEffects
from probing.atlas.labels import local_index
from probing.atlas.store import Atlas

FIFTHS = 5


@dataclass(frozen=True)
class SampledWindow:
    """A window of text in which a head has a strong link, or that was drawn at random for comparison.

    The excess of a link is its weight minus the mean weight on the same key (attention.excess). ``excess`` is the
    largest excess of the window's links, by which windows are ranked. ``query`` and ``key`` are the token positions of
    that link. ``stratum`` is 0 for the top windows. Other windows are drawn at random from a fifth of the ranking: 1 is
    the fifth with the largest excess, 5 the fifth with the smallest.
    """

    window: int
    stratum: int
    excess: float
    query: int
    key: int


def sample_windows(atlas: Atlas, head: int, top: int = 2, each: int = 1, seed: int = 0) -> list[SampledWindow]:
    """Return ``top`` windows of a head's largest excess, and ``each`` random windows from each fifth.

    A fifth is a fifth of all windows, ranked by the largest excess of a link (SampledWindow).
    """
    part, own = local_index(atlas, head)
    peaks, queries, keys = (atlas.arrays[f"{part}.{name}"][:, own] for name in ("peaks", "peak_queries", "peak_keys"))
    order = np.argsort(-peaks, kind="stable")
    chosen = [(0, int(at)) for at in order[:top]]
    noise = np.random.default_rng([seed, head])
    for number, fifth in enumerate(np.array_split(order, FIFTHS), start=1):
        rest = np.setdiff1d(fifth, order[:top])
        chosen += [(number, int(at)) for at in noise.choice(rest, min(each, len(rest)), replace=False)]
    return [SampledWindow(at, number, float(peaks[at]), int(queries[at]), int(keys[at])) for number, at in chosen]


def measure_values(atlas: Atlas, measure: str) -> Integers:
    """Return a measure of every head, shape (head,), in the order of Atlas.heads; NaN if it is unknown.

    ``measure`` is a name in ATLAS_MEASURES, "excess" (the mean over windows of the largest excess), or "random" (see
    ``distance_from_random``).
    """
    found = []
    for part in atlas.manifest["stacks"]:
        arrays = atlas.arrays
        if measure in ATLAS_MEASURES:
            found.append(arrays[f"{part}.mean"][:, ATLAS_MEASURES.index(measure)])
        elif measure == "excess":
            found.append(arrays[f"{part}.peaks"].astype(np.float32).mean(axis=0))
        elif measure == "random" and f"{part}.control.mean" in arrays:
            found.append(distance_from_random(arrays[f"{part}.mean"], arrays[f"{part}.control.mean"]))
        else:
            found.append(np.full(arrays[f"{part}.mean"].shape[0], np.nan, np.float32))
    return np.concatenate(found)


def distance_from_random(mean: Integers, control: Integers) -> Integers:
    """Return how far each trained head is from the mean head with random weights, shape (head,).

    ``mean`` and ``control`` are the measures of trained and random heads, (head, measure). A head's difference from
    the mean random head is divided by the measure's standard deviation over the trained heads. The distance is the root
    mean square of these quotients over the measures.
    """
    spread = np.maximum(mean.std(axis=0), 1e-6)
    distance: Integers = np.sqrt((((mean - control.mean(axis=0)) / spread) ** 2).mean(axis=1))
    return distance


def relation_values(atlas: Atlas, relation: str) -> Integers:
    """Return the accuracy of every head on a gold relation, in percent, (head,); NaN if it was not scored."""
    found = np.full(len(atlas.heads), np.nan, np.float32)
    rows = atlas.manifest.get("relations", {}).get(relation, {}).get("rows", ())
    first = next(iter(atlas.manifest["stacks"]))
    numbers = {(head.layer, head.head): at for at, head in enumerate(atlas.heads) if head.part == first}
    for row in rows:
        found[numbers[row[0], row[1]]] = row[3]
    return found


def profiles(atlas: Atlas) -> Integers:
    """Return the profile of every head, a vector by which heads are compared, shape (head, number).

    A profile consists of the means of ATLAS_MEASURES, with entropy and distance scaled to about 0 to 1, and of the mean
    attention by offset of the key.
    """
    found = []
    for part in atlas.manifest["stacks"]:
        mean = atlas.arrays[f"{part}.mean"]
        scaled = mean / np.array([7.0, 64.0, 1, 1, 1, 1, 1, 1], np.float32)  # entropy of 128 keys, mean distance
        found.append(np.concatenate([scaled, atlas.arrays[f"{part}.distances"]], axis=1))
    return np.concatenate(found)


def similar_heads(atlas: Atlas, head: int, other: Atlas, most: int = 5) -> list[tuple[int, float]]:
    """Return the heads of ``other`` with the profiles nearest to the head's, and their Euclidean distances.

    If ``other`` is the same atlas, the head itself is left out.
    """
    distances = np.sqrt(((profiles(other) - profiles(atlas)[head]) ** 2).sum(axis=1))
    same = other.folder == atlas.folder
    order = [int(at) for at in np.argsort(distances, kind="stable") if not (same and at == head)]
    return [(at, float(distances[at])) for at in order[:most]]


def strongest_links(atlas: Atlas, head: int, kind: str, most: int) -> list[dict[str, Any]]:
    """Return the strongest stored links of a head: by excess (``kind`` "links") or by size ("written").

    The size is the norm of the vector that a link adds to the output, weight × ‖value · W_O‖. Each link has the
    spellings of its ``query`` and ``key`` tokens, its ``strength`` (excess or size), ``weight`` and ``window``. The
    list is empty if the atlas has no sizes.
    """
    table = atlas.table(kind, filters=[("head", "=", head)]).sort_by(
        [("excess", "descending"), ("window", "ascending"), ("query", "ascending"), ("key", "ascending")]
    )
    rows: list[dict[str, Any]] = table.slice(0, most).to_pylist()
    names = atlas.forms["form"]
    return [
        {
            "query": names[row["query_form"]].as_py(),
            "key": names[row["key_form"]].as_py(),
            "strength": row["excess"],
            "weight": row["weight"],
            "window": row["window"],
        }
        for row in rows
    ]


def ablation_questions(atlas: Atlas, layer: int, part: str, most: int) -> list[VectorEffects]:
    """Return a request for each of ``most`` random windows, for its vector without edits and without each head.

    The heads are those of a layer of the stack ``part``.
    """
    _layers, heads = atlas.manifest["stacks"][part]
    sets = ((), *((Ablate(layer, head),) for head in range(heads)))
    model, revision = atlas.manifest["model"], atlas.manifest["revision"]
    return [VectorEffects(model, revision, text=text, edits=sets) for text in ablation_windows(atlas, most)]


def ablation_windows(atlas: Atlas, most: int, seed: int = 0) -> list[str]:
    """Return the texts of ``most`` random windows, on which the effects of ablations are measured."""
    count = len(atlas.windows)
    chosen = np.sort(np.random.default_rng(seed).choice(count, min(most, count), replace=False))
    texts: list[str] = atlas.windows["text"].take(chosen).to_pylist()
    return texts


def top_forms(atlas: Atlas, head: int, side: str) -> list[tuple[str, int, float, float]]:
    """Return the token spellings that a head uses most; ``side`` is "queries" or "keys".

    Each entry is (spelling, occurrences, mean of the head, mean of all heads). The mean is over the occurrences of the
    spelling: for queries, of the largest excess in the row of an occurrence, and for keys, of the mean weight that
    other words give an occurrence.
    """
    part, own = local_index(atlas, head)
    names = atlas.forms["form"].to_pylist()
    counts: list[Any] = atlas.forms["count"].to_pylist()
    forms, means, usual = (atlas.arrays[f"{part}.top_{side}{suffix}"][own] for suffix in ("", "_mean", "_usual"))
    return [
        (names[form], counts[form], float(mean), float(base))
        for form, mean, base in zip(forms.tolist(), means, usual, strict=True)
    ]
