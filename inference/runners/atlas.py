"""Texts cut into windows for a head atlas, and the statistics of every head over these windows."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attention.strongest_links import LEAST, StrongestLinks
from attention.tokens import TokenRow, word_runs
from i18n import gettext_lazy
from inference.anatomy.output_norms import output_grams, value_norms
from inference.errors import UserError, as_user_error
from inference.loaded_model import LoadedModel
from inference.pictures.image_processing import tower
from inference.record.attention_call import AttentionCall, part_namer
from inference.record.attention_function import record_attention
from inference.record.batching import Sample, batches, collate
from inference.record.edit_hooks import attention_layers, heads_of
from inference.record.head_statistics import LayerStatistics, MapSides, MapTape, layer_statistics, visible_pairs
from inference.request import TraceRequest
from inference.tasks.atlas import (
    ATLAS_MEASURES,
    WINDOW,
    AtlasAnswer,
    AtlasRequest,
    CutAnswer,
    CutRequest,
    Integers,
    StackStatistics,
    TokenForms,
    Window,
    offsets,
)
from inference.text.encoding import Encoding, check_text, explain_unreadable
from inference.write.target_text import read_target

TOKENS_AT_ONCE = 1024  # of a padded batch; larger batches are not faster and take more memory
SIDES = {"encoder": (0, 0), "decoder": (1, 1), "cross": (1, 0)}  # sides of queries and of keys with a target


def cut_texts(loaded: LoadedModel, question: CutRequest) -> CutAnswer:
    """Return the windows of each text; a text that cannot be read gets no windows, but an error message."""
    windows, sizes, refusals = [], [], []
    for text, target in question.texts:
        found: tuple[Window, ...] = ()
        counts: tuple[int, ...] = ()
        reason = ""
        try:
            checked = check_text(text)
            found = (
                tuple((part, None) for part in cut_text(loaded, checked))
                if target is None
                else ((checked, check_text(target)),)
            )
            counts = tuple(sum(len(side.ids) for side in _read(loaded, window) if side) for window in found)
        except UserError as refusal:
            found, reason = (), refusal.message
        windows.append(found)
        sizes.append(counts if found else ())
        refusals.append(reason)
    return CutAnswer(tuple(windows), tuple(sizes), tuple(refusals))


def cut_text(loaded: LoadedModel, text: str) -> list[str]:
    """Return the parts of a text that have at most WINDOW tokens each, cut at word boundaries.

    A part is as long as possible. A word that is too long is cut inside. Parts with fewer than two words are left out,
    because the weight of a link is compared with those of other words to the same key.
    """
    limit = min(WINDOW, loaded.limit)
    row = loaded.reader.read(text, None, None).row
    if message := explain_unreadable(row, loaded.id.name):
        raise UserError(message)
    room = limit - sum(row.special)
    tokens = [at for at in range(len(row)) if not row.special[at] and row.spans[at] is not None]
    starts = [span[0] for at in tokens if (span := row.spans[at]) is not None]
    starts.append(len(text))
    begins = [_begins_word(row, at, text, start) for at, start in zip(tokens, starts[:-1], strict=True)] + [True]
    parts = []
    first = 0
    while first < len(tokens):
        stop = _stop(loaded, text, starts, begins, first, room)
        part = text[starts[first] : starts[stop]].strip()
        if len({row.words[at] for at in tokens[first:stop]}) > 1:
            parts.append(part)
        first = stop
    return parts


def _stop(  # noqa: PLR0913  # the text with its tokens, and the place in it
    loaded: LoadedModel, text: str, starts: Sequence[int], begins: Sequence[bool], first: int, room: int
) -> int:
    """Return the number of the token after the longest part that begins with token ``first`` and fits."""
    last = min(first + max(1, room), len(starts) - 1)
    while last > first + 1:
        stop = next((at for at in range(last, first, -1) if begins[at]), last)
        part = text[starts[first] : starts[stop]].strip()
        if not part or len(loaded.reader.read(part, None, None).row) <= min(WINDOW, loaded.limit):
            return stop  # a part may have other tokens than the same characters in the whole text
        last = stop - 1
    return first + 1


def _begins_word(row: TokenRow, at: int, text: str, start: int) -> bool:
    """Return True if a window may begin with a token: after white space, or in a script without spaces."""
    if start == 0 or text[start - 1].isspace() or text[start].isspace():
        return True
    return not row.goes_on(at) and "Lo" in (unicodedata.category(text[start]), unicodedata.category(text[start - 1]))


def _read(loaded: LoadedModel, window: Window) -> tuple[Encoding, Encoding | None]:
    """Return the encodings of a window; raise UserError if it is too long, as only a pair of texts can be."""
    text, target = window
    encodings = [loaded.reader.read(text, None, loaded.limit)]
    if target is not None:
        if loaded.id.kind != "encoder-decoder":
            raise UserError(
                gettext_lazy(
                    "{name} reads single texts, not pairs. Leave the targets out.",
                    name=loaded.id.name,
                )
            )
        encodings.append(read_target(loaded, target)[0])
    for encoding in encodings:
        if len(encoding.ids) > WINDOW:
            raise UserError(
                gettext_lazy(
                    "One side of a pair has {tokens:,} tokens; the limit is {most}. Shorten it.",
                    tokens=len(encoding.ids),
                    most=WINDOW,
                )
            )
    return encodings[0], encodings[1] if target is not None else None


class _Stack:
    """The results of a stack while the windows of a request are read."""

    def __init__(self, heads: Sequence[int], question: AtlasRequest, part: str, widths: tuple[int, int]) -> None:
        """Allocate the arrays for all windows; ``widths`` are the largest numbers of query and of key tokens."""
        self.layers, self.heads = len(heads), max(heads)
        total, windows = self.layers * self.heads, len(question.windows)
        self.kinds = [
            [StrongestLinks(most, weakest=floor) for floor in (dict(floors).get(part) or (float(LEAST),) * total)]
            for most, floors in (
                (question.most, question.floors),
                (question.most_written, question.written_floors),
            )
        ]
        self.measures = np.zeros((windows, total, len(ATLAS_MEASURES)), np.float32)
        self.distances = np.zeros((windows, total, len(offsets())), np.float32)
        self.peaks = np.zeros((windows, total), np.float32)
        self.places = np.zeros((2, windows, total), np.uint8)  # query and key of the peak
        self.row_peaks, self.received = (np.zeros((windows, width, total), np.float32) for width in widths)

    def add(self, layer: int, windows: Integers, found: LayerStatistics) -> None:
        """Add the statistics of a layer over some windows."""
        width = found.measures.shape[1]
        own = slice(layer * self.heads, layer * self.heads + width)
        for kind, blocks in zip(self.kinds, (found.links, found.written), strict=True):
            for links, block in zip(kind[own], blocks, strict=True):
                if len(block["excess"]):
                    links.add({**block, "window": windows[block["window"].astype(np.intp)]})
        self.measures[windows, own] = found.measures.numpy()
        self.distances[windows, own] = found.distances.numpy()
        self.peaks[windows, own] = found.peaks.clamp(min=0).numpy()
        self.places[0, windows, own] = found.peak_queries.numpy()
        self.places[1, windows, own] = found.peak_keys.numpy()
        for table, new in ((self.row_peaks, found.row_peaks), (self.received, found.received)):
            table[windows, : new.shape[2], own] = new.transpose(1, 2).numpy()

    def floors(self, layer: int, heads: int) -> list[Tensor]:
        """Return the strength that a link of each head of a layer needs, by excess and by size written."""
        own = slice(layer * self.heads, layer * self.heads + heads)
        return [torch.tensor([links.weakest for links in kind[own]]) for kind in self.kinds]

    def finish(self, counts: tuple[Integers, Integers]) -> StackStatistics:
        """Return the statistics; ``counts`` are the numbers of query and of key tokens of each window."""
        tokens = [
            np.arange(table.shape[1]) < count[:, None]
            for table, count in zip((self.row_peaks, self.received), counts, strict=True)
        ]
        links, written = (tuple(links.table() for links in kind) for kind in self.kinds)
        return StackStatistics(
            self.layers,
            self.heads,
            links,
            written,
            measures=self.measures,
            distances=self.distances,
            peaks=self.peaks,
            peak_queries=self.places[0],
            peak_keys=self.places[1],
            row_peaks=self.row_peaks[tokens[0]],
            received=self.received[tokens[1]],
        )


def measure(loaded: LoadedModel, question: AtlasRequest) -> AtlasAnswer:
    """Return the statistics of every head over the windows.

    Raise UserError if the model fails, or if it reports only attention maps, without queries, keys and values.
    """
    heads = _recorded_heads(loaded)
    readings = [_read(loaded, window) for window in question.windows]
    samples = [
        Sample(str(at), TraceRequest(text=text), source, target, None)
        for at, ((text, _target), (source, target)) in enumerate(zip(question.windows, readings, strict=True))
    ]
    two = any(target is not None for _source, target in readings)
    rows = [[source.row for source, _target in readings]]
    if two:
        rows.append([target.row for _source, target in readings if target is not None])
    texts = [[window[side] or "" for window in question.windows] for side in range(len(rows))]
    forms = tuple(token_forms(*side) for side in zip(rows, texts, strict=True))
    model = loaded.model.get_encoder() if loaded.id.kind == "encoder-decoder" and not two else loaded.model
    name, stacks = part_namer(loaded.model), dict[str, _Stack]()
    output_grams(loaded.model)  # found in a pass of its own, so not while another pass runs
    for batch in batches(samples, TOKENS_AT_ONCE):
        with as_user_error(
            gettext_lazy("{name} failed on this input. Change it or pick another model.", name=loaded.id.name)
        ):
            reader = _BatchReader(loaded.model, name, batch, question, heads, forms, stacks)
            with record_attention(MapTape(take=reader.take)):
                inputs = collate(loaded, batch)
                tower(model, inputs)(**inputs)
    found = {}
    for part, stack in stacks.items():
        query, key = (forms[side] for side in sides_of(part, two))
        found[part] = stack.finish((query.counts, key.counts))
    return AtlasAnswer(forms, found)


def _recorded_heads(loaded: LoadedModel) -> Mapping[str, Sequence[int]]:
    """Return the number of heads of each layer, by stack; raise UserError if the model reports finished maps only."""
    try:
        return heads_of(loaded.model)
    except UserError as refusal:
        raise UserError(
            gettext_lazy(
                "{architecture} reports attention maps only. Try BERT or GPT-2.",
                architecture=loaded.id.name,
            )
        ) from refusal


def sides_of(part: str, two: bool) -> tuple[int, int]:
    """Return the texts from which a stack takes its queries and its keys: 0 for the text, 1 for the target.

    If ``two`` is False, there is no target.
    """
    return SIDES[part] if two else (0, 0)


@dataclass(eq=False)
class _BatchReader:
    """The attention calls of a batch, added to the stacks in the order of the layers."""

    model: Any
    name: Callable[[AttentionCall], str]
    batch: Sequence[Sample]
    question: AtlasRequest
    heads: Mapping[str, Sequence[int]]
    forms: tuple[TokenForms, ...]
    stacks: dict[str, _Stack]
    calls: Counter[str] = field(default_factory=Counter)

    def take(self, call: AttentionCall, maps: Tensor) -> None:
        """Add a call and its maps (text, head, query, key)."""
        part = self.name(call)
        layer = attention_layers(self.model, part)[self.calls[part]]
        self.calls[part] += 1
        ends = sides_of(part, len(self.forms) > 1)
        if part not in self.stacks:
            query, key = (int(self.forms[side].counts.max()) for side in ends)
            self.stacks[part] = _Stack(self.heads[part], self.question, part, (query, key))
        stack = self.stacks[part]
        windows = np.array([int(sample.key) for sample in self.batch])
        flags = _flags(self.batch, ends, maps.shape[2], maps.shape[3], part == "cross")
        norms = value_norms(self.model, call)
        floors = stack.floors(layer, maps.shape[1])
        stack.add(layer, windows, layer_statistics(maps, flags, visible_pairs(call), norms, *floors))


def _flags(batch: Sequence[Sample], ends: tuple[int, int], queries: int, keys: int, crosses: bool) -> MapSides:
    """Return the flags of the tokens of a padded batch."""
    rows = np.zeros((len(batch), queries), bool)
    special, punctuation = np.zeros((2, len(batch), keys), bool)
    for at, sample in enumerate(batch):
        query, key = ((sample.source, sample.target)[side] for side in ends)
        assert query is not None
        assert key is not None
        rows[at, : len(query.ids)] = ~np.array(query.row.special)
        special[at, : len(key.ids)] = key.row.special
        punctuation[at, : len(key.ids)] = [
            not special and not any(map(str.isalnum, piece))
            for piece, special in zip(key.row.pieces, key.row.special, strict=True)
        ]
    return MapSides(torch.from_numpy(rows), torch.from_numpy(special), torch.from_numpy(punctuation), crosses)


def token_forms(rows: Sequence[TokenRow], texts: Sequence[str]) -> TokenForms:
    """Return the forms of the tokens of some texts: the spellings by which a search finds them.

    >>> row = TokenRow(("[CLS]", "Play", "ing"), (1, 2, 3), (None, 0, 0), (0,) * 3, (None, (0, 4), (4, 7)))
    >>> token_forms([row], ["Playing"]).forms
    ('[CLS]', 'playing', '##ing')
    """
    forms: list[str] = []
    sizes: list[int] = []
    starts: list[int] = []
    for row, text in zip(rows, texts, strict=True):
        for start, stop in word_runs(row.words, row.segments):
            spans = [span for span in row.spans[start:stop] if span is not None]
            whole = text[spans[0][0] : spans[-1][1]] if spans else ""
            labels = row.labels[start:stop]
            first = labels[0] if row.special[start] or not whole.strip() else whole.strip().casefold()
            forms += [first, *(label.casefold() for label in labels[1:])]
            sizes += [0 if row.special[start] else stop - start, *[0] * (stop - start - 1)]
        starts += [
            -1 if span is None or special else span[0] for span, special in zip(row.spans, row.special, strict=True)
        ]
    counts = np.array([len(row) for row in rows])
    return TokenForms(tuple(forms), np.array(sizes, np.int32), np.array(starts, np.int32), counts)
