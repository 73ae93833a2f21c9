"""What a run found, as lines for a terminal."""

from __future__ import annotations

from probing.corpus import Corpus
from probing.rows import chosen
from probing.score import State
from probing.tally import Tally

FEWEST = 20  # links; of rarer relations the terminal is silent, the files are not


def summary(corpus: Corpus, state: State, chooser: Tally | None, random: Tally | None) -> str:
    """The best head of each relation, chosen on one part of the data and reported on another; what was left out."""
    where = "the split file" if chooser else "every other text"
    there = "the file" if chooser else "the rest"
    lines = [f"Best head of each relation, chosen on {where}, reported on {there}; accuracy in percent, 95 % interval."]
    for relation in state.tally.relations():
        row = chosen(state.tally, corpus, relation, chooser)
        if row is None or row.n < FEWEST:
            continue
        beside = f"{row.baseline_name} {row.baseline:.1f}"
        twin = chosen(random, corpus, relation) if random else None
        if twin is not None:
            beside += f", random weights {twin.accuracy:.1f}"
        verdict = "above" if row.low > row.baseline else "below" if row.high < row.baseline else "not clearly above"
        lines.append(
            f"  {relation:12} {row.layer}-{row.head:<3} {row.accuracy:5.1f} [{row.low:.1f}, {row.high:.1f}]"
            f"  n = {row.n:<6,} {verdict} {beside}  ({row.direction})"
        )
    lines += _left_out(corpus, state)
    return "\n".join(lines)


def _left_out(corpus: Corpus, state: State) -> list[str]:
    lines = []
    if corpus.left_out:
        lines.append(f"{corpus.left_out:,} rows ask nothing and were left out.")
    if state.skipped:
        lines.append(f"{state.skipped:,} texts could not be read by the model. {state.reason}")
    if state.tally.unread:
        lines.append(f"{state.tally.unread:,} links in texts or words that were not read count nowhere.")
    return lines
