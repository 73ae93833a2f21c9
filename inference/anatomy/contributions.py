"""The contribution of each source (head, layer, embedding) to a later vector in a forward pass.

The module also recomputes the vector with a source removed.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attention.score_terms import head_source
from attention.stages.formulas import FORMULAS
from inference import cancellation
from inference.anatomy.pass_graph import PassGraph
from inference.anatomy.program import Array, FunctionCall, Value
from inference.anatomy.source_rules import AFFINE, NORM, STATISTIC, Rule, SourceRules

_RMS = ("normalized_shape", "weight", "eps")  # the arguments of torch's rms_norm after its input
Contributions = dict[str, Array]  # by source, arrays of the shape of the value


@dataclass(eq=False)
class _Wanted:
    """The calls between the sources and some values, in order, and how often each value is read."""

    calls: list[FunctionCall]
    readers: dict[int, int]


@dataclass(frozen=True, eq=False)
class SourcePaths:
    """The direct paths from sources of the residual stream (heads, layers, embeddings) to later values.

    A direct path bypasses all attention and feed-forward sublayers between the source and the value.
    """

    graph: PassGraph
    rules: SourceRules

    def contributions(
        self, values: Sequence[Value], begin: Mapping[int, Contributions] | None = None
    ) -> list[Contributions]:
        """Return, for each of ``values``, the contribution of each source; the contributions sum to the value.

        Norms use their recorded means and variances. ``begin`` maps the id() of earlier values to contributions that
        are already known. Biases that are added on the path form a separate source.
        """
        found: dict[int, Contributions] = dict(begin or {})
        wanted = self._calls_between(values, found, statistics=False)
        kept = {id(value) for value in values}
        for call in wanted.calls:
            cancellation.check()
            for value, parts in self._pass_on(call, lambda value: self._of(value, found)):
                found[id(value)] = parts
            for value in call.reads():
                wanted.readers[id(value)] = wanted.readers.get(id(value), 0) - 1
                if not wanted.readers[id(value)] and id(value) not in kept:
                    found.pop(id(value), None)
        return [self._of(value, found) for value in values]

    def replay(self, value: Value, changed: Mapping[int, Array], without: str = "") -> Array:
        """Return ``value`` as recomputed from changed numbers of earlier values; norms compute new statistics.

        ``changed`` maps the id() of each changed value to its new numbers. If ``without`` names a source of biases,
        these biases are left out.
        """
        found = dict(changed)
        for call in self._calls_between([value], found, statistics=True).calls:
            cancellation.check()
            rule = self.rules.rules[call.number]
            given, named = self.graph.arguments(call, found)
            made = self._results(call, given, named)
            if rule.offset and rule.offset == without:
                made = [one - constant for one, constant in zip(made, self._offset(call, rule), strict=True)]
            for result in self.graph.made_by.get(call.number, ()):
                found[id(result)] = made[result.output]
        return found.get(id(value), self.graph.array(value))

    def layer_inputs(self, value: Value) -> list[Value]:
        """Return the values of the residual stream from which the layer of ``value`` computes it.

        If the stream comes from a norm, as in a post-norm model, return the input of that norm instead.
        """
        assert value.call is not None
        waiting, found = [value], dict[int, Value]()
        while waiting:
            call = (one := waiting.pop()).call
            rule = self.rules.rule(one)
            if call is None or rule.kind not in (AFFINE, NORM) or call.layer != value.call.layer:
                found[id(one)] = self._before_norm(one)
            else:
                waiting.extend(call.reads()[at] for at in rule.carried)
        return list({id(one): one for one in found.values()}.values())

    def _before_norm(self, value: Value) -> Value:
        """Return the input of the norm that made a value, or the value itself if it is a sum."""
        one, rule = value, self.rules.rule(value)
        while rule.kind in (AFFINE, NORM) and len(rule.carried) == 1 and one.call is not None:
            before = one.call.reads()[rule.carried[0]]
            if rule.kind == NORM or rule.statistics:
                return before
            one, rule = before, self.rules.rule(before)
        return value

    def _of(self, value: Value, found: Mapping[int, Contributions]) -> Contributions:
        return found[id(value)] if id(value) in found else self._begin(value)

    def _begin(self, value: Value) -> Contributions:
        """Return the contributions to a value that is a source itself, or a constant."""
        sources = self.rules.sources(value)
        if not sources:
            return {}
        array = self.graph.array(value)
        node = self.graph.outputs.get(id(value))
        if node is None:
            [source] = sources
            return {source: array}
        found = {}
        for head in range(node.call.query.shape[1]):
            part = np.zeros_like(array)
            part[:, head] = array[:, head]
            found[head_source(node.part, node.layer, head)] = part
        return found

    def _calls_between(self, values: Sequence[Value], begun: Container[int], statistics: bool) -> _Wanted:
        """Return the calls from the values ``begun``, or the sources, to ``values``.

        With ``statistics``, the calls that compute the statistics of norms are included.
        """
        waiting, calls, readers = list(values), dict[int, FunctionCall](), dict[int, int]()
        while waiting:
            value = waiting.pop()
            call = value.call
            if call is None or call.number in calls or id(value) in self.graph.outputs or id(value) in begun:
                continue
            rule = self.rules.rules.get(call.number)
            measures = statistics and rule is not None and rule.sources == STATISTIC
            if rule is None or (rule.kind not in (AFFINE, NORM) and not measures):
                continue
            calls[call.number] = call
            for at, read in enumerate(call.reads()):
                readers[id(read)] = readers.get(id(read), 0) + 1
                if measures or at in rule.carried or (statistics and at in rule.statistics):
                    waiting.append(read)
        return _Wanted([calls[number] for number in sorted(calls)], readers)

    def _pass_on(
        self, call: FunctionCall, of: Callable[[Value], Contributions]
    ) -> Iterable[tuple[Value, Contributions]]:
        """Return each result of a call with its contributions."""
        rule = self.rules.rules[call.number]
        reads, results = call.reads(), self.graph.made_by.get(call.number, [])
        carried = [(reads[at], of(reads[at])) for at in rule.carried]
        made: list[Contributions] = [{} for _ in range(1 + max((value.output for value in results), default=0))]
        if rule.kind == NORM:
            normalise = self._normaliser(call)
            made[0] |= {source: normalise(part) for source, part in carried[0][1].items()}
            carried = []
        for source in dict.fromkeys(name for _value, parts in carried for name in parts):
            for into, part in zip(made, self._linear_part(call, rule, source, carried), strict=False):
                into[source] = part
        for into, constant in zip(made, self._offset(call, rule) if rule.offset else (), strict=False):
            if constant.any():
                into[rule.offset] = into.get(rule.offset, 0) + constant
        return [(value, made[value.output]) for value in results]

    def _linear_part(
        self, call: FunctionCall, rule: Rule, source: str, carried: Sequence[tuple[Value, Contributions]]
    ) -> list[Array]:
        parts = [(value, found.get(source)) for value, found in carried]
        present = [part for _value, part in parts if part is not None]
        if call.name == "add" and not call.named and len(present) == 1 and present[0].shape == call.shape:
            return present  # an addition of zeros
        filled = {id(value): np.zeros_like(self.graph.array(value)) if part is None else part for value, part in parts}
        filled |= self._without_constants(call, rule)
        given, named = self.graph.arguments(call, filled)
        return self._results(call, given, named)

    def _without_constants(self, call: FunctionCall, rule: Rule) -> dict[int, Array]:
        """Return zeros for the constants that a call adds, by the id of their values."""
        if not rule.offset or call.name in ("where", "masked_fill"):
            return {}
        constants = [value for at, value in enumerate(call.reads()) if at not in rule.carried]
        if call.name in ("linear", "conv1d", "conv2d"):
            constants = constants[1:]
        elif call.name in ("addmm", "baddbmm"):
            constants = [value for value in constants if value is call.reads()[0]]
        return {
            id(value): np.zeros_like(self.graph.array(value)) for value in constants if self.graph.is_fraction(value)
        }

    def _offset(self, call: FunctionCall, rule: Rule) -> list[Array]:
        """Return the constants that a call adds: its results for an input of zeros."""
        reads = call.reads()
        if rule.kind == NORM:
            return [np.broadcast_to(self.graph.array(reads[-1]), call.shape)]
        zeros = {id(reads[at]): np.zeros_like(self.graph.array(reads[at])) for at in rule.carried}
        return self._results(call, *self.graph.arguments(call, zeros))

    def _normaliser(self, call: FunctionCall) -> Callable[[Array], Array]:
        """Return a norm's linear map of a contribution, at the statistics of the recorded pass."""
        given, named = self.graph.arguments(call, {})
        centres = call.name == "layer_norm"
        names = ("input", "normalized_shape", "weight", "bias", "eps") if centres else ("input", *_RMS)
        options = dict(zip(names, given, strict=False)) | named
        whole, weight, eps = options["input"], options.get("weight"), options.get("eps")
        axes = tuple(range(-len(options["normalized_shape"]), 0))
        small = eps if eps is not None else 1e-5 if centres else np.finfo(whole.dtype).eps
        whole = whole - whole.mean(axis=axes, keepdims=True) if centres else whole
        scale = 1 / np.sqrt(np.square(whole).mean(axis=axes, keepdims=True) + whole.dtype.type(small))

        def normalise(part: Array) -> Array:
            found: Array = (part - part.mean(axis=axes, keepdims=True) if centres else part) * scale
            return found if weight is None else found * weight

        return normalise

    def _results(self, call: FunctionCall, given: Any, named: Any) -> list[Array]:
        made = FORMULAS[call.name](*given, **named)
        return [np.asarray(one) for one in made] if isinstance(made, tuple | list) else [np.asarray(made)]
