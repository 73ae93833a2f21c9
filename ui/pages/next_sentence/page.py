"""The view Next sentence: does the second text follow the first? The prediction, and attention between the texts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from attention.tokens import TokenRow
from attention.view import GROUPS, flow, group
from i18n import _, gettext_lazy
from inference import TraceRequest, UserError
from inference.task_heads import NEXT_SENTENCE
from inference.tasks.predictions import ORDER, NextSentence, NextSentenceAnswer
from inference.text.encoding import check_text
from ui.input.composing import compose
from ui.input.controls import head_of, keep_head, rank_of
from ui.input.unknown_words import refuse_unreadable
from ui.pages.next_sentence.pairs_table import own_pairs
from ui.run.notices import show_notice
from ui.run.page_model import PageModel, ask_model, offer_way_out, pick_page_model
from ui.run.services import get_backend
from ui.show.chart import draw_chart, theme
from ui.show.microscope import draw_microscope
from ui.show.published_bert import draw_published
from ui.show.sections import draw_reading_help
from ui.show.tables import csv_table, download_table, texts_provenance
from ui.show.text import join_sentences
from ui.state.params import AnsweringOptions, get_params, set_params
from ui.state.session import FRESH, get_view_state, set_view_state
from ui.state.view_state import EXAMPLES, ViewState
from viz.figures import head_maps
from viz.figures.token_bars import bars
from viz.options import option
from viz.paper.notebook import Computation, flow_computation


@dataclass(frozen=True)
class NextSentenceOptions(AnsweringOptions):
    """Options of the Next sentence page."""

    looks: str = option("a", choices=GROUPS)  # The group of query tokens.
    at: str = option("b", choices=GROUPS)  # The group of key tokens.


EVEN = 0.5  # Probabilities from this value on are called likely.
EXAMPLE = next(example for example in EXAMPLES if example.get("pair"))


def pair_of(choice: ViewState) -> tuple[str, str]:
    """Return the two texts; show a notice and return an example if the second text is empty."""
    if choice.pair.strip():
        return check_text(choice.text), check_text(choice.pair, gettext_lazy("second text"))
    with st.container(horizontal=True, vertical_alignment="center"):
        example = _(
            "Example: “{first}” “{second}” Click “+ second text” to type one.",
            first=EXAMPLE["text"],
            second=EXAMPLE["pair"],
        )
        show_notice(example, "status")
        st.button(
            _("Use the example"),
            on_click=set_view_state,
            kwargs={**FRESH, "text": EXAMPLE["text"], "pair": EXAMPLE["pair"]},
            help=_("Edit the two texts"),
        )
    return EXAMPLE["text"], EXAMPLE["pair"]


def judgement(choice: ViewState, who: PageModel, texts: tuple[str, str]) -> None:
    """Draw the probability that one text follows the other, for both orders, with a sentence and a CSV export."""
    first, second = texts
    asked = NextSentence(model=who.model, revision=who.revision, text=first, pair=second, cut=choice.cut)
    doing = _("Running the model")
    found = (ask_model(asked, doing), ask_model(replace(asked, text=second, pair=first), doing))
    refuse_unreadable(found[0].row, who.model, "encoder", who.head)
    said, alike = summary(who, found), describe_equal_verdicts(found)
    show_notice(join_sentences(said, alike), role="status")
    chances = [one.probability for one in found]
    figure = bars([_("A, then B"), _("B, then A")], chances, theme(), _("Probability of the order"), marked=(0,))
    figure.update_xaxes(range=[0, 1.12])
    computation = Computation(
        "numbers = [backend.predict(request).probability for request in requests]",
        requests=(asked, replace(asked, text=second, pair=first)),
    )
    draw_chart(figure, "judged_bars", about=partial(texts_provenance, first, second), computation=computation)
    st.caption(_("A is the first text, B the second. {meaning}", meaning=describe_training(found[0])))
    rows = [(*order, one.probability, *one.scores) for order, one in zip((texts, texts[::-1]), found, strict=True)]
    columns = ("first", "second", "probability", "score yes", "score no")
    about = texts_provenance(first, second)
    download_table(csv_table(columns, rows), "headlight-next-sentence.csv", key="next_save", provenance=about)


def describe_training(judged: NextSentenceAnswer) -> str:
    """Describe the task on which the model's head was trained: next sentence or sentence order."""
    if judged.judges == ORDER:
        return _(
            "Sentence-order prediction: training pairs were neighbours, half of them swapped "
            "([arXiv:1909.11942](https://arxiv.org/abs/1909.11942))."
        )
    return _(
        "Next-sentence prediction (NSP): half of the training pairs were neighbours, half came from two texts "
        "([arXiv:1810.04805](https://arxiv.org/abs/1810.04805))."
    )


def summary(who: PageModel, found: tuple[NextSentenceAnswer, NextSentenceAnswer]) -> str:
    """Return a sentence on the probabilities that one text follows the other, for both orders."""
    first, second = (one.probability for one in found)
    return _(
        "{model} gives the order A, B {first:.3f} and the order B, A {second:.3f}.",
        model=who.title,
        first=first,
        second=second,
    )


