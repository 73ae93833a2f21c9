"""Sentences about the numbers of the small example."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attention.toy_example import Numbers, ToyAttention, ToyExample
from i18n import _
from ui.pages.by_hand.example import Example, strongest_link
from ui.show.text import format_and_list, format_comma_list, join_sentences


def describe_largest(tokens: Sequence[str], worked: ToyAttention, head: int, causal: bool) -> str:
    """Describe a head's largest weight, compared with uniform attention."""
    row, column = strongest_link(worked, head, causal)
    seen = row + 1 if causal else len(tokens)
    told = _(
        "“{token}” gives {target} {weight:.2f} of its attention, the largest weight (uniform over {seen}: {even:.2f}).",
        token=tokens[row],
        target=_("itself") if row == column else f"“{tokens[column]}”",
        weight=worked.weights[head, row, column],
        seen=seen,
        even=1 / seen,
    )
    return _("Head {head}: {told}", head=head + 1, told=told) if worked.heads > 1 else told


def printed_against(printed: Sequence[Sequence[float]], tokens: Sequence[str], worked: ToyAttention) -> str:
    """Describe how the weights that a tutorial prints differ from the softmax of its scores."""
    given = np.array(printed)
    true, scores = worked.weights[0, : len(given)], worked.scaled[0, : len(given)]

    def rows(table: Numbers) -> str:
        return format_and_list(
            [
                _("{weights} for “{token}”", weights=" ".join(f"{weight:.2f}" for weight in row), token=token)
                for row, token in zip(table, tokens, strict=False)
            ]
        )

    said = _(
        "A tutorial prints the weights {given}; the softmax of its scores is {true}, up to {apart:.2f} apart.",
        given=rows(given),
        true=rows(true),
        apart=np.abs(given - true).max(),
    )
    turned = [not np.array_equal(row.argsort(), order.argsort()) for row, order in zip(given, scores, strict=True)]
    never = _("A softmax keeps the order of the scores; the printed weights do not.")
    return join_sentences(said, never if all(turned) else "")


def next_words(example: Example, found: ToyExample, said: Sequence[str]) -> str:
    """Describe the likeliest next word after the last token, or a tutorial's words if ``said`` is given."""
    best = found.chances.argmax(axis=1)
    if not said:
        at = int(best[-1])
        return _(
            "After “{token}” the model predicts “{word}” ({chance:.2f}, of {words} words).",
            token=example.tokens[-1],
            word=example.words[at],
            chance=found.chances[-1, at],
            words=len(example.words),
        )
    true = format_comma_list(
        [
            f"“{token}” → “{example.words[at]}” ({chances[at]:.2f})"
            for token, at, chances in zip(example.tokens, best, found.chances, strict=True)
        ]
    )
    same = [example.words[at] for at in best] == list(said)
    why = _("The residual sum does it: switch off “Rest of the layer”.") if same and found.layer is not None else ""
    return join_sentences(
        _("A tutorial reads “{said}” off this example.", said=" ".join(said)),
        _("So it is here: {words}.", words=true) if same else _("It is not so here: {words}.", words=true),
        why,
    )
