"""A forward pass as a graph of torch calls, with the numbers that the calls read, and its attention calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from torch import Tensor

from inference.anatomy.numpy_pass import as_numpy, compute, numpy_of
from inference.anatomy.program import Array, FunctionCall, Value, leaves, map_leaves
from inference.record.attention_call import AttentionCall, Repeats, part_namer
from inference.record.attention_function import observe_attention
from inference.record.edit_hooks import attention_layers
from inference.record.records import layer_modules


@dataclass(eq=False)
class AttentionNode:
    """An attention call in the graph: its stack and layer, and the tensors of its queries and keys."""

    call: AttentionCall
    part: str
    layer: int
    query: Value
    key: Value


@dataclass(eq=False)
class PassGraph:
    """The torch calls of a forward pass in order, with the contents of each tensor that was an input of a call.

    ``outputs`` maps the id() of the Value that an attention returns to the attention's node.
    """

    calls: list[FunctionCall] = field(default_factory=list)
    attentions: list[AttentionNode] = field(default_factory=list)
    outputs: dict[int, AttentionNode] = field(default_factory=dict)
    made_by: dict[int, list[Value]] = field(default_factory=dict)  # the values that later calls read, by call
    _arrays: dict[int, Array] = field(default_factory=dict)

    def array(self, value: Value) -> Array:
        """Return the contents of a tensor that was an input of a torch call; half precision becomes float32."""
        return self._arrays[id(value)]

    def is_fraction(self, value: Value) -> bool:
        """Return True if the value is a floating-point tensor whose numbers the graph contains."""
        found = self._arrays.get(id(value))
        return found is not None and found.dtype.kind == "f"

    def arguments(self, call: FunctionCall, changed: Mapping[int, Array]) -> tuple[Any, Any]:
        """Return the positional and keyword arguments of a torch call, with tensors as arrays.

        ``changed`` maps the id() of values to arrays that replace their recorded contents.
        """

        def fill(leaf: Any) -> Any:
            if not isinstance(leaf, Value):
                return as_numpy(leaf)
            found = changed.get(id(leaf))
            return self._arrays[id(leaf)] if found is None else found

        given, named = map_leaves((call.given, call.named), fill)
        return given, named

    def attention(self, part: str, layer: int) -> AttentionNode | None:
        """Return the attention of a layer, or None if the layer has none."""
        return next((node for node in self.attentions if (node.part, node.layer) == (part, layer)), None)


def record_graph(model: Any, given: Mapping[str, Tensor]) -> PassGraph:
    """Return the graph of a forward pass of a prepared model over a single text or picture.

    Raise UserError if the model computes its attention in code of its own.
    """
    layers: dict[str, str] = {}
    for part, paths in layer_modules(model).items():
        for path in paths:
            layers.setdefault(path, part)
    recorder = _Recorder(model)
    with observe_attention(recorder.observe):
        calls = compute(model, given, layers, recorder.see, formulas={})
    recorder.graph.calls = [recorder.writes.get(call.number, call) for call in calls]
    return recorder.graph


class _Recorder:
    """The values and attention calls of a running pass."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.graph = PassGraph()
        self.writes: dict[int, FunctionCall] = {}  # calls that write into a part of a tensor, by number
        self._written: dict[int, Value] = {}  # the tensors that they wrote into, by the id of their first value
        self._values: dict[int, tuple[Tensor, Value]] = {}  # the tensors are kept, so that no id is used again
        self._made: dict[int, tuple[Tensor, AttentionNode]] = {}
        self._part_of = part_namer(model)
        self._counts: dict[str, int] = {}
        self._repeats = Repeats()

    def see(self, call: FunctionCall, args: tuple[Any, ...], named: dict[str, Any], result: Tensor) -> None:
        """Store the numbers of the tensors that a call read."""
        tensors = [leaf for leaf in leaves((args, named)) if isinstance(leaf, Tensor)]
        arrays = self.graph._arrays  # noqa: SLF001  # the recorder fills its graph
        in_place = id(result) in self._values or id(result) in self._made  # then args[0] is a copy from before
        for at, (tensor, value) in enumerate(zip(tensors, call.reads(), strict=True)):
            place = id(result) if in_place and at == 0 else id(tensor)
            if id(value) not in arrays or place == id(result):
                arrays[id(value)] = numpy_of(tensor)
            if value.call is not None and all(value is not known for known in self._results_of(value.call)):
                self._results_of(value.call).append(value)
            self._values[place] = (result if place == id(result) else tensor, value)
            if place in self._made:
                self.graph.outputs[id(value)] = self._made[place][1]
        if call.name == "copy_":
            self._note_write(call)

    def _note_write(self, call: FunctionCall) -> None:
        """Note a copy into a part of a tensor as a new value of the whole tensor.

        Latent attention (arXiv:2405.04434) joins the two parts of its keys in this way.
        """
        part, written = call.reads()[:2]
        if part.call is None or part.call.name != "__getitem__":
            return
        base = part.call.reads()[0]
        before = self._written.get(id(base), base)
        made = replace(call, name="__setitem__", given=(before, part.call.given[1], written), shape=base.shape)
        after = Value(base.code, base.shape, made, grown=True)
        self.writes[call.number], self._written[id(base)] = made, after
        self.graph.made_by[call.number] = [after]
        for value in (base, after):
            self.graph._arrays.setdefault(id(value), np.zeros(base.shape, np.float32))  # noqa: SLF001  # as above

    def _value_of(self, tensor: Tensor) -> Value:
        """Return the value of a tensor that the attention has read."""
        value = self._values[id(tensor)][1]
        if id(value) not in self._written:
            return value
        written = self._written[id(value)]
        self.graph._arrays[id(written)] = numpy_of(tensor)  # noqa: SLF001  # as above
        return written

    def _results_of(self, call: FunctionCall) -> list[Value]:
        return self.graph.made_by.setdefault(call.number, [])

    def observe(self, call: AttentionCall, output: Tensor) -> None:
        """Add an attention call to the graph; a repeated call belongs to the layer of the call before it."""
        part = self._part_of(call)
        if not self._repeats.count(call):
            self._counts[part] = self._counts.get(part, 0) + 1
        layers = attention_layers(self.model, part)
        number = self._counts[part] - 1
        layer = layers[number] if number < len(layers) else number
        query, key = map(self._value_of, (call.query, call.key))
        node = AttentionNode(call, part, layer, query, key)
        self.graph.attentions.append(node)
        self._made[id(output)] = (output, node)
