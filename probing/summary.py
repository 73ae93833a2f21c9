"""What a run found, as lines for a terminal."""

from __future__ import annotations

from probing.corpus import AnnotatedCorpus
from probing.hit_counts import HitCounts
from probing.paired_test import LEVEL
from probing.relation_rows import RelationRow, correct_together, held_out_best, of_relation
from probing.score import ScoringState

FEWEST = 20  # links; of rarer relations the terminal is silent, the files are not


def summary(corpus: AnnotatedCorpus, state: ScoringState, chooser: HitCounts | None, random: HitCounts | None) -> str:
    """The best head of each relation, chosen on one part of the data and reported on another; what was left out."""
    where = "the split file" if chooser else "every other text"
    there = "the file" if chooser else "the rest"
    lines = [
        f"Best head of each relation, chosen on {where}, reported on {there}; accuracy in percent, 95 % interval.",
        f"More, less: a two-sided paired test by sentence, corrected for these relations by Holm's method,"
        f" {100 * LEVEL:.0f} %. Last: how many heads find more than the rule on all texts, corrected for all heads.",
    ]
    found = [held_out_best(state.tally, corpus, relation, chooser) for relation in state.tally.relations()]
    enough = [row for row in found if row is not None and row.n >= FEWEST]
    if not enough:
        lines[1:] = [
            f"No table: no relation has {FEWEST} links in both halves. Give more sentences, or read the rows in a file:"
            " --json or --csv."
            if chooser is None
            else f"No table: no relation has {FEWEST} links in the file and some in the split file. Give more"
            " sentences, or read the rows in a file: --json or --csv."
        ]
    for row in correct_together(enough):
        many = _describe_heads_above(state.tally, corpus, row.relation, chooser)
        beside = f"{row.baseline_name} {row.baseline:.1f}"
        if row.chance is not None:
            beside += f", chance {row.chance:.1f}"
        twin = held_out_best(random, corpus, row.relation) if random else None
        if random is not None and twin is not None:
            beside += f", random weights {twin.accuracy:.1f}"
            many += f", with random weights {_describe_heads_above(random, corpus, row.relation)}"
        lines.append(_line(row, beside, many))
    lines += _left_out(corpus, state)
    return "\n".join(lines)


def _line(row: RelationRow, beside: str, many: str) -> str:
    return (
        f"  {row.relation:12} {row.layer}-{row.head:<3} {row.accuracy:5.1f} [{row.low:.1f}, {row.high:.1f}]"
        f"  n = {row.n:<6,} {row.verdict} than {beside}  ({row.direction}); {many}"
    )


def _describe_heads_above(
    tally: HitCounts, corpus: AnnotatedCorpus, relation: str, chooser: HitCounts | None = None
) -> str:
    """How many heads find more than the rule, in words."""
    found = of_relation(tally, corpus, relation, chooser)
    return f"{sum(row.more for row in found)} of {len(found)} heads"


def _left_out(corpus: AnnotatedCorpus, state: ScoringState) -> list[str]:
    lines = []
    if corpus.left_out:
        lines.append(f"{corpus.left_out:,} rows ask nothing and were left out.")
    if state.skipped:
        lines.append(f"{state.skipped:,} texts could not be read by the model.")
    if state.tally.unread:
        lines.append(f"{state.tally.unread:,} links in texts or words that were not read count nowhere.")
    return lines
