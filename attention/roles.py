"""What each head is for, as far as its maps alone tell: where its attention goes, in shares that add over texts.

The roles are those of arXiv:1906.04341, section 3. Sinks are where attention goes whatever stands there: separators
(section 3.2 there) and, shown for language models, the first token (arXiv:2309.17453). A sink's share counts twice: as
attention, and as attention times the length of the value vector (arXiv:2004.10102), which is what reaches the output.
Departure: without the output matrix, which a trace does not hold.
"""

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
