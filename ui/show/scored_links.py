"""The annotated links on which a head was scored, shown in their sentences as hits and misses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, Protocol, TypeVar

import numpy as np
import streamlit as st

from attention.annotations import candidate_weights, membership
from attention.mask import BoolArray, FloatArray
from i18n import _, gettext_lazy, translate
from inference import TraceRequest, UserError
from probing import statistics
from probing.corpus import ALL, AnnotatedCorpus
from probing.results import ListedLink, Place, candidates, list_links
from probing.score import RelationCounts
from ui.input.controls import bound_widget
from ui.run.notices import show_error, show_notice
from ui.run.page_model import kind_of
from ui.run.services import get_backend
from ui.show.microscope import explore_link
from ui.show.tables import csv_table, data_provenance, download_button
from ui.show.text import join_sentences
from ui.state.params import set_params, widget_key
from ui.state.session import FRESH
from ui.state.view_state import ViewState
from viz.components.token_strip import token_strip
from viz.components.token_strip.token_strip import Mark, TokenChip
from viz.options import option

# universaldependencies.org/u/dep: the role of the dependent for its head.
WORDS: dict[str, str] = {
    ALL: gettext_lazy("all relations but punct and root"),
    "acl": gettext_lazy("clause that describes a noun"),
    "advcl": gettext_lazy("adverbial clause"),
    "advmod": gettext_lazy("adverb"),
    "amod": gettext_lazy("adjective of a noun"),
    "appos": gettext_lazy("apposition"),
    "aux": gettext_lazy("auxiliary verb"),
    "aux:pass": gettext_lazy("auxiliary of a passive"),
    "case": gettext_lazy("preposition or case mark"),
    "cc": gettext_lazy("conjunction such as “and”"),
    "ccomp": gettext_lazy("clause as an object"),
    "clf": gettext_lazy("classifier of a noun"),
    "compound": gettext_lazy("first part of a compound"),
    "conj": gettext_lazy("second of two joined by “and”"),
    "cop": gettext_lazy("“to be” before a noun or adjective"),
    "coref": gettext_lazy("what a pronoun means"),
    "csubj": gettext_lazy("clause as a subject"),
    "dep": gettext_lazy("some other dependence"),
    "det": gettext_lazy("determiner such as “the”"),
    "discourse": gettext_lazy("interjection"),
    "dislocated": gettext_lazy("fronted or postponed element"),
    "expl": gettext_lazy("“there” or “it” without meaning"),
    "fixed": gettext_lazy("part of a fixed expression"),
    "flat": gettext_lazy("later part of a name"),
    "goeswith": gettext_lazy("part of a split word"),
    "iobj": gettext_lazy("indirect object"),
    "link": gettext_lazy("source and target"),
    "list": gettext_lazy("item of a list"),
    "mark": gettext_lazy("“that”, “because” or “to” before clauses"),
    "nmod": gettext_lazy("noun that describes a noun"),
    "nmod:poss": gettext_lazy("possessor"),
    "nsubj": gettext_lazy("subject"),
    "nsubj:pass": gettext_lazy("subject of a passive"),
    "nummod": gettext_lazy("numeral"),
    "obj": gettext_lazy("object"),
    "obl": gettext_lazy("noun that describes a verb"),
    "orphan": gettext_lazy("left over where a verb is missing"),
    "parataxis": gettext_lazy("sentence beside a sentence"),
    "punct": gettext_lazy("punctuation"),
    "reparandum": gettext_lazy("slip that is corrected"),
    "vocative": gettext_lazy("who is spoken to"),
    "xcomp": gettext_lazy("verb or adjective sharing the subject"),
}


def describe_relation(relation: str) -> str:
    """Return the name of a relation, with its meaning if it is known.

    >>> describe_relation("det"), describe_relation("my own")
    ('det: determiner such as “the”', 'my own')
    """
    return _("{name}: {text}", name=relation, text=WORDS[relation]) if relation in WORDS else relation


PER_LEAF = 6  # Number of links on a page of the list; each needs a trace.
TITLE = gettext_lazy("The sentences that the score counts")
FILTERS: dict[str, str] = {"all": gettext_lazy("All"), "hits": gettext_lazy("Hit"), "misses": gettext_lazy("Miss")}
SHOWN = gettext_lazy("Links found, missed, or both.")


class ScoredEntry(Protocol):
    """An entry of a list of scored links or predictions, which is a hit or a miss."""

    @property
    def hit(self) -> bool:
        """Return True for a hit: a link that the head finds, or a prediction that is right."""
        ...


Entry = TypeVar("Entry", bound=ScoredEntry)


@dataclass(frozen=True)
class PaginationOptions:
    """The options of a list in parts: the outcome to show (all, hits or misses), and the part's number."""

    outcome: str = option("all", choices=FILTERS)
    leaf: int = 1  # Page of the list, from 1.


