"""Annotated links that the heads of a model find, from padded passes over texts of similar length."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attention.annotations import DIRECTIONS, AnnotatedText, Layout, Link, Span
from attention.mask import BoolArray, FloatArray
from attention.trace import attention_everywhere
from i18n import gettext_lazy
from inference.errors import UserError
from inference.loaded_model import LoadedModel
from inference.record.batching import Sample, batches, collate, stream
from inference.record.edit_hooks import HEADS, attention_layers
from inference.request import TraceRequest
from inference.runners.blanks import read
from inference.tasks.heads import LinksAnswer, LinksQuestion
from inference.text.encoding import explain_unreadable

TOKENS_AT_ONCE = 1024  # of a padded batch; larger batches are not faster and take more memory


def answer(loaded: LoadedModel, question: LinksQuestion) -> LinksAnswer:
    """Return the heads that find each item's links; a text that several items share is run once.

    Raise UserError if some layers have no attention, since their heads cannot be counted with the others.
    """
    part, heads = next(iter(getattr(loaded.model, HEADS, {}).items()), ("", ()))
    if (lacking := attention_everywhere(len(heads), attention_layers(loaded.model, part))) is not None:
        raise UserError(lacking, way_out="embedded")
    items, own = _merge_items(question.items)
    samples, refused, unknown = _samples(loaded, items)
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


def _samples(loaded: LoadedModel, items: Sequence[AnnotatedText]) -> tuple[list[Sample], str, set[int]]:
    """Return the readable texts, the last reason for an unreadable text, and the texts of unknown words.

    The keys of the samples are the indices of the texts.
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
    """Return the hits of a forward pass, (link, direction, layer, head)."""
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
                "{name} has layers of different numbers of heads, which fit in no table. Pick another model.",
                name=loaded.id.name,
            ),
            way_out="embedded",
        )
    return np.stack(whole, axis=2)


def _split(values: BoolArray, items: Sequence[AnnotatedText]) -> list[BoolArray]:
    """Split the values of all links by item."""
    ends = np.cumsum([len(item.links) for item in items])[:-1]
    return np.split(values, ends)
