"""The time and the memory of ``headlight.record``, compared with other ways to get attention maps.

The others are a plain forward pass without maps, ``output_attentions`` with eager attention, and TransformerLens's
``run_with_cache`` if it is installed. BertViz needs the maps of ``output_attentions`` as a list of tensors on the CPU.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from typing import Any

from bench.models import BERT_BASE, EMBEDDED, build, inputs
from bench.report import ReportRow, ratio, time_in_turns, upper_limit_row

TIME_LIMIT = 1.05
REPEATS = {(EMBEDDED, 128): 60, (EMBEDDED, 512): 24, (BERT_BASE, 128): 16, (BERT_BASE, 512): 8}
MEMORY_TOKENS = 512
MEMORY_LIMITS = {EMBEDDED: 0.2, BERT_BASE: 0.4}
LENS = "TransformerLens run_with_cache"


def measure() -> Iterator[ReportRow]:
    """Yield rows for each model: the time at 128 and 512 tokens, and the memory at 512 tokens."""
    import torch

    from inference.settings import Settings

    torch.set_num_threads(Settings().forward_threads)
    for name in (EMBEDDED, BERT_BASE):
        plain, eager = build(name, "sdpa"), build(name, "eager")
        for tokens in (128, 512):
            yield from _times(name, tokens, plain, eager)
        yield _memory(name, plain, eager)


def _times(name: str, tokens: int, plain: Any, eager: Any) -> Iterator[ReportRow]:
    """Yield a row for each way, relative to the plain pass with SDPA in the same rounds."""
    import torch

    given, repeats = inputs(tokens), REPEATS[name, tokens]
    ways: dict[str, Callable[[], Any]] = {
        "plain SDPA": partial(plain, **given),
        "headlight.record": partial(_record, plain, given),
        "output_attentions": partial(eager, **given, output_attentions=True),
        "BertViz's way": partial(_list_maps, eager, given),
    }
    lens = _lens(eager) if find_spec("transformer_lens") else None
    if lens is not None:
        ways[LENS] = partial(lens, given["input_ids"])
    with torch.inference_mode():
        times = time_in_turns(ways, repeats)
    least = min(times["plain SDPA"].cpu) * 1000
    note = (
        f"processor time, median of {repeats} rounds in turns; plain {least:.0f} ms, {torch.get_num_threads()} threads"
    )
    for way in list(ways)[1:]:
        found, what = ratio(times[way], times["plain SDPA"]), f"{way} / plain SDPA, {name}, {tokens} tokens"
        if way == "headlight.record":
            yield upper_limit_row(what, TIME_LIMIT, found.cpu, str(found), note)
        else:
            yield ReportRow(what, "–", str(found), None, note)


def _record(model: Any, given: dict[str, Any]) -> Any:
    import headlight

    with headlight.record(model) as recording:
        model(**given)
    return recording


def _list_maps(model: Any, given: dict[str, Any]) -> Any:
    """Return the maps as BertViz's views take them, without the text."""
    return [layer.squeeze(0).cpu().tolist() for layer in model(**given, output_attentions=True).attentions]


def _lens(model: Any) -> Callable[[Any], Any] | None:
    """Return TransformerLens's pass with all attention patterns cached, or None if it cannot load the model."""
    try:
        from transformer_lens.model_bridge import TransformerBridge
        from transformers import AutoTokenizer, BertForMaskedLM

        from inference.files import embedded

        folder, whole = str(embedded.folder()), BertForMaskedLM(model.config).eval()
        whole.bert = model
        words = AutoTokenizer.from_pretrained(folder)
        bridge = TransformerBridge.boot_transformers(folder, hf_model=whole, tokenizer=words, device="cpu")
    except Exception as error:
        print(f"{LENS}: {type(error).__name__}: {error}")
        return None
    return lambda ids: bridge.run_with_cache(ids, names_filter=lambda hook: hook.endswith("hook_pattern"))


def _memory(name: str, plain: Any, eager: Any) -> ReportRow:
    """Return a row with the bytes that stay after a pass, recorded and as maps."""
    import torch

    given = inputs(MEMORY_TOKENS)
    with torch.inference_mode():
        kept = _record(plain, given).nbytes
        maps = sum(layer.nbytes for layer in eager(**given, output_attentions=True).attentions)
    channels = plain.config.hidden_size // plain.config.num_attention_heads
    figure = f"{kept / maps:.3f} ({kept / 2**20:.1f} against {maps / 2**20:.1f} MiB)"
    note = (
        f"bytes of the kept tensors; 2 · d / n = 2 · {channels} / {MEMORY_TOKENS} = {2 * channels / MEMORY_TOKENS:.3f}"
    )
    what = f"memory of headlight.record / of output_attentions, {name}, {MEMORY_TOKENS} tokens"
    return upper_limit_row(what, MEMORY_LIMITS[name], kept / maps, figure, note)
