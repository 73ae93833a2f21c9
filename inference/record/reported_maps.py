"""Attention maps as reported by architectures that compute attention in their own code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from attention.record import MapRecord
from attention.trace import PART_NAMES
from i18n import gettext_lazy
from inference import cancellation
from inference.errors import UserError
from inference.record import fidelity_check
from inference.record.attention_call import AttentionCall, Pair, Spans, compact_tensors, refuse_uneven
from inference.record.attention_function import weigh
from inference.record.records import numpy


def full_map(local: Tensor, window: int, rows: Tensor | None, real: slice) -> Tensor:
    """Expand the sliding-window attention of a sample to a map (head, query, key) of its real tokens.

    ``local`` is (head, query, global + window + 1). Its first columns are the weights on the global tokens. Column
    ``p`` of the remaining columns is the weight on key ``query + p - window / 2``. ``rows`` (head, key, global) are the
    weights of the global tokens on every key, None if there are no global tokens. ``real`` is the slice of the sample's
    tokens without padding. Rows of the result sum to 1.

    >>> full_map(torch.full((1, 3, 3), 1 / 3), 2, None, slice(0, 3))[0].ceil().int().tolist()
    [[1, 1, 0], [1, 1, 1], [0, 1, 1]]
    """
    columns = local.shape[-1] - (window + 1)
    maps = _unband(local[..., columns:])
    if rows is None or columns == 0:
        return maps
    # The model leaves the rows of global tokens empty here, which identifies them: the row of a window never sums to 0.
    places = real.start + (local[0, real].sum(-1) == 0).nonzero().flatten()
    count, queries = len(places), maps.shape[1]
    maps[:, :, places] += local[..., :count]
    maps[:, places] = rows[:, :queries, :count].transpose(1, 2)
    return maps


def _unband(band: Tensor) -> Tensor:
    """Convert a band (head, query, window + 1), key = query + place - window / 2, to (head, query, key)."""
    heads, queries, width = band.shape
    half = width // 2
    wide = band.new_zeros(heads, queries, queries + 2 * half)
    places = torch.arange(queries, device=band.device)[:, None] + torch.arange(width, device=band.device)[None, :]
    wide.scatter_(2, places.expand(heads, -1, -1), band)
    return wide[:, :, half : half + queries]


ALONE = "_headlight_alone"  # on a model with a single stack: the name of that stack
TAPPED = "_headlight_tapped"  # on a model whose maps come from its calls of torch's attention
LONGEST = "_headlight_longest"  # the most tokens for which a model's maps are faithful
LARGEST = 4 * 2**30  # bytes of a text's finished maps
SIDES = {"encoder": (0, 0), "decoder": (1, 1), "cross": (1, 0)}  # sides of queries and of keys: 0 source, 1 target
BANDED = ("longformer", "led")

Parts = dict[str, tuple[MapRecord, ...]]


class NoMaps(UserError):
    """Raised if an architecture reports no attention, or no attention maps of whole texts."""


def prepare(model: Any, given: dict[str, Tensor], own: fidelity_check.ForwardOutputs, setting: str) -> None:
    """Set a model to report its attention maps; raise NoMaps if the architecture reports no maps of whole texts.

    The stack of the maps is "decoder" if they are causal, else "encoder". ``given`` is a tiny input. ``own`` has the
    model's outputs for this input with its own attention implementation ``setting``. Raise UserError if the outputs
    change when the model reports maps.
    """
    model.config._attn_implementation = "eager"  # noqa: SLF001  # transformers has no public method for it
    _settle_bigbird(model)
    _ends_between_layers(model)
    setattr(model, ALONE, "encoder")
    [found], output = parts(model, given, (None, None))
    if not fidelity_check.is_same_output(own, output):
        found = _tap_attention(model, given, own, setting)
    refuse_uneven(model, {part: [record.heads for record in layers] for part, layers in found.items()})
    if set(found) == {"encoder"}:
        following = found["encoder"][0].maps.diagonal(1, 1, 2)  # from each token to the next token
        setattr(model, ALONE, "encoder" if following.any() else "decoder")


def _tap_attention(model: Any, given: dict[str, Tensor], own: fidelity_check.ForwardOutputs, setting: str) -> Parts:
    """Return the maps of the model's calls of torch's attention.

    Falcon needs this, because its eager attention adds its ALiBi bias twice. Raise UserError if the output still
    differs.
    """
    failed = fidelity_check.refusal(model, own, fidelity_check.run(model, given, output_attentions=True))
    if setting != "sdpa" or getattr(model.config, "is_encoder_decoder", False):
        raise failed
    model.config._attn_implementation = setting  # noqa: SLF001  # transformers has no public method for it
    setattr(model, TAPPED, True)
    [found], output = parts(model, given, (None, None))
    if not fidelity_check.is_same_output(own, output):
        raise failed
    return found


class _Tap(TorchFunctionMode):
    """A context that computes the weights of every call of torch's attention."""

    def __init__(self) -> None:
        super().__init__()
        self.maps: list[Tensor] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is torch.nn.functional.scaled_dot_product_attention:
            self.maps.append(_weights(*args, **kwargs))
        return func(*args, **kwargs)


