"""The sources of each tensor in a forward pass, and rules for passing their contributions through torch calls.

The residual stream is a sum of sources, such as head outputs. A call that is affine in its input transforms each
source's contribution separately. A norm is affine if its mean and variance are held at their recorded values. The
result of any other function is a new source. The output of a head is also a new source, so no contribution passes
through a softmax.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from attention.score_terms import BIAS, POSITION, SEGMENT, TOKEN, block_source, head_source, is_block
from attention.stages.formulas import MOVES
from inference.anatomy.module_roles import table_name
from inference.anatomy.pass_graph import PassGraph
from inference.anatomy.program import FunctionCall, Value
from inference.record.edit_hooks import attention_layers
from inference.tasks.anatomy import POSITIONS, RELATIVE, SEGMENTS

Sources = frozenset[str]

STATISTIC = frozenset({"(statistic)"})  # values of a norm, such as a variance, which are held constant
CONSTANT: Sources = frozenset()

# The kinds of a rule.
START = "start"  # the value is a new source, or the heads of an attention
AFFINE = "affine"
NORM = "norm"

JOINT = {*MOVES, "add", "sub", "__rsub__", "neg", "mean", "sum", "cumsum", "where", "masked_fill"}
PRODUCTS = {"mul", "div", "linear", "matmul", "bmm", "addmm", "baddbmm", "einsum", "conv1d", "conv2d"}
NORMS = {"layer_norm", "rms_norm"}
STATISTICS = {"pow", "square", "rsqrt", "sqrt", "abs", "var", "std", "norm", "reciprocal"}
OFFSETS = {
    "add", "sub", "__rsub__", "where", "masked_fill", "cat", "concat", "stack", "pad", "__setitem__",
    "linear", "addmm", "baddbmm", "conv1d", "conv2d",
}  # fmt: skip  # affine functions that may add a constant
MATRICES = {"linear", "addmm", "baddbmm", "conv1d", "conv2d"}
TOKENS = re.compile(r"(^|[._])(cls|class|register|distillation|mask)[a-z]*[._](token|embed)", re.IGNORECASE)
GIVEN = ("pixel_values", "input_features", "inputs_embeds", "encoder_hidden_states")


@dataclass(frozen=True)
class Rule:
    """The rule by which contributions of sources pass through a torch call.

    ``sources`` are the names of the sources of the result. ``carried`` and ``statistics`` are indices among the tensors
    that the call reads. Contributions to the ``carried`` tensors pass through the call; the ``statistics`` are factors
    that are held at their recorded values. ``offset`` is the source of the constant that the call adds, or "".
    """

    kind: str
    sources: Sources
    carried: tuple[int, ...] = ()
    statistics: tuple[int, ...] = ()
    offset: str = ""


def _token_table(model: Any) -> Any:
    """Return the weight of the model's token embeddings, or None, as in a model with a tower for pictures."""
    try:
        return getattr(model.get_input_embeddings(), "weight", None)
    except (AttributeError, NotImplementedError):
        return None


