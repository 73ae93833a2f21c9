"""Fuzz targets for files: uploads, and the use of their contents on pages."""

from __future__ import annotations

import io
import json
import struct
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from PIL import Image

from attention.measures import summarize_heads
from attention.pictures import Grid, Picture
from attention.storage import dump
from attention.storage import parse as trace_of
from attention.view import View
from inference.pictures.image_files import open_picture
from lessons.library import pack_lesson, unpack_lesson
from lessons.reading import Unreadable, lesson_of
from probing import alignments, formats, text_pairs
from probing.labelled.files import File
from probing.labelled.loading import TaskFiles, read_labeled, read_tagged
from probing.sentence_files import column, lines, parse_table
from tests.fuzz.door import Door
from tests.fuzz.harming import harmed, harmed_tree, harmed_words
from tests.support.traces import SENTENCE, numbers, record, sentence_trace, translation_trace
from ui.input import probes
from ui.input.text_files import decode, decode_table
from ui.pages.by_hand import as_csv
from ui.pages.next_sentence import pairs_table
from ui.paths import ASSETS
from viz.export import links_csv, weights_csv, weights_json
from viz.static.head import picture as still
from viz.static.shapes import svg

TABLE = b'text,source,target,distractor\n"The cup fell on the table, and it broke.",it,cup,table\n'
GAP = (
    b"ID\tText\tPronoun\tPronoun-offset\tA\tA-offset\tA-coref\tB\tB-offset\tB-coref\tURL\n"
    b"1\tAnn saw Eve when she left.\tshe\t17\tAnn\t0\tTRUE\tEve\t8\tFALSE\thttp://x\n"
)
TREE = b"# text = Go home\n1\tGo\tgo\tVERB\tVB\t_\t0\troot\t0:root\t_\n2\thome\thome\tADV\tRB\t_\t1\tadvmod\t_\t_\n\n"
ALIGNED = (
    b"It rains\tIl pleut\t0-0 1-1 0?1\n",
    b'{"pairs": [{"source": "It rains", "target": "Il pleut", "links": "0-0 1?1", "source_words": ["It", "rains"]}]}',
)
PAIRS = b"a,b,kind\nThe cat sat.,The dog sat.,change\nThe cat sat.,The cat sat!,control\n"
CLASSES = "".join(f"{at} is {'odd' if at % 2 else 'even'}.\t{at % 2}\n" for at in range(12)).encode()
TAGS = "".join(f"Ann B-PER\nhas O\n{at} O\n\n" for at in range(12)).encode()
BY_HAND = (
    b"matrix,row,1,2\r\nX,a,1,2\r\nX,b,2,0.5\r\nW_Q,1,0.5\r\nW_Q,2,1/3\r\nW_K,1,1\r\nW_K,2,0\r\nW_V,1,-1\r\nW_V,2,0\r\n"
)
COLUMNS = b"id;text\n1;A first one.\n2;And another, longer one.\n"
PROBES = json.loads((ASSETS / "probes.json").read_bytes())[:2]
LESSON = (ASSETS / "lessons" / "tour.toml").read_bytes()[:6000]


def _pictured() -> bytes:
    """Return a saved trace of a picture, in format 2."""
    length = len(SENTENCE)
    grid = Grid(1, length - 1, 1, (0.0, 0.0, 4.0, 2.0))
    pixels = np.zeros((2, 4, 3), np.uint8)
    return dump(sentence_trace(source=replace(SENTENCE, grid=grid), picture=Picture(pixels)))


def _signed() -> bytes:
    from attention.record import MapRecord

    return dump(sentence_trace(parts={"encoder": (MapRecord(np.clip(numbers(3, 6, 6), -1, 1), True),)}))


def _shared() -> bytes:
    one = record(6, 6, seed=1)
    return dump(sentence_trace(parts={"encoder": (one, one)}))


TRACES = (dump(sentence_trace()), dump(translation_trace()), _pictured(), _signed(), _shared())


def _parted(file: bytes) -> list[Any]:
    """Split the header of a saved trace into safetensors' part and Headlight's part."""
    length = int.from_bytes(file[:8], "little")
    header = json.loads(file[8 : 8 + length])
    return [header, json.loads(header["__metadata__"].pop("headlight"))]


