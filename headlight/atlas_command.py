"""The command ``headlight atlas``: build, merge, compare, search and export atlases.

An atlas stores the strongest links of every head over many texts.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from headlight.command_input import (
    CommandError,
    add_hub_options,
    add_model_option,
    open_model,
    refuse_unwritable,
    write_json,
)
from headlight.score_command import read_head
from probing.atlas.build import STATE, AtlasPlan, run_plan
from probing.atlas.compare import OTHER_TEXTS, compare_atlases, comparison_rows
from probing.atlas.create import WORKERS, BuildStep, Run, UncachedBackend, create_atlas, refuse_other_folder
from probing.atlas.headvis import export_headvis
from probing.atlas.search import LinkQuery, find_links, hits
from probing.atlas.state import AtlasState
from probing.atlas.store import Atlas, write_atlas

SHOWN = 10  # hits in the printed summary
MMAP_THRESHOLD, LARGE_BLOCK = -3, 2**18  # a parameter of glibc's mallopt, and its value in bytes


def add_parser(commands: Any) -> None:
    """Add the parser of ``headlight atlas`` to the subparsers ``commands``."""
    parser = commands.add_parser("atlas", help="all heads over many texts: build, merge, search, compare, export")
    kinds = parser.add_subparsers(required=True)
    first = kinds.add_parser("build", help="build an atlas from files of texts; the same command continues it")
    first.add_argument("texts", nargs="+", type=Path, metavar="TEXTS", help="text, JSONL, Parquet, CSV, TSV or CoNLL-U")
    first.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="of the atlas")
    first.add_argument("--tokens", type=int, metavar="N", help="the most tokens to read; all without it")
    first.add_argument("--links", type=int, default=40_000, metavar="N", help="links of each head (40000)")
    first.add_argument("--shard", metavar="I/N", help="only every N-th block of texts, from block I (0 is the first)")
    first.add_argument("--ray", type=int, metavar="N", help="N shards on a Ray cluster (RAY_ADDRESS, or this machine)")
    first.add_argument("--no-control", action="store_true", help="skip the model with random weights")
    add_model_option(first)
    add_hub_options(first)
    first.set_defaults(run=run_build)
    second = kinds.add_parser("merge", help="join the shards of an atlas")
    second.add_argument("shards", nargs="+", type=Path, metavar="SHARD", help="folders of shards")
    second.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="of the atlas")
    second.set_defaults(run=run_merge)
    third = kinds.add_parser("search", help="the links between two words", epilog="* means any word.")
    third.add_argument("folder", type=Path, metavar="FOLDER", help="of an atlas")
    third.add_argument("--from", dest="query", default="", metavar="WORD", help="the word that attends")
    third.add_argument("--to", dest="key", default="", metavar="WORD", help="the word that it attends to")
    third.add_argument("--from-tag", default="", metavar="POS", help="its part of speech, such as PRON")
    third.add_argument("--to-tag", default="", metavar="POS", help="likewise, such as NOUN")
    third.add_argument("--head", metavar="L-H", help="layer and head, such as 3-1; all without it")
    third.add_argument("--part", choices=("encoder", "decoder", "cross"), help="the stack of an encoder-decoder")
    third.add_argument("--nearest", type=int, default=0, metavar="N", help="least distance in tokens")
    third.add_argument("--farthest", type=int, metavar="N", help="largest distance in tokens")
    third.add_argument("--least", type=float, default=0.0, metavar="X", help="least excess")
    third.add_argument("--json", type=Path, metavar="FILE", help="write every hit to a file")
    third.set_defaults(run=run_search)
    _add_compare(kinds)
    _add_export(kinds)


def _add_compare(kinds: Any) -> None:
    parser = kinds.add_parser("compare", help="what changed in each head, such as by fine-tuning")
    parser.add_argument("first", type=Path, metavar="FOLDER", help="of an atlas")
    parser.add_argument("second", type=Path, metavar="FOLDER", help="of an atlas with the same layers and heads")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the changes of every head to a file")
    parser.set_defaults(run=run_compare)


def _add_export(kinds: Any) -> None:
    parser = kinds.add_parser("export", help="files for the viewer of another tool")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="of an atlas")
    parser.add_argument("--format", choices=("headvis",), default="headvis", help="headvis: the data folder of HeadVis")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="a new folder")
    parser.add_argument("--windows", type=int, default=200, metavar="N", help="random windows that are read (200)")
    add_hub_options(parser)
    parser.set_defaults(run=run_export)


def run_export(asked: argparse.Namespace) -> int:
    """Write an atlas as files for the viewer HeadVis, and return the exit status."""
    if asked.windows < 1:
        raise CommandError(f"--windows {asked.windows} is too small. Give at least 1.")
    atlas = Atlas.open(asked.folder)
    asked.model, asked.revision = atlas.manifest["model"], atlas.manifest["revision"]
    backend, _model = open_model(asked)
    heads = export_headvis(
        backend, atlas, asked.out, asked.windows, lambda windows: _print(f"{windows:,} / {asked.windows:,} windows")
    )
    _print("")
    size = sum(file.stat().st_size for file in asked.out.rglob("*.json"))
    print(f"{asked.out}: {heads} heads, {size / 1e6:.1f} MB")
    return 0


def run_compare(asked: argparse.Namespace) -> int:
    """Print the heads whose measures differ most between two atlases, and return the exit status.

    If the options name a file, write the changes of all heads into it.
    """
    if asked.json is not None:
        refuse_unwritable(asked.json)
    atlases = [Atlas.open(folder) for folder in (asked.first, asked.second)]
    found = compare_atlases(*atlases)
    rows = comparison_rows(found)
    if asked.json is not None:
        about = [{name: atlas.manifest[name] for name in ("model", "revision", "tokens")} for atlas in atlases]
        content = {"first": about[0], "second": about[1], "same_texts": found.same_texts, "heads": rows}
        write_json(asked.json, content)
    lines = [f"{int(found.clear.any(axis=1).sum())} of {len(rows)} heads changed clearly (95%, Bonferroni)."]
    if not found.same_texts:
        lines.append(OTHER_TEXTS)
    for row in rows[:SHOWN]:
        clear = [f"{name} {cell['difference']:+.3f}" for name, cell in row["measures"].items() if cell["clear"]]
        lines.append(f"{row['distance']:.3f}  {row['layer']}-{row['head']}  {', '.join(clear)}")
    print("\n".join(lines))
    return 0


def run_build(asked: argparse.Namespace) -> int:
    """Build an atlas or continue an unfinished build, and return the exit status.

    If the build is stopped, the status is 130, and the atlas contains the texts read so far.
    """
    plan = _plan(asked)
    refuse_other_folder(asked.out)
    return_freed_memory()
    plan.sources()  # refuses a missing file before the model is loaded
    backend, model = open_model(asked)
    plan = replace(plan, model=model)
    uncached = UncachedBackend(backend)
    try:
        if plan.shard[1] > 1:
            return _build_shard(uncached, plan, asked.out)
        run = None if asked.ray is None else _ray_run(asked.ray)
        state, complete = create_atlas(uncached, plan, asked.out, _print_step, checks=not asked.no_control, run=run)
    finally:
        _print("")
    if not state.windows:
        print("Stopped before the first texts were read.")
        return 130
    print(_summary(Atlas.open(asked.out), state))
    return 0 if complete else 130


def _ray_run(shards: int) -> Run:
    """Return the run of a plan in shards on a Ray cluster."""
    from probing.atlas.ray_shards import run_on_ray

    return lambda plan, folder, _key, progress, stopped: run_on_ray(shards, plan, folder, progress, stopped)


def return_freed_memory() -> None:
    """Make glibc return large freed blocks to the system; do nothing on other systems.

    The freed blocks of several threads would otherwise add up to gigabytes.
    """
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).mallopt(MMAP_THRESHOLD, LARGE_BLOCK)


def _build_shard(backend: UncachedBackend, plan: AtlasPlan, folder: Path) -> int:
    """Build or continue a shard, save its state and its plan, and return the exit status."""
    sources = plan.sources()
    key = plan.key(sources)
    folder.mkdir(parents=True, exist_ok=True)
    state, complete = run_plan(backend, plan, folder, key, WORKERS, lambda tokens: _print(f"{tokens:,} tokens"))
    state.save(folder / STATE, key)
    weights = backend.weights(plan.model, plan.revision)
    said = {**vars(plan), "files": [str(file) for file in plan.files], "sources": sources, "about": weights}
    (folder / "shard.json").write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")
    print(f"{folder}: shard {plan.shard[0]}/{plan.shard[1]}, {state.tokens:,} tokens")
    return 0 if complete else 130


def _plan(asked: argparse.Namespace) -> AtlasPlan:
    """Return the plan that the options name; raise CommandError for impossible numbers."""
    for name, value in (("--tokens", asked.tokens), ("--links", asked.links), ("--ray", asked.ray)):
        if value is not None and value < 1:
            raise CommandError(f"{name} {value} is too small. Give at least 1.")
    shard = (0, 1)
    if asked.ray is not None and asked.shard is not None:
        raise CommandError("--ray makes its own shards. Leave --shard out.")
    if asked.shard is not None:
        first, _slash, second = asked.shard.partition("/")
        if not (first.isdecimal() and second.isdecimal() and int(first) < int(second)):
            raise CommandError(f"--shard {asked.shard} is not a shard. Give its number and how many there are: 0/2.")
        shard = int(first), int(second)
    return AtlasPlan(
        tuple(asked.texts), asked.model or AtlasPlan.model, asked.revision, asked.tokens, asked.links, shard=shard
    )


def _print(line: str) -> None:
    """Print a line that the next call overwrites, if standard error is a terminal."""
    if sys.stderr.isatty():
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)


def _print_step(step: BuildStep) -> None:
    _print(str(step))


def run_merge(asked: argparse.Namespace) -> int:
    """Join the shards of an atlas, which were built separately, and return the exit status.

    Raise CommandError if the shards do not belong together or if one is missing.
    """
    refuse_other_folder(asked.out)
    joined: AtlasState | None = None
    plans: list[dict[str, Any]] = []
    for folder in asked.shards:
        try:
            plans.append(json.loads((folder / "shard.json").read_text(encoding="utf-8")))
            state, _run = AtlasState.load(folder / STATE)
        except (OSError, ValueError) as error:
            raise CommandError(
                f"{folder} holds no shard. Give folders that “atlas build --shard” has written."
            ) from error
        if joined is None:
            joined = state
        else:
            joined.join(state)
    first = plans[0]
    count = first["shard"][1]
    if any({**plan, "shard": 0} != {**first, "shard": 0} for plan in plans):
        raise CommandError("These shards have other texts, models or limits. Give the shards of a single atlas.")
    if sorted(plan["shard"][0] for plan in plans) != list(range(count)):
        raise CommandError(f"An atlas of {count} shards needs all of them; got {len(plans)}.")
    assert joined is not None
    names = ("model", "revision", "tokens", "most", "most_written")
    plan = AtlasPlan(tuple(map(Path, first["files"])), **{name: first[name] for name in names})
    write_atlas(asked.out, joined, plan, first["sources"], about=first.get("about"))
    print(_summary(Atlas.open(asked.out), joined))
    return 0


def _summary(atlas: Atlas, state: AtlasState) -> str:
    size = sum(file.stat().st_size for file in atlas.folder.iterdir() if file.name != STATE)
    found = atlas.manifest
    lines = [
        f"{atlas.folder}: {found['tokens']:,} tokens in {found['windows']:,} windows, {len(atlas.heads)} heads,"
        f" {size / 1e6:.1f} MB"
    ]
    if not found["finished"]:
        lines.append("Stopped: the atlas holds the texts read so far. The same command continues it.")
    if state.left_out:
        lines.append(f"{state.left_out:,} texts are left out. {state.reason}")
    return "\n".join(lines)


def run_search(asked: argparse.Namespace) -> int:
    """Print the strongest links between two words in an atlas, and return the exit status.

    If the options name a file, write all links into it.
    """
    if asked.json is not None:
        refuse_unwritable(asked.json)
    atlas = Atlas.open(asked.folder)
    query = LinkQuery(
        asked.query,
        asked.key,
        None if asked.head is None else read_head(asked.head),
        asked.part,
        asked.from_tag,
        asked.to_tag,
        asked.nearest,
        asked.farthest,
        asked.least,
    )
    found = find_links(atlas, query)
    if asked.json is not None:
        content = {
            "from": asked.query,
            "to": asked.key,
            "notes": list(found.notes),
            "floor": dict(found.floor),
            "complete": found.complete,
            "hits": hits(atlas, found),
        }
        write_json(asked.json, content)
    lines = [
        f"{hit['excess']:.3f}  {hit['layer']}-{hit['head']}  {hit['query_position']}→{hit['key_position']}"
        f"  {' '.join(hit['text'].split())[:80]}"
        for hit in hits(atlas, found, SHOWN)
    ]
    print(
        "\n".join(
            [f"{len(found):,} links{'' if found.complete else '; weaker links may be missing'}", *lines, *found.notes]
        )
    )
    return 0
