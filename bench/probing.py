"""Benchmarks of scoring heads on annotated sentences: accuracies against expected values, and cost."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from attention.annotations import AnnotatedText, Layout
from attention.excess import excess_map, visible_word_pairs
from attention.mask import BoolArray, FloatArray
from attention.trace import Trace
from attention.view import View
from bench.models import EMBEDDED, build
from bench.report import ReportRow, upper_limit_row
from probing import formats, results
from probing.corpus import ALL, UNCOUNTED, AnnotatedCorpus
from probing.score import ScoringRun, ScoringState, score
from probing.statistics import by_sentence, sign_flips

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


def measure_scores(*paths: str) -> Iterator[ReportRow]:
    """Yield a row for each accuracy that has a reference value, and a row for the cost of scoring.

    ``paths`` are two files: a CoNLL-U file and GAP's TSV. Raise ValueError if there are not two.
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
    """A backend that caches no answers, so that repeated requests are computed again."""

    def __init__(self, backend: Any) -> None:
        self.loaded = backend.loaded(EMBEDDED, None)  # the measurement uses the app's own model object

    def inspect(self, question: Any) -> Any:
        """Compute the answer to a request without a cache."""
        from inference.runners import heads

        return heads.count_link_hits(self.loaded, question)


def _tensors(backend: Any, run: ScoringRun) -> list[dict[str, Any]]:
    """Return the inputs of every forward pass of a run."""
    from inference.record.batching import Sample, batches, collate
    from inference.request import TraceRequest
    from inference.runners.blanks import read

    loaded = backend.loaded(EMBEDDED, None)  # the measurement uses the app's own model object

    def passes(numbers: Sequence[int]) -> Iterator[dict[str, Any]]:
        readings = [read(loaded, text) for text in dict.fromkeys(run.corpus.items[at].text for at in numbers)]
        samples = [Sample("", TraceRequest(), reading, None, None) for reading in readings]
        return (collate(loaded, batch) for batch in batches(samples))

    return [inputs for numbers in run.batches() for inputs in passes(numbers)]


MODELS = ("all-MiniLM-L6-v2", "headlight-bert")
PROBES = Path(__file__).resolve().parent.parent / "assets" / "probes"
SETS = (("pronouns", "pronouns.csv", "csv"), ("grammar", "grammar.conllu", "conllu"))
SHOWN = ("det", "nsubj", "obj", "amod", "nmod:poss", "case")
LONGEST = 500  # tokens
BATCH = 16
WAYS = ("weight", "excess")


def measure_excess(*paths: str) -> Iterator[ReportRow]:
    """Yield a row for each model, set of texts and relation: the held-out accuracy of the best head.

    The accuracy is measured twice: heads find links by weight, or by excess, the weight above the column mean.
    ``paths`` may name GAP's TSV files as further sets.
    """
    from inference.backend import LocalBackend
    from inference.settings import Settings

    backend = LocalBackend(Settings.from_env())
    sets = [(name, formats.load(PROBES / file, format)) for name, file, format in SETS]
    sets += [("GAP", formats.load(Path(path), "gap")) for path in paths]
    for model in MODELS:
        for name, corpus in sets:
            for relation, hits, sentences in _by_relation(backend, model, corpus):
                yield _row(f"{model}, {name}, {relation}", hits, sentences)


def _by_relation(backend: Any, model: str, corpus: AnnotatedCorpus) -> Iterator[tuple[str, BoolArray, FloatArray]]:
    """Yield each reported relation with its hits (link, way, test) and the sentence of each link."""
    hits, sentences, names = [], [], []
    for at, item, found in _iterate_hits(backend, model, corpus.items):
        hits.append(found)
        sentences += [at] * len(item.links)
        names += [link.relation for link in item.links]
    whole, of, relations = np.concatenate(hits), np.array(sentences), np.array(names)
    for relation in [*SHOWN, *sorted(set(names) - set(SHOWN))] if not corpus.together else [ALL, *SHOWN]:
        mine = ~np.isin(relations, list(UNCOUNTED)) if relation == ALL else relations == relation
        if mine.any():
            yield relation, whole[mine], of[mine]


def _iterate_hits(
    backend: Any, model: str, items: Sequence[AnnotatedText]
) -> Iterator[tuple[int, AnnotatedText, BoolArray]]:
    """Yield (index, text, hits) for each text that is short enough; hits are (link, way, test)."""
    from inference.errors import UserError
    from inference.request import TraceRequest

    for at, item in enumerate(items):
        try:
            trace = backend.trace(TraceRequest(model, item.text))
        except UserError:
            continue
        if len(trace.source) <= LONGEST:
            yield at, item, _hits(trace, item)


def _hits(trace: Trace, item: AnnotatedText) -> BoolArray:
    """Return the links that each head finds by weight and by excess, (link, way, test).

    A test is a direction, a layer and a head.
    """
    layout, view = Layout.from_items([item], [trace.source]), View(trace)
    found = []
    for layer in range(view.layers):
        counted = visible_word_pairs(view, layer, np.arange(len(trace.source)))
        weights = np.array([trace.weights(layer, head) for head in range(view.heads)])
        beyond = np.array([np.nan_to_num(excess_map(each, counted)) for each in weights])
        found.append(np.stack([layout.find_hits(maps[None]) for maps in (weights, beyond)], axis=1))
    whole = np.stack(found, axis=3)  # (link, way, direction, layer, head)
    result: BoolArray = whole.reshape(*whole.shape[:2], -1)
    return result


def _row(what: str, hits: BoolArray, sentences: FloatArray) -> ReportRow:
    """Return the accuracy of the best head by weight and by excess, cross-validated over two halves."""
    ranks = np.unique(sentences, return_inverse=True)[1]
    told = np.zeros((len(hits), len(WAYS)), dtype=np.int64)
    chosen: list[list[int]] = [[], []]
    for half in (0, 1):
        mine = ranks % 2 == half
        for way in range(len(WAYS)):
            best = int(hits[~mine, way].mean(axis=0).argmax()) if (~mine).any() else 0
            chosen[way].append(best)
            told[mine, way] = hits[mine, way, best]
    shares = 100 * told.mean(axis=0)
    chance = float(sign_flips(by_sentence(told[:, 1:] - told[:, :1], sentences.astype(np.int64)))[0])
    means = 100 * hits.mean(axis=(0, 2))
    figure = f"{shares[0]:.1f} % by weight, {shares[1]:.1f} % by excess"
    note = (
        f"{len(hits)} links; p = {chance:.2g} for more by excess; mean of all heads {means[0]:.1f} and {means[1]:.1f}"
    )
    return ReportRow(f"{what}: held-out links found by the head chosen", "told, no bar", figure, None, note)
