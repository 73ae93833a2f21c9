"""The architecture of a model, the cost of its forward pass, and forward passes with dropout."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from attention.vectors import cosine
from i18n import gettext_lazy
from inference.anatomy import positions
from inference.anatomy.module_roles import ModuleRoles, parts, stored_heads
from inference.anatomy.positions import shared_copy
from inference.anatomy.sizes import feed_forward, follow, heads, kind_of_norm, windows
from inference.anatomy.watched_pass import KEPT, LayerRun, Visit, WatchedPass, blocks, watch
from inference.errors import UserError, as_user_error
from inference.loaded_model import LoadedModel
from inference.record import fidelity_check
from inference.record.attention_call import DECODER, AttentionCall
from inference.record.attention_function import record_attention
from inference.record.records import numpy
from inference.runners.blanks import display_pieces, prepare, tensors
from inference.runners.masked_words import guess
from inference.tasks.anatomy import (
    OUTER_NORMS,
    POSITIONS,
    SEGMENTS,
    TOKENS,
    Anatomy,
    Build,
    CostRequest,
    Dropout,
    DropoutResult,
    Flow,
    Heads,
    MeasuredCost,
    Stack,
    StackEdge,
)


def answer(loaded: LoadedModel, _question: Anatomy) -> Build:
    """Return the architecture of a model: its layers, sizes and parameters.

    Raise UserError if its layers cannot be identified.
    """
    with as_user_error(
        gettext_lazy("{name} failed on this input. Change it or pick another model.", name=loaded.id.name)
    ):
        return dissect(loaded.model, loaded.id.kind, loaded.records, loaded.limit)


def dissect(model: Any, kind: str, records: bool, limit: int) -> Build:
    """Return the architecture of a model that ``inference.record.capture.prepare`` has prepared.

    ``kind`` is "encoder", "decoder" or "encoder-decoder". ``records`` is True if the queries, keys and values of the
    model can be recorded. Raise UserError if the model's layers cannot be identified.
    """
    watched = watch(model)
    layers = blocks(model, watched)
    if not layers:
        raise UserError(
            gettext_lazy("The layers of {name} cannot be told apart. Pick another model.", name=type(model).__name__)
        )
    sides = {block.stack: side_of(block, kind) for block in layers}
    places = ModuleRoles(model, watched, layers, sides)
    calls = _calls(model) if records else []
    rims = _stack_edges(places, watched, layers)
    causal = _causal_stacks(model, layers, sides)
    stacks = tuple(
        _stack(model, watched, [block for block in layers if block.stack == stack], side, calls, causal, rims[stack])
        for stack, side in sides.items()
    )
    every = dict(model.named_parameters(remove_duplicate=False))
    first = {id(parameter): name for name, parameter in model.named_parameters()}
    twice = [(first[id(parameter)], name) for name, parameter in every.items() if first[id(parameter)] != name]
    table = getattr(model.get_input_embeddings(), "weight", None)
    return Build(
        architecture=type(model).__name__,
        kind=kind,
        width=layers[0].visit.width,
        vocabulary=0 if table is None else int(table.shape[0]),
        stacks=stacks,
        positions=_positions(model),
        parts=parts(places),
        tied=tuple(twice),
        tops=stored_heads(model),
        total=int(model.num_parameters()),
        limit=limit,
    )


def side_of(block: LayerRun, kind: str) -> str:
    """Return the stack of a layer, "encoder" or "decoder", in a model of kind ``kind``."""
    if kind == "encoder-decoder":
        return "decoder" if DECODER.search(f"{block.path}.") else "encoder"
    return "decoder" if kind == "decoder" else "encoder"


def _calls(model: Any) -> list[AttentionCall]:
    with record_attention() as tape:
        model(**fidelity_check.inputs(model))
    return tape.calls


def _stack(  # noqa: PLR0913  # all observations of the model enter its answer
    model: Any,
    watched: WatchedPass,
    layers: Sequence[LayerRun],
    side: str,
    calls: Sequence[AttentionCall],
    causal: Mapping[str, bool],
    rims: tuple[StackEdge, StackEdge],
) -> Stack:
    """Return the description of a stack, with the data flow that most of its layers share."""
    flows: list[Flow] = [follow(block) for block in layers]
    [(common, alike)] = Counter(flows).most_common(1)
    block = layers[flows.index(common)]
    looks = {operation.kind: operation for operation in block.operations if operation.core}
    sizes: dict[str, Heads] = {kind: heads(model, side, found, calls) for kind, found in looks.items()}
    norm = next((operation.modules[0] for operation in block.operations if operation.kind == "norm"), None)
    window, windowed = windows(model, len(layers))
    return Stack(
        part=side,
        layers=len(layers),
        own=len({layer.path for layer in layers}),
        alike=alike,
        flow=common,
        causal=causal[block.stack],
        attention=sizes["attention"],
        cross=sizes.get("cross-attention"),
        feed_forward=feed_forward(model, watched, block),
        norm="" if norm is None else kind_of_norm(norm.module, norm.width),
        norm_class="" if norm is None else type(norm.module).__name__,
        inner_norms=any(operation.norms for operation in looks.values()),
        before=rims[0],
        after=rims[1],
        window=window,
        windowed=windowed,
    )


def _stack_edges(
    places: ModuleRoles, watched: WatchedPass, layers: Sequence[LayerRun]
) -> dict[str, tuple[StackEdge, StackEdge]]:
    """Return, by stack, the modules that run before its first layer and after its last layer.

    Between an encoder and its decoder, the decoder begins at its first embedding.
    """
    outside = [visit for visit in watched.visits if not any(b.visit.contains(visit.began) for b in layers)]
    stacks = list(dict.fromkeys(block.stack for block in layers))
    starts = [min(b.visit.began for b in layers if b.stack == stack) for stack in stacks]
    ends = [max(b.visit.ended for b in layers if b.stack == stack) for stack in stacks]
    gaps = [
        _iterate_leaves(places, [visit for visit in outside if start < visit.began < stop])
        for start, stop in zip([-1, *ends], [*starts, math.inf], strict=True)
    ]
    rims: dict[str, tuple[StackEdge, StackEdge]] = {}
    for at, stack in enumerate(stacks):
        before = gaps[at][_first_embedding(gaps[at]) :] if at else gaps[at]
        after = gaps[at + 1] if at + 1 == len(stacks) else gaps[at + 1][: _first_embedding(gaps[at + 1])]
        rims[stack] = (_rim(before), _rim(after))
    return rims


def _rim(named: Sequence[tuple[str, Visit]]) -> StackEdge:
    norm = next((visit for name, visit in named if name == OUTER_NORMS), None)
    kind = "" if norm is None else kind_of_norm(norm.module, norm.width)
    return StackEdge(tuple(dict.fromkeys(name for name, _ in named)), kind)


def _first_embedding(named: Sequence[tuple[str, Visit]]) -> int:
    tables = (TOKENS, POSITIONS, SEGMENTS)
    return next((at for at, (name, _) in enumerate(named) if name in tables), len(named))


def _iterate_leaves(places: ModuleRoles, visits: Sequence[Visit]) -> list[tuple[str, Visit]]:
    """Return the roles of the modules that have no children and are either parametric or positional."""
    return [
        (places.outside(visit.path, visit.module), visit)
        for visit in visits
        if not any(True for _ in visit.module.children())
        and (any(True for _ in visit.module.parameters()) or "Positional" in type(visit.module).__name__)
    ]


def _causal_stacks(model: Any, layers: Sequence[LayerRun], sides: Mapping[str, str]) -> dict[str, bool]:
    """Return, by stack, True if a new last token leaves the last layer's earlier vectors unchanged."""
    given = fidelity_check.inputs(model)
    base, found = _last(model, given), {}
    for stack, side in sides.items():
        name = "decoder_input_ids" if side == "decoder" and "decoder_input_ids" in given else model.main_input_name
        changed = {**given, name: _change_last_token(given[name])}
        after = _last(model, changed)
        width = layers[0].visit.width
        kept = min(KEPT, (fidelity_check.TOKENS - 1) * width)
        one, other = base[stack][:kept], after[stack][:kept]
        found[stack] = bool(np.abs(one - other).max(initial=0) <= 1e-5 * np.abs(one).max(initial=0))
    return found


