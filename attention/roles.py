"""Roles of heads: previous token, induction, attention sinks and others, from the maps alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from attention.mask import BoolArray, FloatArray
from attention.measures import as_shares, entropy
from attention.record import AnyRecord, NoAttention, Record
from attention.tokens import TokenRow
from attention.trace import Trace

# Share of a token's attention that goes to: the token before it, the one after it, itself, the first token of all,
# the tokens that end or separate texts, the same piece elsewhere. Broad: entropy over that of even attention.
ROLES = ("previous", "next", "same", "first", "separator", "repeat", "broad")
SINKS = ("first", "separator")
MOST_ROWS = 256  # of one text: of longer ones, evenly spaced tokens stand for all
LEAST = 0.5  # share from which a head is named after a role (arXiv:1906.04341, section 3.1)
EVEN = 0.85  # entropy over that of even attention from which a head is called broad
FEWEST = 5  # tokens that a share is taken over before a head is named after it

Indices = npt.NDArray[np.intp]
Numbers = npt.NDArray[np.float64]
Sums = Mapping[str, Numbers]


@dataclass(frozen=True, eq=False)
class RoleEvidence:
    """Sums over tokens, each array (layer, head) float64; evidence of several texts of one model adds up.

    Special tokens do not count as tokens that look, nor in a role those that may not look at anything in it.
    """

    shares: Sums  # by role
    chance: Sums  # by role: what even attention would have given
    tokens: Sums  # by role: how many tokens the shares are of
    by_value: Sums | None  # by sink: shares of attention times value length; None where values were not recorded
    lengths: Sums | None  # by sink: length of its value vectors over the mean length of the others', weighted by tokens
    texts: int = 1

    def __add__(self, other: RoleEvidence) -> RoleEvidence:
        return RoleEvidence(
            _add_sums(self.shares, other.shares),
            _add_sums(self.chance, other.chance),
            _add_sums(self.tokens, other.tokens),
            None if self.by_value is None or other.by_value is None else _add_sums(self.by_value, other.by_value),
            None if self.lengths is None or other.lengths is None else _add_sums(self.lengths, other.lengths),
            self.texts + other.texts,
        )

    def strength(self, role: str) -> Numbers:
        """Mean share of a role, (layer, head), 0 to 1; nan where no token had anything to look at in it."""
        return self._mean(self.shares, role)

    def uniform_share(self, role: str) -> Numbers:
        """What even attention would give it, (layer, head)."""
        return self._mean(self.chance, role)

    def value_share(self, sink: str) -> Numbers | None:
        """Mean share of a sink once each weight counts times the length of its value vector, (layer, head)."""
        return None if self.by_value is None else self._mean(self.by_value, sink)

    def value_length(self, sink: str) -> Numbers | None:
        """Length of the sink's value vectors, in mean lengths of the other tokens', (layer, head)."""
        return None if self.lengths is None else self._mean(self.lengths, sink)

    def _mean(self, sums: Sums, role: str) -> Numbers:
        tokens = self.tokens[role]
        return np.divide(sums[role], tokens, out=np.full_like(tokens, np.nan), where=tokens > 0)


def observe(trace: Trace, part: str | None = None) -> RoleEvidence:
    """The evidence of one text. ``part`` is "encoder" or "decoder": cross-attention has no neighbours or sinks.

    Raises ValueError for "cross".
    """
    if (part or trace.part) == "cross":
        raise ValueError('Roles are told of a text that looks at itself; "cross" came. Name "encoder" or "decoder".')
    row, _ = trace.token_rows(part)
    records = trace.shares(part)
    causal = (part or trace.part) == "decoder"
    rows = sampled_queries(row)
    wanted = places(row, rows)
    shape = len(records), records[0].heads
    shares, chance, tokens = ({role: np.zeros(shape) for role in ROLES} for _ in range(3))
    by_value, lengths = ({sink: np.zeros(shape) for sink in SINKS} for _ in range(2))
    for layer, record in enumerate(records):
        if isinstance(record, NoAttention):  # no token looks at anything there
            continue
        seen = _visible_keys(record, rows, causal)
        allowed = seen.sum(axis=1, dtype=np.float32)
        targets = {role: target & seen for role, target in wanted.items()}
        for role, target in targets.items():
            chance[role][layer] = (target / allowed[:, None]).sum()
            tokens[role][layer] = target.any(axis=1).sum()
        chance["broad"][layer] = tokens["broad"][layer] = len(rows)
        for head in range(record.heads):
            weights = as_shares(record.weights(head, rows))
            for role, target in targets.items():
                shares[role][layer, head] = weights[target].sum()
            shares["broad"][layer, head] = _evenness(weights, allowed).sum()
            if isinstance(record, Record):
                norms = np.linalg.norm(record.value[record.kv_head(head)], axis=1)
                for sink in SINKS:
                    by_value[sink][layer, head], lengths[sink][layer, head] = _sink_shares(
                        weights, norms, targets[sink]
                    )
    known = trace.has_qkv(part)
    return RoleEvidence(shares, chance, tokens, by_value if known else None, lengths if known else None)


def attention_to_role(trace: Trace, role: str, layer: int, head: int, part: str | None = None) -> Numbers:
    """The share of its attention that each token gives to a role's places in one head, (token,).

    Their mean is the strength. NaN for tokens that do not count: special ones, those passed over in a long text, and
    those that have nothing to look at in that role.
    """
    row, _ = trace.token_rows(part)
    rows, record = sampled_queries(row), trace.records(part)[layer]
    seen = _visible_keys(record, rows, (part or trace.part) == "decoder")
    weights = as_shares(record.weights(head, rows))
    result = np.full(len(row), np.nan)
    if role == "broad":
        result[rows] = _evenness(weights, seen.sum(axis=1, dtype=np.float32))
    else:
        target = places(row, rows)[role] & seen
        result[rows] = np.where(target.any(axis=1), (weights * target).sum(axis=1), np.nan)
    return result


def sampled_queries(row: TokenRow) -> Indices:
    """The tokens that count as looking, (row,): no special ones, of a long text MOST_ROWS evenly spaced ones."""
    real = np.array([at for at, word in enumerate(row.words) if word is not None], dtype=np.intp)
    if len(real) <= MOST_ROWS:
        return real
    kept: Indices = real[np.linspace(0, len(real) - 1, MOST_ROWS).astype(np.intp)]
    return kept


def places(row: TokenRow, rows: Indices) -> dict[str, BoolArray]:
    """For each role but "broad", the keys that some tokens would look at in it, (row, key).

    A special token is no neighbour, so that looking at what comes before is not taken for a sink.

    >>> row = TokenRow(("[CLS]", "a", "b", "a"), (9, 1, 2, 1), (None, 0, 1, 2), (0,) * 4, (None,) * 4)
    >>> places(row, np.array([2]))["previous"].tolist(), places(row, np.array([3]))["repeat"].tolist()
    ([[False, True, False, False]], [[False, True, False, False]])
    """
    keys = np.arange(len(row))
    special = np.array(row.special, dtype=np.bool_)
    ids = np.array(row.ids)
    ahead = keys[None, :] - rows[:, None]
    return {
        "previous": (ahead == -1) & ~special,
        "next": (ahead == 1) & ~special,
        "same": ahead == 0,
        "first": (keys[None, :] == 0) & (ahead != 0),
        "separator": np.broadcast_to(special & (keys > 0), ahead.shape),
        "repeat": (ids[None, :] == ids[rows][:, None]) & (ahead != 0) & ~special,
    }


def names(evidence: RoleEvidence, layer: int, head: int, least: float = LEAST, even: float = EVEN) -> list[str]:
    """The roles that a head is named after, strongest first: those that get at least ``least`` of its attention.

    "broad" comes last, and needs ``even`` of the greatest entropy there is. Roles that fewer than FEWEST tokens could
    have are not given.
    """
    found = []
    for role in ROLES:
        share = float(evidence.strength(role)[layer, head])
        if evidence.tokens[role][layer, head] >= FEWEST and share >= (even if role == "broad" else least):
            found.append((role == "broad", -share, role))
    return [role for _, _, role in sorted(found)]


def _add_sums(one: Sums, other: Sums) -> Sums:
    return {name: one[name] + other[name] for name in one}


def _visible_keys(record: AnyRecord, rows: Indices, causal: bool) -> BoolArray:
    """Which keys each token may look at, (row, key)."""
    mask = record.mask.block(rows, slice(None)) if isinstance(record, Record) else None
    if mask is not None:
        return mask
    keys = np.arange(record.keys)
    result: BoolArray = (keys[None, :] <= rows[:, None]) | np.array(not causal)
    return result


def _evenness(weights: FloatArray, allowed: FloatArray) -> FloatArray:
    """Entropy over that of even attention, (row,), 0 to 1; 1 where there is only one key to look at."""
    most = np.log2(allowed)
    result: FloatArray = np.divide(entropy(weights), most, out=np.ones_like(most), where=most > 0)
    return result


def _sink_shares(weights: FloatArray, norms: FloatArray, target: BoolArray) -> tuple[float, float]:
    """A sink's share of attention times value length, and its values' relative length; sums over tokens that see it."""
    sees = target.any(axis=1)
    if not sees.any():
        return 0.0, 0.0
    moved = as_shares(weights * norms)
    inside, outside = norms[target.any(axis=0)].mean(), norms[~target.any(axis=0)]
    mean = float(outside.mean()) if len(outside) else 0.0
    return float(moved[target].sum()), float(inside / mean * sees.sum()) if mean > 0 else 0.0


SETTLED = 2  # the first query that is counted for the other scores: the token before it is never the first of all


def prefix_matching_score(maps: FloatArray, start: int, length: int) -> FloatArray:
    """The prefix-matching score, (..., query, key) -> (...), from 0 to 1.

    For each token of the second and later copies, what it gives to the tokens that followed its earlier occurrences;
    the mean over these tokens. ``start`` tokens stand in front, ``length`` is that of one copy. Raises ValueError for
    maps in which nothing is repeated. The score of arXiv:2209.11895, summed over earlier copies.

    >>> maps = np.zeros((6, 6), np.float32)  # a b c a b c
    >>> maps[[3, 4, 5], [1, 2, 3]] = [1.0, 0.5, 0.0]  # the second a looks at the first b, and so on
    >>> float(prefix_matching_score(maps, 0, 3))
    0.5
    """
    queries, keys = _pairs(maps.shape[-1], start, length)
    total: FloatArray = maps[..., queries, keys].sum(axis=-1) / np.float32(len(np.unique(queries)))
    return total


def previous(maps: FloatArray) -> FloatArray:
    """What tokens give to the token before, the mean over the third and later ones, (..., query, key) -> (...).

    >>> float(previous(np.eye(4, k=-1, dtype=np.float32)))
    1.0
    """
    given: FloatArray = np.diagonal(maps, -1, -2, -1)[..., SETTLED - 1 :].mean(axis=-1)
    return given


def first(maps: FloatArray) -> FloatArray:
    """What tokens give to the first of all, the mean over the third and later ones, (..., query, key) -> (...).

    >>> float(first(np.array([[1, 0, 0], [0, 1, 0], [0.25, 0, 0.75]], np.float32)))
    0.25
    """
    given: FloatArray = maps[..., SETTLED:, 0].mean(axis=-1)
    return given


def uniform_matching_score(tokens: int, start: int, length: int) -> float:
    """The prefix-matching score of attention that is spread evenly over all that a token may see.

    >>> round(uniform_matching_score(4, 0, 2), 4)  # two copies of two tokens: (1/3 + 1/4) / 2
    0.2917
    """
    queries, _ = _pairs(tokens, start, length)
    return float((1.0 / (queries + 1)).sum() / len(np.unique(queries)))


def _pairs(tokens: int, start: int, length: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Each query of a later copy with each token that followed an earlier occurrence of it."""
    back = length - 1  # from a token to what followed it one copy before
    pairs = [(query, key) for query in range(start + length, tokens) for key in range(query - back, start, -length)]
    if back < 1 or not pairs:
        raise ValueError(f"{tokens} tokens, {start} in front, repeat no sequence of {length}: give two copies or more.")
    queries, keys = np.array(pairs, dtype=np.intp).T
    return queries, keys


