"""Decomposition of an attention score into sources (parts of the model), checked by removing the largest sources."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attention.score_terms import RELATIVE, Numbers, ScoreRow, ScoreTerms, decompose_score, is_block
from attention.trace import PART_NAMES
from i18n import gettext_lazy
from inference.anatomy.contributions import Contributions, SourcePaths
from inference.anatomy.pass_graph import AttentionNode, record_graph
from inference.anatomy.program import Array, Value
from inference.anatomy.source_rules import SourceRules
from inference.errors import UserError, as_user_error
from inference.loaded_model import LoadedModel
from inference.record.attention_function import compute_scores
from inference.record.edit_hooks import call_of, heads_of
from inference.runners.picture_outputs import make_batch, prepare_picture
from inference.runners.whole_pass import LONGEST, prepare_inputs
from inference.tasks.score_decomposition import RANDOM, PictureScoreRequest, ScoreAnswer, ScoreRequest, SourceCheck
from inference.tasks.whole_pass import PassRequest

WRONG = 1e-4  # largest error of the sum of the terms, relative to the score; rounding explains no more
WRONG_HALF = 2e-2  # for models in half precision
FULL = 4  # bytes of a float32
HIDDEN = -1e30  # lower scores belong to masked keys
SEED = 0


def answer(loaded: LoadedModel, question: ScoreRequest) -> ScoreAnswer:
    """Return the terms of a score, and the checks of its largest sources.

    Raise UserError if the head or the tokens do not exist, if the key is masked, or if the score cannot be decomposed.
    """
    if not loaded.records:
        heads_of(loaded.model)
    text = PassRequest[Any](
        question.model, question.revision, question.text, question.pair, question.target, question.cut
    )
    ids, given = prepare_inputs(loaded, text)
    with _failing(loaded):
        return explain(loaded.model, given, question, ids)


def answer_picture(loaded: LoadedModel, question: PictureScoreRequest) -> ScoreAnswer:
    """Return the terms of a score between two tokens of a picture, and the checks of its largest sources.

    Raise UserError as ``answer`` does, and if there is no picture or if it has too many tokens.
    """
    if not loaded.records:
        heads_of(loaded.model)
    seen = prepare_picture(loaded, question.picture, question.side)
    if len(seen.reading.row) > LONGEST:
        raise UserError(
            gettext_lazy(
                "The image has {tokens} tokens; the limit is {most}. Choose a smaller size.",
                tokens=len(seen.reading.row),
                most=LONGEST,
            ),
            details={"tokens": len(seen.reading.row)},
        )
    given = make_batch(seen).inputs
    with _failing(loaded):
        return explain(loaded.model, given, replace(question, part=""))


def _failing(loaded: LoadedModel) -> AbstractContextManager[None]:
    """Turn an error of a model's pass inside the block into a UserError."""
    return as_user_error(
        gettext_lazy("{name} failed on this input. Change it or pick another model.", name=loaded.id.name)
    )


def explain(model: Any, given: Mapping[str, Tensor], question: ScoreRequest, ids: tuple[int, ...] = ()) -> ScoreAnswer:
    """Return the terms of a score and the checks of its sources, for a prepared model.

    ``given`` is the model's input, a single text or picture, and ``ids`` are the token ids to return with the answer.
    """
    part = question.part or next(iter(heads_of(model)))
    refuse_head(model, part, question.layer, question.head)
    graph = record_graph(model, given)
    node = graph.attention(part, question.layer)
    assert node is not None
    row, scores = _visible_row(node, question)
    paths = SourcePaths(graph, SourceRules(model, graph))
    head = _ScoredHead(paths, node, question.head, question.query_token, question.key_token, row, scores)
    own = (node.query,) if part == "cross" else (node.query, node.key)  # other keys come from another stack
    if any(is_unknown(paths.rules.sources(value), question.layer) for value in own):
        raise unfit_layer(model, question.layer)
    terms, score, mean = head.decompose()
    error = abs(terms.total - score)
    if not error <= largest_error(model) * max(1.0, abs(score)):
        raise unfit_layer(model, question.layer)
    return ScoreAnswer(ids, score, mean, terms, error, head.check(terms, question.checks))


def is_unknown(sources: frozenset[str], layer: int) -> bool:
    """Return True if the queries or keys of a layer, with these ``sources``, cannot be decomposed.

    This is so if they have no source, or are not an affine function of the layer's input.
    """
    return not sources or any(is_block(source) and source.endswith(f" {layer}") for source in sources)


def largest_error(model: Any) -> float:
    """Return the largest error, relative to the score, that rounding can cause in a sum of terms.

    It depends on the precision of the model.
    """
    half = next(model.parameters()).dtype.itemsize < FULL
    return WRONG_HALF if half else WRONG


def unfit_layer(model: Any, layer: int) -> UserError:
    """Return the error that the scores of a layer cannot be decomposed."""
    return UserError(
        gettext_lazy(
            "Layer {layer} of {name} cannot be decomposed. Pick another model.",
            name=type(model).__name__,
            layer=layer,
        )
    )


def refuse_head(model: Any, part: str, layer: int, head: int) -> None:
    """Raise UserError if the head does not exist, or if its layer has no attention."""
    layers = heads_of(model).get(part, ())
    if not (0 <= layer < len(layers) and 0 <= head < max(layers)):
        raise UserError(
            f"Head {layer}-{head} does not exist; the {PART_NAMES.get(part, part)} has {len(layers)} layers"
            f" of {max(layers, default=0)} heads, from 0."
        )
    call_of(model, part, layer)  # raises UserError for a layer without attention


