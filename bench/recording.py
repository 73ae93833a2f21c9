"""The cost of recording, ablation and patching, relative to plain forward passes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.models import BERT_BASE, EMBEDDED, RECORDING, build, count_embedded, inputs, text_of, tokenizer
from bench.report import ReportRow, ratio, time_in_turns, upper_limit_row

if TYPE_CHECKING:
    from attention.mask import FloatArray
    from inference.tasks.edit_effects import Effect

FORWARD_LIMIT = 1.10
FORWARD_REPEATS = {(EMBEDDED, 128): 100, (EMBEDDED, 512): 40, (BERT_BASE, 128): 30, (BERT_BASE, 512): 14}


def measure_forward() -> Iterator[ReportRow]:
    """Yield a row per model and length: the CPU time of recording a text, relative to a plain SDPA pass."""
    import torch

    from inference.record.capture import record_parts
    from inference.settings import Settings

    torch.set_num_threads(Settings().forward_threads)
    for name in (EMBEDDED, BERT_BASE):
        plain, recording = build(name, "sdpa"), build(name, RECORDING)
        for tokens in (128, 512):
            given = inputs(tokens)
            repeats = FORWARD_REPEATS[name, tokens]
            ways = {"plain": partial(plain, **given), "recorded": partial(record_parts, recording, given, [tokens])}
            with torch.inference_mode():
                times = time_in_turns(ways, repeats)
            found = ratio(times["recorded"], times["plain"])
            least, threads = min(times["plain"].cpu) * 1000, torch.get_num_threads()
            note = f"processor time, median of {repeats} rounds in turns; plain {least:.0f} ms, {threads} threads"
            what = f"forward pass with recording / plain SDPA, {name}, {tokens} tokens"
            yield upper_limit_row(what, FORWARD_LIMIT, found.cpu, str(found), note)


PICTURES_LIMIT = 1.10
PICTURES_REPEATS = {224: 12, 448: 6}
SMALL = {"hidden_size": 384, "num_hidden_layers": 12, "num_attention_heads": 6, "image_size": 518, "patch_size": 14}


def measure_pictures() -> Iterator[ReportRow]:
    """Yield rows for the time of preparing a model, and of recording a picture of each size.

    Recording is relative to a plain pass.
    """
    import torch

    from inference.record.capture import record_parts
    from inference.settings import Settings

    torch.set_num_threads(Settings().forward_threads)
    plain, (recording, ready) = _build("sdpa")[0], _build(RECORDING)
    yield ReportRow(
        "first pass of a vision transformer, DINOv2-small's size", "–", f"{ready:.2f} s", None, "4 × 4 patches"
    )
    for side, repeats in PICTURES_REPEATS.items():
        pixels = torch.randn(1, 3, side, side, generator=torch.Generator().manual_seed(0))
        given: dict[str, Any] = {"pixel_values": pixels}
        ways = {"plain": partial(plain, **given), "recorded": partial(record_parts, recording, given)}
        with torch.inference_mode():
            times = time_in_turns(ways, repeats)
        found, tokens = ratio(times["recorded"], times["plain"]), (side // 14) ** 2 + 1
        least, threads = min(times["plain"].cpu) * 1000, torch.get_num_threads()
        note = f"processor time, median of {repeats} rounds in turns; plain {least:.0f} ms, {threads} threads"
        yield upper_limit_row(
            f"picture with recording / plain SDPA, {tokens:,} tokens", PICTURES_LIMIT, found.cpu, str(found), note
        )


def _build(implementation: str) -> tuple[Any, float]:
    """Build the model; return it with the seconds of its preparation for recording.

    Raise RuntimeError if the model cannot record its attention.
    """
    import torch
    from transformers import Dinov2Config, Dinov2Model

    from inference.record import capture

    capture.install()
    config = Dinov2Config(**SMALL)
    config._attn_implementation = capture.NAME if implementation == RECORDING else implementation  # noqa: SLF001  # transformers has no public setter
    torch.manual_seed(0)
    model = Dinov2Model(config).eval().requires_grad_(False)
    began = time.perf_counter()
    if implementation == RECORDING and not capture.prepare(model):
        raise RuntimeError("DINOv2 does not record its attention, so there is nothing to measure.")
    return model, time.perf_counter() - began


EDITS_LIMIT = 30.0
EDITS_TOKENS = 16
EDITS_REPEATS = 30


def measure_edits() -> Iterator[ReportRow]:
    """Yield a row for the CPU time of ablating each head in a single batch, relative to one plain pass."""
    import torch

    from attention.edits import Ablate
    from inference.record.edit_hooks import HEADS
    from inference.runners.edit_batches import one_pass
    from inference.settings import Settings

    torch.set_num_threads(Settings().forward_threads)
    plain, editable = build(EMBEDDED, "sdpa"), build(EMBEDDED, RECORDING)
    [heads] = getattr(editable, HEADS).values()
    sets = [(), *((Ablate(layer, head),) for layer, many in enumerate(heads) for head in range(many))]
    given = inputs(EDITS_TOKENS)
    every = partial(one_pass, editable, given, sets)
    with torch.inference_mode():
        times = time_in_turns({"plain": partial(plain, **given), "every": every}, EDITS_REPEATS)
    found = ratio(times["every"], times["plain"])
    note = f"processor time, median of {EDITS_REPEATS} rounds in turns; {len(sets)} samples, one pass"
    what = f"{len(sets) - 1} single-head ablations / one plain forward pass, {EMBEDDED}, {EDITS_TOKENS} tokens"
    yield upper_limit_row(what, EDITS_LIMIT, found.cpu, str(found), note)


MATRIX_LIMIT = 1 / 50
MATRIX_TOKENS, MATRIX_REPEATS = 512, 15


def measure_matrix() -> Iterator[ReportRow]:
    """Yield a row per model for the cost of a head's 512 × 512 weights, relative to a forward pass."""
    import torch

    from inference.record.capture import record_parts
    from inference.scheduling import calm_blas
    from inference.settings import Settings

    torch.set_num_threads(Settings().forward_threads)
    calm_blas()
    for name in (EMBEDDED, BERT_BASE):
        plain = build(name, "sdpa")
        given = inputs(MATRIX_TOKENS)
        [parts] = record_parts(build(name, RECORDING), given, [MATRIX_TOKENS])
        record = parts["encoder"][3]
        with torch.inference_mode():
            times = time_in_turns(
                {"forward": partial(plain, **given), "matrix": partial(record.weights, 5)}, MATRIX_REPEATS
            )
        found = ratio(times["matrix"], times["forward"])
        milliseconds = min(times["matrix"].cpu) * 1000
        note = f"processor time, median of {MATRIX_REPEATS} rounds in turns; the matrix takes {milliseconds:.2f} ms"
        what = f"one head's matrix / whole forward pass, {name}, {MATRIX_TOKENS} tokens"
        yield upper_limit_row(what, MATRIX_LIMIT, found.cpu, str(found), note)


