"""Next sentence page: the model's prediction for two texts in both orders."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from i18n import _, gettext_lazy
from inference.tasks.predictions import ORDER, NextSentence, NextSentenceAnswer
from inference.text.encoding import check_text
from ui.input.unknown_words import refuse_unreadable
from ui.run.notices import show_notice
from ui.run.page_model import PageModel, ask_model
from ui.show.chart import draw_chart, theme
from ui.show.tables import csv_table, download_button, model_provenance
from ui.show.text import join_sentences
from ui.state.examples import EXAMPLES
from ui.state.session import FRESH, set_view_state
from ui.state.view_state import ViewState
from viz.figures.theme import truncate
from viz.figures.token_bars import bars

EVEN = 0.5  # Probabilities from this value on are called likely.
EXAMPLE = next(example for example in EXAMPLES if example.get("pair"))


def pair_of(choice: ViewState) -> tuple[str, str]:
    """Return the two texts; show a notice and return an example if the second text is empty."""
    if choice.pair.strip():
        return check_text(choice.text), check_text(choice.pair, gettext_lazy("second text"))
    with st.container(horizontal=True, vertical_alignment="center"):
        show_notice(_("The second text is empty, so an example is shown. Click “+ second text” to type one."), "status")
        st.button(
            _("Use the example"),
            on_click=set_view_state,
            kwargs={**FRESH, "text": EXAMPLE["text"], "pair": EXAMPLE["pair"]},
            help=_("Edit the example's two texts"),
        )
    return EXAMPLE["text"], EXAMPLE["pair"]


def judgement(choice: ViewState, who: PageModel, texts: tuple[str, str]) -> None:
    """Draw the probability in both orders, with a sentence and a CSV export."""
    first, second = texts
    asked = NextSentence(model=who.model, revision=who.revision, text=first, pair=second, cut=choice.cut)
    doing = _("Judging both orders")
    found = (ask_model(asked, doing), ask_model(replace(asked, text=second, pair=first), doing))
    refuse_unreadable(found[0].row, who.model, "encoder", who.head)
    said, alike = summary(who, texts, found), describe_equal_verdicts(found)
    show_notice(join_sentences(said, alike), role="status")
    chances = [one.probability for one in found]
    figure = bars([_("A, then B"), _("B, then A")], chances, theme(), title(found[0]), marked=(0,))
    figure.update_xaxes(range=[0, 1.12])
    draw_chart(figure, "judged_bars")
    st.caption(_("A is the first text, B the second. {meaning}", meaning=describe_training(found[0])))
    rows = [(*order, one.probability, *one.scores) for order, one in zip((texts, texts[::-1]), found, strict=True)]
    columns = ("first", "second", "probability", "score yes", "score no")
    download_button(
        _("Save as CSV"),
        csv_table(columns, rows),
        "headlight-next-sentence.csv",
        _("All digits"),
        provenance={**model_provenance(), "text": first, "pair": second},
    )


def title(judged: NextSentenceAnswer) -> str:
    """Return the title of the figure."""
    return _("Is this their order?") if judged.judges == ORDER else _("Does the second follow the first?")


def describe_training(judged: NextSentenceAnswer) -> str:
    """Return sentences on the pretraining task of the model's head."""
    if judged.judges == ORDER:
        return _(
            "Sentence-order prediction: all training pairs were neighbours, half of them swapped "
            "([arXiv:1909.11942](https://arxiv.org/abs/1909.11942))."
        )
    return _(
        "Next-sentence prediction (NSP): half of the training pairs were neighbours, half came from two "
        "texts. So a shared topic can suffice ([arXiv:1810.04805](https://arxiv.org/abs/1810.04805))."
    )


def summary(who: PageModel, texts: tuple[str, str], found: tuple[NextSentenceAnswer, NextSentenceAnswer]) -> str:
    """Return a sentence on the probabilities of both orders."""
    said = {
        "first": truncate(texts[0], 60),
        "model": who.title,
        "chance": found[0].probability,
        "other": found[1].probability,
    }
    if found[0].judges == ORDER:
        return _(
            "{model} gives {chance:.3f} that “{first}” comes first; with the texts swapped, {other:.3f}.",
            **said,
        )
    return _(
        "{model} gives {chance:.3f} that “{second}” follows “{first}”; with the texts swapped, {other:.3f}.",
        **said,
        second=truncate(texts[1], 60),
    )


def describe_equal_verdicts(found: tuple[NextSentenceAnswer, NextSentenceAnswer]) -> str:
    """Return a note on equal verdicts for both orders; "" if the verdicts differ.

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
    if found[0].judges == ORDER:
        return (
            _("Both orders get at least 0.5, though only one can be right.")
            if likely[0]
            else _("Both orders get less than 0.5, though one must be right.")
        )
    if likely[0]:
        return _("Both orders get at least 0.5: the model detects a common topic, not the order.")
    return _("Both orders get less than 0.5: to the model, the texts are unrelated.")
