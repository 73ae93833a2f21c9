"""Scores of all heads: induction on repeated random tokens, and annotated links that each head finds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from attention import roles
from attention.annotations import DIRECTIONS, AnnotatedText, Layout, Link, Span
from attention.mask import BoolArray, FloatArray
from attention.trace import attention_everywhere
from i18n import gettext_lazy
from inference.errors import UserError, as_user_error
from inference.loaded_model import LoadedModel
from inference.record.batching import MOST_TOKENS, Sample, batches, collate, stream
from inference.record.edit_hooks import HEADS, attention_layers
from inference.record.patching import replacing_output
from inference.request import TraceRequest
from inference.runners.blanks import read
from inference.tasks.heads import InductionHeads, InductionScores, LinksAnswer, LinksQuestion
from inference.text.encoding import explain_unreadable

Ids = npt.NDArray[np.int64]
Score = Callable[[FloatArray], FloatArray]  # (text, head, query, key) -> (text, head)


def answer(loaded: LoadedModel, question: InductionHeads) -> InductionScores:
    """Return the induction scores of every head on repeated random tokens.

    Raise UserError if the texts are too long for the model or its vocabulary is too small.
    """
    front = _prefix_tokens(loaded)
    _check(loaded, question, len(front))
    repeated, other = texts(ordinary_tokens(loaded), question, front)
    start, length = len(front), question.length
    losses: list[FloatArray] = []

    def surprise(_model: Any, output: Any) -> None:
        losses.append(_losses(output.logits, repeated, start, length))

    with replacing_output(loaded.model, surprise):
        found = _head_scores(
            loaded,
            repeated,
            [lambda maps: roles.prefix_matching_score(maps, start, length), roles.previous, roles.first],
        )
    [control] = _head_scores(loaded, other, [lambda maps: roles.prefix_matching_score(maps, start, length)])
    for array in (*found, control, *losses):
        array.setflags(write=False)
    matching, previous, first = found
    return InductionScores(
        matching=matching,
        control=control,
        previous=previous,
        first=first,
        even=roles.uniform_matching_score(repeated.shape[1], start, length),
        losses=losses[0],
        row=loaded.reader.from_ids(repeated[0].tolist(), [at < start for at in range(repeated.shape[1])])[0].row,
        start=start,
    )


def ordinary_tokens(loaded: LoadedModel) -> Ids:
    """Return the ids of ordinary tokens, ascending.

    Special and added tokens are left out, and ids that the model does not have.
    """
    tokenizer = loaded.reader.tokenizer
    added = {*tokenizer.all_special_ids, *getattr(tokenizer, "added_tokens_decoder", {})}
    known = {token for token in tokenizer.get_vocab().values() if token < loaded.reader.vocabulary}
    return np.array(sorted(known - added), dtype=np.int64)


def texts(tokens: Ids, question: InductionHeads, front: Sequence[int]) -> tuple[Ids, Ids]:
    """Return texts of repeated random tokens, and control texts without repetition, each (text, token).

    Every text begins with the tokens ``front``.
    """
    noise = np.random.default_rng(question.seed)
    size = question.length * question.repeats
    drawn = np.stack([noise.choice(tokens, size, replace=False) for _ in range(question.count)])
    others = np.stack([noise.choice(tokens, size, replace=False) for _ in range(question.count)])
    copies = np.tile(drawn[:, : question.length], (1, question.repeats))
    before = np.tile(np.array(front, dtype=np.int64), (question.count, 1))
    return np.concatenate([before, copies], axis=1), np.concatenate([before, others], axis=1)


def _prefix_tokens(loaded: LoadedModel) -> tuple[int, ...]:
    """Return the tokens that the tokenizer puts before a text: a start token, or none."""
    reading = loaded.reader.read("a", None, None)
    pairs = zip(reading.ids, reading.row.words, strict=True)
    return tuple(token for token, _ in takewhile(lambda pair: pair[1] is None, pairs))


def _check(loaded: LoadedModel, question: InductionHeads, start: int) -> None:
    """Raise UserError if the model cannot run a request of this size."""
    if question.length < 2 or question.repeats < 2 or question.count < 1:
        raise UserError("Give sequences of two tokens or more, two copies or more, and one text or more.")
    size = question.length * question.repeats
    limit = min(loaded.limit, MOST_TOKENS // question.count)
    if start + size > limit:
        raise UserError(
            gettext_lazy(
                "{repeats} copies of {length} tokens are {tokens:,}; {name} reads at most {limit:,} here. "
                "Use at most {longest:,}.",
                repeats=question.repeats,
                length=question.length,
                tokens=start + size,
                name=loaded.id.name,
                limit=limit,
                longest=max(0, (limit - start) // question.repeats),
            )
        )
    known = len(ordinary_tokens(loaded))
    if size > known:
        raise UserError(
            f"A text of {size:,} different tokens was asked for; {loaded.id.name} knows {known:,}. Ask for less."
        )


def _head_scores(loaded: LoadedModel, ids: Ids, scores: Sequence[Score]) -> list[FloatArray]:
    """Return each score's mean over the texts, shape (layer, head) float32, from a single pass.

    Layers without attention are NaN.
    """
    layers: list[list[list[FloatArray]]] = []  # indexed by layer, block of heads and score

    def take(layer: int, _head: int, maps: FloatArray) -> None:
        if layer == len(layers):
            layers.append([])
        layers[layer].append([score(maps).mean(axis=0) for score in scores])

    given: dict[str, Tensor] = {"input_ids": torch.from_numpy(ids), "attention_mask": torch.ones(ids.shape).long()}
    stream(loaded, given, [ids.shape[1]] * len(ids), take)
    with as_user_error(
        gettext_lazy("The layers of {name} have different numbers of heads. Pick another model.", name=loaded.id.name)
    ):
        found = [
            np.stack([np.concatenate([block[at] for block in blocks]) for blocks in layers]).astype(np.float32)
            for at in range(len(scores))
        ]
    heads = [many for part in getattr(loaded.model, HEADS, {}).values() for many in part]
    for score in found:
        score[[layer for layer, many in enumerate(heads) if not many]] = np.nan
    return found


def _losses(logits: Tensor, ids: Ids, start: int, length: int) -> FloatArray:
    """Return the mean loss of each copy, (copy,) float32, without its first token, which is unpredictable."""
    logs = logits[:, :-1].float().log_softmax(-1)
    right = torch.from_numpy(ids)[:, 1:, None]
    by_token = -logs.gather(-1, right)[..., 0].mean(0).numpy()  # begins with the second token of the text
    seconds = range(start, ids.shape[1], length)  # index of each copy's second token
    return np.array([by_token[at : at + length - 1].mean() for at in seconds], dtype=np.float32)


TOKENS_AT_ONCE = 1024  # of a padded batch; larger batches are not faster and take more memory


def count_link_hits(loaded: LoadedModel, question: LinksQuestion) -> LinksAnswer:
    """Return for each head which links of annotated texts it finds, as flags; equal texts are run only once.

    Raise UserError if some layers have no attention, because the flags need heads in every layer.
    """
    part, heads = next(iter(getattr(loaded.model, HEADS, {}).items()), ("", ()))
    if (lacking := attention_everywhere(len(heads), attention_layers(loaded.model, part))) is not None:
        raise UserError(lacking, way_out="embedded")
    items, own = _merge_items(question.items)
    samples, refused, unknown = readable_samples(loaded, items)
    found: list[BoolArray | None] = [None] * len(items)
    seen = [np.zeros(len(item.links), dtype=bool) for item in items]
    for batch in batches(samples, TOKENS_AT_ONCE):
        places = [int(sample.key) for sample in batch]
        layout = Layout.from_items([items[at] for at in places], [sample.source.row for sample in batch])
        results = _split(_find_hits(loaded, layout, batch), layout.items)
        for at, result, legible in zip(places, results, _split(layout.read(), layout.items), strict=True):
            found[at], seen[at] = result & legible[:, None, None, None], legible
    shape = next((result.shape[1:] for result in found if result is not None), (DIRECTIONS, 0, 0))
    whole = [np.zeros((len(s), *shape), bool) if f is None else f for f, s in zip(found, seen, strict=True)]
    hits = np.concatenate([whole[at][links] for at, links in own])
    legible = np.concatenate([seen[at][links] for at, links in own])
    hits.setflags(write=False)
    legible.setflags(write=False)
    skipped = sum(found[at] is None for at, _ in own)
    return LinksAnswer(hits, legible, skipped, refused, sum(at in unknown for at, _ in own))


def _merge_items(items: Sequence[AnnotatedText]) -> tuple[list[AnnotatedText], list[tuple[int, list[int]]]]:
    """Merge items with equal texts and units.

    Return the merged items, and for each original item the index of its merged item and of its links there.
    """
    links: dict[tuple[str, tuple[Span, ...]], dict[Link, int]] = {}
    for item in items:
        together = links.setdefault((item.text, item.units), {})
        for link in item.links:
            together.setdefault(link, len(together))
    places = {key: place for place, key in enumerate(links)}
    keys = [(item.text, item.units) for item in items]
    own = [(places[key], [links[key][link] for link in item.links]) for key, item in zip(keys, items, strict=True)]
    return [AnnotatedText(*key, tuple(together)) for key, together in links.items()], own


def readable_samples(loaded: LoadedModel, items: Sequence[AnnotatedText]) -> tuple[list[Sample], str, set[int]]:
    """Return the readable texts as samples, the last error message, and the indices of texts of unknown tokens.

    The key of a sample is the index of its item. The message is that of the last unreadable text, or "". The indices
    are those of texts in which at least a third of the tokens are unknown.
    """
    samples, refused, unknown = list[Sample](), "", set[int]()
    for at, item in enumerate(items):
        try:
            reading = read(loaded, item.text)
        except UserError as refusal:
            refused = refusal.message
            continue
        if message := explain_unreadable(reading.row, loaded.id.name):
            refused = message
            unknown.add(at)
        else:
            samples.append(Sample(str(at), TraceRequest(), reading, None, None))
    return samples, refused, unknown


def _find_hits(loaded: LoadedModel, layout: Layout, batch: Sequence[Sample]) -> BoolArray:
    """Return the hits of a forward pass, shape (link, direction, layer, head)."""
    layers: list[list[BoolArray]] = []

    def take(layer: int, _first: int, maps: FloatArray) -> None:
        if layer == len(layers):
            layers.append([])
        layers[layer].append(layout.find_hits(maps))

    stream(loaded, collate(loaded, batch), [len(sample.source.ids) for sample in batch], take, maps_only=True)
    whole = [np.concatenate(blocks, axis=2) for blocks in layers]
    if len({layer.shape[2] for layer in whole}) > 1:
        raise UserError(
            gettext_lazy(
                "The layers of {name} have different numbers of heads. Pick another model.",
                name=loaded.id.name,
            ),
            way_out="embedded",
        )
    return np.stack(whole, axis=2)


def _split(values: BoolArray, items: Sequence[AnnotatedText]) -> list[BoolArray]:
    """Split the values of all links by item."""
    ends = np.cumsum([len(item.links) for item in items])[:-1]
    return np.split(values, ends)
