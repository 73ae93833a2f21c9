"""The files of an atlas: written from a finished state, and read without loading the links.

    atlas.json           model, texts, licences, heads, floors
    windows.parquet      the windows, with the forms of their tokens and parts of speech
    forms.parquet        the forms of tokens, sorted, with their numbers of tokens
    links.parquet        the strongest links by excess, sorted by (query form, key form)
    written.parquet      the strongest links by weight times ‖value · W_O‖
    heads.safetensors    measures, distances, the largest excess of every window, and tokens of each head

Parquet is read with pyarrow, which is installed anyway: a search for a pair of words needs the few row groups whose
statistics contain the word, so DuckDB would add a dependency without being faster.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from attention import codec
from attention.head_names import head_label
from attention.strongest_links import StrongestLinks
from i18n import gettext_lazy
from inference.errors import UserError
from inference.tasks.atlas import ATLAS_MEASURES, Integers
from probing.atlas.build import FORMAT, AtlasPlan
from probing.atlas.state import PARTS, AtlasState, StackState

MANIFEST = "atlas.json"
WEIGHTS = "weights_sha256"  # entry of atlas.json if no commit identifies the weights
ROW_GROUP = 32_768  # links of a row group, the unit that a search reads
TOP = 40  # tokens of each list of a head
LEAST_OCCURRENCES = 5  # of a token in these lists
SIDES = {"encoder": (0, 0), "decoder": (1, 1), "cross": (1, 0)}
ERRORS_95 = 1.96  # standard errors of a 95 % interval


def write_atlas(  # noqa: PLR0913  # a state with its plan, and the facts of the manifest
    folder: Path,
    state: AtlasState,
    plan: AtlasPlan,
    sources: Sequence[Mapping[str, Any]],
    *,
    control: AtlasState | None = None,
    finished: bool = True,
    relations: Mapping[str, Any] | None = None,
    about: Mapping[str, Any] | None = None,
) -> None:
    """Write the files of an atlas; raise UserError if no window was read.

    ``control`` is the state of a model with random weights, and ``relations`` the result of ``score_relations``.
    ``finished`` is False if texts of the plan were not read. ``about`` has further entries for atlas.json.
    """
    if not state.windows:
        raise UserError(gettext_lazy("The model could not read these texts. {reason}", reason=state.reason or ""))
    folder.mkdir(parents=True, exist_ok=True)
    tables = _Tables(state)
    arrays: dict[str, Integers] = {}
    floors, full = [], []
    for part, stack in state.stacks.items():
        arrays |= {f"{part}.{name}": value for name, value in tables.stack(part, stack).items()}
        if control is not None and part in control.stacks:
            found = _Tables(control).stack(part, control.stacks[part])
            arrays |= {f"{part}.control.{name}": found[name] for name in ("mean", "low", "high", "distances")}
        floors += [links.floor for links in stack.links]
        full += [links.is_full for links in stack.links]
    _write_parquet(
        folder / "forms.parquet",
        {"form": pa.array(tables.names), "count": pa.array(tables.counts), "size": pa.array(tables.sizes, pa.uint8())},
    )
    _write_parquet(folder / "windows.parquet", tables.windows())
    for name in ("links", "written"):
        _write_parquet(folder / f"{name}.parquet", tables.links(name), ROW_GROUP)
    (folder / "heads.safetensors").write_bytes(b"".join(codec.encode({}, arrays)))
    manifest = {
        "format": FORMAT,
        "model": plan.model,
        "revision": plan.revision,
        "stacks": {part: [stack.layers, stack.heads] for part, stack in state.stacks.items()},
        "tokens": state.tokens,
        "windows": len(state.windows),
        "texts": len(set(state.text_numbers)),
        "left_out": state.left_out,
        "finished": finished,
        "control_tokens": 0 if control is None else control.tokens,
        "links_per_head": plan.most,
        "floors": floors,
        "full": full,
        "measures": list(ATLAS_MEASURES),
        "sources": list(sources),
        "relations": relations or {},
        **(about or {}),
    }
    (folder / MANIFEST).write_text(json.dumps(manifest, ensure_ascii=False) + "\n", encoding="utf-8")


def _write_parquet(file: Path, columns: Mapping[str, Any], group: int = 65_536) -> None:
    split = [name for name in ("excess", "weight") if name in columns]
    plain = [name for name in columns if name not in split]
    pq.write_table(
        pa.table(dict(columns)),
        file,
        row_group_size=group,
        compression="zstd",
        compression_level=9,
        use_dictionary=plain if not split else [name for name in plain if name not in ("window",)],
        column_encoding=dict.fromkeys(split, "BYTE_STREAM_SPLIT") or None,
        write_statistics=True,
    )


class _Tables:
    """The tables of an atlas from a state, with windows and forms in their final order."""

    def __init__(self, state: AtlasState) -> None:
        self.state = state
        self.order = np.argsort(state.numbers, kind="stable")
        self.sorted_numbers = np.array(state.numbers, np.int64)[self.order]
        self.names = sorted(state.vocabulary)
        rank = {name: at for at, name in enumerate(self.names)}
        self.moved = np.array([rank[name] for name in state.vocabulary], np.int64)  # old number -> new number
        self.sizes = [min(255, state.sizes.get(name, 1)) for name in self.names]
        self.forms = [[self.moved[side[at]] for at in self.order] for side in state.forms]
        self.offsets = [np.concatenate([[0], np.cumsum([len(window) for window in side])]) for side in self.forms]
        self.flat = [np.concatenate(side) for side in self.forms]
        self.side_counts = [np.bincount(flat, minlength=len(self.names)) for flat in self.flat]
        self.counts = np.sum(self.side_counts, axis=0)

    def windows(self) -> dict[str, Any]:
        """Return the columns of windows.parquet."""
        state, order = self.state, self.order
        texts = {number: at for at, number in enumerate(sorted(set(state.text_numbers)))}
        found: dict[str, Any] = {
            "text": pa.array([state.windows[at][0] for at in order]),
            "text_number": pa.array([texts[state.text_numbers[at]] for at in order], pa.uint32()),
            "forms": pa.array([window.astype(np.uint32) for window in self.forms[0]], pa.list_(pa.uint32())),
        }
        if len(self.forms) > 1:
            found["target"] = pa.array([state.windows[at][1] for at in order])
            found["target_forms"] = pa.array(
                [window.astype(np.uint32) for window in self.forms[1]], pa.list_(pa.uint32())
            )
        if any(state.tags):
            found["tags"] = pa.array([state.tags[at] for at in order], pa.list_(pa.string()))
        return found

    def links(self, kind: str) -> dict[str, Any]:
        """Return the columns of the links of all heads, sorted by query form, key form, head and place."""
        blocks: dict[str, list[Integers]] = {
            name: [] for name in ("query_form", "key_form", "head", "window", "query", "key", "excess", "weight")
        }
        first = 0
        for part, stack in self.state.stacks.items():
            for head, links in enumerate(stack.links if kind == "links" else stack.written):
                for name, values in self._columns(part, first + head, links).items():
                    blocks[name].append(values)
            first += stack.layers * stack.heads
        whole = {name: np.concatenate(values) for name, values in blocks.items()}
        order = np.lexsort([whole[name] for name in ("key", "query", "window", "head", "key_form", "query_form")])
        return {name: values[order] for name, values in whole.items()}

    def _columns(self, part: str, head: int, links: StrongestLinks) -> dict[str, Integers]:
        table = links.table()
        window = np.searchsorted(self.sorted_numbers, table["window"])
        query, key = SIDES[part] if len(self.forms) > 1 else (0, 0)
        ends = [
            self.flat[side][self.offsets[side][window] + table[name]].astype(np.uint32)
            for side, name in ((query, "query"), (key, "key"))
        ]
        return {
            "query_form": ends[0],
            "key_form": ends[1],
            "head": np.full(len(window), head, np.uint16),
            "window": window.astype(np.uint32),
            **{name: table[name] for name in ("query", "key", "excess", "weight")},
        }

    def stack(self, part: str, stack: StackState) -> dict[str, Integers]:
        """Return the arrays of a stack's heads for heads.safetensors."""
        measures, peaks, queries, keys = (
            np.concatenate(stack.tables[name])[self.order]
            for name in ("measures", "peaks", "peak_queries", "peak_keys")
        )
        texts = np.array(self.state.text_numbers)[self.order]
        _names, numbers = np.unique(texts, return_inverse=True)
        by_text = np.zeros((numbers.max() + 1, *measures.shape[1:]))
        np.add.at(by_text, numbers, measures)
        by_text /= np.bincount(numbers)[:, None, None]
        found = dict(zip(("mean", "low", "high"), mean_interval(by_text), strict=True))
        for half in (0, 1):  # labels are chosen on the texts of even numbers and checked on the others
            chosen = by_text[half::2] if len(by_text) > 1 else by_text
            names = (f"mean{half}", f"low{half}", f"high{half}")
            found |= dict(zip(names, mean_interval(chosen), strict=True))
        found["distances"] = (stack.distances / PARTS / len(measures)).astype(np.float32)
        found |= {"peaks": peaks.astype(np.float16), "peak_queries": queries, "peak_keys": keys}
        query, key = SIDES[part] if len(self.forms) > 1 else (0, 0)
        for name, sums, side in (("queries", stack.query_sums, query), ("keys", stack.key_sums, key)):
            found |= {f"top_{name}{suffix}": value for suffix, value in self._top(sums, side).items()}
        return found

    def _top(self, sums: Integers, side: int) -> dict[str, Integers]:
        """Return the forms with the largest mean per occurrence, (head, form), and the mean over all heads.

        Forms that occur less often than LEAST_OCCURRENCES times do not count, unless there are no others.
        """
        whole = np.zeros((len(self.names), sums.shape[1]))
        whole[self.moved[: len(sums)]] = sums / PARTS
        counts = self.side_counts[side]
        least = LEAST_OCCURRENCES if (counts >= LEAST_OCCURRENCES).any() else 1
        means = whole / np.maximum(counts, 1)[:, None]
        usual = means.mean(axis=1)
        ranked = np.where((counts >= least)[:, None], means, -1)
        best = np.argsort(-ranked, axis=0, kind="stable")[:TOP].T
        return {
            "": best.astype(np.uint32),
            "_mean": np.take_along_axis(means.T, best, axis=1).astype(np.float32),
            "_usual": usual[best].astype(np.float32),
        }