@dataclass(eq=False)
class SourceRules:
    """The rule for each torch call, by its number; calls without a rule compute constants."""

    model: Any
    graph: PassGraph
    rules: dict[int, Rule] = field(default_factory=dict)

    def __post_init__(self) -> None:
        weight = _token_table(self.model)
        self._tables = {name for name, parameter in self.model.named_parameters() if parameter is weight}
        for call in self.graph.calls:
            rule = self._rule(call) if call.grown and call.fractions else None
            if rule is not None:
                self.rules[call.number] = rule

    def sources(self, value: Value) -> Sources:
        """Return the names of the sources that contribute to a value; the set is empty for weights and constants."""
        node = self.graph.outputs.get(id(value))
        if node is not None:
            return frozenset(head_source(node.part, node.layer, head) for head in range(node.call.query.shape[1]))
        if not value.grown:
            return frozenset({TOKEN}) if _is_input(value) else CONSTANT
        if value.call is None:
            return CONSTANT
        rule = self.rules.get(value.call.number)
        return CONSTANT if rule is None else rule.sources

    def rule(self, value: Value) -> Rule:
        """Return the rule of the torch call that computed ``value``.

        If there is no such rule, as for an input or the result of an attention, return a rule of the kind START.
        """
        made = None if value.call is None or id(value) in self.graph.outputs else self.rules.get(value.call.number)
        return Rule(START, self.sources(value)) if made is None else made

    def _rule(self, call: FunctionCall) -> Rule | None:
        reads = call.reads()
        sets = [self.sources(value) if self.graph.is_fraction(value) else CONSTANT for value in reads]
        carried = tuple(at for at, found in enumerate(sets) if found)
        if call.name == "embedding" and not carried:
            return self._table(reads[-1])
        if not carried:
            return None
        union = frozenset().union(*(sets[at] for at in carried))
        if call.name in NORMS:
            return Rule(NORM, *self._with_offset(call, union, carried, len(reads) > 2 and call.name == "layer_norm"))
        if call.name in JOINT:
            return Rule(AFFINE, *self._with_offset(call, union, carried, call.name in OFFSETS))
        if call.name in PRODUCTS:
            return self._product(call, reads, sets, carried)
        return self._start(call, union)

    def _table(self, weight: Value) -> Rule | None:
        """Return the rule of an embedding: a new source, or None for a table of relative positions."""
        if weight.weight in self._tables:
            return Rule(START, frozenset({TOKEN}))
        role = table_name(weight.weight.rpartition(".")[0])
        if role == RELATIVE:
            return None
        return Rule(START, frozenset({{POSITIONS: POSITION, SEGMENTS: SEGMENT}.get(role, TOKEN)}))

    def _with_offset(
        self, call: FunctionCall, union: Sources, carried: tuple[int, ...], adds: bool
    ) -> tuple[Sources, tuple[int, ...], tuple[int, ...], str]:
        """Return the arguments of an affine rule; the constant of a single block belongs to the block."""
        if not adds or union == STATISTIC:
            return union, carried, (), ""
        others = [value for at, value in enumerate(call.reads()) if at not in carried]
        if call.name in ("add", "sub", "__rsub__", "cat", "concat", "stack") and not others:
            return union, carried, (), ""
        offset = next(iter(union)) if len(union) == 1 and is_block(*union) else self._role(call, others)
        return union | {offset}, carried, (), offset

    def _role(self, call: FunctionCall, constants: list[Value]) -> str:
        """Return the source of the constants of a call, by the names of their weights."""
        if call.name in MATRICES or call.name in NORMS:
            return BIAS
        names = [name for value in constants for name in _weights(value)]
        for name in names:
            if TOKENS.search(name):
                return TOKEN
            role = table_name(name)
            if role in (POSITIONS, SEGMENTS):
                return POSITION if role == POSITIONS else SEGMENT
        return BIAS if names or call.layer is not None else POSITION

    def _product(self, call: FunctionCall, reads: list[Value], sets: list[Sources], carried: tuple[int, ...]) -> Rule:
        """Return the rule of a product: affine in a single factor, or in the factor that a statistic scales."""
        union = frozenset().union(*(sets[at] for at in carried))
        divisor = call.name == "div" and carried[-1] == len(reads) - 1 and len(reads) > 1
        if len(carried) == 1 and not divisor:
            return Rule(AFFINE, *self._with_offset(call, union, carried, call.name in OFFSETS))
        if call.name in ("mul", "div") and len(carried) == 2 and reads[0] is not reads[1]:
            first, second = carried
            if sets[second] == STATISTIC or (self._is_gate(reads, sets, first, second)):
                return Rule(AFFINE, sets[first], (first,), (second,) if sets[second] == STATISTIC else ())
            if call.name == "mul" and (sets[first] == STATISTIC or self._is_gate(reads, sets, second, first)):
                return Rule(AFFINE, sets[second], (second,), (first,) if sets[first] == STATISTIC else ())
        if reads[0] is reads[-1] and call.name == "mul" and not (len(union) == 1 and is_block(*union)):
            return Rule(START, STATISTIC)
        return self._start(call, union)

    def _is_gate(self, reads: list[Value], sets: list[Sources], held: int, gate: int) -> bool:
        """Return True if ``gate`` scales whole vectors, or the heads of a layer."""
        one_factor = reads[gate].shape[-1:] == (1,) and reads[held].shape[-1:] != (1,)
        heads = all(name.startswith(("head ", "cross ")) for name in sets[held])
        return (one_factor or heads) and len(sets[gate]) == 1 and is_block(*sets[gate])

    def _start(self, call: FunctionCall, union: Sources) -> Rule:
        """Return the rule of a function that is not affine: a statistic, or the block of the layer."""
        if union == STATISTIC or (len(union) == 1 and is_block(*union)):
            return Rule(START, union)
        if call.name in STATISTICS:
            return Rule(START, STATISTIC)
        if call.layer is None:
            return Rule(START, frozenset({TOKEN}))
        part, layer = call.layer
        return Rule(START, frozenset({block_source(layer, layer in attention_layers(self.model, part))}))


def _is_input(value: Value) -> bool:
    """Return True for vectors that the model is given, such as a picture, and for moves of these vectors."""
    if value.call is None:
        return any(f'"{name}"' in value.code for name in GIVEN)
    return value.call.moves and _is_input(value.call.reads()[0])


def _weights(value: Value) -> Iterator[str]:
    """Yield the names of the weights that a constant depends on."""
    if value.weight:
        yield value.weight
    elif value.call is not None:
        for other in value.call.reads():
            yield from _weights(other)
