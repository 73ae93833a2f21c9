"""Comparison of two words in the blanks of two sentences, as in tests of agreement."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log

import streamlit as st

from i18n import _
from inference import UserError
from inference.task_heads import MASKED
from inference.tasks.predictions import MaskedWords, WordCandidate
from ui.input.controls import TYPED, bound_widget
from ui.input.unknown_words import refuse_unreadable
from ui.pages.masked_words.options import MaskedWordsOptions
from ui.run.notices import show_error, show_notice
from ui.run.page_model import PageModel, ask_model
from ui.show.chart import draw_chart, theme
from ui.show.tables import csv_table, download_button, model_provenance
from ui.show.text import join_sentences
from ui.state.params import get_params
from viz.figures.token_bars import two_words

Pair = tuple[WordCandidate, WordCandidate]


def two_sentences(who: PageModel) -> None:
    """Draw the fields of the sentences and words, and the probabilities."""
    options = get_params(MaskedWordsOptions)
    left, right = st.columns(2)
    hint = _("Write {mask} for the missing word", mask=TYPED)
    bound_widget(MaskedWordsOptions, "first", left.text_input, help=hint)
    bound_widget(MaskedWordsOptions, "second", right.text_input, help=hint)
    bound_widget(MaskedWordsOptions, "one", left.text_input)
    bound_widget(MaskedWordsOptions, "other", right.text_input)
    sentences = (options.first, options.second)
    words = (options.one.strip(), options.other.strip())
    if not all(words) or words[0] == words[1]:
        show_notice(_("Type two different words."), role="status")
        return
    try:
        pairs = [_ask_pair(who, sentence, words) for sentence in sentences]
    except UserError as refusal:
        show_error(refusal)
        return
    problems = [found.problem for pair in pairs for found in pair if found.problem]
    if problems:
        show_notice(problems[0])
        return
    show_notice(summary(pairs, words), role="status")
    chances = [[_chance(found) for found in pair] for pair in pairs]
    figure = two_words(sentences, words, chances, theme())
    draw_chart(figure, "two_words")
    unequal = len(pairs[0][0].pieces) != len(pairs[0][1].pieces)
    st.caption(
        join_sentences(
            _(
                "Bars: probability in the first blank of each sentence "
                "([arXiv:1901.05287](https://arxiv.org/abs/1901.05287))."
            ),
            _("The word with fewer tokens has an advantage.") if unequal else "",
        )
    )
    rows = [
        (sentence, found.word, chance, found.rank)
        for sentence, pair, row in zip(sentences, pairs, chances, strict=True)
        for found, chance in zip(pair, row, strict=True)
    ]
    columns = ("sentence", "word", "probability", "rank")
    made_by = {**model_provenance(), "text": sentences[0], "second_text": sentences[1]}
    download_button(
        _("Save as CSV"), csv_table(columns, rows), "headlight-two.csv", _("All digits"), provenance=made_by
    )


def summary(pairs: Sequence[Pair], words: tuple[str, str]) -> str:
    """Describe the preferred word in each sentence, and the change of the odds."""
    odds = [_log(pair[0]) - _log(pair[1]) for pair in pairs]
    first, second = ((words[value < 0], exp(min(abs(value), 50))) for value in odds)
    return _(
        "“{first}” is {often:,.1f} times as likely in the first sentence, “{second}” {often_second:,.1f} "
        "times in the second; the odds change by {turn:.1f} bits.",
        first=first[0],
        often=first[1],
        second=second[0],
        often_second=second[1],
        turn=abs(odds[0] - odds[1]) / log(2),
    )


def _ask_pair(who: PageModel, sentence: str, words: tuple[str, str]) -> Pair:
    question = MaskedWords(model=who.model, revision=who.revision, text=sentence, top=1, words=words)
    found = ask_model(question, _("Trying both words in both sentences"))
    refuse_unreadable(found.row, who.model, "encoder", MASKED)
    first, second = found.candidates
    return first, second


def _log(found: WordCandidate) -> float:
    assert found.log_probability is not None
    return found.log_probability


def _chance(found: WordCandidate) -> float:
    return exp(_log(found))