def describe_equal_verdicts(found: tuple[NextSentenceAnswer, NextSentenceAnswer]) -> str:
    """Return a note if both orders of the texts get the same verdict (at least 0.5 or not); else "".

    >>> from attention.tokens import TokenRow
    >>> row = TokenRow((), (), (), (), ())
    >>> describe_equal_verdicts((NextSentenceAnswer(0.999, (4.0, -3.0), "next", row), NextSentenceAnswer(0.999, (4.0,
    ...     -3.0), "next", row)))[:29]
    'Both orders get at least 0.5:'
    >>> describe_equal_verdicts((NextSentenceAnswer(0.9, (1.0, 0.0), "next", row), NextSentenceAnswer(0.1, (0.0, 1.0),
    ...     "next", row)))
    ''
    """
    likely = [one.probability >= EVEN for one in found]
    if any(likely) != all(likely):
        return ""
    if likely[0]:
        return _("Both orders get at least 0.5: the model accepts both.")
    return _("Both orders get less than 0.5: the model rejects both.")


MAP = "flow_map"
FILTERS = {("a", "a"): "aa", ("a", "b"): "ab", ("b", "a"): "ba", ("b", "b"): "bb"}


def draw_cross_text(choice: ViewState, who: PageModel, texts: tuple[str, str]) -> None:
    """Draw each head's attention from a group of tokens to another, then the microscope.

    The groups are the tokens of either text, the first special token and the other special tokens. The microscope is
    the interactive view of all heads' maps.
    """
    request = TraceRequest(who.model, texts[0], texts[1], revision=who.revision, cut=choice.cut)
    with st.spinner(_("Running the model"), show_time=True):
        trace = get_backend().trace(request)
    row, options = trace.source, get_params(NextSentenceOptions)
    looks, at = _pick(row, options)
    if not group(row, looks):
        show_notice(_("This model adds no such token; pick another group."), role="status")
        return
    shares = flow(trace, group(row, looks), group(row, at))
    layer, head = head_of(choice, shares)
    names = _names(row)
    show_notice(
        _(
            "Head {layer}-{head}: {looks} gives {at} {share:.0%} of its attention; {rank}.",
            layer=layer,
            head=head,
            looks=names[looks],
            at=names[at],
            share=shares[layer, head],
            rank=rank_of(shares, layer, head),
        ),
        role="status",
    )
    figure = head_maps.head_map(
        shares,
        theme(),
        _("From {looks} to {at}", looks=names[looks], at=names[at]),
        _("share of attention"),
        selected=(layer, head),
    )
    computation = flow_computation(request, group(row, looks), group(row, at))
    draw_chart(figure, MAP, on_click=keep_head, about=partial(texts_provenance, *texts), computation=computation)
    st.caption(_("Click a cell to select its head."))
    draw_microscope(replace(choice, layer=layer, head=head), trace, lambda: _shown_trace_id(who, texts))


def _shown_trace_id(who: PageModel, texts: tuple[str, str]) -> str:
    """Return the id of the trace for the current view state; "" if its texts have changed."""
    now = get_view_state()
    same = (now.text, now.pair) == texts or not now.pair.strip()
    return TraceRequest(who.model, *texts, revision=who.revision, cut=now.cut).key if same else ""


def _pick(row: TokenRow, options: NextSentenceOptions) -> tuple[str, str]:
    names = _names(row)
    with st.container(horizontal=True):
        for field, label, text in (
            ("looks", _("Attention from"), _("The query tokens")),
            ("at", _("Attention to"), _("The key tokens")),
        ):
            key = f"next_{field}"
            st.session_state[key] = getattr(options, field)
            st.segmented_control(
                label,
                list(GROUPS),
                key=key,
                format_func=names.__getitem__,
                required=True,
                on_change=_regroup,
                help=text,
            )
    return options.looks, options.at


def _regroup() -> None:
    """Store the selected groups in the options, and filter the attention view by the same groups.

    The filter applies only if both groups are words of a text.
    """
    looks, at = st.session_state["next_looks"], st.session_state["next_at"]
    set_params(NextSentenceOptions, looks=looks, at=at)
    set_view_state(layer=None, head=None, filter=FILTERS.get((looks, at), "all"))


def _names(row: TokenRow) -> dict[str, str]:
    """Return the display name of each group.

    Special tokens have neutral names if the model's tokens are not [CLS] and [SEP].
    """
    known = {piece for piece, word in zip(row.pieces, row.words, strict=True) if word is None}
    bert = {"[CLS]", "[SEP]"} <= known
    return {
        "a": "A",
        "b": "B",
        "first": "[CLS]" if bert else _("first special token"),
        "others": "[SEP]" if bert else _("other special tokens"),
    }


def how_to_read() -> None:
    """Draw the help text."""
    draw_reading_help(
        _(
            "- The model reads [CLS] A [SEP] B [SEP] and predicts from [CLS].\n"
            "- NSP is easy: a probability near 1 does not prove coherence "
            "([arXiv:1909.11942](https://arxiv.org/abs/1909.11942), section 3.1). RoBERTa does without it "
            "([arXiv:1907.11692](https://arxiv.org/abs/1907.11692))."
        )
    )


def draw_view() -> None:
    """Draw the view Next sentence in the page."""
    chosen = get_view_state()
    get_params(NextSentenceOptions)  # reports invalid parameters before the model runs
    answerer = pick_page_model(NEXT_SENTENCE, chosen, NextSentenceOptions)
    compose(chosen, "encoder", answerer)  # an encoder judges two texts, regardless of the chosen model
    try:
        texts = pair_of(chosen)
        judgement(chosen, answerer, texts)
        draw_cross_text(chosen, answerer, texts)
        own_pairs(answerer)
    except UserError as refusal:
        offer_way_out(refusal, answerer, chosen)
    draw_published(answerer)
    how_to_read()
