"""The view Generate: next-token candidates, step-by-step generation, and the attention of each step."""

import streamlit as st

from i18n import _
from inference import UserError
from inference.task_heads import CAUSAL
from ui.input.composing import compose
from ui.input.controls import bound_widget
from ui.pages.generate.history import remember, tree
from ui.pages.generate.induction import draw_induction
from ui.pages.generate.lens import lens
from ui.pages.generate.next_token import next_token
from ui.pages.generate.options import GenerateOptions
from ui.pages.generate.prompt import PROMPT_ALONE, left_out, prompt_of, prompts, request_of
from ui.pages.generate.step_attention import draw_head_map, step_attention, text_strip
from ui.pages.generate.whole_text import heads, same_numbers, sink
from ui.pages.generate.writing import controls, written_on
from ui.run.page_model import PageModel, ask_model, offer_way_out, pick_page_model
from ui.show.reading_help import reading_help
from ui.state.params import get_params, set_params
from ui.state.session import get_view_state
from ui.state.view_state import ViewState


def how_to_read() -> None:
    """Draw the help text."""
    with reading_help():
        st.markdown(
            _(
                "- A decoder predicts a probability for every next token, writes one, and reads it with the "
                "rest. Tokens attend only to the left "
                "([arXiv:1706.03762](https://arxiv.org/abs/1706.03762)).\n- The weights are those of the "
                "step that chose a token, at the position before it. They do not show how the result was "
                "used ([arXiv:1902.10186](https://arxiv.org/abs/1902.10186)).\n- The text is likely, not "
                "necessarily true. The same prompt, sampling and seed write the same text."
            )
        )


def draw(choice: ViewState, who: PageModel) -> None:
    """Draw the prompt, the generated text with its attention, and the chosen view.

    Optional elements have containers of their own, so that all others keep their position on the page.
    """
    options = get_params(GenerateOptions)
    prompt = prompt_of(choice, options)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        example = st.container(horizontal=True, vertical_alignment="bottom", width="content")
        prompts()
    with st.container():
        request = written_on(request_of(choice, options, who, prompt))
    options = get_params(GenerateOptions)  # written_on may have changed the address
    step = ask_model(request, _("Asking the model"))
    with example:
        left_out(prompt, options, choice)
    remember(request, step)
    with st.container():
        seen = step_attention(choice, request, step, options)
    text_strip(seen, step, request, options)
    controls(request, step, options)
    with st.container():
        tree(request)
    bound_widget(GenerateOptions, "show", st.segmented_control, required=True)
    if options.show == "looks":
        draw_head_map(seen, options)
        same_numbers(request, step)
    elif options.show == "heads":
        heads(choice, request, seen)
    elif options.show == "layers":
        lens(request, step, options)
    elif options.show == "sink":
        sink(choice, request)
    elif options.show == "induction":
        draw_induction(choice, request, step, options)
    else:
        next_token(request, step, options, prompt)


def draw_view() -> None:
    """Draw the view."""
    chosen = get_view_state()
    get_params(GenerateOptions)  # reports invalid parameters before the model runs
    answerer = pick_page_model(CAUSAL, chosen, GenerateOptions)
    compose(chosen, "decoder", answerer)  # a decoder continues a single text, regardless of the chosen model
    try:
        draw(chosen, answerer)
    except UserError as refusal:
        offer_way_out(refusal, answerer, chosen)
        if get_params(GenerateOptions).written:
            st.button(
                _("To the prompt"),
                on_click=set_params,
                args=(GenerateOptions,),
                kwargs=PROMPT_ALONE,
            )
    how_to_read()
