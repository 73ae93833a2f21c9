"""Decoding token by token with a key-value cache, equal to transformers' `generate`."""

from __future__ import annotations

import logging
import threading
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor
from transformers.cache_utils import Cache, EncoderDecoderCache

from attention.edits import Edit
from i18n import gettext_lazy
from inference.errors import UserError
from inference.loaded_model import LoadedModel
from inference.record.attention_call import CROSS, AttentionCall
from inference.record.attention_function import Tape, record_attention, weigh
from inference.record.capture import BROKEN, RECORDS
from inference.record.edit_hooks import apply_edits, in_every_layer


def start_token(model: Any) -> int:
    """Return the decoder's start token, chosen as in ``generate``; 0 if no configuration states it."""
    asked = ((getattr(model, "generation_config", None), ("decoder_start_token_id", "bos_token_id")),
             (model.config, ("decoder_start_token_id", "bos_token_id", "pad_token_id")))  # fmt: skip
    stated = (getattr(setting, name, None) for setting, names in asked for name in names)
    return next((token for token in stated if isinstance(token, int)), 0)


def limit_of(loaded: LoadedModel) -> int:
    """Return the maximum number of tokens of a generated text, start token included.

    It is the smaller of the configured length and the model's limit. A configured length that is not a positive
    integer, as in a damaged file, is ignored.
    """
    settings = loaded.model.generation_config
    new, own = settings.max_new_tokens, settings.max_length
    own = new + 1 if isinstance(new, int) else own
    return min(own, loaded.limit) if isinstance(own, int) and own > 0 else loaded.limit


def end_tokens(model: Any) -> frozenset[int]:
    """Return the tokens that end a generated text; invalid entries of a damaged file are ignored."""
    stated = getattr(model, "generation_config", model.config).eos_token_id
    return frozenset(token for token in (stated if isinstance(stated, list) else [stated]) if isinstance(token, int))


Tokens = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class CachedPass:
    """The stored result of a pass over continuations of a text, with its key-value cache.

    A caller that takes the pass from the store may change the key-value cache.
    """

    about: Hashable  # the source that is continued
    rows: tuple[Tokens, ...]  # the tokens generated so far, for each row of the cache
    cache: Any  # the key-value cache of transformers, or None
    passed: Any  # the NextTokenPass of the pass, which is never modified
    nbytes: int


class KVCache:
    """A thread-safe store of passes within a budget of bytes; the oldest passes are evicted first.

    ``take`` removes a pass from the store, so that no two threads use the same key-value cache.

    >>> kept = KVCache(100)
    >>> kept.put(CachedPass("text", ((7, 8),), "cache", "what it said", nbytes=60))
    >>> kept.cached_answer("text", [(7, 8)])
    'what it said'
    >>> kept.take("text", [(7,)]), kept.take("text", [(7, 8)]).rows, kept.take("text", [(7, 8)])
    (None, ((7, 8),), None)
    """

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self._lock = threading.Lock()
        self._states: list[CachedPass] = []

    def __deepcopy__(self, _memo: object) -> KVCache:
        """Return an empty store.

        A copied model may be changed, and stored results would no longer match it.
        """
        return KVCache(self.budget)

    @property
    def nbytes(self) -> int:
        """Return the bytes of all stored passes."""
        return sum(state.nbytes for state in self._states)

    def cached_answer(self, about: Hashable, rows: Sequence[Tokens]) -> Any:
        """Return the stored result of a pass over exactly the continuations ``rows``, or None.

        ``about`` identifies the source text and its edits.
        """
        with self._lock:
            states = [state for state in self._states if (state.about, state.rows) == (about, tuple(rows))]
        return states[-1].passed if states else None

    def take(self, about: Hashable, rows: Sequence[Tokens]) -> CachedPass | None:
        """Remove and return a stored pass whose key-value cache includes all continuations ``rows``, or None.

        Of several such passes, that with the fewest rows is taken. ``about`` identifies the source text and its edits.
        """
        wanted = set(rows)
        with self._lock:
            with_cache = [state for state in self._states if state.about == about and state.cache is not None]
            found = [state for state in with_cache if wanted <= set(state.rows)]
            if not found:
                return None
            best = min(found, key=lambda state: len(state.rows))
            self._states.remove(best)
            return best

    def put(self, state: CachedPass) -> None:
        """Store a pass; then drop the oldest passes until the store fits its budget."""
        with self._lock:
            self._states.append(state)
            while self._states and self.nbytes > self.budget:
                self._states.pop(0)


