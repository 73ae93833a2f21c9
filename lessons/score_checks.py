"""Checks of lessons on the scores behind attention weights, in a model and in the small example."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from attention.head_names import describe_missing_head
from attention.record import MAPS_ONLY, Record
from attention.softmax import change_softmax_rules, spreads
from attention.toy_example import Matrices, ToyExample, ToyRules, compute_example
from i18n import gettext_lazy, translate
from inference.tasks.score_decomposition import ScoreRequest
from lessons.answer_key import CheckContext, CheckedAnswer, Unanswerable, check_head, place
from probing.pronoun_heads import stored_pronoun_head

TOY_EXAMPLES = Path(__file__).resolve().parent.parent / "assets" / "by_hand.json"
STEEP = 0.9  # a row is called steep if its largest weight exceeds this value


def weight_rank(asked: CheckContext, *, layer: int, head: int, word: str, to: str) -> CheckedAnswer:
    """Compute the rank of ``to`` among the tokens by their weight from ``word`` in a head; 1 is the largest.

    A softmax keeps the order of its scores, so this is also the rank of the score.
    """
    view = asked.view()
    check_head(view, layer, head)
    row = view.weights(layer, head)[place(view.queries, word)]
    at = place(view.keys, to)
    rank = 1 + int((row > row[at]).sum())
    return CheckedAnswer(
        float(rank),
        gettext_lazy(
            "For “{word}” in head {layer}-{head}, “{best}” scores highest; “{to}” has rank {rank} of {count}.",
            word=word,
            layer=layer,
            head=head,
            best=view.keys[int(row.argmax())].label,
            to=to,
            rank=rank,
            count=len(row),
        ),
        tolerance=0,
    )


def largest_source(  # noqa: PLR0913  # a head, two words and a side
    asked: CheckContext, *, layer: int, head: int, word: str, to: str, side: str
) -> CheckedAnswer:
    """Find the part of the model that adds most to the score of ``word`` (query) for ``to`` (key) in a head.

    ``side`` is "query" or "key": the vector to which the part contributes. The answer is a name such as "ffn_2". The
    score is decomposed exactly, as by `headlight why`.
    """
    view = asked.view()
    check_head(view, layer, head)
    query, key = view.queries[place(view.queries, word)].pieces[0], view.keys[place(view.keys, to)].pieces[0]
    terms = asked.models.inspect(
        ScoreRequest(
            **asked.reading.request_fields,
            part=view.part or view.trace.part,
            layer=layer,
            head=head,
            query_token=query,
            key_token=key,
            checks=0,
        )
    ).terms
    named, of = (terms.query_sources, terms.of_query) if side == "query" else (terms.key_sources, terms.of_key)
    found = sorted(named, key=of, reverse=True)
    excess = float(terms.excess_terms.sum())
    return CheckedAnswer(
        found[0].replace(" ", "_"),
        gettext_lazy(
            "The score of “{to}” for “{word}” in head {layer}-{head} is {excess:.2f} above the keys' "
            "mean: {first} gives {most:.2f}, {second} {next:.2f}.",
            to=to,
            word=word,
            layer=layer,
            head=head,
            excess=excess,
            first=found[0],
            most=of(found[0]),
            second=found[1],
            next=of(found[1]),
        ),
    )


def pronoun_hits(asked: CheckContext, *, layer: int, head: int) -> CheckedAnswer:
    """Count the held-out sentences in which a head links the pronoun to its noun.

    The counts are not computed but read: they are stored for each embedded model.
    """
    found = stored_pronoun_head(asked.trace().model)
    if found is None:
        raise Unanswerable(gettext_lazy("This model has no stored pronoun scores."))
    if not (layer < len(found.hits) and head < len(found.hits[0])):
        raise Unanswerable(describe_missing_head(layer, head, len(found.hits), len(found.hits[0])))
    hits = found.hits[layer][head]
    return CheckedAnswer(
        float(hits),
        gettext_lazy(
            "Head {layer}-{head} is right in {hits} of {links} held-out sentences, the rule “{rule}” in {by_rule}.",
            layer=layer,
            head=head,
            hits=hits,
            links=found.links,
            rule=translate(found.rule),
            by_rule=round(found.links * found.rule_accuracy / 100),
        ),
        tolerance=2,
    )


def mean_entropy(asked: CheckContext, *, scaled: bool = True) -> CheckedAnswer:
    """Compute the mean entropy of attention rows over all heads and queries, in bits.

    If ``scaled`` is False, scores are not divided by √d_k before the softmax.
    """
    records = [record for record in asked.trace().records() if isinstance(record, Record)]
    if not records:
        raise Unanswerable(MAPS_ONLY)
    if not scaled:
        records = [change_softmax_rules(record, scale=1.0) for record in records]
    rows = np.arange(len(asked.trace().source))
    largest = [record.weights(head).max(axis=-1) for record in records for head in range(record.heads)]
    bits = float(np.mean([spreads(record, rows) for record in records]))
    return CheckedAnswer(
        bits,
        gettext_lazy(
            "A row's mean entropy is {bits:.2f} bits; {share:.0%} of rows give one token over {steep}.",
            bits=bits,
            share=float(np.mean(np.array(largest) > STEEP)),
            steep=STEEP,
        ),
        tolerance=0.1,
    )


def share_to_later(asked: CheckContext) -> CheckedAnswer:
    """Compute the percentage of attention that goes to later tokens, averaged over all heads and queries."""
    view = asked.view()
    maps = np.array(
        [np.triu(view.weights(layer, head), 1) for layer in range(view.layers) for head in range(view.heads)]
    )
    share = float(maps.sum(axis=-1).mean())
    return CheckedAnswer(
        100 * share,
        gettext_lazy(
            "On average, {share:.1%} of a token's attention goes to later tokens; the largest weight is {largest:.0%}.",
            share=share,
            largest=float(maps.max()),
        ),
        tolerance=1,
        is_percentage=True,
    )


def toy_weight(_asked: CheckContext, *, example: str, word: str, to: str) -> CheckedAnswer:
    """Compute the weight from ``word`` to ``to`` in the first head of an example on the page Toy example."""
    given, worked = _toy_example(example, layer=True)
    tokens = given["tokens"]
    row = worked.worked.weights[0, _index(tokens, word)]
    return CheckedAnswer(
        float(row[_index(tokens, to)]),
        gettext_lazy("The softmax for “{word}” is {row}.", word=word, row=" ".join(f"{number:.2f}" for number in row)),
        tolerance=0.01,
        is_share=True,
    )


def toy_word(_asked: CheckContext, *, example: str, word: str, layer: bool = True) -> CheckedAnswer:
    """Find the most probable next word after ``word`` in an example on the page Toy example.

    If ``layer`` is False, residual connections, norms and the feed-forward part are left out.
    """
    given, worked = _toy_example(example, layer)
    words = [given["words"][at] for at in worked.chances.argmax(axis=1)]
    found = words[_index(given["tokens"], word)]
    outputs = " ".join(words)
    with_layer = gettext_lazy("The whole layer gives “{words}”.", words=outputs)
    without = gettext_lazy("Attention alone gives “{words}”.", words=outputs)
    return CheckedAnswer(found, with_layer if layer else without)


def _toy_example(name: str, layer: bool) -> tuple[dict[str, Any], ToyExample]:
    """Return an example's data and its computation; raise Unanswerable if there is no such example."""
    presets = json.loads(TOY_EXAMPLES.read_text(encoding="utf-8"))
    given: dict[str, Any] | None = next((preset for preset in presets if preset["name"] == name), None)
    if given is None:
        raise Unanswerable(gettext_lazy("There is no toy example “{name}”.", name=name))
    matrices = {name: np.array(given[name], float) for name in ("x", "w_q", "w_k", "w_v", "w_o", "w_1", "w_2", "e")}
    return given, compute_example(Matrices(**matrices), ToyRules(given["heads"], layer=layer))


def _index(tokens: list[str], word: str) -> int:
    if word not in tokens:
        raise Unanswerable(gettext_lazy("The text has no “{word}”.", word=word))
    return tokens.index(word)
