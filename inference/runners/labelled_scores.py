"""Terms of a head's scores on labelled links, from forward passes over batches of texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from attention.annotations import DIRECTIONS, AnnotatedText, Link, membership
from attention.score_terms import Numbers, ScoreRow, ScoreTerms, decompose_score, source_order
from attention.tokens import TokenRow
from i18n import gettext_lazy
from inference.anatomy.contributions import Contributions, SourcePaths
from inference.anatomy.pass_graph import AttentionNode, record_graph
from inference.anatomy.source_rules import SourceRules
from inference.errors import as_user_error
from inference.loaded_model import LoadedModel
from inference.record.attention_function import compute_scores
from inference.record.batching import Sample, batches, collate
from inference.record.edit_hooks import heads_of
from inference.runners.heads import readable_samples
from inference.runners.score_decomposition import HIDDEN, is_unknown, largest_error, refuse_head, unfit_layer
from inference.tasks.labelled_scores import LabelledScoresAnswer, LabelledScoresRequest, TextScores

TOKENS_AT_ONCE = 512  # of a padded batch; each source of a layer has an array of this length


def answer(loaded: LoadedModel, question: LabelledScoresRequest) -> LabelledScoresAnswer:
    """Return the scores of a head on the links of each text.

    Raise UserError if the head does not exist, or if its scores cannot be decomposed.
    """
    heads = heads_of(loaded.model)
    part = next(iter(heads))
    refuse_head(loaded.model, part, question.layer, question.head)
    samples, reason, _unknown = readable_samples(loaded, question.items)
    found: list[_TextTerms | None] = [None] * len(question.items)
    for batch in batches(samples, TOKENS_AT_ONCE):
        places = [int(sample.key) for sample in batch]
        items = [question.items[at] for at in places]
        for at, text in zip(places, _batch_terms(loaded, part, question, batch, items), strict=True):
            found[at] = text
    names = [
        sorted({name for text in found if text for name in text.sources[side]}, key=source_order) for side in (0, 1)
    ]
    return LabelledScoresAnswer(
        tuple(names[0]),
        tuple(names[1]),
        tuple(None if text is None else text.to_scores(names) for text in found),
        reason,
        max((float(text.error) for text in found if text), default=0.0),
    )


def _batch_terms(
    loaded: LoadedModel,
    part: str,
    question: LabelledScoresRequest,
    batch: Sequence[Sample],
    items: Sequence[AnnotatedText],
) -> list[_TextTerms]:
    """Return the terms of the texts of a forward pass."""
    model, given = loaded.model, collate(loaded, batch)
    if loaded.id.kind == "encoder-decoder":
        given["decoder_input_ids"] = given["input_ids"][:, :1]
    with as_user_error(
        gettext_lazy("{name} failed on this input. Change it or pick another model.", name=loaded.id.name)
    ):
        graph = record_graph(model, given)
        node = graph.attention(part, question.layer)
        assert node is not None
        paths = SourcePaths(graph, SourceRules(model, graph))
        if any(is_unknown(paths.rules.sources(value), question.layer) for value in (node.query, node.key)):
            raise unfit_layer(model, question.layer)
        query, keys = paths.contributions([node.query, node.key])
    scored = _ScoredBatch.from_node(node, question.head, query, keys)
    texts = [
        scored.text_terms(at, sample.source.row, item)
        for at, (sample, item) in enumerate(zip(batch, items, strict=True))
    ]
    if not all(text.fits(largest_error(model)) for text in texts):
        raise unfit_layer(model, question.layer)
    return texts


@dataclass(frozen=True, eq=False)
class _ScoredBatch:
    """A head in a forward pass: the contributions to its queries and keys, and its scores."""

    node: AttentionNode
    query: dict[str, Numbers]  # by source, (text, token, channel)
    keys: dict[str, Numbers]  # by source, (text, token, channel)
    scores: Numbers  # (text, query, key), recorded
    added: Numbers  # (text, query, key): the numbers that the attention adds

    @classmethod
    def from_node(cls, node: AttentionNode, head: int, query: Contributions, keys: Contributions) -> _ScoredBatch:
        """Return the batch of one head of an attention call."""
        call = node.call
        group = head // (call.query.shape[1] // call.key.shape[1])
        one = replace(call, query=torch.zeros_like(call.query))
        scores, added = (compute_scores(each)[:, head].double().numpy() for each in (call, one))
        return cls(
            node,
            {name: array[:, head].astype(np.float64) for name, array in query.items()},
            {name: array[:, group].astype(np.float64) for name, array in keys.items()},
            scores,
            added,
        )

    def text_terms(self, at: int, row: TokenRow, item: AnnotatedText) -> _TextTerms:
        """Return the terms of the links of the text at ``at``."""
        units = membership(row, item.units)
        tokens = np.where(units.any(axis=1), units.argmax(axis=1), -1)
        text = _TextTerms(item, self._unit_vectors(self.query, at, tokens), self._unit_vectors(self.keys, at, tokens),
                          self._unit_scores(at, tokens), ([], []), {}, 0.0)  # fmt: skip
        for place, link in enumerate(item.links):
            for direction, (asking, wanted) in enumerate(_ends(link)):
                query, key = int(tokens[asking]), int(tokens[wanted])
                if query >= 0 and key >= 0 and self.scores[at, query, key] > HIDDEN:
                    text.add((place, direction), self._terms(at, query, key), self.scores[at, query, key])
        return text

    def _terms(self, at: int, query: int, key: int) -> ScoreTerms:
        visible = self.scores[at, query] > HIDDEN
        row = ScoreRow(
            self.node.call.scale, self.node.call.softcap, np.where(visible, self.added[at, query], 0.0), visible
        )
        return decompose_score(
            {name: array[at, query] for name, array in self.query.items()},
            {name: array[at] for name, array in self.keys.items()},
            row,
            key,
        )

    def _unit_vectors(self, parts: dict[str, Numbers], at: int, tokens: Any) -> Numbers:
        whole: Numbers = np.sum([array[at] for array in parts.values()], axis=0)[tokens]
        whole[tokens < 0] = np.nan
        return whole

    def _unit_scores(self, at: int, tokens: Any) -> Numbers:
        found: Numbers = self.scores[at][np.ix_(tokens, tokens)]
        found[(found <= HIDDEN) | (tokens < 0)[:, None] | (tokens < 0)] = np.nan
        return found


def _ends(link: Link) -> tuple[tuple[int, int], ...]:
    """Return the query and the key of a link in each direction."""
    return (link.source, link.target), (link.target, link.source)


@dataclass(eq=False)
class _TextTerms:
    """The vectors and scores of a text's units, and the terms of its links by their place and direction."""

    item: AnnotatedText
    queries: Numbers
    keys: Numbers
    scores: Numbers
    sources: tuple[list[str], list[str]]
    terms: dict[tuple[int, int], tuple[float, Numbers, Numbers]]
    error: float

    def add(self, place: tuple[int, int], terms: ScoreTerms, score: float) -> None:
        """Add the terms of a link in a direction."""
        self.sources[0][:], self.sources[1][:] = terms.query_sources, terms.key_sources
        centred = terms.excess_terms
        self.terms[place] = (float(centred.sum()), centred.sum(axis=1), centred.sum(axis=0))
        self.error = max(self.error, abs(terms.total - score) / max(1.0, abs(score)))

    def fits(self, limit: float) -> bool:
        """Return True if the terms sum to the scores."""
        return self.error <= limit

    def to_scores(self, names: Sequence[Sequence[str]]) -> TextScores:
        """Return the scores with the terms in the order of ``names``, the sources of the query and of the key."""
        links = len(self.item.links), DIRECTIONS
        excess = np.full(links, np.nan)
        sides = [np.full((*links, len(side)), np.nan) for side in names]
        columns = [[list(side).index(name) for name in own] for side, own in zip(names, self.sources, strict=True)]
        for place, (whole, *parts) in self.terms.items():
            excess[place] = whole
            for side, column, part in zip(sides, columns, parts, strict=True):
                side[place] = 0.0
                side[place][column] = part
        return TextScores(self.queries, self.keys, self.scores, excess, sides[0], sides[1])
