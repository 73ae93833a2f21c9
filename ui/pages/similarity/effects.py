"""The change of the cosine similarity if a head is ablated in both texts, or a word is deleted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from attention.edits import Ablate, PatchHead, as_head_map, places_of
from attention.head_names import head_label
from attention.mask import FloatArray
from attention.vectors import cosine
from i18n import _
from inference import TraceRequest
from inference.tasks.edit_effects import Effect
from inference.tasks.hidden_states import Pooled
from inference.tasks.similarity import SimilarityEffects
from probing.edit_answers import tokens_per_step
from probing.statistics import COMPARED, RandomChanges, compare_with_random, count_by_chance
from ui.ablation.edits import Head
from ui.ablation.effects import head_effects_computation, heads_csv, measure_changes
from ui.input.controls import head_of, keep_head
from ui.pages.similarity.table import WordTable, largest_words, note_omitted, table_computation, table_provenance
from ui.run.notices import show_notice
from ui.run.progress import stoppable_steps
from ui.run.services import get_backend
from ui.show.chart import draw_chart, theme
from ui.show.tables import csv_table, download_button
from ui.state.view_state import ViewState
from viz.figures.head_maps import head_map, mark_heads
from viz.figures.token_bars import source_terms
from viz.paper.notebook import Computation

MAP = "similarity_heads"


@dataclass(frozen=True, eq=False)
class CosineChanges:
    """The change of the cosine similarity of two texts by ablating each head in both, shape (layer, head).

    A change is NaN if it was not computed. ``random`` are random changes of each of ``places``, of the same size; their
    effects have no sign.
    """

    places: tuple[Head, ...]
    changes: FloatArray
    random: RandomChanges

    @property
    def beyond(self) -> list[Head]:
        """Return the heads whose ablation changes the cosine similarity by more than all random changes do."""
        sizes = np.abs(self.changes[tuple(np.transpose(self.places))])
        return [place for place, beyond in zip(self.places, self.random.exceeded_by(sizes), strict=True) if beyond]


def draw_heads(choice: ViewState, found: WordTable) -> None:
    """Draw how much ablating each head changes the cosine, as a sentence, a map and a file; may raise UserError."""
    heads = measure_heads(found)
    if not np.isfinite(heads.changes).any():
        return
    show_notice(describe_heads(heads), role="status")
    figure = head_map(
        heads.changes,
        theme(),
        _("Ablate heads"),
        _("change of the cosine"),
        diverging=True,
        meaning=(_("less similar"), _("more similar")),
        selected=head_of(choice, np.abs(heads.changes)),
    )
    mark_heads(figure, heads.beyond, "circle-open", theme(), "beyond random changes")
    note = _(
        "Marked: beyond all {n} random changes of the same head (chance: 1 in {of}, uncorrected). A random change adds "
        "a random vector of equal length to its output in both texts.",
        n=COMPARED,
        of=COMPARED + 1,
    )
    about = partial(table_provenance, found)
    draw_chart(figure, MAP, on_click=keep_head, about=about, computation=_ablations(found), test=note)
    st.caption(note)
    download_button(
        _("Save as CSV"),
        heads_csv(heads.places, heads.changes[tuple(np.transpose(heads.places))], _("change of the cosine")),
        "headlight-similarity-heads.csv",
        _("All digits"),
        key="similarity_save_heads",
        provenance=table_provenance(found),
    )


def _ablations(found: WordTable) -> Computation:
    """Return the computation of the change of the cosine without each head."""
    asked, answer = found.request, found.answer
    reading = TraceRequest(model=asked.model, revision=asked.revision, text=asked.a)
    request = SimilarityEffects(asked.model, asked.revision, asked.a, asked.b, answer.pooling)
    return head_effects_computation(reading, request, max(len(answer.row_a), len(answer.row_b)), "values[:, 0]")


def measure_heads(found: WordTable) -> CosineChanges:
    """Measure the cosine after ablating each head in both texts, and after random changes of the same size.

    Raise UserError if the model cannot be edited.
    """
    asked = found.request
    trace = get_backend().trace(TraceRequest(model=asked.model, revision=asked.revision, text=asked.a))
    places, at_once = places_of(trace), tokens_per_step(trace)
    question = SimilarityEffects(asked.model, asked.revision, asked.a, asked.b, found.answer.pooling)

    def numbers(some: Sequence[tuple[Any, ...]]) -> FloatArray:
        effect: Effect = get_backend().inspect(replace(question, edits=tuple(some)))
        return effect.values[:, 0]

    tokens = max(len(found.answer.row_a), len(found.answer.row_b))
    mark, doing = f"similar:{question.key}", _("Running the model")
    changes = np.full(len(places), np.nan, np.float32)
    measured = measure_changes(mark, [(Ablate(*place),) for place in places], tokens, doing, numbers, at_once)
    changes[: len(measured)] = measured

    def random_changes(asked: Sequence[tuple[int, int]]) -> FloatArray:
        sets: list[Any] = [(PatchHead(*places[site], (), seed=site * COMPARED + number),) for site, number in asked]
        return np.abs(measure_changes(mark, sets, tokens, _("Comparing with random changes"), numbers, at_once))

    stopped = len(measured) < len(places)
    random = compare_with_random(np.full_like(changes, np.nan) if stopped else np.abs(changes), random_changes)
    return CosineChanges(tuple(places), as_head_map(places, changes), random)


def describe_heads(heads: CosineChanges) -> str:
    """Return a sentence with the head of the largest change, and the number of heads that exceed random changes."""
    layer, head = np.unravel_index(int(np.nanargmax(np.abs(heads.changes))), heads.changes.shape)
    change = _(
        "Without head {head} the cosine changes most: by {change:+.3f}.",
        head=head_label(int(layer), int(head)),
        change=float(heads.changes[layer, head]),
    )
    known = int(np.isfinite(heads.changes).sum())
    if known < len(heads.places) or not heads.random.complete:
        return change
    mean, low, high = count_by_chance(known)
    return _(
        "{change} {many} of {heads} heads exceed random changes; chance: {mean:.0f} (95% range {low} to {high}).",
        change=change,
        many=len(heads.beyond),
        heads=known,
        mean=mean,
        low=low,
        high=high,
    )


PART = 64  # texts in a request


@dataclass(frozen=True, eq=False)
class TextDeletions:
    """The effects of deleting each word of a text, as arrays (word,).

    ``shares`` is each word's part of the cosine similarity: the sum of its row or column in WordTable. ``falls`` is the
    decrease of the cosine if the word is deleted, and NaN if that was not measured.
    """

    names: tuple[str, ...]
    shares: FloatArray
    falls: FloatArray  # NaN for a word that is the whole text, or that was not reached
    places: tuple[int, ...]  # the words' indices in the table
    shorter: tuple[str, ...]  # for each word, the text without it


def draw_removal(found: WordTable) -> None:
    """Draw, for each word of both texts, its part of the cosine and the decrease of the cosine if it is deleted."""
    both = measure_deletions(found)
    if both is None:
        return
    show_notice(describe_deletions(both), role="status")
    titles = [_("Words of {text}", text=name) for name in "AB"]
    for side, (place, text, title) in enumerate(zip(st.columns(2), both, titles, strict=True)):
        kept = largest_words(np.abs(text.shares))
        values = {text.names[at]: [float(text.shares[at]), float(text.falls[at])] for at in kept}
        names = _("Part of the cosine"), _("Fall if deleted")
        draw_chart(
            source_terms(values, names, theme(), title, _("Part of the cosine")),
            f"removal_{title}",
            place=place,
            about=partial(table_provenance, found),
            computation=_deletions(found, text, side, kept),
        )
    note_omitted(found)
    st.caption(_("Each word is deleted in turn; the other text and special tokens stay."))
    rows = [
        [side, name, float(share), None if np.isnan(fall) else float(fall)]
        for side, text in zip("AB", both, strict=True)
        for name, share, fall in zip(text.names, text.shares, text.falls, strict=True)
    ]
    download_button(
        _("Save as CSV"),
        csv_table(["text", "word", "share in the table", "fall without it"], rows),
        "headlight-deletions.csv",
        _("All digits"),
        key="similarity_save_removal",
        provenance=table_provenance(found),
    )


def _deletions(found: WordTable, text: TextDeletions, side: int, kept: Sequence[int]) -> Computation | None:
    """Return the computation of the parts of the cosine of the words ``kept``, and of its falls without them.

    ``side`` is 0 for the text A and 1 for B. Return None if a fall is unknown.
    """
    if not np.isfinite(text.falls[list(kept)]).all():
        return None
    texts = (found.request.a, found.request.b, *(text.shorter[at] for at in kept))
    code = (
        f"shares = table.sum(axis={1 - side})[places]\n"
        "vectors = backend.inspect(pooled).vectors\n"
        f"whole, *without = cosine(vectors[[{side}, *range(2, len(vectors))]], vectors[{1 - side}:{2 - side}])[:, 0]\n"
        "numbers = [*shares, *(whole - one for one in without)]"
    )
    pooled = Pooled(found.request.model, found.request.revision, texts, pooling=found.answer.pooling)
    places = [text.places[at] for at in kept]
    return table_computation(found).then(code, pooled=pooled, places=places, cosine=cosine)


def measure_deletions(found: WordTable) -> tuple[TextDeletions, TextDeletions] | None:
    """Delete each word of the texts A and B in turn, and return the effects for A and for B.

    Return None if the visitor stops before the first deletion. May raise UserError.
    """
    words = [_words(found, side) for side in (0, 1)]
    texts = [found.request.a, found.request.b]
    shorter = [
        tuple(text[:start] + text[stop:] for _at, start, stop in mine) for text, mine in zip(texts, words, strict=True)
    ]
    vectors = _pool_texts(found, (*texts, *shorter[0], *shorter[1]))
    if len(vectors) < 2:
        return None
    split = 2 + len(words[0])
    cosines = [cosine(vectors[2:split], vectors[1:2])[:, 0], cosine(vectors[split:], vectors[:1])[:, 0]]
    whole = float(cosine(vectors[:1], vectors[1:2])[0, 0])
    both = []
    for side, mine in enumerate(cosines):
        falls = np.full(len(words[side]), np.nan, np.float32)
        falls[: len(mine)] = whole - mine
        falls[np.array([not text.strip() for text in shorter[side]], bool)] = np.nan
        places = [at for at, _start, _stop in words[side]]
        shares = found.table.sum(axis=1 - side)[places].astype(np.float32)
        names = tuple(found.names[side][at] for at in places)
        both.append(TextDeletions(names, shares, falls, tuple(places), shorter[side]))
    return both[0], both[1]


def _words(found: WordTable, side: int) -> list[tuple[int, int, int]]:
    """Return (place in the table, start, stop in the text) of each word that is in the text."""
    row = (found.answer.row_a, found.answer.row_b)[side]
    spans = [(row.spans[start], row.spans[stop - 1]) for start, stop in found.runs[side]]
    return [
        (at, first[0], last[1])
        for at, (first, last) in enumerate(spans)
        if first is not None and last is not None and first[0] < last[1]
    ]


def _pool_texts(found: WordTable, texts: tuple[str, ...]) -> FloatArray:
    """Return a vector for each text, (text, channel), zeros for an empty text; fewer if the visitor stops."""
    asked = Pooled(found.request.model, found.request.revision, texts, pooling=found.answer.pooling)
    starts = range(0, len(texts), PART)
    parts = []
    for at in stoppable_steps(f"deletions:{asked.key}", len(starts), _("Running the model")):
        some = texts[starts[at] : starts[at] + PART]
        parts.append(
            get_backend().inspect(Pooled(asked.model, asked.revision, some, pooling=found.answer.pooling)).vectors
        )
    return np.concatenate(parts) if parts else np.zeros((0, 1), np.float32)


def describe_deletions(both: tuple[TextDeletions, TextDeletions]) -> str:
    """Return sentences on the word whose deletion changes the cosine most: this change, and the word's part of it.

    A word's part is its term in the sum that is the cosine. The sentences state why change and part differ.
    """
    text = max(both, key=lambda one: float(np.nanmax(np.abs(one.falls), initial=0)))
    if not np.isfinite(text.falls).any():
        return _("Each text is a single word, so no word can be deleted.")
    at = int(np.nanargmax(np.abs(text.falls)))
    return _(
        "Without “{word}” the cosine changes most, by {change:+.3f}; its part is {share:.3f}. "
        "Deletion also changes other words' vectors.",
        word=text.names[at],
        change=-float(text.falls[at]),
        share=float(text.shares[at]),
    )
