"""Sentences of the view Break the head: the claim, the result on a sentence, and the trials."""

from __future__ import annotations

from collections.abc import Sequence

from attention.counterexamples import LinkTest, Outcome
from attention.head_search import LEAST
from i18n import _, gettext_lazy, translate
from probing.pronoun_heads import PronounHeadScore
from ui.pages.break_head.trials import Trial
from ui.show.text import join_sentences

OUTCOMES: dict[Outcome, str] = {
    "correct": gettext_lazy("correct"),
    "fooled": gettext_lazy("fooled"),
    "undecided": gettext_lazy("undecided"),
}


def describe_claim(score: PronounHeadScore | None, layer: int, head: int) -> str:
    """Return the claim about a head, with its score on held-out sentences if the model's heads are scored."""
    claim = _("Claim: head {layer}-{head} links a pronoun to its noun.", layer=layer, head=head)
    if score is None:
        return claim
    return join_sentences(
        claim,
        _(
            "It is correct in {hits} of {links} held-out sentences; the rule “{rule}” in {by_rule}, chance in"
            " {chance:g}.",
            hits=score.hits[layer][head],
            links=score.links,
            rule=translate(score.rule),
            by_rule=round(score.links * score.rule_accuracy / 100),
            chance=score.links / 2,
        ),
    )


def describe_test(test: LinkTest, layer: int, head: int, names: tuple[str, str, str]) -> str:
    """Return the result on the visitor's sentence; ``names`` are the pronoun, the right noun and the other noun."""
    source, right, other = names
    values = {
        "layer": layer,
        "head": head,
        "source": source,
        "right": right,
        "other": other,
        "right_weight": f"{test.right:.0%}",
        "other_weight": f"{test.other:.0%}",
    }
    if test.outcome == "fooled":
        return _(
            "Head {layer}-{head} is fooled: “{source}” gives “{other}” {other_weight}, and “{right}” only"
            " {right_weight}.",
            **values,
        )
    if test.outcome == "correct":
        return _(
            "Head {layer}-{head} is correct: “{source}” gives “{right}” {right_weight}, and “{other}” only"
            " {other_weight}.",
            **values,
        )
    return _(
        "Head {layer}-{head} does not decide: “{right}” {right_weight}, “{other}” {other_weight}. A difference counts"
        " above {least}.",
        least=f"{LEAST:.0%}",
        **values,
    )


def describe_trials(test: LinkTest, trials: Sequence[Trial], names: tuple[str, str, str]) -> str:
    """Return what the swapped sentence and the rewordings show."""
    parts = []
    swapped = next((one.test for one in trials if one.kind == "swapped"), None)
    if swapped is not None and "undecided" not in (test.outcome, swapped.outcome):
        chosen = names[1] if swapped.outcome == "correct" else names[2]
        parts.append(
            _("With the nouns swapped, the head still prefers “{word}”: here it follows the word.", word=chosen)
            if swapped.outcome == test.outcome
            else _("With the nouns swapped, the head prefers “{word}”: here it follows the place.", word=chosen)
        )
    tests = [one.test for one in trials if one.kind == "reworded" and one.test is not None]
    if tests:
        parts.append(
            _(
                "In {same} of {count} rewordings, the result is the same.",
                same=sum(one.outcome == test.outcome for one in tests),
                count=len(tests),
            )
        )
    return join_sentences(*parts)
