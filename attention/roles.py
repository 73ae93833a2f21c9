"""Roles of heads, such as previous token, repeated token and attention sink, from attention maps."""

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

# Targets of attention: the previous token, the next token, the token itself, the first token, special tokens after the
# first, and other occurrences of the token. "broad" compares the entropy with that of uniform attention.
ROLES = ("previous", "next", "same", "first", "separator", "repeat", "broad")
SINKS = ("first", "separator")
MOST_ROWS = 256  # limit on query tokens per text; longer texts use evenly spaced tokens
LEAST = 0.5  # minimum share of attention for a role (arXiv:1906.04341, section 3.1)
EVEN = 0.85  # minimum ratio of the entropy to that of uniform attention for the role "broad"
FEWEST = 5  # minimum number of tokens behind a share

Indices = npt.NDArray[np.intp]
Numbers = npt.NDArray[np.float64]
Sums = Mapping[str, Numbers]


@dataclass(frozen=True, eq=False)
class RoleEvidence:
    """Attention of each head to the keys of each role, summed over query tokens, (layer, head) float64.

    A role is a pattern such as "previous token"; its keys are the tokens that the pattern attends to. Special tokens
    do not count as queries. A query counts for a role only if it can see a key of that role. The sums of several texts
    can be added.
    """

    shares: Sums  # shares of attention by role
    chance: Sums  # shares of uniform attention by role
    tokens: Sums  # number of query tokens by role
    by_value: Sums | None  # shares of attention times value norm by sink; None if values were not recorded
    lengths: Sums | None  # norm of the sink's values relative to the mean of other tokens, times the number of tokens
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
        """Return the part of each head's attention on the keys of a role, averaged over queries, (layer, head), 0 to 1.

        For "broad", it is the entropy relative to uniform attention. The value is NaN if no query sees such keys.
        """
        return self._mean(self.shares, role)

    def uniform_share(self, role: str) -> Numbers:
        """Return the ``strength`` of a role for uniform attention to all visible keys: the chance level, (layer, head).

        For "broad", it is 1.
        """
        return self._mean(self.chance, role)

    def value_share(self, sink: str) -> Numbers | None:
        """Return how much a sink adds to the head's output: the part of weight × ‖value‖ on its keys, (layer, head).

        The value is a mean over queries, 0 to 1. It is small if the head attends to the sink but its values add little.
        The result is None if values were not recorded.
        """
        return None if self.by_value is None else self._mean(self.by_value, sink)

    def value_length(self, sink: str) -> Numbers | None:
        """Return the mean norm of a sink's values divided by that of all other tokens, shape (layer, head).

        The result is None if values were not recorded.
        """
        return None if self.lengths is None else self._mean(self.lengths, sink)

    def _mean(self, sums: Sums, role: str) -> Numbers:
        tokens = self.tokens[role]
        return np.divide(sums[role], tokens, out=np.full_like(tokens, np.nan), where=tokens > 0)


def observe(trace: Trace, part: str | None = None) -> RoleEvidence:
    """Measure how much each head attends to the keys of each role; ``part`` is "encoder" or "decoder".

    Raise ValueError for "cross", because cross-attention has no neighbours or sinks.
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
        if isinstance(record, NoAttention):  # the layer has no weights to measure
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
    """Return each token's attention to the keys of a role in a head, summed over these keys, shape (token,).

    The mean over tokens is the strength of the role in this text. The value is NaN for special tokens, for tokens that
    see no key of the role, and for tokens of a long text that are not sampled.
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
    """Return the tokens that are measured as queries, (row,): at most MOST_ROWS, evenly spaced, not special."""
    real = np.array([at for at, word in enumerate(row.words) if word is not None], dtype=np.intp)
    if len(real) <= MOST_ROWS:
        return real
    kept: Indices = real[np.linspace(0, len(real) - 1, MOST_ROWS).astype(np.intp)]
    return kept


def places(row: TokenRow, rows: Indices) -> dict[str, BoolArray]:
    """Return the keys of each role for some query tokens, as a mapping from role to flags (row, key).

    ``rows`` are the positions of the query tokens. The role "broad" has no keys. A special token does not count as a
    previous or next token, so that attention to a sink does not count as attention to a neighbour.

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
    """Return the roles of a head whose keys get at least ``least`` of its attention, strongest first.

    The role "broad" comes last. It needs a mean entropy of at least ``even`` times that of uniform attention. A role is
    left out if fewer than FEWEST query tokens see a key of the role.
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
    """Return True for visible pairs of query token and key, shape (row, key)."""
    mask = record.mask.block(rows, slice(None)) if isinstance(record, Record) else None
    if mask is not None:
        return mask
    keys = np.arange(record.keys)
    result: BoolArray = (keys[None, :] <= rows[:, None]) | np.array(not causal)
    return result


def _evenness(weights: FloatArray, allowed: FloatArray) -> FloatArray:
    """Return the entropy relative to that of uniform attention, shape (row,), 0 to 1.

    The value is 1 for rows with a single visible key.
    """
    most = np.log2(allowed)
    result: FloatArray = np.divide(entropy(weights), most, out=np.ones_like(most), where=most > 0)
    return result


