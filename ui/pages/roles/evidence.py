"""Options of the view Roles, and the evidence for roles: attention to certain keys, and annotated sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import streamlit as st

from attention.mask import FloatArray
from attention.roles import ROLES, RoleEvidence, observe
from attention.trace import Trace, attention_everywhere
from attention.vectors import Divergence, compare
from i18n import _, gettext_lazy
from inference import TraceRequest, UserError
from inference.text.encoding import explain_unreadable
from probing.formats import READY, load_ready_set
from probing.pronoun_heads import PRONOUNS, best_pronoun_head
from probing.results import Head, RelationRow, name_heads
from probing.score import HitCounts, ScoringRun
from ui.run.downloading import offer_or_show
from ui.run.notices import show_notice
from ui.run.progress import run_scoring, stoppable_steps
from ui.run.services import get_backend
from ui.show.pronoun_head import describe_pronoun_head
from ui.show.scored_links import PaginationOptions
from ui.show.text import format_semicolon_list, join_sentences
from ui.state.view_state import ViewState
from viz.options import option

SOURCES: dict[str, str] = {"text": gettext_lazy("The text above"), "sentences": gettext_lazy("100 sentences")}
ROLE_NAMES: dict[str, str] = {
    "previous": gettext_lazy("the token before"),
    "next": gettext_lazy("the token after"),
    "same": gettext_lazy("itself"),
    "first": gettext_lazy("first token"),
    "separator": gettext_lazy("separators"),
    "repeat": gettext_lazy("repeats"),
    "broad": gettext_lazy("broad"),
}
FILTERS: dict[str, str] = {
    "": gettext_lazy("All"),
    "relation": gettext_lazy("With a relation"),
    "none": gettext_lazy("Without a role"),
    **ROLE_NAMES,
}


@dataclass(frozen=True)
class RolesOptions(PaginationOptions):
    """Options of the Roles page, in addition to the shared view state."""

    source: str = option(
        "text",
        label=gettext_lazy("Texts"),
        help=gettext_lazy("The text above, or 100 annotated sentences for steadier shares."),
        choices=SOURCES,
    )
    # Percent of a head's attention that a role needs.
    share: int = option(
        50,
        label=gettext_lazy("Minimum share"),
        help=gettext_lazy("Least share of a head's attention for a role."),
    )
    # Score the heads on annotated sentences too.
    relations: bool = option(
        True,
        label=gettext_lazy("Relations"),
        help=gettext_lazy("Scores heads on annotated sentences."),
    )
    # The filter of the table.
    only: str = option(
        "",
        label=gettext_lazy("Show heads"),
        help=gettext_lazy("Rows shown here; the file has all rows."),
        choices=FILTERS,
    )
    groups: int = option(
        6,
        label=gettext_lazy("Groups"),
        help=gettext_lazy("Clusters of similar heads (Ward's method)."),
    )
    # The listed relation or role; "" for the head's own.
    relation: str = option(
        "",
        label=gettext_lazy("Score"),
        help=gettext_lazy("Shown by the sentences below."),
    )


KEPT = "roles_evidence"
BATCH = 20  # The number of texts in a batch.


@dataclass(frozen=True, eq=False)
class TextEvidence:
    """The mean share of each head's attention that goes to the keys of each role, in a text.

    ``strengths`` maps a role, such as "previous" (token), to shares (layer, head) from 0 to 1. A share is a mean over
    the query tokens, and NaN if no query has a key of this role.
    """

    text: str
    strengths: Mapping[str, FloatArray]


@dataclass(frozen=True, eq=False)
class HeadEvidence:
    """The evidence for the roles of all heads, from a text or from the app's sentences.

    ``evidence`` are the means over all texts, ``each`` has the shares in each text, and ``likeness`` the divergences
    between all pairs of heads.
    """

    evidence: RoleEvidence
    likeness: Divergence
    each: tuple[TextEvidence, ...]
    trace: Trace | None = None  # None if the evidence is from several texts.
    part: str | None = None  # The stack; None for the first.
    requests: tuple[TraceRequest, ...] = ()  # The requests that give the traces; () for an opened file.

    @property
    def shape(self) -> tuple[int, int]:
        """Return the numbers of layers and heads."""
        layers, heads = self.evidence.strength("broad").shape
        return layers, heads


def from_trace(trace: Trace, choice: ViewState, request: TraceRequest | None = None) -> HeadEvidence:
    """Return the evidence for roles from a single text.

    ``request`` is the request that gives the trace; None for an opened file. Cross-attention has no roles, so the
    trace's first stack is used instead. Raise UserError if a layer has no attention, because heads are compared by
    layer.
    """
    part = part_of(trace, choice)
    if (lacking := attention_everywhere(len(trace.records(part)), trace.attending(part))) is not None:
        raise UserError(lacking, way_out="embedded")
    evidence = observe(trace, part)
    strengths = {role: evidence.strength(role).astype(np.float32) for role in ROLES}
    return HeadEvidence(evidence, compare(trace, part), (TextEvidence(trace.text, strengths),), trace, part,
                        () if request is None else (request,))  # fmt: skip


def part_of(trace: Trace, choice: ViewState) -> str | None:
    """Return the selected stack ("encoder" or "decoder"), or None for the first stack of the trace.

    Cross-attention has no roles, so the first stack is used instead.
    """
    return choice.part if choice.part in trace.parts and choice.part != "cross" else None


def from_sentences(choice: ViewState) -> HeadEvidence | None:
    """Return the evidence for roles from the app's sentences, which the model reads in batches.

    Show a notice and return None if most sentences are unreadable, or if the model cannot be loaded. Return None if the
    reader stops before the first batch.
    """
    texts = [item.text for name in ("grammar", "pronouns") for item in load_ready_set(name).items]
    key = (choice.model, choice.revision, choice.part)
    kept: dict[tuple[str, str, str], dict[int, tuple[list[HeadEvidence], list[str]]]] = st.session_state.setdefault(
        KEPT, {}
    )
    # Results are stored by batch number, so concurrent reruns of the page do not count a batch twice.
    done = kept.setdefault(key, {})
    steps = range(0, len(texts), BATCH)
    try:
        for at in stoppable_steps(f"roles {key}", len(steps), _("Running the model")):
            if at not in done:
                some = texts[steps[at] : steps[at] + BATCH]
                done[at] = _observe_known(some, choice)
    except UserError as refusal:
        offer_or_show(refusal, choice)
        return None
    found = [known for step, _reasons in done.values() for known in step]
    left_out = [reason for _step, reasons in done.values() for reason in reasons]
    if left_out:
        many, total = len(left_out), len(left_out) + sum(len(known.each) for known in found)
        most = 2 * many > total
        said = _("{many:,} of {texts:,} texts are left out. {reason}", many=many, texts=total, reason=left_out[-1])
        show_notice(said, role="alert" if most else "status")
        if most:
            return None
    return _merge(found) if found else None


def _observe_known(texts: Sequence[str], choice: ViewState) -> tuple[list[HeadEvidence], list[str]]:
    """Return the merged evidence of the readable texts, in a list, and the reasons for the others.

    The first list is empty if no text is readable.
    """
    read = traces(texts, choice)
    reasons = [explain_unreadable(trace.source, trace.model.name) for trace in read]
    found = [
        from_trace(trace, choice, _request(trace.text, choice))
        for trace, reason in zip(read, reasons, strict=True)
        if not reason
    ]
    return [_merge(found)] if found else [], [reason for reason in reasons if reason]


def traces(texts: Sequence[str], choice: ViewState) -> list[Trace]:
    """Return traces of ``texts`` by the chosen model; raise UserError if the model cannot read them."""
    return get_backend().traces([_request(text, choice) for text in texts])


def _request(text: str, choice: ViewState) -> TraceRequest:
    return TraceRequest(choice.model, text, revision=choice.revision or None)


def _merge(found: list[HeadEvidence]) -> HeadEvidence:
    evidence, likeness = found[0].evidence, found[0].likeness
    for other in found[1:]:
        evidence, likeness = evidence + other.evidence, likeness + other.likeness
    each = tuple(seen for some in found for seen in some.each)
    requests = tuple(request for some in found for request in some.requests)
    return HeadEvidence(evidence, likeness, each, part=found[0].part, requests=requests)


@dataclass(frozen=True)
class Relations:
    """The relation of words that each head finds best, tested on held-out sentences.

    ``row_of_head`` has the results with the model's weights, and ``untrained`` those with random weights.
    """

    row_of_head: Mapping[Head, RelationRow] = field(default_factory=dict)
    untrained: Mapping[Head, RelationRow] = field(default_factory=dict)
    tallies: Mapping[str, HitCounts] = field(default_factory=dict)  # Counts by the name of the sentence set.

    def name(self, layer: int, head: int) -> str:
        """Return the relation that a head finds significantly more often than the baseline rule, or ""."""
        row = self.row_of_head.get((layer, head))
        return row.relation if row is not None and row.more else ""


def head_relations(choice: ViewState) -> Relations:
    """Score every head on the annotated sentences, with the model's weights and with random weights.

    If it fails, show a notice and return empty results.
    """
    try:
        found = {control: _tallies(choice, control) for control in (False, True)}
    except UserError as refusal:
        show_notice(
            _("Relations are not available. {why}", why=refusal.message),
            role="status",
        )
        return Relations()
    told, untrained = (
        name_heads([(tallies[name], load_ready_set(name)) for name in READY]) for tallies in found.values()
    )
    return Relations(told, untrained, found[False])


def _tallies(choice: ViewState, control: bool) -> dict[str, HitCounts]:
    doing = _("Scoring random weights") if control else _("Scoring every head")
    runs = {name: ScoringRun(load_ready_set(name), choice.model, choice.revision or None, control) for name in READY}
    return {name: run_scoring(run, doing).tally for name, run in runs.items()}


def describe_relations(relations: Relations, heads: int) -> str:
    """Return sentences on the number of heads with a significant relation, and on random weights."""
    clear = sorted((row for row in relations.row_of_head.values() if row.more), key=lambda row: row.p)
    names = [
        _(
            "{head} {relation}, {found:.0f}% against {rule:.0f}%",
            head=f"{row.layer}-{row.head}",
            relation=row.relation,
            found=row.accuracy,
            rule=row.baseline,
        )
        for row in clear
    ]
    values: dict[str, Any] = {
        "clear": len(clear),
        "heads": heads,
        "tests": len(relations.row_of_head),
        "untrained": sum(row.more for row in relations.untrained.values()),
    }
    found = (
        _(
            "{clear} of {heads} heads find a relation significantly more often than the baseline: {names}.",
            names=format_semicolon_list(names),
            **values,
        )
        if names
        else _("No head finds a relation significantly more often than the baseline.")
    )
    how = _(
        "Relations are chosen on half of 100 sentences and tested on the rest (two-sided, corrected for the "
        "{tests} heads above the rule in the first half). With random weights: {untrained}.",
        **values,
    )
    return join_sentences(found, how, _describe_power(relations), _pronoun_head(relations))


def _describe_power(relations: Relations) -> str:
    """Return a sentence on the largest number of tested links, which is small; "" without tests."""
    links = [row.n for row in relations.row_of_head.values()]
    return _("Tests of at most {most} links miss weak relations.", most=max(links)) if links else ""


def _pronoun_head(relations: Relations) -> str:
    """Return a sentence on the best head for pronouns, chosen and scored as on Scores; "" without sentences."""
    tally = relations.tallies.get(PRONOUNS)
    found = None if tally is None else best_pronoun_head(tally)
    return "" if found is None else describe_pronoun_head(found)
