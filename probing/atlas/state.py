"""The state of an atlas while it is built, which does not depend on the order in which blocks of texts are added.

Sums are integers and every table is sorted, so shards that are joined, and a run that was stopped and resumed, give
the same atlas as a single run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from attention import codec
from attention.strongest_links import StrongestLinks
from inference.tasks.atlas import AtlasAnswer, Integers, StackStatistics, TokenForms, Window
from probing.atlas.texts import AtlasText

PARTS = 1 << 24  # a sum of shares is stored as a number of these parts
BLOCK = 1 << 16  # a window's number is its block times this, plus its place in the block
PER_WINDOW = ("measures", "peaks", "peak_queries", "peak_keys")
NO_TAG = ""


@dataclass(eq=False)
class StackState:
    """The statistics of a stack's heads, over the blocks of texts that were read so far.

    ``links`` has the strongest links of each head by excess, and ``written`` those with the largest weight × ‖value ·
    W_O‖. ``tables`` have a row for each window, ``distances`` has the attention by offset of the key, and
    ``query_sums`` and ``key_sums`` are sums over the tokens with the same spelling.
    """

    layers: int
    heads: int
    links: list[StrongestLinks]
    written: list[StrongestLinks]
    tables: dict[str, list[Integers]] = field(default_factory=lambda: {name: [] for name in PER_WINDOW})
    distances: Integers = field(default_factory=lambda: np.zeros(0))  # (head, bin)
    query_sums: Integers = field(default_factory=lambda: np.zeros((0, 0)))  # (form, head)
    key_sums: Integers = field(default_factory=lambda: np.zeros((0, 0)))

    @classmethod
    def empty(cls, layers: int, heads: int, most: int, most_written: int) -> StackState:
        """Return the state of a stack before the first block."""
        links, written = ([StrongestLinks(limit) for _ in range(layers * heads)] for limit in (most, most_written))
        return cls(layers, heads, links, written)

    def add(self, found: StackStatistics, numbers: Integers, queries: Integers, keys: Integers) -> None:
        """Add the statistics ``found`` of a block of windows, whose numbers are ``numbers`` (window,).

        ``queries`` and ``keys`` (token,) are the numbers of the spellings of the block's tokens.
        """
        for kind, blocks in ((self.links, found.links), (self.written, found.written)):
            for links, columns in zip(kind, blocks, strict=True):
                if len(columns["excess"]):
                    links.add({**columns, "window": numbers[columns["window"].astype(np.intp)]})
        for name in PER_WINDOW:
            self.tables[name].append(getattr(found, name))
        distances = np.rint(found.distances * PARTS).astype(np.int64).sum(axis=0)
        self.distances = distances if self.distances.size == 0 else self.distances + distances
        self.query_sums = add_by_form(self.query_sums, queries, found.row_peaks)
        self.key_sums = add_by_form(self.key_sums, keys, found.received)

    def floors(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return the smallest excess, and the smallest size, with which a new link of each head is kept.

        Both have a value for each head. The size of a link is its weight × ‖value · W_O‖.
        """
        first, second = (tuple(links.weakest for links in kind) for kind in (self.links, self.written))
        return first, second


def add_by_form(sums: Integers, forms: Integers, values: Integers) -> Integers:
    """Add ``values`` (token, head) to the ``sums`` (form, head) of the tokens' spellings, and return the new sums.

    ``forms`` (token,) are the numbers of the tokens' spellings.
    """
    rows = max(len(sums), int(forms.max(initial=-1)) + 1)
    grown = np.zeros((rows, values.shape[1]), np.int64)
    grown[: len(sums)] = sums.reshape(len(sums), -1)[:, : values.shape[1]] if len(sums) else 0
    order = np.argsort(forms, kind="stable")
    names, starts = np.unique(forms[order], return_index=True)
    if len(names):
        grown[names] += np.add.reduceat(np.rint(values * PARTS).astype(np.int64)[order], starts, axis=0)
    return grown