def _weights(  # noqa: PLR0913  # torch's own signature
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,  # noqa: ARG001  # torch's own signature
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,  # noqa: ARG001  # torch's own signature
) -> Tensor:
    """Return the attention weights (batch, head, query, key) of a call of scaled_dot_product_attention."""
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    return weigh(AttentionCall("", query, key, value, attn_mask, None, scale, is_causal, None, None))


def parts(model: Any, inputs: dict[str, Tensor], spans: Pair, largest: int = LARGEST) -> tuple[list[Parts], Any]:
    """Run a model; return the attention maps of each sample by stack, and the model's output.

    ``largest`` limits the bytes of a text's maps. Raise NoMaps if the model reports no attention, or attention only in
    blocks. Raise UserError if a text is too long.
    """
    widths = token_counts(inputs)
    _refuse_sparse(model, widths[0], spans[0])
    _refuse_large(model, max(width or 0 for width in widths), largest)
    reported: Mapping[str, Sequence[Tensor]]
    if getattr(model, TAPPED, False):
        with torch.inference_mode(), _Tap() as tap:
            output = model(**inputs)
        reported = {getattr(model, ALONE): tap.maps}
    else:
        with torch.inference_mode(), fidelity_check.same_noise():
            output = model(**inputs, output_attentions=True)
        reported = _reported_maps(model, output)
    batch = next(iter(inputs.values())).shape[0]
    samples: list[Parts] = [{} for _ in range(batch)]
    for part, layers in reported.items():
        sizes = tuple(widths[side] for side in SIDES[part])
        for sample, found in enumerate(samples):
            wholes = list(_sample_maps(model, output, part, layers, sample, spans[0]))
            _refuse_pieces(model, part, wholes, sizes)
            found[part] = tuple(_record(maps, part, sample, spans) for maps in wholes)
    return samples, output


def token_counts(inputs: dict[str, Tensor]) -> tuple[int | None, int | None]:
    """Return the padded numbers of tokens of source and target.

    Without a target, both numbers are that of the source. A number is None if the inputs have no such tokens.
    """
    names = ("input_ids", "decoder_input_ids")
    if "encoder_hidden_states" in inputs:
        names = ("encoder_hidden_states", "input_ids")
    source, target = (inputs[name].shape[1] if name in inputs else None for name in names)
    return source, target if target is not None else source


def _reported_maps(model: Any, output: Any) -> dict[str, Sequence[Tensor]]:
    """Return the maps of an output by stack, a tensor for each layer; raise NoMaps if there are none."""
    names = {
        "encoder_attentions": "encoder",
        "decoder_attentions": "decoder",
        "cross_attentions": "cross",
        "attentions": getattr(model, ALONE),
    }
    found = {part: output.get(name) for name, part in names.items() if output.get(name)}
    if not found:
        raise NoMaps(gettext_lazy("{name} reports no attention. Try BERT or GPT-2.", name=type(model).__name__))
    return found


