"""From a score to its sentences: the links that one head was scored on, hits and misses, each with its look drawn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from attention.links import membership, worths
from inference import Refusal, TraceRequest
from probing import baselines
from probing.corpus import Corpus
from probing.listed import Listed, listed
from probing.rows import Place, candidates
from probing.tally import Counts
from ui.input.models import kind_of
from ui.run.refusals import say, show
from ui.run.shelf import backend
from ui.show.csv_table import csv_table
from ui.show.explore_link import explore_link
from ui.show.leaves import Leaf, turned
from ui.show.link_look import chips_of, on_explore, title, word
from ui.show.lists import together
from ui.show.provenance import model_provenance
from ui.show.saving import save
from ui.state.choice import Choice
from viz.components.strip import strip
from wording import _, sentence, told

COLUMNS = ["model", "revision", "data", "relation", "layer", "head", "direction", "line", "text", "source", "target",
           "half", "hit", "rule hit"]  # fmt: skip
GIVES = sentence(
    "Each strip is one link in its sentence. Outlined: the marked word; dashed: its answer. Shade and numbers: the"
    " weight that the outlined word gives to each word that competes, as the score reads it (from 0, no shade, to 1);"
    " words without a number do not compete."
)
GETS = sentence(
    "Each strip is one link in its sentence. Outlined: the marked word; dashed: its answer. Shade and numbers: the"
    " weight that the outlined word gets from each word that competes, as the score reads it (from 0, no shade, to 1);"
    " words without a number do not compete."
)


@dataclass(frozen=True, eq=False)
class Score:
    """What is opened: one head's answers to one relation's links."""

    corpus: Corpus
    counts: Counts
    relation: str
    place: Place  # direction, layer, head
    rule: int  # the rule without a model, as in probing/baselines.py

    def name(self, base: int) -> str:
        """The head as the reader counts."""
        return f"{self.place[1] + base}-{self.place[2] + base}"


def scored_links(score: Score, kind: type[Any], options: Leaf, choice: Choice) -> None:
    """The list and its controls, which belong to the options ``kind`` of a page."""
    every = listed(score.counts, score.corpus, score.place, score.rule)
    say(summary(score, every, choice.count), role="status")
    kept, shown = turned(every, kind, options)
    _drawn(score, shown, choice, f"{kind.__name__.lower()}_links")
    st.caption(told(GIVES if score.place[0] == 0 else GETS))
    file = f"headlight-{score.name(0)}-links.csv"
    about = _("All {links:,} links of this list; layers and heads counted from 0", links=len(kept))
    save(
        _("Save the links"), csv_table(COLUMNS, _table(score, kept, choice)), file, about, provenance=model_provenance()
    )


def summary(score: Score, every: list[Listed], base: int) -> str:
    """What the list holds, in numbers that add up."""
    hits, by_rule = sum(one.hit for one in every), sum(one.by_rule for one in every)
    sentences = len({one.item.line for one in every})
    given = candidates(score.corpus)
    found = _(
        "Head {head}, {relation}, from {direction}: a hit on {hits:,}"
        " of {links:,} links in {sentences:,} sentences, a miss on {misses:,}.",
        head=score.name(base),
        relation=score.relation,
        direction=score.corpus.directions[score.place[0]],
        hits=hits,
        links=len(every),
        sentences=sentences,
        misses=len(every) - hits,
    )
    if given and score.rule == baselines.GUESS:
        return together(found, _("No rule without a model finds more than a guess between the two candidates."))
    beside = _(
        "The rule “{rule}” finds {by_rule:,} of them, {both:,} of which the head finds too.",
        rule=baselines.name(score.rule, given),
        by_rule=by_rule,
        both=sum(one.by_rule and one.hit for one in every),
    )
    return together(found, beside)


def _drawn(score: Score, shown: list[Listed], choice: Choice, key: str) -> None:
    """A strip for each link, with the way to Explore."""
    if not shown:
        say(_("There is no such link."), role="status")
        return
    two_sided = kind_of(choice) == "encoder-decoder"
    asked = [
        TraceRequest(choice.model, one.item.text, target=one.item.text if two_sided else None,
                     revision=choice.revision or None)
        for one in shown
    ]  # fmt: skip
    try:
        with st.spinner(_("Reading these sentences")):
            traces = backend().traces(asked)
    except Refusal as refusal:
        show(refusal)
        return
    direction, layer, head = score.place
    part = "encoder" if two_sided else None  # of two sides the encoder reads what is scored
    for at, (one, trace) in enumerate(zip(shown, traces, strict=True)):
        units = membership(trace.source, one.item.units)
        worth = worths(trace.weights(layer, head, part), units, one.link, direction)
        strip.mount(chips_of(one, worth), f"{key}_{at}", title=title(one, worth, direction))
        explore_link(on_explore(one, units, score.place, replace(choice, part=part or "")))


def _table(score: Score, kept: list[Listed], choice: Choice) -> list[list[object]]:
    """A line for each link."""
    direction, layer, head = score.place
    about = [choice.model, choice.revision, score.corpus.digest, score.relation, layer, head]
    return [
        [*about, score.corpus.directions[direction], one.item.line, one.item.text,
         *(word(one, unit)[1:-1] for unit in (one.link.source, one.link.target)), one.half, int(one.hit),
         int(one.by_rule)]
        for one in kept
    ]  # fmt: skip
