"""Two words in two sentences: does the model change its preference where the sentence asks for it?"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log

import streamlit as st

from inference import Refusal
from inference.heads import MASKED
from inference.questions.masked import Candidate, MaskedWords
from ui.input.hiding import TYPED
from ui.input.picking import control
from ui.input.unknown_words import refuse_unreadable
from ui.pages.masked_words.options import Options
from ui.run.answering import Answerer, ask
from ui.run.refusals import say, show
from ui.show.chart import draw_chart, theme
from ui.show.csv_table import csv_table
from ui.show.provenance import model_provenance
from ui.show.saving import save
from ui.state.options import own
from viz.figures.two_words import two_words
from wording import _

Pair = tuple[Candidate, Candidate]


def two_sentences(who: Answerer) -> None:
    """The reader's sentences and words, then one figure."""
    options = own(Options)
    left, right = st.columns(2)
    hint = _("With {mask} where one of the two words is to stand", mask=TYPED)
    control(Options, "first", left.text_input, _("One sentence"), help=hint)
    control(Options, "second", right.text_input, _("The other sentence"), help=hint)
    control(Options, "one", left.text_input, _("One word"), help=_("A word for the blank"))
    control(Options, "other", right.text_input, _("The other word"), help=_("Another word for the same blank"))
    sentences = (options.first, options.second)
    words = (options.one.strip(), options.other.strip())
    if not all(words) or words[0] == words[1]:
        say(_("Two different words are compared; type both."), role="status")
        return
    try:
        pairs = [_asked(who, sentence, words) for sentence in sentences]
    except Refusal as refusal:
        show(refusal)
        return
    problems = [found.problem for pair in pairs for found in pair if found.problem]
    if problems:
        say(problems[0])
        return
    say(summary(pairs, words), role="status")
    chances = [[_chance(found) for found in pair] for pair in pairs]
    figure = two_words(sentences, words, chances, theme())
    draw_chart(figure, "two_words")
    unequal = len(pairs[0][0].pieces) != len(pairs[0][1].pieces)
    more = _(" The words have unequal numbers of pieces, which by itself favours the shorter one.") if unequal else ""
    st.caption(
        _(
            "Bars: the probability of each word in each sentence's first blank. What counts is the turn: the odds of "
            "one word against the other in one sentence and in the other "
            "([arXiv:1901.05287](https://arxiv.org/abs/1901.05287) asks about agreement in this way).{more}",
            more=more,
        )
    )
    rows = [
        (sentence, found.word, chance, found.rank)
        for sentence, pair, row in zip(sentences, pairs, chances, strict=True)
        for found, chance in zip(pair, row, strict=True)
    ]
    columns = ("sentence", "word", "probability", "rank")
    made_by = {**model_provenance(), "text": sentences[0], "second_text": sentences[1]}
    save(_("Save as CSV"), csv_table(columns, rows), "headlight-two.csv", _("All digits"), provenance=made_by)


def summary(pairs: Sequence[Pair], words: tuple[str, str]) -> str:
    """What is preferred in each sentence, and by how many times the odds turn."""
    odds = [_log(pair[0]) - _log(pair[1]) for pair in pairs]
    first, second = ({"word": words[value < 0], "times": exp(min(abs(value), 50))} for value in odds)
    turn = (odds[0] - odds[1]) / log(2)
    turned = _("the preference turns") if odds[0] * odds[1] < 0 else _("the preference does not turn")
    return _(
        "{first}; {second}: {turned}, the odds move by {turn:.1f} bits.",
        first=_("In the first sentence “{word}” is {times:,.1f} times as likely", **first),
        second=_("in the second sentence “{word}” is {times:,.1f} times as likely", **second),
        turned=turned,
        turn=abs(turn),
    )


def _asked(who: Answerer, sentence: str, words: tuple[str, str]) -> Pair:
    question = MaskedWords(model=who.model, revision=who.revision, text=sentence, top=1, words=words)
    found = ask(question, _("Trying both words in both sentences"))
    refuse_unreadable(found.row, who.model, "encoder", MASKED)
    first, second = found.candidates
    return first, second


def _log(found: Candidate) -> float:
    assert found.log_probability is not None
    return found.log_probability


def _chance(found: Candidate) -> float:
    return exp(_log(found))