def memory_of(*held: Any) -> int:
    """Return the memory in bytes of all tensors in the values ``held``.

    A view counts its whole storage, and each storage counts once.
    """
    found: dict[int, int] = {}
    pending = list(held)
    while pending:
        one = pending.pop()
        if isinstance(one, Tensor):
            memory = one.untyped_storage()
            found[memory.data_ptr()] = memory.nbytes()
        elif isinstance(one, EncoderDecoderCache):
            pending += [one.self_attention_cache, one.cross_attention_cache]
        elif isinstance(one, Cache):
            pending += [vars(layer) for layer in one.layers]
        elif isinstance(one, Mapping):
            pending += one.values()
        elif isinstance(one, list | tuple):
            pending += one
    return sum(found.values())


@dataclass(eq=False)
class NewestRow(Tape):
    """A tape that stores only the attention weights of the newest token, (row, head, key), by stack."""

    rows: dict[str, list[Tensor]] = field(default_factory=dict)

    def note(self, call: AttentionCall, lse: Tensor | None) -> None:  # noqa: ARG002  # the signature of Tape.note
        """Compute the weights of the newest token and discard the rest of the call."""
        mask, bias = (None if tensor is None else tensor[..., -1:, :] for tensor in (call.mask, call.bias))
        last = replace(call, query=call.query[:, :, -1:], mask=mask, bias=bias)
        part = "cross" if CROSS.search(call.path) else "decoder"
        self.rows.setdefault(part, []).append(weigh(last)[:, :, 0])

    def widen(self, call: AttentionCall) -> None:
        """Ignore a repeated call with the same queries and keys and other values: the weights are the same."""


def reported_rows(output: Any) -> dict[str, list[Tensor]]:
    """Return the newest token's attention in each layer, by stack, from the maps that a model reports.

    A list has a tensor per layer, (row, head, key); a row is a text of the batch.
    """
    names = {"attentions": "decoder", "decoder_attentions": "decoder", "cross_attentions": "cross"}
    return {
        part: [layer[:, :, -1] for layer in output[name]]
        for name, part in names.items()
        if output.get(name) and all(isinstance(layer, Tensor) and layer.ndim == 4 for layer in output[name])
    }


def stack_layers(layers: Sequence[Tensor] | None, width: int | None = None) -> Tensor | None:
    """Stack the attention of all layers, each (row, head, key), to an array (row, layer, head, key).

    Keys that a sliding window has dropped get the weight 0. Return None if layers differ in their number of heads, or
    if the model attends to more than ``width`` tokens.
    """
    if not layers or (width is not None and any(layer.shape[-1] > width for layer in layers)):
        return None
    dropped = [0 if width is None else width - layer.shape[-1] for layer in layers]
    whole = [torch.nn.functional.pad(layer.float(), (more, 0)) for layer, more in zip(layers, dropped, strict=True)]
    return torch.stack(whole, dim=1) if len({layer.shape for layer in whole}) == 1 else None


log = logging.getLogger(__name__)

KEPT = "_headlight_kept"  # model attribute: the stored passes of texts in progress
UNCACHED = "_headlight_uncached"  # model attribute: set if the model fails with its key-value cache
KEPT_BYTES = 256 * 2**20
_LOOK_AHEAD = {"fsmt"}  # the decoder has no causal mask during generation, so it must read single tokens
_REMEMBERING = ("guidance_scale", "watermarking_config")  # logits processors with an internal state


@dataclass(frozen=True)
class Writing:
    """The input from which a text is generated: the tokens of a prompt or source text, a length limit, and edits."""

    source: Tokens
    longest: int  # the maximum number of tokens, prompt or start token included
    edits: tuple[Edit, ...] = ()  # applied in every pass; edits of future positions have no effect yet


@dataclass(frozen=True, eq=False)
class DecodingStart:
    """The tokens, settings and inputs that ``generate`` prepares before its first pass."""

    tokens: Tokens  # the prompt, or the start token
    settings: Any  # the complete GenerationConfig of the model
    rules: Any  # the LogitsProcessorList of the model
    given: dict[str, Any]  # inputs of every pass, shape (1, ...) each
    cache: Any  # an empty cache; None if every pass reads all tokens


