"""The time to decompose attention scores into sources: a single score, and the links of labelled sentences."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from bench.models import EMBEDDED, count_embedded, text_of
from bench.report import ReportRow, upper_limit_row
from probing import formats
from probing.corpus import AnnotatedCorpus
from probing.score_sources import SourceRun, decompose_links

EXPLANATION_LIMITS = {32: 0.5, 512: 3.0}  # seconds, by tokens
LABELLED_LIMIT = 60.0  # seconds
LABELLED = 500  # sentences
LAYER, HEAD = 5, 1
RELATION = "nsubj"


def measure(*paths: str) -> Iterator[ReportRow]:
    """Yield a row for decomposing a single score, per text length, and a row for 500 labelled sentences.

    ``paths`` may name a CoNLL-U file; without it, the bundled sentences are repeated with different ends.
    """
    from inference.backend import LocalBackend
    from inference.request import TraceRequest
    from inference.settings import Settings
    from inference.tasks.score_decomposition import ScoreRequest

    backend = LocalBackend(Settings.from_env())
    backend.trace(TraceRequest(text="A text before the clock starts."))
    for tokens, limit in EXPLANATION_LIMITS.items():
        asked = ScoreRequest(text=text_of(tokens, count_embedded), layer=LAYER, head=HEAD, query_token=9, key_token=2)
        yield _timed_row(f"one explanation with {EMBEDDED}, {tokens} tokens", limit, partial(backend.inspect, asked))
    corpus = _repeat_sentences(formats.load(Path(paths[0]), "conllu") if paths else formats.load_ready_set("grammar"))
    run = SourceRun(corpus, RELATION, LAYER, HEAD, EMBEDDED)
    what = f"{len(run.items()):,} sentences with {RELATION}, {EMBEDDED}, head {LAYER}-{HEAD}"
    yield _timed_row(what, LABELLED_LIMIT, partial(decompose_links, backend, run))


def _repeat_sentences(corpus: AnnotatedCorpus) -> AnnotatedCorpus:
    """Return the corpus with LABELLED sentences that have the relation."""
    items = [item for item in corpus.items if any(link.relation == RELATION for link in item.links)]
    times = -(-LABELLED // len(items))
    repeated = [replace(item, text=item.text + " ." * turn) for turn in range(times) for item in items]
    return replace(corpus, items=tuple(repeated[:LABELLED]))


def _timed_row(what: str, limit: float, work: Callable[[], Any]) -> ReportRow:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return upper_limit_row(what, limit, wall, f"{wall:.3g} s", f"on the wall; processor time {cpu:.3g} s")