def _sample_maps(  # noqa: PLR0913  # all that determines a map
    model: Any, output: Any, part: str, layers: Sequence[Tensor], sample: int, source: Spans | None
) -> Iterator[Tensor]:
    """Yield a sample's map of each layer, shape (head, query, key) if the model reports whole maps."""
    if part != "encoder" or model.config.model_type not in BANDED:
        yield from (layer[sample] if isinstance(layer, Tensor) else layer for layer in layers)
        return
    rows = output.get("encoder_global_attentions") or output.get("global_attentions") or [None] * len(layers)
    for layer, window, beside in zip(layers, model.config.attention_window, rows, strict=True):
        real = slice(0, layer.shape[2]) if source is None else source.places[sample]
        yield full_map(layer[sample], window, None if beside is None else beside[sample], real)


def _record(maps: Tensor, part: str, sample: int, spans: Pair) -> MapRecord:
    """Return the record of a layer's map without padding."""
    sides = [spans[side] for side in SIDES[part]]
    rows, cols = (
        slice(0, length) if side is None else side.cut(sample, length)
        for side, length in zip(sides, maps.shape[1:], strict=True)
    )
    return MapRecord(numpy(*compact_tensors(maps[:, rows, cols])))


def _ends_between_layers(model: Any) -> None:
    """Check for cancellation before each layer, since these models do not call the recorded attention."""
    for rows in [module for module in model.modules() if isinstance(module, torch.nn.ModuleList)]:
        for layer in rows:
            layer.register_forward_pre_hook(_check)


def _check(_module: torch.nn.Module, _args: Any) -> None:
    cancellation.check()


def _settle_bigbird(model: Any) -> None:
    """Set BigBird to full attention, and store the length up to which its maps are faithful.

    BigBird switches to full attention at its first short text and stays there. Beyond that length it puts the
    first block into some softmaxes several times and reports it once: rows of these maps do not sum to one, so the
    texts are refused.
    """
    config = model.config
    if getattr(config, "attention_type", None) == "block_sparse":
        setattr(model, LONGEST, (5 + 2 * config.num_random_blocks) * config.block_size)
        outermost = next(module for module in model.modules() if hasattr(module, "set_attention_type"))
        outermost.set_attention_type("original_full")


def _refuse_sparse(model: Any, width: int | None, source: Spans | None) -> None:
    longest = getattr(model, LONGEST, None)
    tokens = (width or 0) if source is None else max(place.stop - place.start for place in source.places)
    if longest is not None and tokens > longest:
        raise UserError(
            gettext_lazy(
                "{name} attends sparsely beyond {longest} tokens; this text has {tokens}. Shorten the text.",
                name=type(model).__name__,
                longest=longest,
                tokens=tokens,
            ),
            way_out="text",
        )


def _refuse_large(model: Any, tokens: int, largest: int) -> None:
    config = model.config.get_text_config()
    sides = 3 if getattr(config, "is_encoder_decoder", False) else 1
    layers, heads = getattr(config, "num_hidden_layers", 12), getattr(config, "num_attention_heads", 12)
    needs = sides * layers * heads * tokens**2 * 4
    if needs > largest:
        raise UserError(
            gettext_lazy(
                "The maps of {tokens} tokens take {needs:.1f} GiB with {name}; the limit is "
                "{largest:.1f} GiB. Shorten the text.",
                name=type(model).__name__,
                tokens=tokens,
                needs=needs / 2**30,
                largest=largest / 2**30,
            ),
            way_out="text",
        )


def _refuse_pieces(model: Any, part: str, wholes: Sequence[Any], sizes: Sequence[int | None]) -> None:
    """Raise NoMaps for maps of blocks or pooled tokens, whose rows cannot be assigned to tokens."""
    for maps in wholes:
        fits = isinstance(maps, Tensor) and maps.ndim == 3
        if not fits or any(size not in (None, length) for size, length in zip(sizes, maps.shape[1:], strict=True)):
            raise NoMaps(
                gettext_lazy(
                    "{name} reports attention of its {part} in blocks. Try BERT or GPT-2.",
                    name=type(model).__name__,
                    part=PART_NAMES.get(part, part),
                )
            )
