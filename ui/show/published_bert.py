"""Scores of the BERT that comes with the app, in a collapsed section of the pages that use this model."""

from __future__ import annotations

import streamlit as st

from i18n import _
from inference.catalogue.published_scores import MaskedAccuracy, masked_accuracy
from ui.run.notices import show_notice
from ui.run.page_model import PageModel
from ui.show.scored_links import describe_relation
from ui.show.text import join_sentences


def draw_published(who: PageModel) -> None:
    """Draw the section with the scores, if the page uses the BERT that comes with the app."""
    found = masked_accuracy(who.model)
    if found is None:
        return
    with st.expander(_("How good is {title}?", title=who.title)):
        show_notice(answers(who.title, found), "status")
        if found.tired is not None:
            show_notice(describe_known_heads(found), "status")
        st.caption(
            _(
                "Trained on English Wikipedia by its contributors ([CC BY-SA "
                "3.0](https://creativecommons.org/licenses/by-sa/3.0/))."
            )
        )


def answers(title: str, found: MaskedAccuracy) -> str:
    """Return a sentence with the accuracy of the app's own BERT on masked words and next sentences.

    ``title`` is the name of the model, and ``found`` the measured accuracies.
    """
    return _(
        "{title} on held-out texts: of {masked:,} masked tokens it predicts {first:.1%} first and "
        "{five:.1%} in the top 5 (most frequent tokens: {common_first:.1%}, {common_five:.1%}); of "
        "{pairs:,} pairs it judges {follows:.1%} correctly.",
        title=title,
        masked=found.masked,
        first=found.first,
        five=found.five,
        common_first=found.common_first,
        common_five=found.common_five,
        pairs=found.pairs,
        follows=found.follows,
    )


def describe_known_heads(found: MaskedAccuracy) -> str:
    """Return a sentence about the heads for coreference and syntax; "" if they were not measured."""
    if found.tired is None:
        return ""
    tired = _(
        "For the tired animal, its head {layer}-{head} gives “animal” {weight:.0%} of the attention of “it”.",
        layer=found.tired.layer,
        head=found.tired.head,
        weight=found.tired.weight,
    )
    if found.behind is None:
        return tired
    if found.behind.points <= 0:
        return join_sentences(tired, _("For no relation is its best head behind MiniLM's."))
    behind = _(
        "Its best heads are at most {points:.1f} percentage points behind those of MiniLM ({relation}).",
        points=found.behind.points,
        relation=describe_relation(found.behind.relation),
    )
    return join_sentences(tired, behind)
