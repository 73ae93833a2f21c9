"""A comparison of heads chosen by a link's excess and by its weight, on held-out sentences.

Run `python -m bench specific [PATH_GAP]` for the app's ready-made sets and, optionally, GAP's validation split. A
head is chosen on half of the sentences and scored on the other half, in both directions. A link is found if it has
the largest excess (attention/excess.py), or the largest weight, among a pronoun's candidates or all words of the
sentence. The mean over all heads and a paired test by sentence (probing/statistics.py) are also reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from attention.annotations import AnnotatedText, Layout
from attention.excess import excess_map, visible_word_pairs
from attention.mask import BoolArray, FloatArray
from attention.trace import Trace
from attention.view import View
from bench.report import ReportRow
from probing import formats
from probing.corpus import ALL, UNCOUNTED, AnnotatedCorpus
from probing.statistics import by_sentence, sign_flips

MODELS = ("all-MiniLM-L6-v2", "headlight-bert")
PROBES = Path(__file__).resolve().parent.parent / "assets" / "probes"
SETS = (("pronouns", "pronouns.csv", "csv"), ("grammar", "grammar.conllu", "conllu"))
SHOWN = ("det", "nsubj", "obj", "amod", "nmod:poss", "case")
LONGEST = 500  # tokens
BATCH = 16
WAYS = ("weight", "excess")


def measure(*paths: str) -> Iterator[ReportRow]:
    """Yield a row for each model, set and relation."""
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