def _change_last_token(given: torch.Tensor) -> torch.Tensor:
    """Return the input with a different last token."""
    changed = given.clone()
    changed[..., -1] = given.flatten()[0] if not given.is_floating_point() else 1.0
    return changed


def _last(model: Any, given: Mapping[str, torch.Tensor]) -> dict[str, Any]:
    """Return the output of the last layer of each stack."""
    return {block.stack: block.visit.made for block in blocks(model, watch(model, given))}


def _positions(model: Any) -> tuple[str, ...]:
    """Return the kinds of the model's position encodings, as far as its tensors show them."""
    found = positions.places(model)
    kinds = {
        positions.TURNED: "rotary",
        positions.TABLE_TURNED: "rotary",
        positions.BIAS: "relative",
        positions.RELATIVE: "relative",
    }
    named = [
        kinds.get(place.kind) or ("sinusoidal" if "Sinusoid" in type(place.owner).__name__ else "learned")
        for place in found
    ]
    if positions.slopes(model) is not None:  # Falcon builds rotary angles even if it uses ALiBi
        return ("alibi",)
    return tuple(dict.fromkeys(named))


ENOUGH = 0.5  # seconds of passes, after which no further pass runs
MOST_PASSES = 7


def measure_cost(loaded: LoadedModel, question: CostRequest) -> MeasuredCost:
    """Return time and memory of a pass over the requested number of random tokens.

    Raise UserError for no tokens, or for more than the model reads.
    """
    if not 1 <= question.tokens <= loaded.limit:
        raise UserError(
            gettext_lazy(
                "{tokens} tokens were requested; {name} reads 1 to {limit} here.",
                tokens=question.tokens,
                name=loaded.id.name,
                limit=loaded.limit,
            ),
            details={"tokens": question.tokens, "limit": loaded.limit},
        )
    given = _inputs(loaded, question.tokens)
    with as_user_error(
        gettext_lazy(
            "{name} failed on {tokens} tokens. Measure shorter texts.", name=loaded.id.name, tokens=question.tokens
        )
    ):
        seconds, busy = _seconds(loaded.model, given)
        peak = _peak(loaded.model, given)
    return MeasuredCost(question.tokens, seconds, busy, peak, torch.get_num_threads())


