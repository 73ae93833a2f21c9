"""The best pronoun head of the page's model: its score on held-out sentences, and a button that selects it."""

from __future__ import annotations

import streamlit as st

from attention.head_names import head_label
from attention.trace import Trace
from attention.view import View
from i18n import _, translate
from probing.pronoun_heads import PronounHeadScore, stored_pronoun_head
from probing.statistics import LEVEL
from ui.show.text import join_sentences
from ui.state.selection import pronoun_in
from ui.state.session import set_view_state
from viz.components.page_scripts import open_at_top

KEY = "pronoun_head"
CLICKS = "pronoun_head_clicks"  # Session key of the number of clicks on the button.


def describe_pronoun_head(found: PronounHeadScore, other: tuple[int, int] | None = None) -> str:
    """Return sentences on a pronoun head's accuracy on held-out links, and that of the best baseline rule.

    ``other`` is the (layer, head) that the page shows for its own sentence. Its accuracy on the same links is added, so
    that a reader sees how the head of a single sentence does on other sentences.
    """
    values = {
        "head": head_label(found.layer, found.head),
        "accuracy": found.accuracy,
        "links": found.links,
        "rule": translate(found.rule),
        "rule_accuracy": found.rule_accuracy,
        "p": found.p,
    }
    said = _(
        "Best pronoun head {head}: right on {accuracy:.0f}% of {links:,} held-out links; the rule “{rule}” on "
        "{rule_accuracy:.0f}% (two-sided p = {p:.2g}).",
        **values,
    )
    doubt = "" if found.p <= LEVEL else _("The difference is not significant.")
    return join_sentences(said, doubt, _describe_other(found, other))


def _describe_other(found: PronounHeadScore, other: tuple[int, int] | None) -> str:
    """Return a sentence on the accuracy of another head on the same links; "" if it is the best head or unknown."""
    if other is None or other == (found.layer, found.head):
        return ""
    layer, head = other
    if layer >= len(found.hits) or head >= len(found.hits[layer]):
        return ""
    accuracy = 100 * found.hits[layer][head] / found.links
    return _("Head {head}: {accuracy:.0f}% of the same links.", head=head_label(layer, head), accuracy=accuracy)


def draw_pronoun_head(trace: Trace, other: tuple[int, int] | None, *, scrolls: bool = False) -> None:
    """Draw the score of the model's stored pronoun head, and a button that selects this head.

    ``other`` (layer, head) is a head whose score is drawn for comparison. With ``scrolls``, a click scrolls the page to
    its top, where the selected head is shown. Draw nothing for a pair of texts, for a text without a pronoun, or if the
    app has no stored pronoun head for the model.
    """
    found = stored_pronoun_head(trace.model)
    if found is None or trace.pair or pronoun_in(View(trace, words=True)) is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", key=f"{KEY}_row"):
        st.button(
            _("Show pronoun head"),
            key=KEY,
            icon=":material/link:",
            help=_("Scored on held-out sentences. Right: more weight on the antecedent than on the other candidate."),
            on_click=_select,
            args=(found,),
            width="content",
        )
        st.caption(describe_pronoun_head(found, other))
    if scrolls:
        open_at_top(f"{KEY}/{st.session_state.get(CLICKS, 0)}")


def _select(found: PronounHeadScore) -> None:
    """Select the pronoun head, and count the click."""
    st.session_state[CLICKS] = st.session_state.get(CLICKS, 0) + 1
    set_view_state(layer=found.layer, head=found.head)
