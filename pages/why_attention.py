"""Why attention? What it costs and how far its paths are, beside recurrent and convolutional layers; and what each
learns, trained side by side."""

import streamlit as st

from attention.trace import Trace
from inference import Refusal
from inference.questions.anatomy import Anatomy
from ui.input.composing import compose
from ui.input.models import kind_of
from ui.pages.why_attention.numbers import controls, figures, summary, table
from ui.pages.why_attention.options import Options
from ui.pages.why_attention.train_one import train_one
from ui.pages.why_attention.trained import trained
from ui.run.reading import read
from ui.run.refusals import say, show
from ui.run.shelf import backend
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
                "- A recurrent layer reads one token after another; a convolution sees k neighbours at once; "
                "self-attention compares every token with every other, so that any two are one step apart "
                "([arXiv:1706.03762](https://arxiv.org/abs/1706.03762), section 4).\n"
                "- Short paths help to learn how distant words depend on each other; few sequential operations let a "
                "machine work on all tokens at the same time.\n"
                "- The price is n²: every pair of tokens. The table counts the layers' mixing of tokens only. A real "
                "Transformer layer has matrices besides, which grow with n · d²; the page on the block counts them.\n"
                "- The trained networks are small, and so are their tasks: they show what each way of reading makes "
                "easy, not what large models do."
            )
        )


def draw(choice: Choice, trace: Trace, options: Options) -> None:
    """The sentence, the figures, the table."""
    try:
        with st.spinner(_("Looking up the model's width")):
            model = trace.model.name if choice.opened else choice.model
            build = backend().inspect(Anatomy(model=model, revision=choice.revision or None))
    except Refusal as refusal:
        show(refusal)
        return
    numbers = controls(options, build.width, len(trace.source))
    say(summary(numbers), "status")
    figures(numbers)
    table(numbers)


st.title(_("Why attention?"))
chosen = current()
compose(chosen, kind_of(chosen))
options = own(Options)
found = read(chosen)
if found is not None:
    draw(chosen, found, options)
trained(options)
train_one(options)
how_to_read()