def paginate(every: Sequence[Entry], kind: type[Any], options: PaginationOptions, about: str = SHOWN) -> list[Entry]:
    """Draw the widgets of a list that is shown in parts, and return the entries of the part to draw.

    ``kind`` is the class of the page's options, and ``about`` the help text, which defines a hit.
    """
    left, right = st.columns([2, 1])
    name = widget_key(kind, "outcome")
    st.session_state[name] = options.outcome
    left.segmented_control(
        _("Shown"), list(FILTERS), format_func=lambda outcome: translate(FILTERS[outcome]), required=True, key=name,
        help=translate(about), on_change=lambda: set_params(kind, outcome=st.session_state[name], leaf=1),
    )  # fmt: skip
    kept = filter_outcome(every, options.outcome)
    leaves = max(1, ceil(len(kept) / PER_LEAF))
    leaf = max(1, min(options.leaf, leaves))
    if leaves > 1:
        many = _("{all:,} in all, {at_a_time} at a time", all=len(kept), at_a_time=PER_LEAF)
        label = _("Part, of {leaves:,}", leaves=leaves)
        bound_widget(kind, "leaf", right.number_input, label, 1, leaves, shown=leaf, help=many)
    return kept[(leaf - 1) * PER_LEAF : leaf * PER_LEAF]


def filter_outcome(every: Sequence[Entry], outcome: str) -> list[Entry]:
    """Return all entries, only the hits, or only the misses; ``outcome`` is "all", "hits" or "misses"."""
    return [one for one in every if outcome == "all" or one.hit == (outcome == "hits")]


def title(one: ListedLink, worth: FloatArray, direction: int) -> str:
    """Return a line about a link: hit or miss, the weights of the right word and of another, and the rule.

    ``worth`` (word,) are the head's weights on the candidates, NaN for other words. The line has the weight of the
    wrong candidate, or the largest weight if there are more than two candidates. It ends with the result of the
    baseline rule. ``direction`` is 0 if the source word is the query, and 1 if it is the key.

    >>> from attention.annotations import AnnotatedText, Link
    >>> link = ListedLink(AnnotatedText("a b c", ((0, 1), (2, 3), (4, 5)), (), 3), Link("r", 0, 1), 0, False, True)
    >>> title(link, np.array([np.nan, 0.25, 0.5]), 0)
    'Miss · line 3 · “a” gives “b” 0.25, “c” 0.50 · the rule finds it'
    >>> title(link, np.array([0.1, 0.5, 0.25]), 1)
    'Miss · line 3 · “a” gets 0.50 from “b”, the most · the rule finds it'
    """
    most = int(np.nanargmax(worth))
    others = np.flatnonzero(np.isfinite(worth) & (np.arange(len(worth)) != one.link.target))
    if len(others) == 1:
        most = int(others[0])
    source, target, other = (word(one, unit) for unit in (one.link.source, one.link.target, most))
    own, best = weight(worth, one.link.target), weight(worth, most)
    values = {"source": source, "target": target, "own": own, "other": other, "best": best}
    if most == one.link.target:
        gives = _("{source} gives {target} {own}, the most", **values)
        gets = _("{source} gets {own} from {target}, the most", **values)
    else:
        gives = _("{source} gives {target} {own}, {other} {best}", **values)
        gets = _("{source} gets {own} from {target}, {best} from {other}", **values)
    hit = _("Hit") if one.hit else _("Miss")
    rule = _("the rule finds it") if one.by_rule else _("the rule misses it")
    return " · ".join((hit, _("line {number}", number=one.item.line), gives if direction == 0 else gets, rule))


