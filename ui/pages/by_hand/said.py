"""What is said about the small example's numbers, in sentences made from them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attention.by_hand import Numbers, Worked
from attention.by_hand_layer import Whole
from ui.pages.by_hand.example import Example, strongest


def largest(tokens: Sequence[str], worked: Worked, head: int, causal: bool) -> str:
    """One sentence about a head's largest weight, made from the numbers."""
    row, column = strongest(worked, head, causal)
    seen = row + 1 if causal else len(tokens)
    who = f"Head {head + 1}: " if worked.heads > 1 else ""
    target = "itself" if row == column else f"“{tokens[column]}”"
    free = " of a token that has a choice" if causal else ""
    return (
        f"{who}“{tokens[row]}” gives {target} {worked.weights[head, row, column]:.2f} of its attention, the largest "
        f"weight{free}; spread evenly, each of the {seen} tokens that it sees would have {1 / seen:.2f}."
    )


def printed_against(printed: Sequence[Sequence[float]], tokens: Sequence[str], worked: Worked) -> str:
    """What a tutorial prints as the weights of its first tokens, and what the softmax of its scores is."""
    given = np.array(printed)
    true, scores = worked.weights[0, : len(given)], worked.scaled[0, : len(given)]

    def rows(table: Numbers) -> str:
        return " and ".join(
            f"{' '.join(f'{weight:.2f}' for weight in row)} for “{token}”"
            for row, token in zip(table, tokens, strict=False)
        )

    said = f"A well-known tutorial prints the weights {rows(given)}; the softmax of its scores is {rows(true)}"
    apart = f", up to {np.abs(given - true).max():.2f} apart."
    turned = [not np.array_equal(row.argsort(), order.argsort()) for row, order in zip(given, scores, strict=True)]
    never = " A softmax keeps the order of the scores, whatever the scale; the printed weights do not."
    return said + apart + (never if all(turned) else "")


def next_words(example: Example, found: Whole, said: Sequence[str]) -> str:
    """One sentence about the next word: after the last token, or where a tutorial reads off words, after every one."""
    best = found.chances.argmax(axis=1)
    if not said:
        at = int(best[-1])
        return (
            f"After “{example.tokens[-1]}” the likeliest next word is “{example.words[at]}” "
            f"({found.chances[-1, at]:.2f}, of {len(example.words)} words)."
        )
    true = ", ".join(
        f"“{token}” → “{example.words[at]}” ({chances[at]:.2f})"
        for token, at, chances in zip(example.tokens, best, found.chances, strict=True)
    )
    same = [example.words[at] for at in best] == list(said)
    why = (
        " It is the residual sum that does it, which carries each token's own column past attention: switch the rest "
        "of the layer off, and see."
        if same and found.layer is not None
        else ""
    )
    agree = "So it is here" if same else "It is not so here"
    return f"A well-known tutorial reads “{' '.join(said)}” off this example. {agree}: {true}.{why}"