@dataclass(frozen=True, eq=False)
class NextTokenPass:
    """A pass that predicts the next token of each row: its logits, and the attention of the newest token."""

    start: DecodingStart
    tokens: Tensor  # (row, token) all tokens that the decoder has read
    logits: Tensor  # (row, vocabulary) float32, before the logits processors
    cached: bool  # True if only the newest token was computed
    looks: Tensor | None  # (row, layer, head, key) float32, attention of the newest token
    across: Tensor | None  # (row, layer, head, source token) its cross-attention

    def apply_rules(self, scores: Tensor) -> Tensor:
        """Apply the model's logits processors to logits (row, vocabulary).

        They force or ban tokens and apply penalties.
        """
        found: Tensor = self.start.rules(self.tokens, scores.clone())
        return found


def read(model: Any, writing: Writing, rows: Sequence[Tokens]) -> NextTokenPass:
    """Return the pass that predicts the next token of several continuations of a source.

    The pass is computed unless it is stored. ``rows`` has the tokens generated so far for each continuation; all rows
    have the same length.
    """
    kept: KVCache = model.__dict__.setdefault(KEPT, KVCache(KEPT_BYTES))
    said: NextTokenPass | None = kept.cached_answer(writing, rows)
    if said is not None:
        return said
    with torch.inference_mode():
        passed, cache = _read(model, writing, rows, kept)
    if not passed.cached:  # initialise new logits processors before threads share them
        passed.apply_rules(passed.logits)
    kept.put(CachedPass(writing, tuple(rows), cache, passed, memory_of(vars(passed), passed.start.given, cache)))
    return passed


def _read(model: Any, writing: Writing, rows: Sequence[Tokens], kept: KVCache) -> tuple[NextTokenPass, Any]:
    """Run a pass; return its result and its key-value cache, or None if no other pass can use the cache."""
    if writing.edits or hasattr(model, UNCACHED):
        return _run_full_pass(model, writing, rows, cached=False)
    try:
        state = kept.take(writing, [row[:-1] for row in rows]) if all(rows) else None
        if state is not None:
            return _newest(model, state, rows)
        return _run_full_pass(model, writing, rows, cached=True)
    except UserError:
        raise
    except BROKEN as error:
        log.warning("%s cannot be used with its key-value cache: %s", type(model).__name__, error)
        found = _run_full_pass(model, writing, rows, cached=False)
        setattr(model, UNCACHED, True)  # set only now: without a cache the pass succeeded
        return found


def generate_greedy(model: Any, writing: Writing) -> Tokens:
    """Generate by greedy decoding until an end token or the maximum length."""
    written: Tokens = ()
    read_on, ends = True, end_tokens(model)
    while read_on:
        passed = read(model, writing, [written])
        written = (*written, int(passed.apply_rules(passed.logits)[0].argmax()))
        read_on = passed.tokens.shape[1] + 1 < writing.longest and written[-1] not in ends
    return written


def prepare_decoding(model: Any, writing: Writing, cached: bool) -> DecodingStart:
    """Prepare greedy decoding as ``generate`` does, which includes running the encoder.

    If ``cached`` is True, passes use a key-value cache.
    """
    _refuse_odd_rules(model)
    found: dict[str, Any] = {}

    def instead(model: Any, input_ids: Tensor, logits_processor: Any, stopping_criteria: Any,  # noqa: ARG001  # the signature that generate expects
                generation_config: Any, **given: Any) -> Tensor:  # fmt: skip
        found.update(tokens=input_ids, rules=logits_processor, settings=generation_config, given=given)
        return input_ids

    ids = torch.tensor([writing.source], device=model.device)
    with apply_edits(model, [writing.edits]):
        model.generate(
            input_ids=ids,
            attention_mask=torch.ones_like(ids),
            custom_generate=instead,
            num_beams=1,
            num_return_sequences=1,
            do_sample=False,
            use_cache=cached,
            cache_implementation=None,
            max_length=writing.longest,
            max_new_tokens=None,
            stop_strings=None,
            output_attentions=False,
            output_hidden_states=False,
        )
    given = found["given"]
    _refuse_odd_positions(model, given)
    cache = given.pop("past_key_values", None)
    return DecodingStart(tuple(found["tokens"][0].tolist()), found["settings"], found["rules"], given, cache)


