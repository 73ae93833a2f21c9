"""The two texts of the view Question answering, the answers with their probabilities, and the shaded passage."""

from __future__ import annotations

from functools import partial

import streamlit as st

from attention.answer_windows import Letters
from i18n import _, gettext_lazy
from inference.tasks.answers import AnswerSpan, AnswerSpans, PassageAnswers
from inference.text.encoding import check_text
from probing.labelled.answer_scores import TOKEN, nearest_sentence
from ui.run.notices import show_notice
from ui.run.page_model import PageModel
from ui.show.chart import draw_chart, theme
from ui.show.tables import csv_table, download_button, texts_provenance
from ui.show.text import join_sentences, percent
from ui.state.session import FRESH, set_view_state
from ui.state.view_state import ViewState
from viz.components.token_strip.token_strip import TokenChip, mount
from viz.figures.theme import truncate
from viz.figures.token_bars import bars
from viz.paper.notebook import Computation

EXAMPLE = (
    "Who wrote the first program?",
    "Charles Babbage designed the Analytical Engine in 1837. Ada Lovelace wrote the first program for it in 1843,"
    " in her notes on a paper by Luigi Menabrea. The engine was never built.",
)
SHOWN = 8  # Bars of answers.
LISTED = 50  # Answers that are asked for, and saved.
SHARES = """\
found = backend.predict(request)
none = [] if found.no_answer is None else [found.no_answer]
numbers = sorted([*(span.probability for span in found.spans[:shown]), *none], reverse=True)"""  # code of a notebook


def texts_of(choice: ViewState) -> tuple[str, str]:
    """Return the question and the passage; show a notice and return an example if there is no passage."""
    if choice.pair.strip():
        return check_text(choice.text, gettext_lazy("question")), check_text(choice.pair, gettext_lazy("passage"))
    with st.container(horizontal=True, vertical_alignment="center"):
        said = _("Example: the first text is the question, the second the passage.")
        show_notice(join_sentences(said, f"“{EXAMPLE[0]}”"), "status")
        st.button(
            _("Use the example"),
            on_click=set_view_state,
            kwargs={**FRESH, "text": EXAMPLE[0], "pair": EXAMPLE[1]},
            help=_("Edit the two texts"),
        )
    return EXAMPLE


def answer_request(who: PageModel, texts: tuple[str, str]) -> AnswerSpans:
    """Return the request for the likeliest answers; ``texts`` are the question and the passage."""
    return AnswerSpans(who.model, who.revision, text=texts[0], pair=texts[1], top=LISTED)


def draw_answers(who: PageModel, texts: tuple[str, str], found: PassageAnswers) -> None:
    """Draw the best answers as a sentence, on the passage and as bars, with a CSV export."""
    question, passage = texts
    show_notice(summary(who.title, found), "status")
    _draw_passage(passage, found)
    none = [] if found.no_answer is None else [(_("no answer"), found.no_answer)]
    named = sorted(
        [*((truncate(span.text, 40), span.probability) for span in found.spans[:SHOWN]), *none], key=lambda one: -one[1]
    )
    names, shares = zip(*named, strict=True)
    figure = bars(names, shares, theme(), _("Likeliest answers"), marked=(0,))
    computation = Computation(SHARES, request=answer_request(who, texts), shown=SHOWN)
    figure.update_xaxes(range=[0, 1.12])
    draw_chart(figure, "answers_bars", about=partial(texts_provenance, question, passage), computation=computation)
    st.caption(
        _("Softmax of start and end logits over spans of up to 30 tokens. Overlapping spans share their probability.")
    )
    columns = ("answer", "start", "end", "probability", "score", "window")
    rows: list[tuple[object, ...]] = [
        (one.text, *one.letters, one.probability, one.score, one.window) for one in found.spans
    ]
    rows += [("", "", "", share, "", "") for _name, share in none]
    download_button(
        _("Save as CSV"),
        csv_table(columns, rows),
        "headlight-answers.csv",
        _("All digits; empty: no answer"),
        provenance=texts_provenance(question, passage),
    )


def summary(title: str, found: PassageAnswers) -> str:
    """Return a sentence with the likeliest answer and its probability; ``title`` is the model's title."""
    if found.says_no_answer and found.no_answer is not None:
        return _(
            "{model} finds no answer in the passage (probability {share}).", model=title, share=percent(found.no_answer)
        )
    if not found.spans:
        return _("No token of the passage can be an answer.")
    best = found.spans[0]
    values = {"model": title, "answer": truncate(best.text, 80), "share": percent(best.probability)}
    if len(found.windows) == 1:
        return _("{model} answers “{answer}” with probability {share}.", **values)
    return _(
        "{model} answers “{answer}” with probability {share}, best of {windows} windows.",
        **values,
        windows=len(found.windows),
    )


def passage_words(passage: str) -> list[Letters]:
    """Return the character span of each word of a passage; a Chinese character is a word.

    >>> passage_words("Ada wrote 程序")
    [(0, 3), (4, 9), (10, 11), (11, 12)]
    """
    return [match.span() for match in TOKEN.finditer(passage)]


def shares_of_words(words: list[Letters], spans: tuple[AnswerSpan, ...]) -> list[float]:
    """Return the probability that each word is part of the answer, shape (word,).

    It is the sum over the spans that contain the word.
    """
    return [
        min(1.0, sum(span.probability for span in spans if span.letters[0] < end and start < span.letters[1]))
        for start, end in words
    ]


def _draw_passage(passage: str, found: PassageAnswers) -> None:
    """Draw the passage, each word shaded by the probability that it is part of the answer."""
    words = passage_words(passage)
    best = found.spans[0].letters if found.spans and not found.says_no_answer else None
    chips = [
        TokenChip(
            passage[start:end],
            shade=share,
            mark="chosen" if best is not None and best[0] < end and start < best[1] else "",
            glued=at > 0 and words[at - 1][1] == start,
            title=percent(share),
        )
        for at, ((start, end), share) in enumerate(zip(words, shares_of_words(words, found.spans), strict=True))
    ]
    mount(chips, "answers_passage", title=_("Part of the answer"))


def draw_baseline(texts: tuple[str, str]) -> None:
    """Draw the baseline: the sentence of the passage that shares the most words with the question."""
    show_notice(
        _(
            "Baseline, the sentence that shares most words with the question: “{sentence}”",
            sentence=truncate(nearest_sentence(*texts), 160),
        ),
        "status",
    )
