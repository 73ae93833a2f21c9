"""Roles page: the texts behind a head's role, with its attention token by token."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from attention.roles import EVEN, attention_to_role
from attention.trace import Trace
from i18n import _, ngettext
from inference import UserError
from probing.results import Head
from ui.pages.roles.gathering import HeadEvidence, part_of, traces
from ui.pages.roles.options import WORDS, RolesOptions
from ui.run.notices import show_error, show_notice
from ui.show.microscope import explore_link
from ui.show.scored_links import paginate
from ui.show.tables import csv_table, download_button, model_provenance
from ui.show.text import join_sentences
from ui.state.session import FRESH
from ui.state.view_state import ViewState
from viz.components.token_strip import token_strip
from viz.components.token_strip.token_strip import TokenChip

COLUMNS = ["model", "revision", "role", "layer", "head", "text", "share", "hit"]


@dataclass(frozen=True)
class TextShare:
    """A text with the head's mean share of attention for a role."""

    text: str
    share: float
    hit: bool  # True if the share reaches the threshold for naming a head.


def role_sentences(known: HeadEvidence, role: str, head: Head, options: RolesOptions, choice: ViewState) -> None:
    """Draw the hits and misses of a head for a role, a page at a time, with a CSV export."""
    least = EVEN if role == "broad" else options.share / 100
    every = text_shares(known, role, head, least)
    show_notice(summary(known, every, role, head, least), role="status")
    kept, shown = paginate(every, RolesOptions, options)
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
            "Each row is a text. Shade: {measured}, from 0 to 1; the number above is the mean. Special tokens "
            "are not counted.",
            measured=_describe_measure(role),
        )
    )
    table = [[choice.model, choice.revision, role, *head, one.text, one.share, int(one.hit)] for one in kept]
    about = _("All {texts:,} texts of this list", texts=len(kept))
    download_button(_("Save the texts"), csv_table(COLUMNS, table), f"headlight-{head[0]}-{head[1]}-{role}.csv", about,
         provenance=model_provenance())  # fmt: skip


def text_shares(known: HeadEvidence, role: str, head: Head, least: float) -> list[TextShare]:
    """Return the share of every text in which some token could have the role."""
    shares = [(seen.text, float(seen.strengths[role][head])) for seen in known.each]
    return [TextShare(text, share, share >= least) for text, share in shares if not np.isnan(share)]


def summary(known: HeadEvidence, every: list[TextShare], role: str, head: Head, least: float) -> str:
    """Return a sentence on the numbers of hits, misses and texts without the role."""
    hits, texts = sum(one.hit for one in every), len(known.each)
    found = ngettext(
        "Head {head}, {place}: {hits} hits and {misses} misses in {texts} text. In a hit, {measured} is at least "
        "{least:.2f} on average; over all texts it is {whole:.2f}.",
        "Head {head}, {place}: {hits} hits and {misses} misses in {texts} texts. In a hit, {measured} is at "
        "least {least:.2f} on average; over all texts it is {whole:.2f}.",
        len(every),
        head=f"{head[0]}-{head[1]}",
        place=WORDS[role],
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
        return _("the normalised entropy of the token's attention")
    return _("the share of the token's attention to {place}", place=WORDS[role])


def chips_of(trace: Trace, role: str, head: Head, choice: ViewState) -> list[TokenChip]:
    """Return the tokens as chips, shaded by their attention to the role."""
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