def _refuse_odd_rules(model: Any) -> None:
    for name in _REMEMBERING:
        stated = getattr(model.generation_config, name, None)
        if stated is not None and stated != 1:
            raise UserError(
                gettext_lazy(
                    "The generation_config.json of {name} sets {rule}, so steps cannot be repeated. Remove it.",
                    name=type(model).__name__,
                    rule=name,
                )
            )


def _refuse_odd_positions(model: Any, given: dict[str, Any]) -> None:
    """Raise UserError for decoders like RoBERTa, with positions that start after the padding id.

    ``generate`` counts positions from 0, so the generated text would not match the model's reading.
    """
    tables = [module for name, module in model.named_modules() if name.endswith("position_embeddings")]
    if "position_ids" in given and any(isinstance(getattr(table, "padding_idx", None), int) for table in tables):
        raise UserError(
            gettext_lazy(
                "{name} counts positions from its padding token, but transformers generates from 0. "
                "Pick another model.",
                name=type(model).__name__,
            )
        )


def _run_full_pass(model: Any, writing: Writing, rows: Sequence[Tokens], cached: bool) -> tuple[NextTokenPass, Any]:
    start = prepare_decoding(model, writing, cached)
    if model.config.model_type in _LOOK_AHEAD and start.cache is not None:
        passed, cache = _pass(model, start, [()] * len(rows), start.cache, (), newest=False)
        for written in range(1, 1 + len(rows[0])):
            passed, cache = _pass(model, start, [row[:written] for row in rows], cache, (), newest=True)
        return replace(passed, cached=False), cache
    return _pass(model, start, rows, start.cache, writing.edits, newest=False)


def _newest(model: Any, state: CachedPass, rows: Sequence[Tokens]) -> tuple[NextTokenPass, Any]:
    parents = [state.rows.index(row[:-1]) for row in rows]
    if parents != list(range(len(state.rows))):
        state.cache.reorder_cache(torch.tensor(parents, device=model.device))
    return _pass(model, state.passed.start, rows, state.cache, (), newest=True)


def _pass(  # noqa: PLR0913  # the inputs of a pass
    model: Any, start: DecodingStart, rows: Sequence[Tokens], cache: Any, edits: Sequence[Edit], newest: bool
) -> tuple[NextTokenPass, Any]:
    tokens = torch.tensor([[*start.tokens, *row] for row in rows], device=model.device)
    inputs = model.prepare_inputs_for_generation(
        tokens,
        next_sequence_length=1 if newest else None,
        is_first_iteration=not newest,
        past_key_values=cache,
        **_pass_inputs(model, start, len(rows), len(rows[0])),
    )
    with apply_edits(model, [edits] * len(rows)):
        if getattr(model, RECORDS):
            tape = NewestRow()
            with record_attention(tape):
                output = model(**inputs, return_dict=True)
            found = {
                part: in_every_layer(model, part, rows, torch.zeros_like(rows[0])) for part, rows in tape.rows.items()
            }
        else:
            output = model(**inputs, output_attentions=True, return_dict=True)
            found = reported_rows(output)
    width = tokens.shape[1]
    passed = NextTokenPass(
        start=replace(start, cache=None),  # the pass consumed the empty cache
        tokens=tokens,
        logits=output.logits[:, -1].to(torch.float32, copy=True),
        cached=newest,
        looks=stack_layers(found.get("decoder"), width),
        across=stack_layers(found.get("cross")),
    )
    cache = output.get("past_key_values")
    return passed, cache if isinstance(cache, Cache) and not cache.is_compileable else None


def _pass_inputs(model: Any, start: DecodingStart, rows: int, written: int) -> dict[str, Any]:
    """Return the inputs of a pass besides tokens and cache, extended to the newest token and to all rows."""
    given = dict(start.given)
    if written:
        two_sided = bool(model.config.is_encoder_decoder)
        given = model._update_model_kwargs_for_generation({}, given, two_sided, num_new_tokens=written)  # noqa: SLF001  # generate itself calls this method
    if "encoder_outputs" in given:
        encoded = given["encoder_outputs"]
        given["encoder_outputs"] = type(encoded)(**{name: _expand_rows(value, rows) for name, value in encoded.items()})
    return {name: _expand_rows(value, rows) for name, value in given.items()}


def _expand_rows(value: Any, rows: int) -> Any:
    return value.expand(rows, *value.shape[1:]) if isinstance(value, Tensor) and value.ndim else value