CARRY_LIMIT = 5.0  # seconds
TIRED = "The animal didn't cross the street because it was too tired."
WIDE = TIRED.replace("tired", "wide")
ROUNDS, AT_ONCE = 5, 500  # repetitions; edit sets per request


def measure_patching() -> Iterator[ReportRow]:
    """Yield rows for the cost of patching, for a sentence vector and for a masked word."""
    from inference.tasks.edit_effects import BlankEffects, VectorEffects

    hidden = ((0, TIRED.index("animal"), TIRED.index("animal") + len("animal")),)
    words = ("people", "street")
    yield _row(EMBEDDED, "sentence vector", *(VectorEffects(EMBEDDED, text=text) for text in (TIRED, WIDE)))
    blanks = (BlankEffects("headlight-bert", text=text, hidden=hidden, words=words) for text in (TIRED, WIDE))
    yield _row("headlight-bert", "masked word", *blanks)


def _row(model: str, what: str, here: Any, there: Any) -> ReportRow:
    from dataclasses import replace

    from attention.comparison import align
    from attention.edits import head_patches, paired_tokens, patching_effect, random_patches, residual_patches
    from attention.view import View
    from inference import LocalBackend, TraceRequest
    from inference.runners import edit_effects
    from probing.statistics import COMPARED, compare_with_random

    def numbers(effect: Effect) -> FloatArray:
        return effect.values[:, :1] - effect.values[:, 1:] if effect.names else effect.values

    backend = LocalBackend()
    left, right = (View(trace, words=True) for trace in backend.traces(
        [TraceRequest(model, text=text) for text in (TIRED, WIDE)]))  # fmt: skip
    pairs = paired_tokens(left, right, align(left, right)[0])
    sets = [
        *residual_patches(left.layers, pairs),
        *head_patches([*product(range(left.layers), range(left.heads))], pairs),
    ]
    loaded = backend.loaded(model, None, here.HEAD)
    ends = [numbers(edit_effects.answer(loaded, one))[0] for one in (here, there)]

    def effects(some: Sequence[Any]) -> FloatArray:
        parts = [tuple(some[at : at + AT_ONCE]) for at in range(0, len(some), AT_ONCE)]
        values = [numbers(edit_effects.answer(loaded, replace(here, edits=part, other=there))) for part in parts]
        return patching_effect(np.concatenate(values), *ends)

    def random_effects(asked: Sequence[tuple[int, int]]) -> FloatArray:
        return effects([random_patches(sets[at], (at * COMPARED + number) * left.layers) for at, number in asked])

    wall, processor = [], []
    for _ in range(ROUNDS):
        began, used = time.perf_counter(), time.process_time()
        random = compare_with_random(effects(sets), random_effects)
        wall.append(time.perf_counter() - began)
        processor.append(time.process_time() - used)
    told = f"{median(wall):.1f} s (processor {median(processor):.1f} s)"
    note = f"median of {ROUNDS}; {len(sets)} readings, and {random.made.sum()} of random changes"
    name = f"tired | wide, {what} of {model}: every vector and head taken from the other text"
    return upper_limit_row(name, CARRY_LIMIT, median(wall), told, note)