def _inputs(loaded: LoadedModel, tokens: int) -> dict[str, Any]:
    """Return random token ids, the same each time, since they affect neither time nor memory."""
    rows = int(loaded.model.get_input_embeddings().weight.shape[0])
    ids = torch.randint(0, rows, (1, tokens), generator=torch.Generator().manual_seed(tokens))
    pad = getattr(loaded.model.config.get_text_config(), "pad_token_id", None)
    if pad is not None:  # some models derive positions from padding
        ids[ids == pad] = (pad + 1) % rows
    found = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    return {**found, "decoder_input_ids": ids} if loaded.id.kind == "encoder-decoder" else found


def _seconds(model: Any, given: dict[str, Any]) -> tuple[tuple[float, ...], float]:
    """Return the wall-clock seconds of each pass, and the mean processor time of a pass."""
    with torch.inference_mode():
        passes, spent = _time_passes(model, given, 1)
        if passes[0] < ENOUGH:  # a slow first pass is not repeated and counts as the measurement
            passes, spent = _time_passes(model, given, MOST_PASSES)
    return tuple(passes), spent / len(passes)


def _time_passes(model: Any, given: dict[str, Any], most: int) -> tuple[list[float], float]:
    passes: list[float] = []
    spent = time.thread_time()  # for all passes together, because some machines count in hundredths of a second
    while not passes or (sum(passes) < ENOUGH and len(passes) < most):
        began = time.perf_counter()
        model(**given)
        passes.append(time.perf_counter() - began)
    return passes, time.thread_time() - spent