def word(one: ListedLink, unit: int) -> str:
    """Return the word or span with the index ``unit`` in a link's sentence, in quotation marks."""
    start, end = one.item.units[unit]
    return f"“{one.item.text[start:end]}”"


def weight(worth: FloatArray, unit: int) -> str:
    """Return the weight of word ``unit`` with 2 decimals, or with 4 if all of ``worth`` are below 0.1.

    >>> weight(np.array([0.5, 0.25]), 1), weight(np.array([0.0123, 0.0119]), 1)
    ('0.25', '0.0119')
    """
    return f"{worth[unit]:.{2 if np.nanmax(worth) >= 0.1 else 4}f}"


def chips_of(one: ListedLink, worth: FloatArray) -> list[TokenChip]:
    """Return a link's sentence as chips for a token strip, with the weights of the candidates.

    ``worth`` (word,) are these weights, NaN for other words. The words between candidates are chips without a weight.
    """
    chips, at = [], 0
    for unit in sorted(range(len(one.item.units)), key=lambda unit: one.item.units[unit]):
        start, end = one.item.units[unit]
        chips += [TokenChip(piece) for piece in one.item.text[at:start].split()]
        known = bool(np.isfinite(worth[unit]))
        mark: Mark = "chosen" if unit == one.link.source else "target" if unit == one.link.target else ""
        chips.append(
            TokenChip(
                one.item.text[start:end],
                shade=float(worth[unit]) if known else None,
                mark=mark,
                title=f"{worth[unit]:.4f}" if known else "",
                label=weight(worth, unit) if known else "",
            )
        )
        at = end
    return chips + [TokenChip(piece) for piece in one.item.text[at:].split()]


def explore_view(one: ListedLink, units: BoolArray, place: Place, choice: ViewState) -> ViewState:
    """Return the view state that opens a link's sentence on Explore, with the link's two words selected.

    ``units`` (word, token) is True for the tokens of a word. ``place`` is the (direction, layer, head) of the shown
    head.
    """
    ends = [int(np.flatnonzero(units[unit])[0]) for unit in (one.link.source, one.link.target)]
    focus, to = ends if place[0] == 0 else reversed(ends)
    view = {"text": one.item.text, "pair": "", "target": "", "layer": place[1], "head": place[2]}
    return replace(choice, **{**FRESH, **view, "focus": focus, "to": to})


COLUMNS = ["model", "revision", "data", "relation", "layer", "head", "direction", "line", "text", "source", "target",
           "source start", "target start", "other candidates", "half", "hit", "rule hit"]  # fmt: skip
LEGEND = gettext_lazy(
    "Rows: links. Outlined: the marked word; dashed: its answer. Shade: attention to or from each candidate, 0 to 1."
)


@dataclass(frozen=True, eq=False)
class LinkScore:
    """The score of a head on the links of a relation."""

    corpus: AnnotatedCorpus
    counts: RelationCounts
    relation: str
    place: Place  # (direction, layer, head)
    rule: int  # The baseline rule, as in probing/statistics.py.
    is_all_held_out: bool = False  # True if heads were chosen on another corpus.

    def name(self) -> str:
        """Return the name of the head, such as "3-1"."""
        return f"{self.place[1]}-{self.place[2]}"