def _joined(seed: bytes, parts: Any) -> bytes:
    try:
        header, ours = parts
        header["__metadata__"]["headlight"] = json.dumps(ours)
        told = json.dumps(header).encode()
    except (TypeError, ValueError, LookupError):
        return json.dumps(parts).encode()
    return struct.pack("<Q", len(told)) + told + seed[8 + int.from_bytes(seed[:8], "little") :]


def _header_harmed(seed: bytes) -> SearchStrategy[bytes]:
    return harmed_tree([_parted(seed)]).map(partial(_joined, seed))


def open_trace(file: bytes) -> None:
    """Read a trace as the page Explore does, compute its views, and save it in several formats."""
    trace = trace_of(file)
    for part in trace.parts:
        for words, special in ((False, True), (True, False)):
            view = View(trace, part, words, special, True)
            if view.queries and view.keys:
                summarize_heads(view, 48)
                links_csv(view), weights_csv(view, 0, 0), weights_json(view, 0, 0)
                svg(still(view, 0, 0, 0))
    assert dump(trace)


def _read_lesson(file: bytes) -> None:
    text = decode(file)
    lesson_of(text)


def _share_lesson(link: str) -> None:
    if (text := unpack_lesson(link)) is not None:
        lesson_of(text)


def _sentences(file: bytes) -> None:
    text = decode_table(file)
    lines(text)
    found = parse_table(text)
    for at in found.texts:
        column(found, at)


def _worked(file: bytes) -> None:
    """Read an example, write it into an address and read it back."""
    example = as_csv.read(file)
    again = as_csv.unpack(as_csv.pack(example))
    assert np.array_equal(example.x, again.x), (example, again)


def _image(kind: str, **options: Any) -> bytes:
    out = io.BytesIO()
    pixels = np.random.default_rng(0).integers(0, 255, (12, 9, 3), np.uint8)
    Image.fromarray(pixels).save(out, kind, **options)
    return out.getvalue()


PICTURES = (
    _image("PNG"),
    _image("JPEG"),
    _image("JPEG", progressive=True),
    _image("WEBP"),
    _image("WEBP", lossless=True),
)

DOORS = (
    Door("trace, bytes", harmed(TRACES), open_trace, (ValueError,), 0.5),
    Door("trace, header", st.one_of(*map(_header_harmed, TRACES)), open_trace, (ValueError,), 0.5, mixes=False),
    Door(
        "probes, bytes", harmed([(ASSETS / "probes.json").read_bytes()[:3000]]), probes.parse_probes, (ValueError,), 2
    ),
    Door(
        "probes, values",
        harmed_tree([PROBES]).map(lambda tree: json.dumps(tree).encode()),
        lambda file: json.loads(probes.dump_probes(list(probes.parse_probes(file)))),
        (ValueError,),
        2,
    ),
    Door("pairs", harmed([PAIRS]), text_pairs.parse, share=2),
    Door("pairs to judge", harmed([PAIRS, COLUMNS]), pairs_table.parse, share=2),
    Door("aligned sentences", harmed(ALIGNED), alignments.parse, share=2),
    *(
        Door(f"annotated, {name}", harmed([seed]), partial(formats.parse, format=name), share=1.5)
        for name, seed in (("csv", TABLE), ("gap", GAP), ("conllu", TREE))
    ),
    Door(
        "labelled texts",
        harmed([CLASSES, CLASSES.replace(b"\t", b",")]),
        lambda file: read_labeled(TaskFiles(File("a.tsv", file))),
    ),
    Door("tagged words", harmed([TAGS]), lambda file: read_tagged(TaskFiles(File("a.conll", file)))),
    Door("sentences", harmed([COLUMNS]), _sentences, share=2),
    Door("lesson", harmed([LESSON]), _read_lesson, (Unreadable, ValueError)),
    Door(
        "lesson in a link",
        harmed_words(pack_lesson(LESSON.decode("utf-8", "ignore")) or ""),
        _share_lesson,
        (Unreadable,),
        2,
    ),
    Door("by hand", harmed([BY_HAND]), _worked, share=2),
    Door("by hand in a link", harmed_words(as_csv.pack(as_csv.read(BY_HAND))), as_csv.unpack, share=2),
    Door("picture", harmed(PICTURES), open_picture),
)