FIRST, AFTER = 200, 60  # limits in milliseconds of CPU time
IN_MEMORY_TOKENS, TEXTS, MODELS = 24, 12, 5


def measure_in_memory() -> Iterator[ReportRow]:
    """Yield rows for the CPU time of ``explore`` on a model in memory: for its first text, and for later texts.

    The first text includes the preparation of the model.
    """
    import torch

    from headlight import explore

    torch.set_num_threads(1)  # the CPU time of several threads includes waiting, which is long on a busy machine
    names = tokenizer()
    texts = [text_of(IN_MEMORY_TOKENS, count_embedded, seed) for seed in range(TEXTS)]
    explore(build(EMBEDDED, "sdpa"), names, texts[0])  # imports and disk caches are not measured
    first, after = [], []
    for seed in range(MODELS):
        model = build(EMBEDDED, "sdpa")
        first.append(time_call(lambda model=model, text=texts[seed]: explore(model, names, text)))  # type: ignore[misc]
        after += [time_call(lambda model=model, text=text: explore(model, names, text)) for text in texts]  # type: ignore[misc]
    for what, limit, times in (("first text of a model", FIRST, first), ("the texts after it", AFTER, after)):
        cpu, wall = (median(values) for values in zip(*times, strict=True))
        note = f"median of {len(times)}; on the wall {wall:.0f} ms; {IN_MEMORY_TOKENS} tokens, one thread, no imports"
        yield upper_limit_row(f"headlight.explore, {what}, ms of processor time", limit, cpu, f"{cpu:.0f} ms", note)


def time_call(call: Callable[[], object]) -> tuple[float, float]:
    """Call a function; return its CPU time and its wall time in milliseconds."""
    cpu, wall = time.process_time(), time.perf_counter()
    call()
    return 1000 * (time.process_time() - cpu), 1000 * (time.perf_counter() - wall)
