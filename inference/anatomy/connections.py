"""How the parts of a layer are connected, found in the numbers of a pass: what one read is what others made."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from inference.anatomy.blocks import LayerRun
from inference.anatomy.watched_pass import Numbers
from inference.tasks.anatomy import ENTERS, Flow, LayerStep

TOLERANCE = 1e-5  # of the largest number: the same sum in another order
MOST_SUMMED = 3  # what enters, attention and feed-forward, where both run side by side


def follow(block: LayerRun) -> Flow:
    """The steps of one run of a layer. Additions are no modules; they are found as sums that a later step reads."""
    return _Follower(block.visit.given).run(block)


class _Follower:
    def __init__(self, enters: Numbers) -> None:
        self.steps: list[LayerStep] = []
        self.values: dict[int, Numbers] = {ENTERS: enters}
        self.leaving: dict[int, Numbers] = {}
        self.followed = True

    def run(self, block: LayerRun) -> Flow:
        for operation in block.operations:
            source = self.source_of(operation.given)
            self.steps.append(LayerStep(operation.kind, (source,)))
            self.values[len(self.steps) - 1] = operation.made
            self.leaving[len(self.steps) - 1] = operation.leaves
        leaves = self.source_of(block.visit.made)
        return Flow(tuple(self.steps), leaves, self.followed)

    def source_of(self, wanted: Numbers) -> int:
        """The step that made these numbers; an addition is put in where they are a sum of earlier ones."""
        outermost = {at: value for at, value in self.leaving.items() if value.size}
        # First what the last matrices made: some modules hand on their result with the addition in it. A mixture of
        # experts is the sum of many, so that only its outermost module's result counts.
        for values in (self.values, {**self.values, **outermost}):
            known = [at for at in reversed(values) if values[at].size]
            for at in known:
                if is_equal(values[at], wanted):
                    return at
            for size in range(2, MOST_SUMMED + 1):
                for several in combinations(known, size):
                    if is_equal(_sum([values[at] for at in several]), wanted):
                        return self._add(tuple(sorted(several)), wanted)
        self.followed = False
        return self._guess(wanted)

    def _guess(self, wanted: Numbers) -> int:
        """By the order of the calls: a part's result is added to what the part was computed from."""
        last = len(self.steps) - 1
        if last < 0 or self.steps[last].kind == "norm":
            return last
        stream = self.steps[last].sources[0]
        if stream != ENTERS and self.steps[stream].kind == "norm" and self.steps[0].kind == "norm":
            stream = self.steps[stream].sources[0]  # a layer that begins with a norm adds to what the norm read
        return self._add((stream, last), wanted)

    def _add(self, sources: tuple[int, ...], value: Numbers) -> int:
        self.steps.append(LayerStep("add", sources))
        self.values[len(self.steps) - 1] = value
        return len(self.steps) - 1


def is_equal(one: Numbers, other: Numbers) -> bool:
    """Whether two tensors hold the same numbers, to float precision."""
    if one.shape != other.shape or not one.size:
        return False
    largest = float(np.abs(other).max())
    return bool(np.abs(one - other).max() <= TOLERANCE * max(largest, 1e-6))


def _sum(values: Sequence[Numbers]) -> Numbers:
    """Their sum; nothing where their sizes differ."""
    if len({value.shape for value in values}) > 1:
        return np.zeros(0, np.float32)
    total: Numbers = np.sum(values, axis=0)
    return total
