"""Predictions for a blank, scores of typed words, and two words in two sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import exp, log
from typing import Any

import streamlit as st

from i18n import _, gettext_lazy, translate
from inference import UserError
from inference.task_heads import MASKED
from inference.tasks.predictions import Blank, Filled, HiddenWord, MaskedWords, WordCandidate
from ui.input.controls import TYPED, blanks_as_masks, bound_widget
from ui.input.unknown_words import refuse_unreadable
from ui.pages.masked_words.options import MOST_TOP, MaskedWordsOptions
from ui.run.notices import show_error, show_notice
from ui.run.page_model import PageModel, ask_model
from ui.show.chart import draw_chart, theme
from ui.show.sections import open_section
from ui.show.tables import csv_table, download_button, download_table, draw_table, page_provenance, texts_provenance
from ui.show.text import join_sentences, likelihood, percent, times
from ui.state.params import get_params
from viz.figures.token_bars import bars, two_words
from viz.paper.notebook import Computation

HIGHLIGHT = gettext_lazy("The original is highlighted.")
HOW = gettext_lazy(
    "A word's tokens are filled from left to right: pseudo-log-likelihood "
    "([arXiv:1910.14659](https://arxiv.org/abs/1910.14659), within-word l2r variant of "
    "[arXiv:2305.10588](https://arxiv.org/abs/2305.10588))."
)
NO_RANK = gettext_lazy("Words of several tokens have no rank; unequal token counts are not comparable.")


def summary(who: PageModel, filled: Filled, at: int) -> str:
    """Describe the likeliest token of a blank, and the rank or score of the word that was masked."""
    blank = filled.blanks[at]
    best = blank.guesses[0]
    said = _(
        "Blank {blank}: {model} predicts “{piece}” ({probability}).",
        blank=at + 1,
        model=who.title,
        piece=best.piece,
        probability=percent(best.probability),
    )
    stood = blank.original
    if stood is None:
        return said
    word = word_of(filled, at).original
    if word is not None and word.rank is None:
        return join_sentences(said, _describe_whole_word(word))
    return join_sentences(
        said,
        _(
            "The original, “{piece}”, ranks {rank:,} of {vocabulary:,} ({probability}).",
            piece=stood.piece,
            rank=stood.rank,
            vocabulary=filled.vocabulary,
            probability=percent(stood.probability),
        ),
    )


def word_of(filled: Filled, at: int) -> HiddenWord:
    """Return the hidden word that contains blank number ``at``."""
    return next(word for word in filled.hidden if at in word.blanks)


def _describe_whole_word(stood: WordCandidate) -> str:
    """Describe the probability of a hidden word of several tokens."""
    if stood.log_probability is None:
        return _("“{word}” has no score: part of it is not in the vocabulary.", word=stood.word)
    return _(
        "The {pieces} tokens of “{word}” have probability {probability} together.",
        word=stood.word,
        pieces=len(stood.pieces),
        probability=likelihood(stood.log_probability),
    )


def _has_several_pieces(filled: Filled, at: int) -> bool:
    """Return whether the original word at a blank has several tokens."""
    stood = word_of(filled, at).original
    return stood is not None and stood.rank is None


def blank_provenance(filled: Filled, at: int, **settings: Any) -> dict[str, Any]:
    """Return the provenance of numbers about blank number ``at``: the model, the texts, the blank and ``settings``."""
    blank = f"{at + 1} of {len(filled.blanks)}"
    return {**text_provenance(filled), "blank": blank, **settings}


def text_provenance(filled: Filled) -> dict[str, Any]:
    """Return the provenance of numbers about all blanks: the model, the texts with the blanks, and the read tokens."""
    pair = {"pair_with_blanks": filled.pair} if filled.pair else {}
    return {**page_provenance(), "text_with_blanks": filled.text, **pair, "tokens_read": len(filled.row)}


def guesses(who: PageModel, request: MaskedWords, filled: Filled, at: int) -> None:
    """Draw the likeliest tokens of a blank as bars and as a table, and the scores of the reader's words."""
    blank = filled.blanks[at]
    show_notice(summary(who, filled, at), role="status")
    names = [guess.piece for guess in blank.guesses]
    chances = [guess.probability for guess in blank.guesses]
    marked = [place for place, guess in enumerate(blank.guesses) if guess.token == _original_token(blank)]
    rest = max(0.0, 1 - sum(chances))
    figure = bars(names, chances, theme(), _("Predictions"), marked=marked)
    code = f"numbers = [guess.probability for guess in backend.predict(request).blanks[{at}].guesses]"
    about = partial(blank_provenance, filled, at)
    draw_chart(figure, "masked_bars", about=about, computation=Computation(code, request=request))
    highlight = translate(HIGHLIGHT) if marked else ""
    bars_are = _(
        "Softmax over {vocabulary:,} tokens. The others sum to {rest:.2f}; entropy: {entropy:.2f} bits. A "
        "leading … continues a word.",
        vocabulary=filled.vocabulary,
        rest=rest,
        entropy=blank.entropy,
    )
    st.caption(join_sentences(highlight, bars_are, HOW if _has_several_pieces(filled, at) else ""))
    _draw_asked_words(request, filled, at)
    _table(filled)