@dataclass(eq=False)
class AtlasState:
    """The content of an atlas under construction: everything computed from the blocks read so far.

    A form is the spelling of a token, and ``vocabulary`` maps it to its number. ``forms`` has a list for each side: the
    text, and the target if there is one. The list has the form numbers of the tokens of each window. ``numbers`` are
    the numbers of the windows, and ``text_numbers`` those of their texts.
    """

    most: int
    most_written: int
    blocks: set[int] = field(default_factory=set)
    vocabulary: dict[str, int] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)  # tokens of a word, if several
    numbers: list[int] = field(default_factory=list)
    text_numbers: list[int] = field(default_factory=list)
    windows: list[Window] = field(default_factory=list)
    forms: list[list[Integers]] = field(default_factory=list)  # by side, an array for each window
    tags: list[list[str]] = field(default_factory=list)  # by window, a tag for each token of the text, or []
    stacks: dict[str, StackState] = field(default_factory=dict)
    left_out: int = 0  # texts that the model cannot read
    reason: str = ""

    @property
    def tokens(self) -> int:
        """Return the number of tokens of all windows, special tokens and targets included."""
        return sum(len(forms) for side in self.forms for forms in side)

    def add(
        self,
        block: int,
        texts: Sequence[AtlasText],
        owners: Sequence[int],
        windows: Sequence[Window],
        answer: AtlasAnswer,
    ) -> None:
        """Add a block; ``owners`` has, for each window, the index of its text in ``texts``."""
        self.blocks.add(block)
        if not windows:
            return
        numbers = np.arange(len(windows)) + block * BLOCK
        self.numbers += numbers.tolist()
        self.text_numbers += [block * BLOCK + owner for owner in owners]
        self.windows += windows
        flat = [self._number_forms(side) for side in answer.sides]
        while len(self.forms) < len(flat):
            self.forms.append([])
        for side, forms, tokens in zip(self.forms, flat, answer.sides, strict=False):
            side += np.split(forms, np.cumsum(tokens.counts)[:-1])
        self.tags += _token_tags(texts, owners, windows, answer.sides[0])
        for part, found in answer.stacks.items():
            if part not in self.stacks:
                self.stacks[part] = StackState.empty(found.layers, found.heads, self.most, self.most_written)
            ends = (0, 0) if len(flat) == 1 else {"encoder": (0, 0), "decoder": (1, 1), "cross": (1, 0)}[part]
            self.stacks[part].add(found, numbers, flat[ends[0]], flat[ends[1]])

    def _number_forms(self, side: TokenForms) -> Integers:
        for form, size in zip(side.forms, side.sizes.tolist(), strict=True):
            if size > 1:
                self.sizes[form] = max(size, self.sizes.get(form, 0))
        vocabulary = self.vocabulary
        return np.array([vocabulary.setdefault(form, len(vocabulary)) for form in side.forms], np.int64)

    def join(self, other: AtlasState) -> None:
        """Add the blocks of another shard; raise ValueError if both have read the same block."""
        if self.blocks & other.blocks:
            raise ValueError("The shards have read the same block of texts.")
        moved = np.array(
            [self.vocabulary.setdefault(form, len(self.vocabulary)) for form in other.vocabulary], np.int64
        )
        self.sizes |= {form: max(size, self.sizes.get(form, 0)) for form, size in other.sizes.items()}
        self.blocks |= other.blocks
        self.left_out += other.left_out
        self.reason = self.reason or other.reason
        for name in ("numbers", "text_numbers", "windows", "tags"):
            getattr(self, name).extend(getattr(other, name))
        while len(self.forms) < len(other.forms):
            self.forms.append([])
        for side, more in zip(self.forms, other.forms, strict=False):
            side += [moved[forms] for forms in more]
        for part, stack in other.stacks.items():
            if part not in self.stacks:
                self.stacks[part] = StackState.empty(stack.layers, stack.heads, self.most, self.most_written)
            _join_stack(self.stacks[part], stack, moved)

    def save(self, file: Path, run: str) -> None:
        """Save the state together with ``run``, the key of its plan; the file is replaced atomically."""
        replace_file(file, self.encode(run))

    def encode(self, run: str) -> list[Any]:
        """Encode the state and ``run``, the key of its plan, as blocks of bytes."""
        arrays, stacks = dict[str, Integers](), dict[str, Any]()
        for part, stack in self.stacks.items():
            stacks[part] = [stack.layers, stack.heads]
            for kind, collections in (("links", stack.links), ("written", stack.written)):
                tables = [links.table() for links in collections]
                arrays[f"{part}.{kind}.counts"] = np.array([len(table["excess"]) for table in tables])
                for name in tables[0]:
                    arrays[f"{part}.{kind}.{name}"] = np.concatenate([table[name] for table in tables])
            for name, blocks in stack.tables.items():
                arrays[f"{part}.{name}"] = np.concatenate(blocks)
            for name in ("distances", "query_sums", "key_sums"):
                arrays[f"{part}.{name}"] = getattr(stack, name)
        for side, forms in enumerate(self.forms):
            arrays[f"forms.{side}"] = np.concatenate(forms)
            arrays[f"counts.{side}"] = np.array([len(window) for window in forms])
        plain = {
            name: getattr(self, name)
            for name in (
                "most",
                "most_written",
                "vocabulary",
                "sizes",
                "numbers",
                "text_numbers",
                "windows",
                "tags",
                "left_out",
                "reason",
            )
        }
        said = json.dumps({"run": run, "stacks": stacks, "blocks": sorted(self.blocks), **plain})
        return list(codec.encode({}, {**arrays, "json": np.frombuffer(said.encode(), np.uint8)}))

    @classmethod
    def load(cls, file: Path) -> tuple[AtlasState, str]:
        """Load a saved state and the key of its plan; raise ValueError or OSError if it cannot be read."""
        return cls.decode(file.read_bytes())

    @classmethod
    def decode(cls, content: bytes) -> tuple[AtlasState, str]:
        """Return the state and the key of its plan from the bytes of ``encode``; raise ValueError for other bytes."""
        _metadata, arrays = codec.decode(content)
        try:
            said = json.loads(arrays["json"].tobytes())
            stacks = {part: _load_stack(part, shape, arrays, said) for part, shape in said.pop("stacks").items()}
            run = str(said.pop("run"))
            forms: list[list[Integers]] = []
            while f"forms.{len(forms)}" in arrays:
                side = len(forms)
                forms.append(np.split(arrays[f"forms.{side}"], np.cumsum(arrays[f"counts.{side}"])[:-1]))
            said["blocks"] = set(said["blocks"])
            said["windows"] = [(text, target) for text, target in said["windows"]]
            return cls(**said, forms=forms, stacks=stacks), run
        except (LookupError, TypeError, AttributeError) as error:
            raise ValueError("These bytes hold no state of an atlas.") from error