def mean_interval(values: Integers) -> tuple[Integers, Integers, Integers]:
    """Return (mean, low, high) over the first axis, as float32.

    ``low`` and ``high`` are the normal 95 % interval of the mean, from its standard error; NaN for a single value.
    """
    mean = values.mean(axis=0)
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.full_like(mean, np.nan)
    ends = mean - ERRORS_95 * error, mean + ERRORS_95 * error
    return mean.astype(np.float32), ends[0].astype(np.float32), ends[1].astype(np.float32)


@dataclass(frozen=True)
class HeadName:
    """A head in an atlas of heads: its stack ("encoder", "decoder" or "cross"), layer and number in the layer."""

    part: str
    layer: int
    head: int

    @property
    def label(self) -> str:
        """Return the head's label, such as "3-1"."""
        return head_label(self.layer, self.head)


@dataclass(frozen=True, eq=False)
class Atlas:
    """An atlas in a folder; its tables are read when they are needed."""

    folder: Path
    manifest: Mapping[str, Any]

    @classmethod
    def open(cls, folder: Path) -> Atlas:
        """Open the atlas in a folder; raise UserError if there is none, or if it has another format."""
        file = folder / MANIFEST
        try:
            manifest = json.loads(file.read_text(encoding="utf-8"))
            known = manifest["format"] == FORMAT and {"stacks", "floors", "full", "tokens"} <= set(manifest)
        except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
            raise UserError(
                gettext_lazy("{folder} has no atlas. Give a folder that “headlight atlas build” wrote.", folder=folder)
            ) from error
        if not known:
            raise UserError(gettext_lazy("The atlas in {folder} has another format. Build it again.", folder=folder))
        return cls(folder, manifest)

    @cached_property
    def heads(self) -> tuple[HeadName, ...]:
        """Return the heads in the order in which all tables of the atlas number them."""
        return tuple(
            HeadName(part, layer, head)
            for part, (layers, heads) in self.manifest["stacks"].items()
            for layer in range(layers)
            for head in range(heads)
        )

    @cached_property
    def arrays(self) -> dict[str, Any]:
        """Return the arrays of heads.safetensors; raise UserError if the file is damaged."""
        try:
            return codec.decode((self.folder / "heads.safetensors").read_bytes())[1]
        except (OSError, ValueError) as error:
            raise self._damaged_file_error("heads.safetensors") from error

    @cached_property
    def forms(self) -> pa.Table:
        """Return the table of token spellings (forms.parquet)."""
        return self.table("forms")

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Return a mapping from each token spelling to its row in ``forms``."""
        return {form: at for at, form in enumerate(self.forms["form"].to_pylist())}

    @cached_property
    def windows(self) -> pa.Table:
        """Return the table of the windows of text (windows.parquet)."""
        return self.table("windows")

    def table(self, name: str, **options: Any) -> pa.Table:
        """Return the table in the file ``name``.parquet; raise UserError if it is damaged.

        ``options`` are passed to pyarrow's reader.
        """
        try:
            return pq.read_table(self.folder / f"{name}.parquet", **options)
        except (pa.ArrowException, OSError) as error:
            raise self._damaged_file_error(f"{name}.parquet") from error

    def _damaged_file_error(self, name: str) -> UserError:
        return UserError(gettext_lazy("{file} is missing or damaged. Build the atlas again.", file=self.folder / name))
