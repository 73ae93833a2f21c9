"""Scores of heads on annotated sentences, against independently measured values, and their cost.

Run `python -m bench probing PATH_CONLLU PATH_GAP` with the dev split of Universal Dependencies English EWT and the
validation split of GAP. The model is all-MiniLM-L6-v2; the best of 144 heads and directions is compared with the
rule of arXiv:1906.04341.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from bench.models import EMBEDDED, build
from bench.report import ReportRow, upper_limit_row
from probing import formats, results
from probing.corpus import AnnotatedCorpus
from probing.score import ScoringRun, ScoringState, score

EXPECTED = {  # relation: layer, head, accuracy in percent, accuracy of the best fixed offset
    "all": (2, 1, 45.4, 34.5),
    "obj": (2, 0, 74.0, 35.8),
    "case": (2, 8, 67.4, 37.7),
    "det": (2, 8, 80.6, 58.9),
    "nsubj": (2, 8, 56.8, 36.1),
    "cop": (2, 1, 61.6, 35.2),
    "xcomp": (1, 6, 73.0, 56.2),
    "amod": (2, 8, 79.0, 74.7),
    "nmod": (1, 3, 27.2, 31.8),
}
EXPECTED_GAP = {"coref": (3, 1, 73.5, 56.6)}
GAP_MEAN = 53.3
TOLERANCE = 0.5  # percentage points
LIMIT = 1.3
TURNS = 6


def measure(*paths: str) -> Iterator[ReportRow]:
    """Yield a row for every expected value, and a row for the cost of scoring.

    Raise ValueError unless two paths are given.
    """
    from inference.backend import LocalBackend
    from inference.settings import Settings

    if len(paths) != 2:
        raise ValueError(f"{len(paths)} paths came; two are needed: a CoNLL-U file and GAP's TSV.")
    backend = LocalBackend(Settings.from_env())
    trees, names = formats.load(Path(paths[0]), "conllu"), formats.load(Path(paths[1]), "gap")
    found = _score_corpus(backend, trees)
    yield from _reproduce_scores(found, trees, EXPECTED)
    nmod = max(results.rows(found.tally, trees), key=lambda row: (row.relation == "nmod", row.accuracy))
    figure = f"{nmod.accuracy:.1f} against {nmod.baseline:.1f}"
    yield ReportRow("nmod is found less often than by its baseline", "below", figure, nmod.accuracy < nmod.baseline)
    found = _score_corpus(backend, names)
    yield from _reproduce_scores(found, names, EXPECTED_GAP)
    mean = fmean(row.accuracy for row in results.rows(found.tally, names))
    yield ReportRow("GAP, mean over heads", f"{GAP_MEAN} was measured", f"{mean:.1f}", None, "told, no bar")
    yield _cost(backend, trees, Path(paths[0]))


def _score_corpus(backend: Any, corpus: AnnotatedCorpus) -> ScoringState:
    *_, last = score(backend, ScoringRun(corpus), workers=backend.settings.forwards)
    return last


def _reproduce_scores(
    state: ScoringState, corpus: AnnotatedCorpus, expected: dict[str, tuple[int, int, float, float]]
) -> Iterator[ReportRow]:
    """Yield a row for each relation: the best head, its accuracy and its baseline."""
    for relation, (layer, head, accuracy, baseline) in expected.items():
        mine = [row for row in results.rows(state.tally, corpus) if row.relation == relation]
        best = max(mine, key=lambda row: row.accuracy)
        near = max(abs(best.accuracy - accuracy), abs(best.baseline - baseline)) <= TOLERANCE
        yield ReportRow(
            f"{corpus.format} {relation}: best head, accuracy (baseline)",
            f"{layer}-{head} {accuracy:.1f} ({baseline:.1f}) ± {TOLERANCE}",
            f"{best.layer}-{best.head} {best.accuracy:.1f} ({best.baseline:.1f})",
            near and (best.layer, best.head) == (layer, head),
            f"{best.direction}, {best.baseline_name}, n = {best.n}",
        )


def _cost(backend: Any, corpus: AnnotatedCorpus, file: Path) -> ReportRow:
    """Measure scoring from file to counts against plain forward passes of the same batches, alternately.

    Both run as many passes in parallel as the app, with the same number of threads each.
    """
    import torch

    workers = backend.settings.forwards
    plain = build(EMBEDDED, "sdpa")
    spent = {"scored": [0.0, 0.0], "plain": [0.0, 0.0]}

    def time_work(name: str, work: Callable[[], Any]) -> None:
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        spent[name][0] += time.process_time() - cpu
        spent[name][1] += time.perf_counter() - wall

    def passes(tensors: Sequence[dict[str, Any]]) -> None:
        def one(inputs: dict[str, Any]) -> None:
            with torch.inference_mode():
                plain(**inputs)

        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(one, tensors))

    parts = [replace(corpus, items=corpus.items[start::TURNS]) for start in range(TURNS)]
    tensors = [_tensors(backend, ScoringRun(part)) for part in parts]
    passes(tensors[0])
    time_work("scored", lambda: formats.load(file, "conllu"))
    fresh = Unremembering(backend)
    for part, inputs in zip(parts, tensors, strict=True):
        time_work("scored", partial(list, score(fresh, ScoringRun(part), workers=workers)))
        time_work("plain", partial(passes, inputs))
    cpu, wall = (spent["scored"][at] / spent["plain"][at] for at in (0, 1))
    note = (
        f"processor time, {TURNS} parts in turns, {workers} passes at once of {torch.get_num_threads()} thread each;"
        f" reading the file, tokenising, recording and counting included; sentences of one"
        f" word ask nothing; plain {spent['plain'][1]:.1f} s on the wall"
    )
    figure = f"{cpu:.3g} (on the wall {wall:.3g})"
    return upper_limit_row(
        f"scoring {len(corpus.items):,} sentences / plain forward passes of them", LIMIT, cpu, figure, note
    )


class Unremembering:
    """A backend without a cache."""

    def __init__(self, backend: Any) -> None:
        self.loaded = backend.loaded(EMBEDDED, None)  # the measurement uses the app's own model object

    def inspect(self, question: Any) -> Any:
        """Compute the answer."""
        from inference.runners import link_hits

        return link_hits.answer(self.loaded, question)


def _tensors(backend: Any, run: ScoringRun) -> list[dict[str, Any]]:
    """Return the inputs of every forward pass of a run."""
    from inference.record.batching import Sample, batches, collate
    from inference.request import TraceRequest
    from inference.runners.inputs import read

    loaded = backend.loaded(EMBEDDED, None)  # the measurement uses the app's own model object

    def passes(numbers: Sequence[int]) -> Iterator[dict[str, Any]]:
        readings = [read(loaded, text) for text in dict.fromkeys(run.corpus.items[at].text for at in numbers)]
        samples = [Sample("", TraceRequest(), reading, None, None) for reading in readings]
        return (collate(loaded, batch) for batch in batches(samples))

    return [inputs for numbers in run.batches() for inputs in passes(numbers)]
