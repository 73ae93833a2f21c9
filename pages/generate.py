"""What does a decoder look at before the next word? Candidates, one step after the other, and the heads behind them."""

import streamlit as st

from inference import Refusal
from inference.heads import CAUSAL
from ui.input.composing import compose
from ui.input.picking import control
from ui.pages.generate.history import remember, tree
from ui.pages.generate.induction import induction
from ui.pages.generate.lens import lens
from ui.pages.generate.looks import looks, seen_of, text_strip
from ui.pages.generate.next_token import next_token
from ui.pages.generate.options import SHOWS, Options
from ui.pages.generate.prompt import PROMPT_ALONE, left_out, prompt_of, prompts, request_of
from ui.pages.generate.whole import heads, same_numbers, sink
from ui.pages.generate.write import controls, written_on
from ui.run.answering import Answerer, ask, pick_answerer, refused
from ui.show.reading_help import reading_help
from ui.state.choice import Choice
from ui.state.options import choose_own, own
from ui.state.session import current
from wording import _


def how_to_read() -> None:
    """Three lines for a first-time reader."""
    with reading_help():
        st.markdown(
            _(
                "- A decoder gives every token of its vocabulary a probability to come next; one is written, read with "
                "the rest, and so on. A token looks back only ([arXiv:1706.03762](https://arxiv.org/abs/1706.03762)).\n"
                "- The weights shown are those of the step that chose a token, taken where the token before it stands. "
                "They say what was read there, not yet what was done with it "
                "([arXiv:1902.10186](https://arxiv.org/abs/1902.10186)).\n"
                "- What comes next is what fits the texts that the model has read, not what is true; the same prompt, "
                "rule and seed write the same text again."
            )
        )


def draw(choice: Choice, who: Answerer) -> None:
    """What is read, what was written, what was looked at; then the view that is chosen.

    What is there at times only has a container of its own, so that the rest keeps its place on the page.
    """
    options = own(Options)
    prompt = prompt_of(choice, options)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        example = st.container(horizontal=True, vertical_alignment="bottom", width="content")
        prompts()
    with st.container():
        request = written_on(request_of(choice, options, who, prompt))
    options = own(Options)  # the writing goes on in the address
    step = ask(request, _("Reading the prompt"))
    with example:
        left_out(prompt, options, choice)
    remember(request, step)
    with st.container():
        seen = seen_of(choice, request, step, options)
    text_strip(seen, step, request, options)
    controls(request, step, options)
    with st.container():
        tree(request)
    control(
        Options, "show", st.segmented_control, _("What to look at"), list(SHOWS), format_func=SHOWS.get, required=True,
        help=_("What comes next, what was looked at before it, and what single heads do"),
    )  # fmt: skip
    if options.show == "looks":
        looks(seen, options)
        same_numbers(request, step)
    elif options.show == "heads":
        heads(choice, request, seen)
    elif options.show == "layers":
        lens(request, step, options, choice.count)
    elif options.show == "sink":
        sink(choice, request)
    elif options.show == "induction":
        induction(choice, request, step, options)
    else:
        next_token(request, step, options, prompt)


st.title(_("What does a decoder look at before the next word?"))
chosen = current()
compose(chosen, "decoder")  # whatever is chosen: one text is gone on with, no pair
own(Options)  # what of it cannot be read is said before anything is asked
answerer = pick_answerer(CAUSAL, chosen, Options)
try:
    draw(chosen, answerer)
except Refusal as refusal:
    refused(refusal, answerer, chosen)
    if own(Options).written:
        st.button(
            _("Back to the prompt"),
            on_click=choose_own,
            args=(Options,),
            kwargs=PROMPT_ALONE,
            help=_("What was written after it is left out"),
        )
how_to_read()