def _peak(model: Any, given: dict[str, Any]) -> int:
    weights = [tensor for group in (model.parameters(), model.buffers()) for tensor in group]
    living = MemoryTracker(weights)
    with torch.inference_mode(), living:
        model(**given)
    return living.peak


class MemoryTracker(TorchDispatchMode):
    """A context that tracks the live tensors of a pass, without weights, and their peak memory in bytes."""

    def __init__(self, weights: list[torch.Tensor]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch annotates a part of it
        self.weights = {StorageWeakRef(tensor.untyped_storage()).cdata for tensor in weights}
        self.living: dict[int, tuple[StorageWeakRef, int]] = {}
        self.peak = 0

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = function(*args, **(kwargs or {}))
        self.living = {at: kept for at, kept in self.living.items() if not kept[0].expired()}
        for tensor in tree_leaves(made):
            if isinstance(tensor, torch.Tensor):
                storage = tensor.untyped_storage()
                reference = StorageWeakRef(storage)
                if reference.cdata not in self.weights:
                    self.living[reference.cdata] = (reference, storage.nbytes())
        self.peak = max(self.peak, sum(nbytes for _, nbytes in self.living.values()))
        return made


MOST_SHARE, MOST_DROPOUT_PASSES = 90, 32  # the share in percent; with nearly everything dropped, a pass shows nothing


class DropoutMode(TorchFunctionMode):
    """A context in which dropout of this thread zeroes a ``share`` (0 to 1) of the values, reproducibly by ``seed``.

    The dropout of torch is not reproducible here, because it draws from a generator that all threads share.
    """

    def __init__(self, share: float, seed: int) -> None:
        super().__init__()
        self.share, self.dice = share, torch.Generator().manual_seed(seed)

    def __torch_function__(self, func: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Apply dropout from the seeded generator; call every other function unchanged."""
        if func is not torch.nn.functional.dropout:
            return func(*args, **(kwargs or {}))
        given = args[0]
        return given * (torch.rand(given.shape, generator=self.dice) >= self.share) / (1 - self.share)


def apply_dropout(loaded: LoadedModel, question: Dropout) -> DropoutResult:
    """Run passes with and without dropout; return their predictions for the first blank.

    Raise UserError if the text has no blank, or if an option is out of range.
    """
    if not (0 <= question.share <= MOST_SHARE and 1 <= question.passes <= MOST_DROPOUT_PASSES):
        raise UserError(
            f"{question.passes} passes with {question.share}% dropped were asked for; 1 to"
            f" {MOST_DROPOUT_PASSES} passes with 0 to {MOST_SHARE}% can be made."
        )
    blanked = prepare(loaded, question)
    at = blanked.positions[0]
    inputs = tensors(loaded, blanked.reading)
    learning = shared_copy(loaded.model)
    learning.set_attn_implementation("eager")  # other implementations do not drop attention weights
    learning.train()
    with as_user_error(
        gettext_lazy("{name} failed on this input. Change it or pick another model.", name=loaded.id.name)
    ):
        log, vector = _pass(loaded.model, inputs, at)
        with DropoutMode(question.share / 100, question.seed):
            passes = [_pass(learning, inputs, at) for _ in range(question.passes)]
    best = guess(loaded, log, int(log.argmax()))
    logs, vectors = (torch.stack(found) for found in zip(*passes, strict=True))
    return DropoutResult(
        undropped=best,
        probabilities=numpy(logs[:, best.token].exp()),
        likeliest=tuple(display_pieces(loaded, logs.argmax(-1).tolist())),
        cosines=cosine(numpy(vectors), numpy(vector)[None])[:, 0],
    )


def _pass(model: Any, inputs: dict[str, Tensor], at: int) -> tuple[Tensor, Tensor]:
    """Return the log-probabilities (token,) at a position, and its last hidden state (channel,)."""
    with torch.inference_mode():
        output = model(**inputs, output_hidden_states=True)
    return torch.log_softmax(output.logits[0, at].float(), dim=-1), output.hidden_states[-1][0, at].float()
