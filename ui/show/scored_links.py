"""From a score to its sentences: the links that one head was scored on, hits and misses, each with its look drawn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from attention.annotations import candidate_weights, membership
from i18n import _, gettext_lazy, translate
from inference import TraceRequest, UserError
from probing import baselines
from probing.corpus import AnnotatedCorpus
from probing.hit_counts import RelationCounts
from probing.link_list import ListedLink, list_links
from probing.relation_rows import Place, candidates
from ui.input.models import kind_of
from ui.run.notices import show_error, show_notice
from ui.run.services import get_backend
from ui.show.csv_table import csv_table
from ui.show.download import download_button
from ui.show.explore_link import explore_link
from ui.show.format_list import join_sentences
from ui.show.link_display import chips_of, explore_view, title, word
from ui.show.pagination import PaginationOptions, paginate
from ui.show.provenance import model_provenance
from ui.state.view_state import ViewState
from viz.components.token_strip import token_strip

COLUMNS = ["model", "revision", "data", "relation", "layer", "head", "direction", "line", "text", "source", "target",
           "half", "hit", "rule hit"]  # fmt: skip
GIVES = gettext_lazy(
    "Each strip is one link in its sentence. Outlined: the marked word; dashed: its answer. Shade and numbers: the"
    " weight that the outlined word gives to each word that competes, as the score reads it (from 0, no shade, to 1);"
    " words without a number do not compete."
)
GETS = gettext_lazy(
    "Each strip is one link in its sentence. Outlined: the marked word; dashed: its answer. Shade and numbers: the"
    " weight that the outlined word gets from each word that competes, as the score reads it (from 0, no shade, to 1);"
    " words without a number do not compete."
)


@dataclass(frozen=True, eq=False)
class LinkScore:
    """What is opened: one head's answers to one relation's links."""

    corpus: AnnotatedCorpus
    counts: RelationCounts
    relation: str
    place: Place  # direction, layer, head
    rule: int  # the rule without a model, as in probing/baselines.py

    def name(self, base: int) -> str:
        """The head as the reader counts."""
        return f"{self.place[1] + base}-{self.place[2] + base}"


def scored_links(score: LinkScore, kind: type[Any], options: PaginationOptions, choice: ViewState) -> None:
    """The list and its controls, which belong to the options ``kind`` of a page."""
    every = list_links(score.counts, score.corpus, score.place, score.rule)
    show_notice(summary(score, every, choice.count), role="status")
    kept, shown = paginate(every, kind, options)
    _draw_links(score, shown, choice, f"{kind.__name__.lower()}_links")
    st.caption(translate(GIVES if score.place[0] == 0 else GETS))
    file = f"headlight-{score.name(0)}-links.csv"
    about = _("All {links:,} links of this list; layers and heads counted from 0", links=len(kept))
    download_button(
        _("Save the links"), csv_table(COLUMNS, _table(score, kept, choice)), file, about, provenance=model_provenance()
    )


def summary(score: LinkScore, every: list[ListedLink], base: int) -> str:
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
        return join_sentences(found, _("No rule without a model finds more than a guess between the two candidates."))
    beside = _(
        "The rule “{rule}” finds {by_rule:,} of them, {both:,} of which the head finds too.",
        rule=baselines.name(score.rule, given),
        by_rule=by_rule,
        both=sum(one.by_rule and one.hit for one in every),
    )
    return join_sentences(found, beside)


def _draw_links(score: LinkScore, shown: list[ListedLink], choice: ViewState, key: str) -> None:
    """A strip for each link, with the way to Explore."""
    if not shown:
        show_notice(_("There is no such link."), role="status")
        return
    two_sided = kind_of(choice) == "encoder-decoder"
    asked = [
        TraceRequest(choice.model, one.item.text, target=one.item.text if two_sided else None,
                     revision=choice.revision or None)
        for one in shown
    ]  # fmt: skip
    try:
        with st.spinner(_("Reading these sentences")):
            traces = get_backend().traces(asked)
    except UserError as refusal:
        show_error(refusal)
        return
    direction, layer, head = score.place
    part = "encoder" if two_sided else None  # of two sides the encoder reads what is scored
    for at, (one, trace) in enumerate(zip(shown, traces, strict=True)):
        units = membership(trace.source, one.item.units)
        worth = candidate_weights(trace.weights(layer, head, part), units, one.link, direction)
        token_strip.mount(chips_of(one, worth), f"{key}_{at}", title=title(one, worth, direction))
        explore_link(explore_view(one, units, score.place, replace(choice, part=part or "")))


def _table(score: LinkScore, kept: list[ListedLink], choice: ViewState) -> list[list[object]]:
    """A line for each link."""
    direction, layer, head = score.place
    about = [choice.model, choice.revision, score.corpus.digest, score.relation, layer, head]
    return [
        [*about, score.corpus.directions[direction], one.item.line, one.item.text,
         *(word(one, unit)[1:-1] for unit in (one.link.source, one.link.target)), one.half, int(one.hit),
         int(one.by_rule)]
        for one in kept
    ]  # fmt: skip
