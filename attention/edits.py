"""Interventions in a model as values: ablation, masked edges, activation patching, and their effect on an answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from attention.comparison import Aligned
from attention.head_names import parse_head
from attention.mask import FloatArray
from attention.trace import Trace
from attention.view import View
from i18n import gettext_lazy


@dataclass(frozen=True, order=True)
class Ablate:
    """An ablated head: its slice of the input of W_O is set to zero.

    The attention map of the head does not change.
    """

    layer: int
    head: int
    part: str = ""


@dataclass(frozen=True, order=True)
class MaskEdge:
    """A masked edge: the weight from ``query`` to ``key`` is zero, and the row is renormalised."""

    layer: int
    head: int
    query: int
    key: int
    part: str = ""


@dataclass(frozen=True, order=True)
class Uniform:
    """A head with uniform attention: each query attends equally to all keys that it may attend to."""

    layer: int
    head: int
    part: str = ""


@dataclass(frozen=True, order=True)
class MaskKey:
    """A masked key: no head of the layer attends to it, and the rows are renormalised."""

    layer: int
    key: int
    part: str = ""


@dataclass(frozen=True, order=True)
class ZeroValue:
    """A zeroed value: the value of ``key`` is zero in every head of the layer (arXiv:2301.12971).

    The attention weights do not change.
    """

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
FORMS = gettext_lazy(
    "a3-1: ablate head 3-1. u3-1: uniform weights. c3-1-8-2: mask edge 8 → 2. In layer 3, h3-2 masks token 2, m3-2 "
    "zeroes its value."
)


def pack(edits: Sequence[Edit]) -> str:
    """Encode edits as a compact string for a URL; ``unpack`` is the inverse.

    >>> pack([Ablate(3, 1), MaskEdge(2, 4, 5, 7), Uniform(0, 2, "cross")])
    'a3-1,c2-4-5-7,ux0-2'
    """
    return ",".join(_pack_edit(edit) for edit in edits)


def unpack(packed: str) -> tuple[Edit, ...]:
    """Decode the edits in a URL; raise ValueError with a message for users if the string is invalid.

    >>> unpack("a3-1,c2-4-5-7") == (Ablate(3, 1), MaskEdge(2, 4, 5, 7))
    True
    """
    return tuple(_unpack_edit(word) for word in packed.split(",") if word)


def drop_token_edits(packed: str) -> str:
    """Return packed edits without those that refer to tokens, which do not apply to another text.

    >>> drop_token_edits("a3-1,c2-4-5-7,ux0-2,h3-2")
    'a3-1,ux0-2'
    """
    return ",".join(word for word in split_codes(packed) if not (word[:1] in ("c", "h", "m") and _ONE.fullmatch(word)))


def split_codes(typed: str) -> list[str]:
    """Split edit codes and names of heads at commas and spaces; the name of a head may itself contain spaces.

    A part between two commas without any code or name stays whole, because it is an error of the visitor.

    >>> split_codes("a5-8 a2-11, layer 3 head 1"), split_codes("nothing of these,3-1 2-4")
    (['a5-8', 'a2-11', 'layer 3 head 1'], ['nothing of these', '3-1', '2-4'])
    """
    found: list[str] = []
    for part in filter(None, map(str.strip, typed.split(","))):
        words = part.split()
        several = parse_head(part) is None and any(_ONE.fullmatch(word) or parse_head(word) for word in words)
        found += words if several else [part]
    return found


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
                "{word!r} is not an edit. {forms}",
                word=word[:40],
                forms=FORMS,
            )
        )
    part = _PARTS[found[2]]
    if found[1] == "c":
        return MaskEdge(places[0], places[1], places[2], places[3], part)
    return _LETTERS[found[1]](places[0], places[1], part)


Pairs = tuple[tuple[int, int], ...]  # token pairs (recipient, donor)


@dataclass(frozen=True, order=True)
class PatchHead:
    """A patch of a head's output (its weighted sum of values, before W_O) at some tokens.

    A patch replaces an activation in one text (the recipient) by that in another (the donor), at each of ``pairs``
    (recipient token, donor token). If ``seed`` is given, the patch is a control: it adds a random vector with the same
    norm as the donor's change.
    """

    layer: int
    head: int
    pairs: Pairs
    part: str = ""
    seed: int | None = None


@dataclass(frozen=True, order=True)
class PatchResidual:
    """A patch of the residual stream at the input of a layer, at some tokens.

    A patch replaces a vector in one text (the recipient) by that in another (the donor), at each of ``pairs``
    (recipient token, donor token). If ``seed`` is given, the patch is a control: it adds a random vector with the same
    norm as the donor's change.
    """

    layer: int
    pairs: Pairs
    part: str = ""
    seed: int | None = None


Patch = PatchHead | PatchResidual


def paired_tokens(left: View, right: View, aligned: Aligned) -> tuple[Pairs, ...]:
    """Return the token pairs (left, right) of each pair of aligned words, for use in patches.

    If the words have m and n tokens, the last min(m, n) tokens of either are paired: a decoder has read the whole word
    only at its end.
    """
    return tuple(
        _from_the_end(
            (left.queries[one[0]].pieces[0], left.queries[one[1] - 1].pieces[1]),
            (right.queries[other[0]].pieces[0], right.queries[other[1] - 1].pieces[1]),
        )
        for one, other in aligned.pairs
    )


def _from_the_end(one: tuple[int, int], other: tuple[int, int]) -> Pairs:
    """Pair the tokens of two runs (start, stop), aligned at their ends.

    >>> _from_the_end((2, 4), (2, 5))
    ((2, 3), (3, 4))
    """
    many = min(one[1] - one[0], other[1] - other[0])
    return tuple(zip(range(one[1] - many, one[1]), range(other[1] - many, other[1]), strict=True))


def residual_patches(layers: int, words: Sequence[Pairs], part: str = "") -> list[tuple[Patch, ...]]:
    """Return the patch sets of an experiment: each word in each layer, then each word in all layers.

    ``words`` has the token pairs of each word. The list has (layers + 1) × words entries: the sets of all words in
    layer 0, then in layer 1, and so on, and finally a set for each word that patches all layers together.
    """
    each: list[tuple[Patch, ...]] = [(PatchResidual(layer, pairs, part),) for layer in range(layers) for pairs in words]
    return each + [tuple(PatchResidual(layer, pairs, part) for layer in range(layers)) for pairs in words]


def head_patches(places: Sequence[tuple[int, int]], words: Sequence[Pairs], part: str = "") -> list[tuple[Patch, ...]]:
    """Return a patch set for each head (layer, head) in ``places``.

    It replaces the output of the head at all words. ``words`` has the token pairs of each word, and ``part`` is the
    stack.
    """
    pairs = tuple(pair for word in words for pair in word)
    return [(PatchHead(layer, head, pairs, part),) for layer, head in places]


def random_patches(taken: tuple[Patch, ...], seed: int) -> tuple[Patch, ...]:
    """Return control patches for a patch set, with the seeds from ``seed`` to ``seed`` + len(taken) - 1.

    A patch with a seed adds a random vector that has the same norm as the donor's change.

    >>> [patch.seed for patch in random_patches((PatchResidual(0, ((1, 1),)), PatchResidual(1, ((1, 1),))), 4)]
    [4, 5]
    """
    return tuple(replace(patch, seed=seed + number) for number, patch in enumerate(taken))


def patching_effect(values: FloatArray, before: FloatArray, other: FloatArray) -> FloatArray:
    """Return how far each patch set moves the answer towards the donor's answer, shape (set,).

    An effect of 0 is the recipient's answer (``before``), and 1 the donor's answer (``other``). Negative effects move
    away from the donor. ``values`` (set, entry) are the answers with each patch set. If answers are vectors, they are
    projected onto the line between ``before`` and ``other``. Raise ValueError if these are equal.

    >>> patching_effect(np.array([[0.0, 0.0], [1.0, 5.0], [2.0, 0.0]]), np.zeros(2), np.array([2.0, 0.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    way = (other - before).astype(np.float64)
    length = float(way @ way)
    if not length:
        raise ValueError(gettext_lazy("Both texts have the same answer. Change a word."))
    shares: FloatArray = ((values - before) @ way / length).astype(np.float32)
    return shares


EditSet = tuple[Edit, ...]


def similarity(vectors: FloatArray) -> FloatArray:
    """Return the cosine similarity of each vector with the first vector, (set, channel) -> (set,).

    >>> similarity(np.array([[2.0, 0.0], [1.0, 0.0], [0.0, 3.0]])).tolist()
    [1.0, 1.0, 0.0]
    """
    sizes = np.linalg.norm(vectors, axis=1)
    cosines: FloatArray = vectors @ vectors[0] / (sizes * sizes[0])
    return cosines


def log_odds(logs: FloatArray) -> FloatArray:
    """Return the log-odds of the first of two answers against the second in nats, (set, 2) -> (set,).

    ``logs`` are the log-probabilities of both answers. The value is 0 if they are equally probable.

    >>> log_odds(np.log(np.array([[0.5, 0.25]]))).round(3).tolist()
    [0.693]
    """
    odds: FloatArray = logs[:, 0] - logs[:, 1]
    return odds


def ablation_set(heads: Sequence[tuple[int, int]]) -> EditSet:
    """Return the edit set that ablates ``heads``, (layer, head); their order does not matter.

    >>> ablation_set([(1, 0), (0, 2)])
    (Ablate(layer=0, head=2, part=''), Ablate(layer=1, head=0, part=''))
    """
    return tuple(Ablate(*head) for head in sorted(heads))


def removal_sets(orders: Sequence[Sequence[tuple[int, int]]], steps: int) -> list[EditSet]:
    """Return the edit sets that ablate the first 1 to ``steps`` heads, (layer, head), of each order.

    >>> removal_sets([[(1, 0), (0, 2)]], 2)
    [(Ablate(layer=1, head=0, part=''),), (Ablate(layer=0, head=2, part=''), Ablate(layer=1, head=0, part=''))]
    """
    return [ablation_set(order[: at + 1]) for order in orders for at in range(steps)]


def random_orders(heads: Sequence[tuple[int, int]], many: int, seed: int) -> list[list[tuple[int, int]]]:
    """Return ``many`` random orders of ``heads``, (layer, head), reproducible by ``seed``."""
    generator = np.random.default_rng(seed)
    return [[heads[at] for at in generator.permutation(len(heads))] for _order in range(many)]


def random_sets(
    chosen: EditSet, places: Sequence[tuple[int, int]], tokens: Sequence[int], many: int, seed: int = 0
) -> tuple[EditSet, ...]:
    """Return up to ``many`` distinct random edit sets of the same kinds as ``chosen``, as a control.

    Each set replaces the heads by random heads of ``places`` (layer, head), and the keys of ``MaskKey`` and
    ``ZeroValue`` by random ``tokens``. A masked edge keeps its query and key. The result is shorter if fewer distinct
    sets exist, and reproducible by ``seed``.

    >>> from attention.edits import Ablate
    >>> random_sets((Ablate(0, 1),), [(0, 0), (0, 1), (1, 0)], [], 9) in (
    ...     ((Ablate(0, 0),), (Ablate(1, 0),)), ((Ablate(1, 0),), (Ablate(0, 0),)))
    True
    """
    generator = np.random.default_rng(seed)
    seen: dict[frozenset[Edit], EditSet] = {frozenset(chosen): chosen}
    for _ in range(20 * many):
        if len(seen) > many:
            break
        heads = dict(zip(places, (places[at] for at in generator.permutation(len(places))), strict=True))
        words = dict(zip(tokens, (tokens[at] for at in generator.permutation(len(tokens))), strict=True))
        moved = tuple(sorted(_remap_edits(chosen, heads, words), key=repr))
        seen.setdefault(frozenset(moved), moved)
    return tuple(seen.values())[1:]


def _remap_edits(
    chosen: EditSet, heads: dict[tuple[int, int], tuple[int, int]], words: dict[int, int]
) -> Iterator[Edit]:
    for edit in chosen:
        if isinstance(edit, MaskKey | ZeroValue):
            yield replace(edit, key=words.get(edit.key, edit.key))
        else:
            layer, head = heads[edit.layer, edit.head]
            yield replace(edit, layer=layer, head=head)


def heads_moved(before: Trace, after: Trace) -> FloatArray:
    """Return how much each head's attention differs between two traces of the same tokens, shape (layer, head).

    The value is the mean over queries of the total variation distance between a query's rows in both traces. It is 0 if
    the maps are equal, and 1 if no query attends to a common key.
    """
    found = [
        [0.5 * np.abs(one.weights(head) - other.weights(head)).sum(axis=1).mean() for head in range(one.heads)]
        for one, other in zip(before.records(), after.records(), strict=True)
    ]
    return np.array(found, dtype=np.float32)


def places_of(trace: Trace, part: str | None = None) -> list[tuple[int, int]]:
    """Return (layer, head) for all heads of a stack, by default the trace's first stack."""
    records = trace.records(part)
    return [(layer, head) for layer in trace.attending(part) for head in range(records[layer].heads)]


def as_head_map(places: Sequence[tuple[int, int]], found: FloatArray) -> FloatArray:
    """Arrange values of single heads as an array (layer, head), with NaN for missing heads.

    ``found`` has a value for each of the first heads in ``places``; the array covers all heads in ``places``.

    >>> as_head_map([(0, 0), (0, 1), (1, 0)], np.array([1.0, 2.0], np.float32)).tolist()
    [[1.0, 2.0], [nan, nan]]
    """
    layers, heads = (1 + max(place[axis] for place in places) for axis in (0, 1))
    laid = np.full((layers, heads), np.nan, np.float32)
    for place, number in zip(places, found, strict=False):
        laid[place] = number
    return laid
