"""Benchmark of a head atlas: CPU time, memory and disk of a build, and the time of searches."""

from __future__ import annotations

import itertools
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from bench.models import EMBEDDED, sentences
from bench.report import ReportRow, upper_limit_row

TOKENS = 50_000
MILLION = 1_000_000
BUILD_LIMIT, SEARCH_LIMIT, MEMORY_LIMIT, DISK_LIMIT = 16.0, 100.0, 2.0, 60.0  # minutes on a core, ms, GB, MB
SENTENCES = 8  # in a generated text
ROUNDS = 5
SEARCHES = {"from it to animal": ("it", "animal"), "from it to any word": ("it", "*"), "to water": ("*", "water")}


def measure(*paths: str) -> Iterator[ReportRow]:
    """Yield rows for a build of TOKENS tokens, and for searches in the atlas of the embedded model.

    ``paths`` are files of texts; without them, sentences are generated. The time for a million tokens is extrapolated
    from the CPU time, because two threads share the work.
    """
    from inference.backend import LocalBackend
    from inference.settings import Settings
    from probing.atlas.build import AtlasPlan
    from probing.atlas.create import UncachedBackend, create_atlas
    from probing.atlas.search import LinkQuery, find_links
    from probing.atlas.store import Atlas

    backend = UncachedBackend(LocalBackend(Settings.from_env()))
    with tempfile.TemporaryDirectory() as place:
        files = tuple(map(Path, paths)) or (_write_texts(Path(place) / "texts.txt"),)
        cpu = time.process_time()
        state, _complete = create_atlas(backend, AtlasPlan(files, tokens=TOKENS), Path(place) / "atlas", checks=False)
        minutes = (time.process_time() - cpu) / 60 * MILLION / state.tokens
        size = sum(file.stat().st_size for file in (Path(place) / "atlas").iterdir()) / 1e6
    what = f"{EMBEDDED}, {state.tokens:,} tokens"
    yield upper_limit_row(
        f"atlas of {what}: processor time of a million tokens", BUILD_LIMIT, minutes, f"{minutes:.1f} min", "estimated"
    )
    memory = psutil.Process().memory_info().rss / 1e9
    yield upper_limit_row(f"memory after {what}", MEMORY_LIMIT, memory, f"{memory:.2f} GB", "of the whole process")
    yield upper_limit_row(f"disk of {what}", DISK_LIMIT, size, f"{size:.1f} MB", "40,000 links of a head at most")
    atlas = Atlas.open(Path(__file__).resolve().parents[1] / "assets" / "atlases" / EMBEDDED)
    tokens = atlas.manifest["tokens"]
    for name, words in SEARCHES.items():
        taken = []
        for _round in range(ROUNDS):
            began = time.perf_counter()
            found = find_links(atlas, LinkQuery(*words))
            taken.append(1000 * (time.perf_counter() - began))
        middle = statistics.median(taken)
        detail = f"{len(found):,} links; {tokens:,} tokens; median of {ROUNDS}"
        yield upper_limit_row(f"search {name}", SEARCH_LIMIT, middle, f"{middle:.0f} ms", detail)


def _write_texts(file: Path) -> Path:
    """Write texts with at least TOKENS tokens, a blank line between them."""
    every = sentences()
    texts = [" ".join(itertools.islice(every, SENTENCES)) for _text in range(TOKENS // (5 * SENTENCES))]
    file.write_text("\n\n".join(texts), encoding="utf-8")
    return file