def replace_file(file: Path, blocks: Iterable[Any]) -> None:
    """Replace a file atomically by blocks of bytes: a reader sees the old or the new content, never a mixture."""
    fresh = file.with_name(f"{file.name}.new")
    with fresh.open("wb") as stream:
        for block in blocks:
            stream.write(block)
    fresh.replace(file)


def _load_stack(part: str, shape: Sequence[int], arrays: dict[str, Any], said: dict[str, Any]) -> StackState:
    kinds = []
    for kind, most in (("links", said["most"]), ("written", said["most_written"])):
        ends = np.cumsum(arrays[f"{part}.{kind}.counts"])[:-1]
        names = ("excess", "weight", "window", "query", "key")
        split = {name: np.split(arrays[f"{part}.{kind}.{name}"], ends) for name in names}
        collections = []
        for head in range(len(ends) + 1):
            links = StrongestLinks(most)
            links.add({name: split[name][head] for name in names})
            links.table()
            collections.append(links)
        kinds.append(collections)
    tables = {name: [arrays[f"{part}.{name}"]] for name in PER_WINDOW}
    sums = (arrays[f"{part}.{name}"] for name in ("distances", "query_sums", "key_sums"))
    return StackState(shape[0], shape[1], kinds[0], kinds[1], tables, *sums)


def _join_stack(stack: StackState, other: StackState, moved: Integers) -> None:
    """Add the sums of another shard's stack; ``moved`` has the new number of each of its forms."""
    for mine, theirs in ((stack.links, other.links), (stack.written, other.written)):
        for links, more in zip(mine, theirs, strict=True):
            links.add(more.table())
    for name, blocks in other.tables.items():
        stack.tables[name] += blocks
    stack.distances = other.distances if stack.distances.size == 0 else stack.distances + other.distances
    for name in ("query_sums", "key_sums"):
        theirs = getattr(other, name)
        total = np.zeros((int(moved.max(initial=-1)) + 1, theirs.shape[1]), np.int64)
        total[moved[: len(theirs)]] = theirs
        mine = getattr(stack, name)
        joined = np.zeros((max(len(mine), len(total)), theirs.shape[1]), np.int64)
        joined[: len(mine)] += mine if len(mine) else 0
        joined[: len(total)] += total
        setattr(stack, name, joined)


def _token_tags(
    texts: Sequence[AtlasText], owners: Sequence[int], windows: Sequence[Window], side: TokenForms
) -> list[list[str]]:
    """Return the part of speech of each token of each window; [] for windows of texts without tags."""
    found: list[list[str]] = []
    for owner, (text, _target), starts in zip(
        owners, windows, np.split(side.starts, np.cumsum(side.counts)[:-1]), strict=True
    ):
        source = texts[owner]
        if not source.tags:
            found.append([])
            continue
        first = source.text.find(text)
        places = [start for start, _tag in source.tags]
        at = np.searchsorted(places, starts + max(first, 0), side="right") - 1
        found.append([NO_TAG if start < 0 else source.tags[place][1] for start, place in zip(starts, at, strict=True)])
    return found