def _original_token(blank: Blank) -> int | None:
    return blank.original.token if blank.original else None


def _table(filled: Filled) -> None:
    """Draw the predictions of all blanks as a folded table with a download."""
    section = open_section(_("Table"), "masked_rows")
    if section is None:
        return
    rows = [
        (number, blank.original.piece if blank.original else "", guess.rank, guess.piece, guess.probability)
        for number, blank in enumerate(filled.blanks, start=1)
        for guess in (*blank.guesses, *([blank.original] if blank.original else []))
    ]
    rows = list(dict.fromkeys(rows))
    names = (
        gettext_lazy("Blank"),
        gettext_lazy("Original"),
        gettext_lazy("Rank"),
        gettext_lazy("Token"),
        gettext_lazy("Probability"),
    )
    with section:
        bound_widget(
            MaskedWordsOptions,
            "top",
            st.number_input,
            shown=len(filled.blanks[0].guesses),
            min_value=1,
            max_value=MOST_TOP,
            width=150,
        )
        columns = {translate(name): [row[place] for row in rows] for place, name in enumerate(names)}
        draw_table(columns, key="masked_table")
        provenance = text_provenance(filled)
        download_table(csv_table(names, rows), "headlight-masked-words.csv", provenance=provenance)


def _draw_asked_words(request: MaskedWords, filled: Filled, at: int) -> None:
    """Draw the field for the reader's words, and their scores in the place of the hidden word."""
    bound_widget(MaskedWordsOptions, "ask", st.text_input, placeholder="he, it, dog")
    words = tuple(word for word in get_params(MaskedWordsOptions).ask.split(",") if word.strip())
    if not words:
        return
    found = ask_model(replace(request, words=words, blank=at), _("Running the model")).candidates
    rows = [(c.word, " ".join(c.pieces), _chance(c), c.rank, c.log_probability, c.problem) for c in found]
    names = (
        gettext_lazy("Word"),
        gettext_lazy("Tokens"),
        gettext_lazy("Probability"),
        gettext_lazy("Rank"),
        gettext_lazy("Log-probability"),
        gettext_lazy("Remark"),
    )
    shown = [(*others, remark and translate(remark)) for *others, remark in rows]
    columns = {translate(name): [row[place] for row in shown] for place, name in enumerate(names)}
    if not any(row[-1] for row in rows):
        del columns[translate(names[-1])]
    draw_table(columns, key="masked_asked")
    if _has_several_pieces(filled, at):
        st.caption(translate(NO_RANK))
    elif any(len(candidate.pieces) > 1 for candidate in found):
        st.caption(join_sentences(HOW, NO_RANK))
    download_button(
        _("Save the scores"),
        csv_table(names, rows),
        "headlight-words.csv",
        _("All digits"),
        provenance=blank_provenance(filled, at),
    )