def without_first(looks: FloatArray) -> FloatArray:
    """Weights (..., key) with the first token's taken out and the rest scaled to one again; 0 where nothing is left.

    >>> without_first(np.array([0.5, 0.25, 0.25], np.float32)).tolist()
    [0.0, 0.5, 0.5]
    """
    kept = looks.copy()
    kept[..., 0] = 0
    left = kept.sum(axis=-1, keepdims=True)
    result: FloatArray = np.divide(kept, left, out=np.zeros_like(kept), where=left != 0)  # NaN stays NaN
    return result


def without_missing(looks: FloatArray) -> FloatArray:
    """Return weights (layer, head, key) with NaN for the layers that give nothing, since they have no attention.

    >>> without_missing(np.array([[[0.0, 0.0]], [[0.5, 0.5]]], np.float32)).tolist()
    [[[nan, nan]], [[0.5, 0.5]]]
    """
    known: FloatArray = np.where(looks.any(axis=(-2, -1), keepdims=True), looks, np.float32(np.nan))
    return known


def largest_weight_back(looks: FloatArray) -> FloatArray:
    """The largest weight (...) further back: on no first token, nor on the newest and the one before it; else 0.

    Many heads look at the neighbour whatever it is; what is further back had to be found.

    >>> largest_weight_back(np.array([[0.5, 0.25, 0.125, 0.125], [0.0, 0.125, 0.875, 0.0]], np.float32)).tolist()
    [0.25, 0.125]
    """
    further: FloatArray = looks[..., 1:-2].max(axis=-1, initial=0)
    result: FloatArray = np.where(np.isnan(looks[..., -1]), looks[..., -1], further)
    return result


def mean_distance_back(looks: FloatArray) -> FloatArray:
    """How far back the newest token looks, (...): the mean distance in tokens, the first token's weight counted as 0.

    The first token is far from every other, and much weight on it says little (arXiv:2309.17453).

    >>> (
    ...     mean_distance_back(np.array([0.5, 0.5, 0.0], np.float32)).tolist(),
    ...     mean_distance_back(np.array([1.0], np.float32)).tolist(),
    ... )
    (0.5, 0.0)
    """
    distance = np.arange(looks.shape[-1])[::-1].astype(np.float32)
    distance[0] = 0
    result: FloatArray = (looks * distance).sum(axis=-1)
    return result