def scored_links(score: LinkScore, kind: type[Any], options: PaginationOptions, choice: ViewState) -> None:
    """Draw the list of the links on which a head's score is based, with the widgets that filter it.

    ``kind`` is the class of the page's options.
    """
    every = list_links(score.counts, score.corpus, score.place, score.rule)
    show_notice(summary(score, every), role="status")
    _draw_links(score, paginate(every, kind, options), choice, widget_key(kind, "links"))
    st.caption(translate(LEGEND))
    file = f"headlight-{score.name()}-links.csv"
    about = _("All digits")
    rows = csv_table(COLUMNS, links_table(score, every, choice))
    download_button(_("Save the links"), rows, file, about, provenance=corpus_provenance(score.corpus))


def summary(score: LinkScore, every: list[ListedLink]) -> str:
    """Return sentences with the numbers of links that the head finds, misses, and that the rule finds.

    ``every`` are all links on which the head was scored. The rule is the baseline of the relation.
    """
    hits, by_rule = sum(one.hit for one in every), sum(one.by_rule for one in every)
    sentences = len({one.item.text for one in every})
    given = candidates(score.corpus)
    found = _(
        "Head {head}, {relation}, from {direction}; hits: {hits:,}, misses: {misses:,} in {links:,} "
        "links of {sentences:,} sentences.",
        head=score.name(),
        relation=score.relation,
        direction=score.corpus.directions[score.place[0]],
        hits=hits,
        links=len(every),
        sentences=sentences,
        misses=len(every) - hits,
    )
    if given and score.rule == statistics.GUESS:
        return join_sentences(found, _("No rule without a model beats a guess between the two candidates."))
    beside = _(
        "The rule “{rule}” finds {by_rule:,} of these links; the head finds {both:,} of those too.",
        rule=statistics.name(score.rule, given),
        by_rule=by_rule,
        both=sum(one.by_rule and one.hit for one in every),
    )
    return join_sentences(found, beside)


def _draw_links(score: LinkScore, shown: list[ListedLink], choice: ViewState, key: str) -> None:
    """Draw a token strip and a link to Explore for each link."""
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
        with st.spinner(_("Running the model")):
            traces = get_backend().traces(asked)
    except UserError as refusal:
        show_error(refusal)
        return
    direction, layer, head = score.place
    part = "encoder" if two_sided else None  # The scored text is the encoder's input.
    for at, (one, trace) in enumerate(zip(shown, traces, strict=True)):
        units = membership(trace.source, one.item.units)
        worth = candidate_weights(trace.weights(layer, head, part), units, one.link, direction)
        token_strip.mount(chips_of(one, worth), f"{key}_{at}", title=title(one, worth, direction))
        explore_link(explore_view(one, units, score.place, replace(choice, part=part or "")))


def corpus_provenance(corpus: AnnotatedCorpus) -> dict[str, str]:
    """Return the provenance of scores on annotated texts: the model, and the texts with their hash."""
    texts, links = len(corpus.items), corpus.links
    return data_provenance(f"{texts:,} annotated texts, {links:,} links ({corpus.format}, SHA-256 {corpus.digest})")


def starts(one: ListedLink) -> list[int]:
    """Return the positions of a link's source and target in the text, in characters from 0."""
    return [one.item.units[unit][0] for unit in (one.link.source, one.link.target)]


def candidates_of(one: ListedLink) -> str:
    """Return the other candidates of a link, separated by " | "; "" if every word competes."""
    return " | ".join(word(one, unit)[1:-1] for unit in one.link.others or ())


def links_table(score: LinkScore, every: list[ListedLink], choice: ViewState) -> list[list[object]]:
    """Return the rows of the file of scored links, a row for each link, with the columns COLUMNS."""
    direction, layer, head = score.place
    about = [choice.model, choice.revision, score.corpus.digest, score.relation, layer, head]
    return [
        [*about, score.corpus.directions[direction], one.item.line, one.item.text,
         *(word(one, unit)[1:-1] for unit in (one.link.source, one.link.target)), *starts(one), candidates_of(one),
         "held out" if one.half or score.is_all_held_out else "selection", int(one.hit), int(one.by_rule)]
        for one in every
    ]  # fmt: skip