def _chance(candidate: WordCandidate) -> float | None:
    return None if candidate.log_probability is None else exp(candidate.log_probability)


Pair = tuple[WordCandidate, WordCandidate]
PAIRS = """\
pairs = [backend.predict(request).candidates for request in requests]
numbers = np.exp([[pair[at].log_probability for pair in pairs] for at in (0, 1)])"""  # code of a notebook


def two_sentences(who: PageModel) -> None:
    """Draw fields for two sentences and two words, and the probability of each word in each sentence's blank."""
    st.caption(_("The text above is not used."))
    options = get_params(MaskedWordsOptions)
    left, right = st.columns(2)
    hint = _("Write {mask} for the missing word", mask=TYPED)
    bound_widget(MaskedWordsOptions, "first", left.text_input, help=hint)
    bound_widget(MaskedWordsOptions, "second", right.text_input, help=hint)
    bound_widget(MaskedWordsOptions, "one", left.text_input)
    bound_widget(MaskedWordsOptions, "other", right.text_input)
    sentences = (blanks_as_masks(options.first), blanks_as_masks(options.second))
    words = (options.one.strip(), options.other.strip())
    if not all(words) or words[0] == words[1]:
        show_notice(_("Type two different words."), role="status")
        return
    questions = [
        MaskedWords(model=who.model, revision=who.revision, text=sentence, top=1, words=words) for sentence in sentences
    ]
    try:
        pairs = [_ask_pair(who, question) for question in questions]
    except UserError as refusal:
        show_error(refusal)
        return
    problems = [found.problem for pair in pairs for found in pair if found.problem]
    if problems:
        show_notice(problems[0])
        return
    show_notice(describe_preference(pairs, words), role="status")
    chances = [[_probability(found) for found in pair] for pair in pairs]
    figure = two_words(sentences, words, chances, theme())
    computation = Computation(PAIRS, requests=questions)
    draw_chart(figure, "two_words", about=partial(texts_provenance, *sentences), computation=computation)
    unequal = len(pairs[0][0].pieces) != len(pairs[0][1].pieces)
    st.caption(
        join_sentences(
            _(
                "Bars: probability in each sentence's first blank "
                "([arXiv:1901.05287](https://arxiv.org/abs/1901.05287))."
            ),
            translate(NO_RANK) if unequal else "",
        )
    )
    rows = [
        (sentence, found.word, chance, found.rank)
        for sentence, pair, row in zip(sentences, pairs, chances, strict=True)
        for found, chance in zip(pair, row, strict=True)
    ]
    columns = ("sentence", "word", "probability", "rank")
    made_by = texts_provenance(*sentences)
    download_table(csv_table(columns, rows), "headlight-two.csv", provenance=made_by)


def describe_preference(pairs: Sequence[Pair], words: tuple[str, str]) -> str:
    """Describe the preferred word in each sentence, and the change of the odds."""
    odds = [_log(pair[0]) - _log(pair[1]) for pair in pairs]
    first, second = (times(value, *words) for value in odds)
    return _(
        "First sentence: {first}; second: {second}. Odds change by {turn:.1f} bits.",
        first=first,
        second=second,
        turn=abs(odds[0] - odds[1]) / log(2),
    )


def _ask_pair(who: PageModel, question: MaskedWords) -> Pair:
    found = ask_model(question, _("Running the model"))
    refuse_unreadable(found.row, who.model, "encoder", MASKED)
    first, second = found.candidates
    return first, second


def _log(found: WordCandidate) -> float:
    assert found.log_probability is not None
    return found.log_probability


def _probability(found: WordCandidate) -> float:
    return exp(_log(found))
