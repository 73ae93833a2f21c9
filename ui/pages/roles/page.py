"""The view Roles: each head's role, the texts on which the role is based, and the similarity of heads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from attention.roles import EVEN, ROLES, attention_to_role
from attention.trace import Trace
from i18n import _, translate
from inference import UserError
from probing.corpus import UNCOUNTED
from probing.formats import load_ready_set
from probing.results import FEWEST, Head, RelationRow, rule
from probing.score import RelationCounts
from ui.input.composing import compose
from ui.input.controls import bound_widget
from ui.input.view_options import pick_part
from ui.pages.roles.evidence import (
    ROLE_NAMES,
    HeadEvidence,
    Relations,
    RolesOptions,
    from_sentences,
    from_trace,
    head_relations,
    part_of,
    traces,
)
from ui.pages.roles.heads import draw_map, draw_similarity, evidence_provenance, head_roles, table
from ui.run.notices import show_error, show_notice
from ui.run.page_model import kind_of
from ui.run.services import ViewOptions
from ui.run.traces import displayed_request, read_trace
from ui.show.microscope import explore_link
from ui.show.scored_links import TITLE, LinkScore, describe_relation, paginate, scored_links
from ui.show.sections import reading_help
from ui.show.tables import csv_table, download_button
from ui.show.text import join_sentences
from ui.state.params import get_params
from ui.state.session import FRESH, get_view_state
from ui.state.view_state import ViewState
from viz.components.token_strip import token_strip
from viz.components.token_strip.token_strip import TokenChip

COLUMNS = ["model", "revision", "role", "layer", "head", "text", "share", "hit"]


@dataclass(frozen=True)
class TextShare:
    """A text with the share of a head's attention that goes to the keys of a role.

    The share is a mean over the text's tokens. ``hit`` is True if it reaches the threshold of the role.
    """

    text: str
    share: float
    hit: bool  # True if the share reaches the threshold for naming a head.


def role_sentences(known: HeadEvidence, role: str, head: Head, options: RolesOptions, choice: ViewState) -> None:
    """Draw the texts in which a head does and does not play a role, a page at a time, with a CSV export."""
    least = EVEN if role == "broad" else options.share / 100
    every = text_shares(known, role, head, least)
    show_notice(describe_texts(known, every, role, head, least), role="status")
    shown = paginate(every, RolesOptions, options)
    try:
        looks = [known.trace] if known.trace is not None else traces([one.text for one in shown], choice)
    except UserError as refusal:
        show_error(refusal)
        return
    for at, (one, trace) in enumerate(zip(shown, looks if shown else [], strict=True)):
        name = " · ".join((_("Hit") if one.hit else _("Miss"), f"{one.share:.2f}"))
        token_strip.mount(chips_of(trace, role, head, choice), f"roles_texts_{at}", title=name)
        text = {} if known.trace is not None else {**FRESH, "text": one.text, "pair": "", "target": ""}
        explore_link(replace(choice, **{**text, "layer": head[0], "head": head[1]}))
    st.caption(
        _(
            "Rows: texts. Shade: {measured}; the number above is the mean, without special tokens.",
            measured=_describe_measure(role),
        )
    )
    table = [[choice.model, choice.revision, role, *head, one.text, one.share, int(one.hit)] for one in every]
    download_button(_("Save as CSV"), csv_table(COLUMNS, table), f"headlight-{head[0]}-{head[1]}-{role}.csv",
         _("All digits"), provenance=evidence_provenance(known))  # fmt: skip


def text_shares(known: HeadEvidence, role: str, head: Head, least: float) -> list[TextShare]:
    """Return the mean share of attention that a head gives to the keys of a role, for each text that has such keys.

    A text is a hit if its share is at least ``least``.
    """
    shares = [(seen.text, float(seen.strengths[role][head])) for seen in known.each]
    return [TextShare(text, share, share >= least) for text, share in shares if not np.isnan(share)]


def describe_texts(known: HeadEvidence, every: list[TextShare], role: str, head: Head, least: float) -> str:
    """Describe the texts of a head and a role: the hits, the misses, and texts without a suitable key.

    In a hit, the head gives at least the share ``least`` of its attention to the keys of the role. ``every`` are the
    texts that have suitable keys.
    """
    hits, texts = sum(one.hit for one in every), len(known.each)
    found = _(
        "Head {head}, {place}; hits: {hits}, misses: {misses} (texts: {texts}). In a hit, {measured} "
        "is at least {least:.2f} on average; over all texts {whole:.2f}.",
        head=f"{head[0]}-{head[1]}",
        place=ROLE_NAMES[role],
        hits=hits,
        texts=len(every),
        misses=len(every) - hits,
        measured=_describe_measure(role),
        least=least,
        whole=known.evidence.strength(role)[head],
    )
    if len(every) == texts:
        return found
    return join_sentences(found, _("The other {texts} texts have no suitable token.", texts=texts - len(every)))


def _describe_measure(role: str) -> str:
    if role == "broad":
        return _("the token's normalised attention entropy")
    return _("the share of the token's attention to {place}", place=ROLE_NAMES[role])


def chips_of(trace: Trace, role: str, head: Head, choice: ViewState) -> list[TokenChip]:
    """Return the tokens as chips, shaded by the share of attention that they give to the keys of the role."""
    part = part_of(trace, choice)
    row = trace.token_rows(part)[0]
    return [
        TokenChip(
            piece,
            shade=None if np.isnan(share) else float(share),
            special=row.words[at] is None,
            glued=at > 0 and row.words[at] is not None and row.words[at] == row.words[at - 1],
            title="" if np.isnan(share) else f"{share:.4f}",
            label="" if np.isnan(share) else f"{share:.2f}",
        )
        for at, (piece, share) in enumerate(zip(row.pieces, attention_to_role(trace, role, *head, part), strict=True))
    ]


def draw_examples(
    known: HeadEvidence, roles: list[list[list[str]]], relations: Relations, options: RolesOptions, choice: ViewState
) -> None:
    """Draw a widget that selects a role or relation, and the texts in which the head does and does not play it."""
    sets = _sets(relations)
    head = selected_head(relations.row_of_head, choice, *known.shape)
    scores = [*ROLES, *sets]
    shown = options.relation if options.relation in scores else default_evidence(head, roles, relations)
    st.header(translate(TITLE))
    bound_widget(RolesOptions, "relation", st.selectbox, options=scores, shown=shown, format_func=_in_words)
    if shown in ROLES:
        role_sentences(known, shown, head, options, choice)
    else:
        scored_links(_score(sets[shown], relations, shown, head), RolesOptions, options, choice)


def selected_head(told: Mapping[Head, RelationRow], choice: ViewState, layers: int, heads: int) -> Head:
    """Return the selected (layer, head), else the head with the most significant relation.

    A selection outside of the model's ``layers`` and ``heads`` is ignored. ``told`` has the relation of each head; if
    it is empty, the default is (0, 0).
    """
    if choice.layer is not None and choice.head is not None and choice.layer < layers and choice.head < heads:
        return choice.layer, choice.head
    return min(told, key=lambda head: (not told[head].more, told[head].p), default=(0, 0))


def default_evidence(head: Head, roles: list[list[list[str]]], relations: Relations) -> str:
    """Return the role or relation of a head that is shown first, by name.

    It is the relation that the head finds significantly, else its strongest role, else another relation, else the first
    of ROLES.

    >>> default_evidence((0, 1), [[["first"], ["broad"]]], Relations()), default_evidence((0, 0), [[[]]], Relations())
    ('broad', 'previous')
    """
    row = relations.row_of_head.get(head)
    own = roles[head[0]][head[1]]
    return relations.name(*head) or (own[0] if own else row.relation if row is not None else ROLES[0])


def _in_words(score: str) -> str:
    return ROLE_NAMES[score] if score in ROLES else describe_relation(score)


def _score(found: tuple[str, RelationCounts], relations: Relations, relation: str, head: Head) -> LinkScore:
    name, counts = found
    corpus, own = load_ready_set(name), relations.row_of_head.get(head)
    # The direction was chosen on half 0.
    first = relations.tallies[name].counts_of(relation, 0) or counts
    direction = int(first.hits_by_head[: len(corpus.directions), *head].argmax())
    if own is not None and own.relation == relation:
        direction = corpus.directions.index(own.direction)
    return LinkScore(corpus, counts, relation, (direction, *head), rule(counts, corpus, counts))


def _sets(relations: Relations) -> dict[str, tuple[str, RelationCounts]]:
    """Return for each relation the name of its sentence set and its counts.

    Relations with fewer than FEWEST links are left out.
    """
    found = {}
    for name, tally in relations.tallies.items():
        for relation in tally.relations():
            counts = tally.counts_of(relation)
            if counts is not None and counts.n >= FEWEST and relation not in UNCOUNTED:
                found[relation] = name, counts
    return found


def how_to_read() -> None:
    """Draw the help text."""
    with reading_help():
        st.markdown(
            _(
                "- A role is the mean share of attention over all tokens but special ones "
                "([arXiv:1906.04341](https://arxiv.org/abs/1906.04341)).\n"
                "- First tokens and separators often are sinks "
                "([arXiv:2309.17453](https://arxiv.org/abs/2309.17453)); with short value vectors they "
                "add little ([arXiv:2004.10102](https://arxiv.org/abs/2004.10102)).\n"
                "- A head without a role may still matter "
                "([arXiv:1905.09418](https://arxiv.org/abs/1905.09418))."
            )
        )


def gather_evidence(options: RolesOptions) -> HeadEvidence | None:
    """Return the evidence from the chosen source (a text or sentences), or None if there is none."""
    choice = get_view_state()
    if options.source == "sentences":
        return from_sentences(choice)
    trace = read_trace(choice)
    if trace is None:
        return None
    pick_part(trace, ViewOptions(part=choice.part if choice.part in trace.parts else ""))
    if choice.part == "cross":
        show_notice(
            _("Roles describe self-attention, so the encoder is shown."),
            "status",
        )
    try:
        return from_trace(trace, choice, displayed_request(choice, trace))
    except UserError as refusal:
        show_error(refusal)
        return None


def draw_view() -> None:
    """Draw the view Roles in the page."""
    choice_now, options_now = get_view_state(), get_params(RolesOptions)
    compose(choice_now, kind_of(choice_now))
    left, middle, right = st.columns(3)
    bound_widget(RolesOptions, "source", left.segmented_control, required=True)
    bound_widget(RolesOptions, "share", middle.slider, min_value=10, max_value=100, step=5, format="%d%%")
    bound_widget(RolesOptions, "relations", right.checkbox)
    known_now = gather_evidence(options_now)
    if known_now is not None:
        roles_now = head_roles(known_now, options_now)
        two_sided = kind_of(choice_now) == "encoder-decoder"
        found_now = Relations()
        # The annotated sentences are read by the chosen model, by the encoder if there are two stacks.
        if options_now.relations and not choice_now.opened and not (two_sided and choice_now.part == "decoder"):
            found_now = head_relations(choice_now)
        draw_map(known_now, choice_now, options_now, roles_now, found_now)
        table(known_now, options_now, roles_now, found_now)
        draw_examples(known_now, roles_now, found_now, options_now, choice_now)
        draw_similarity(known_now, choice_now, options_now, roles_now)
    how_to_read()
