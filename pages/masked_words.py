"""Which word fits the blank? What a model guesses, where the guess comes from, and how it learned to guess."""

import streamlit as st

from inference import Refusal
from inference.heads import MASKED
from inference.questions.surprise import Surprise
from ui.input.composing import compose
from ui.input.picking import control
from ui.input.unknown_words import refuse_unreadable
from ui.pages.masked_words.corruption import lesson
from ui.pages.masked_words.guesses import guesses
from ui.pages.masked_words.hidden_words import pick_blank, request_of, text_strip, texts_of
from ui.pages.masked_words.importance import words
from ui.pages.masked_words.options import SHOWS, Options
from ui.pages.masked_words.surprise import surprise
from ui.pages.masked_words.two_sentences import two_sentences
from ui.pages.masked_words.where_it_looks import where_it_looks
from ui.run.answering import Answerer, ask, pick_answerer, refused
from ui.show.lens import layers
from ui.show.published_bert import published
from ui.show.reading_help import reading_help
from ui.state.choice import Choice
from ui.state.options import own
from ui.state.session import current
from wording import _


def how_to_read() -> None:
    """Three lines for a first-time reader."""
    with reading_help():
        st.markdown(
            _(
                "- BERT and its like learned by filling blanks: a head on the last layer gives every piece of the "
                "vocabulary a probability ([arXiv:1810.04805](https://arxiv.org/abs/1810.04805)). Two blanks are "
                "guessed at once and each without the other's guess.\n"
                "- Where a head looks, what a layer already says and which words matter are three views of one answer; "
                "none alone says why ([arXiv:1902.10186](https://arxiv.org/abs/1902.10186)).\n"
                "- A guess is what fits the texts that the model has read, not what is true "
                "([arXiv:1907.13528](https://arxiv.org/abs/1907.13528))."
            )
        )


def draw(choice: Choice, who: Answerer) -> None:
    """The text with its blanks, then the figure that is chosen."""
    options = own(Options)
    text, pair = texts_of(choice)
    read = ask(
        Surprise(model=who.model, revision=who.revision, text=text, pair=pair, cut=choice.cut, stop=0),
        _("Reading the text"),
    )
    row = read.row
    refuse_unreadable(row, who.model, "encoder", MASKED)
    request = request_of(choice, options, who, read.mask)
    try:
        filled = ask(request, _("Filling the blanks"))
    except Refusal as refusal:
        text_strip(row, request, None, options)
        refused(refusal, who, choice)
        filled = None
    else:
        text_strip(row, request, filled, options)
    control(
        Options,
        "show",
        st.segmented_control,
        _("What to look at"),
        list(SHOWS),
        format_func=SHOWS.get,
        required=True,
        help=_("The guesses, three views of where they come from, the whole text, a test and a lesson"),
    )
    if options.show == "two":
        two_sentences(who)
    elif options.show == "surprise":
        surprise(request, row, who)
    elif options.show == "lesson":
        lesson(request)
    elif filled is not None:
        at = pick_blank(filled)
        if options.show == "looks":
            where_it_looks(choice, who, request, filled, at)
        elif options.show == "layers":
            layers(request, filled, at, choice.count)
        elif options.show == "words":
            words(request, filled, at)
        else:
            guesses(who, request, filled, at)


st.title(_("Which word fits the blank?"))
chosen = current()
compose(chosen, "encoder")  # whatever is chosen: an encoder answers, and reads a second text
own(Options)  # what of it cannot be read is said before anything is asked
answerer = pick_answerer(MASKED, chosen, Options)
try:
    draw(chosen, answerer)
except Refusal as refusal:
    refused(refusal, answerer, chosen)
published(answerer, chosen.count)
how_to_read()
