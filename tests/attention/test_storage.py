"""Saved traces: round trips without loss, and a clear error for other files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attention.mask import Mask
from attention.pictures import Picture
from attention.record import NoAttention
from attention.storage import FORMAT, MOST_LINES, MOST_MAPS, dump, parse
from attention.tokens import TokenRow
from attention.trace import Trace
from tests.support.cases import loop_over
from tests.support.seen import TOKENS, picture_trace
from tests.support.traces import hybrid_trace, numbers, record, sentence_trace, translation_trace

HOSTILE_TEXT = "</script>\u2028{{ \U0001f469‍\U0001f4bb مرحبا \x7f"


def everything() -> Trace:
    shared = numbers(1, 6, 6, seed=3)
    extras = {"bias": shared, "softcap": 2.0, "sinks": numbers(3), "mask": Mask(6, 6, allowed=np.tri(6, k=1) > 0)}
    return sentence_trace(
        text=HOSTILE_TEXT, parts={"encoder": (record(6, 6, **extras), record(6, 6, seed=5, **extras))}
    )


@pytest.mark.parametrize("make", [sentence_trace, translation_trace, everything, picture_trace])
def test_a_saved_trace_opens_as_the_same_trace(make: Any) -> None:
    trace = make()
    opened = parse(dump(trace))
    assert (opened.id, opened.model, opened.text, opened.source, opened.target, opened.picture) == (
        trace.id, trace.model, trace.text, trace.source, trace.target, trace.picture,
    )  # fmt: skip
    assert opened.nbytes == trace.nbytes, "arrays shared by layers are stored once"
    for part, records in trace.parts.items():
        for layer in range(len(records)):
            for head in range(3):
                np.testing.assert_array_equal(opened.weights(layer, head, part), trace.weights(layer, head, part))


def broken() -> Iterator[Any]:
    good = dump(sentence_trace())
    nan = sentence_trace(parts={"encoder": (record(6, 6, query=np.full((3, 6, 4), np.nan, np.float32)),)})
    yield b""
    yield b"PK\x03\x04 not a trace"
    yield good[:-1]
    yield good[: len(good) // 2]
    yield good.replace(FORMAT.encode(), b"headlight-trace-9")
    yield (2**62).to_bytes(8, "little") + good[8:]
    yield dump(sentence_trace(source=translation_trace().target))
    yield dump(nan)
    yield dump(sentence_trace(parts={}))
    yield dump(sentence_trace(parts={"encoder": (record(6, 6),) * 20_000}))
    yield dump(sentence_trace(parts={"encoder": (record(6, 6, key=numbers(0, 6, 4)),)}))
    yield dump(sentence_trace(parts={"encoder": (record(6, 6, scale=float("nan")),)}))
    yield dump(sentence_trace(parts={"encoder": (record(6, 6, softcap=0.0),)}))
    yield dump(sentence_trace(source=replace(sentence_trace().source, segments=(0, 0, 0, 0, 0, -9))))
    yield (10**9).to_bytes(8, "little") + good[8:]
    source, half = sentence_trace().source, "a\ud800"
    yield dump(sentence_trace(id=half))
    yield dump(sentence_trace(text=half))
    yield dump(sentence_trace(pair=half))
    yield dump(sentence_trace(model=replace(sentence_trace().model, name=half)))
    yield dump(sentence_trace(source=replace(source, pieces=(half, *source.pieces[1:]))))
    yield dump(sentence_trace(source=replace(source, unknown=(half,) * len(source))))


def hostile_pictures() -> Iterator[Any]:
    seen = picture_trace()
    assert seen.source.grid is not None
    for change in (
        {"rows": 4}, {"columns": 10**9}, {"rows": -3, "columns": -5}, {"start": 3}, {"start": -1},
        {"box": (0.0, 0.0, 0.0, 1.0)}, {"box": (0.0, 2.0, 1.0, 1.0)}, {"box": (0.0, 0.0, float("inf"), 1.0)},
        {"box": (float("nan"), 0.0, 1.0, 1.0)},
    ):  # fmt: skip
        yield dump(replace(seen, source=replace(seen.source, grid=replace(seen.source.grid, **change))))
    good = dump(seen)
    yield good.replace(b'picture\\": \\"array', b'picture\\": \\"arrow')
    yield good.replace(b'"U8"', b'"I8"')
    flat = Picture(np.zeros((24, 40, 3), np.uint8))
    object.__setattr__(flat, "pixels", np.zeros((24, 40), np.uint8))
    yield dump(replace(seen, picture=flat))


@loop_over("data", list(hostile_pictures()))
def test_a_picture_that_does_not_fit_its_tokens_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="complete trace"):
        parse(data)


def test_texts_and_pictures_are_written_in_the_same_format() -> None:
    assert FORMAT.encode() in dump(sentence_trace())
    assert b"grid" not in dump(sentence_trace())
    assert FORMAT.encode() in dump(picture_trace())
    assert parse(dump(picture_trace(picture=None))).source.grid == picture_trace().source.grid
    assert len(parse(dump(picture_trace())).source) == TOKENS


def shared(tokens: int, layers: int) -> Trace:
    """Return a trace of many tokens or layers with few bytes: all layers share the same record."""
    row = TokenRow(("a",) * tokens, (1,) * tokens, tuple(range(tokens)), (0,) * tokens, ((0, 1),) * tokens)
    return sentence_trace(source=row, parts={"encoder": (record(tokens, tokens),) * layers})


def test_a_small_file_does_not_stand_for_endless_work() -> None:
    """The counts of maps and of tokens are each within their limits, but their product is not."""
    tokens = 1_000
    most = MOST_LINES // (2 * 3 * tokens)
    assert 3 * (most + 1) < MOST_MAPS
    assert parse(dump(shared(tokens, most))).nbytes < 100e6
    data = dump(shared(tokens, most + 1))
    assert len(data) < 1e6
    with pytest.raises(ValueError, match="complete trace"):
        parse(data)


@loop_over("data", list(broken()))
def test_anything_else_is_refused_in_a_sentence(data: Any) -> None:
    with pytest.raises(ValueError, match="complete trace"):
        parse(data)


def test_layers_without_attention_are_saved() -> None:
    trace = hybrid_trace()
    opened = parse(dump(trace))
    assert opened.attending() == (1, 3)
    assert [(r.heads, r.queries, r.keys) for r in opened.records()] == [(3, 6, 6)] * 4
    np.testing.assert_array_equal(opened.weights(3, 2), trace.weights(3, 2))
    with pytest.raises(ValueError, match="trace"):
        parse(dump(sentence_trace(parts={"encoder": (NoAttention(3, 6, 6),) * 2})))