@dataclass(frozen=True, eq=False)
class _ScoredHead:
    """A head of a recorded pass, with a query and a key."""

    paths: SourcePaths
    node: AttentionNode
    head: int
    query: int
    key: int
    row: ScoreRow
    scores: Numbers  # recorded, (key,)

    def decompose(self) -> tuple[ScoreTerms, float, float]:
        """Return the terms, the score, and the mean score of the visible keys."""
        query, keys = self.paths.contributions([self.node.query, self.node.key], self._input_parts)
        terms = decompose_score(
            {name: self._query_vector(array) for name, array in query.items()},
            {name: self._key_vectors(array) for name, array in keys.items()},
            self.row,
            self.key,
        )
        return terms, float(self.scores[self.key]), float(self.scores[self.row.visible].mean())

    @cached_property
    def _input_parts(self) -> dict[int, Contributions]:
        """Return the contributions to the inputs of the layer, by the id of the input's value."""
        inputs = [one for value in (self.node.query, self.node.key) for one in self.paths.layer_inputs(value)]
        return dict(zip(map(id, inputs), self.paths.contributions(inputs), strict=True))

    def check(self, terms: ScoreTerms, many: int) -> tuple[SourceCheck, ...]:
        """Return the checks of the ``many`` largest sources of each side, and of a control for each side."""
        found: list[SourceCheck] = []
        for side, sources, predict in (
            ("query", terms.query_sources, terms.of_query),
            ("key", terms.key_sources, terms.of_key),
        ):
            named = [source for source in sources if source != RELATIVE]
            largest = sorted(named, key=lambda source: -abs(predict(source)))[:many]
            inputs = self.paths.layer_inputs(self._value(side))
            parts = self._input_parts
            arrays = {id(value): self.paths.graph.array(value) for value in inputs}
            for source in largest:
                removed = {at: parts[at].get(source, np.zeros_like(array)) for at, array in arrays.items()}
                found.append(SourceCheck(side, source, predict(source), self._fall(side, arrays, removed, source)))
            if largest:
                found.append(self._control(side, arrays, {at: parts[at].get(largest[0]) for at in arrays}))
        return tuple(found)

    def _control(self, side: str, arrays: dict[int, Array], like: dict[int, Array | None]) -> SourceCheck:
        """Return the check of random vectors, as long as the contributions ``like`` at the layer's inputs."""
        random = np.random.default_rng(SEED)
        drawn = {
            at: _random_like(random, np.zeros_like(arrays[at]) if part is None else part) for at, part in like.items()
        }
        begin = {at: {RANDOM: vectors} for at, vectors in drawn.items()}
        [parts] = self.paths.contributions([self._value(side)], begin)
        recorded = self.paths.graph.array(self._value(side))
        predicted = self._excess(side, recorded) - self._excess(side, recorded - parts[RANDOM])
        return SourceCheck(side, RANDOM, predicted, self._fall(side, arrays, drawn))

    def _fall(self, side: str, arrays: dict[int, Array], removed: dict[int, Array], source: str = "") -> float:
        """Return the fall of the excess if vectors are removed from the layer's inputs, for a side of the head."""
        changed = {at: array - removed[at] for at, array in arrays.items()}
        value = self._value(side)
        after = self.paths.replay(value, changed, source)
        return self._excess(side, self.paths.graph.array(value)) - self._excess(side, after)

    def _value(self, side: str) -> Value:
        return self.node.query if side == "query" else self.node.key

    def _excess(self, side: str, changed: Array) -> float:
        """Return the score minus the mean of the visible keys, with the queries or keys replaced."""
        query = changed if side == "query" else self.paths.graph.array(self.node.query)
        keys = changed if side == "key" else self.paths.graph.array(self.node.key)
        products = self._key_vectors(keys) @ self._query_vector(query)
        return self.row.excess(products, self.key)

    def _query_vector(self, array: Array) -> Numbers:
        vector: Numbers = array[0, self.head, self.query].astype(np.float64)
        return vector

    def _key_vectors(self, array: Array) -> Numbers:
        heads = self.node.call.query.shape[1]
        group = self.head // (heads // array.shape[1])
        vectors: Numbers = array[0, group].astype(np.float64)
        return vectors


def _visible_row(node: AttentionNode, question: ScoreRequest) -> tuple[ScoreRow, Numbers]:
    """Return the steps from products to scores of a query, and its recorded scores (key,).

    Raise UserError for a token that does not exist, or for a key that the query cannot see.
    """
    for token, many in ((question.query_token, node.call.query.shape[2]), (question.key_token, node.call.key.shape[2])):
        if not 0 <= token < many:
            raise UserError(
                gettext_lazy("There is no token {token}; tokens are 0 to {last}.", token=token, last=many - 1),
                way_out="text",
            )
    scores, added = (
        compute_scores(call)[0, question.head, question.query_token].double().numpy()
        for call in (node.call, replace(node.call, query=torch.zeros_like(node.call.query)))
    )
    visible = scores > HIDDEN
    if not visible[question.key_token]:
        raise UserError(
            gettext_lazy(
                "Token {query} cannot see token {key}. Pick an earlier or nearer token.",
                query=question.query_token,
                key=question.key_token,
            )
        )
    return ScoreRow(node.call.scale, node.call.softcap, np.where(visible, added, 0.0), visible), scores


def _random_like(random: np.random.Generator, array: Array) -> Array:
    """Return vectors of random direction with the lengths of ``array``'s, along the last axis."""
    drawn = random.normal(size=array.shape)
    sizes = np.linalg.norm(array, axis=-1, keepdims=True) / np.linalg.norm(drawn, axis=-1, keepdims=True)
    found: Array = (drawn * sizes).astype(array.dtype)
    return found
