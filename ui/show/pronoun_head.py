"""The nouns that heads link a pronoun to, and the model's best pronoun head with its score and button."""

from __future__ import annotations

from collections import Counter

import streamlit as st

from attention.head_names import head_label
from attention.head_search import LEAST, expected_links, links, prefers_first, weight_above_expected
from attention.trace import Trace
from attention.view import View
from i18n import _, translate
from probing.pronoun_heads import PronounHeadScore, stored_pronoun_head
from probing.statistics import LEVEL
from ui.input.probes import cells_before, is_clear_noun, written_word
from ui.show.text import format_comma_list, in_points, join_sentences
from ui.state.selection import load_baselines, pronoun_in
from ui.state.session import set_view_state
from ui.state.view_state import ViewState
from viz.components.page_scripts import open_at_top

KEY = "pronoun_head"
CLICKS = "pronoun_head_clicks"  # Session key of the number of clicks on the button.
MOST_NOUNS = 3  # nouns named in a sentence; the other nouns have a common count


def describe_pronoun_links(choice: ViewState, view: View) -> str | None:
    """Return a sentence on the number of heads that link the first pronoun to each earlier noun, or None.

    A head counts for the noun furthest above baseline, if that is over LEAST. The text needs two earlier nouns, as
    guessed by ``is_clear_noun``. Pairs of texts, cross-attention and signed values have no sentence.
    """
    source = None if view.trace.pair or view.crosses or view.is_signed else pronoun_in(view)
    if source is None:
        return None
    names = earlier_noun_names(view, source)
    if len(set(names.values())) < 2:
        return None
    cells = list(names)
    usual, placed = expected_links(view, *load_baselines(choice, view), source, cells)
    strengths = weight_above_expected(links(view, source, cells), usual, placed)
    linking = prefers_first(strengths.max(axis=0))
    counts = Counter(dict.fromkeys(names.values(), 0))
    counts.update(names[cells[at]] for at in strengths.argmax(axis=0)[linking])
    named = [_("{n} to “{noun}”", n=count, noun=noun) for noun, count in counts.most_common(MOST_NOUNS)]
    others = sum(count for _noun, count in counts.most_common()[MOST_NOUNS:])
    if others:
        named.append(_("{n} to others", n=others))
    return _(
        "{linking} of {size} heads link “{source}” to an earlier noun ({nouns}), over {least} above baseline.",
        linking=int(linking.sum()),
        size=len(view.attending) * view.heads,
        source=written_word(view, source),
        least=in_points(LEAST),
        nouns=format_comma_list(named),
    )


def earlier_noun_names(view: View, source: int) -> dict[int, str]:
    """Return the indices of cells of likely nouns before a pronoun, each with its noun as first written in the text."""
    first: dict[str, str] = {}
    found = cells_before(view, source, is_clear_noun)
    return {at: first.setdefault(noun.casefold(), noun) for at, noun in found.items()}


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
            help=_("Scored on held-out sentences: more weight on the antecedent than on the other candidate."),
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