def _sink_shares(weights: FloatArray, norms: FloatArray, target: BoolArray) -> tuple[float, float]:
    """Return a sink's share of attention times value norm, and its relative value norm.

    Both are sums over the queries to which the sink is visible.
    """
    sees = target.any(axis=1)
    if not sees.any():
        return 0.0, 0.0
    moved = as_shares(weights * norms)
    inside, outside = norms[target.any(axis=0)].mean(), norms[~target.any(axis=0)]
    mean = float(outside.mean()) if len(outside) else 0.0
    return float(moved[target].sum()), float(inside / mean * sees.sum()) if mean > 0 else 0.0


SETTLED = 2  # first query in ``previous`` and ``first``, so that the token before it is not the first token


def prefix_matching_score(maps: FloatArray, start: int, length: int) -> FloatArray:
    """Return the prefix-matching score of maps of a repeated text, (..., query, key) -> (...), from 0 to 1.

    The score measures induction: the attention of each repeated token to the tokens that followed its earlier
    occurrences, averaged over queries (arXiv:2209.11895, summed over earlier copies). The text has ``start`` tokens
    before its first copy, and copies of ``length`` tokens. Raise ValueError if the maps contain no repetition.

    >>> maps = np.zeros((6, 6), np.float32)  # a b c a b c
    >>> maps[[3, 4, 5], [1, 2, 3]] = [1.0, 0.5, 0.0]  # the second a looks at the first b, and so on
    >>> float(prefix_matching_score(maps, 0, 3))
    0.5
    """
    queries, keys = _pairs(maps.shape[-1], start, length)
    total: FloatArray = maps[..., queries, keys].sum(axis=-1) / np.float32(len(np.unique(queries)))
    return total


def previous(maps: FloatArray) -> FloatArray:
    """Return the mean attention to the previous token from the third query on, (..., query, key) -> (...).

    >>> float(previous(np.eye(4, k=-1, dtype=np.float32)))
    1.0
    """
    given: FloatArray = np.diagonal(maps, -1, -2, -1)[..., SETTLED - 1 :].mean(axis=-1)
    return given


def first(maps: FloatArray) -> FloatArray:
    """Return the mean attention to the first token from the third query on, (..., query, key) -> (...).

    >>> float(first(np.array([[1, 0, 0], [0, 1, 0], [0.25, 0, 0.75]], np.float32)))
    0.25
    """
    given: FloatArray = maps[..., SETTLED:, 0].mean(axis=-1)
    return given


def uniform_matching_score(tokens: int, start: int, length: int) -> float:
    """Return the chance level of ``prefix_matching_score``: its value for uniform causal attention.

    >>> round(uniform_matching_score(4, 0, 2), 4)  # two copies of two tokens: (1/3 + 1/4) / 2
    0.2917
    """
    queries, _ = _pairs(tokens, start, length)
    return float((1.0 / (queries + 1)).sum() / len(np.unique(queries)))


def _pairs(tokens: int, start: int, length: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return pairs of a query in a later copy and a token that followed its earlier occurrence."""
    back = length - 1  # offset from a token to the successor of its previous occurrence
    pairs = [(query, key) for query in range(start + length, tokens) for key in range(query - back, start, -length)]
    if back < 1 or not pairs:
        raise ValueError(f"{tokens} tokens, {start} in front, repeat no sequence of {length}: give two copies or more.")
    queries, keys = np.array(pairs, dtype=np.intp).T
    return queries, keys


def without_first(looks: FloatArray) -> FloatArray:
    """Return weights (..., key) without the first token, rescaled to sum to one.

    The first weight becomes 0, and all are 0 if no weight remains.

    >>> without_first(np.array([0.5, 0.25, 0.25], np.float32)).tolist()
    [0.0, 0.5, 0.5]
    """
    kept = looks.copy()
    kept[..., 0] = 0
    left = kept.sum(axis=-1, keepdims=True)
    result: FloatArray = np.divide(kept, left, out=np.zeros_like(kept), where=left != 0)  # NaN != 0, so NaN is kept
    return result


def without_missing(looks: FloatArray) -> FloatArray:
    """Return weights (layer, head, key) with NaN in every layer that has no attention.

    In the argument, all weights of these layers are zero.

    >>> without_missing(np.array([[[0.0, 0.0]], [[0.5, 0.5]]], np.float32)).tolist()
    [[[nan, nan]], [[0.5, 0.5]]]
    """
    known: FloatArray = np.where(looks.any(axis=(-2, -1), keepdims=True), looks, np.float32(np.nan))
    return known


def largest_weight_back(looks: FloatArray) -> FloatArray:
    """Return the largest weight on any key except the first and the last two, (..., key) -> (...).

    It is 0 if there are no other keys. Many heads attend to the first token or a neighbour regardless of content, so
    weights in between are more informative. NaN stays NaN.

    >>> largest_weight_back(np.array([[0.5, 0.25, 0.125, 0.125], [0.0, 0.125, 0.875, 0.0]], np.float32)).tolist()
    [0.25, 0.125]
    """
    further: FloatArray = looks[..., 1:-2].max(axis=-1, initial=0)
    result: FloatArray = np.where(np.isnan(looks[..., -1]), looks[..., -1], further)
    return result


def mean_distance_back(looks: FloatArray) -> FloatArray:
    """Return the mean distance of the newest token's attention in tokens, shape (...).

    ``looks`` (..., key) has the weights of the newest token, the last key. The first token counts with distance 0: it
    is the farthest, and a large weight on it carries little information (arXiv:2309.17453).

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
