"""The view Generate: next-token candidates, step-by-step generation, and the attention of each step."""

from functools import partial

import streamlit as st

from i18n import _
from inference import UserError
from inference.task_heads import CAUSAL, MASKED
from inference.tasks.predictions import MaskedWords
from ui.input.composing import compose
from ui.input.controls import bound_widget
from ui.pages.generate.next_token import next_token
from ui.pages.generate.options import (
    PROMPT_ALONE,
    PROMPTS,
    GenerateOptions,
    Prompt,
    pick_whole,
    prompt_of,
    request_of,
)
from ui.pages.generate.step_attention import draw_head_map, lens, step_attention, text_strip
from ui.pages.generate.whole_text import draw_induction, heads, same_numbers, sink
from ui.pages.generate.writing import controls, draw_sampling, remember, tree, written_on
from ui.run.notices import show_notice
from ui.run.page_model import PageModel, ask_model, offer_way_out, pick_page_model
from ui.show.chart import draw_chart, theme
from ui.show.sections import draw_reading_help
from ui.show.tables import model_provenance
from ui.show.text import percent
from ui.state.params import get_params, set_params
from ui.state.session import get_view_state
from ui.state.view_state import ViewState
from viz.figures.token_bars import bars
from viz.paper.notebook import Computation


def how_to_read() -> None:
    """Draw the help text."""
    draw_reading_help(
        _(
            "- A decoder predicts a probability for every next token, writes one, and reads it with the "
            "rest. Tokens attend only to the left ([arXiv:1706.03762](https://arxiv.org/abs/1706.03762)).\n"
            "- Weights are those of the step that chose a token, at the position before it.\n"
            "- The text is likely, not necessarily true."
        )
    )


def draw(choice: ViewState, who: PageModel) -> None:
    """Draw the prompt, the generated text with its attention, and the chosen view.

    Optional elements have containers of their own, so that all others keep their position on the page.
    """
    options = get_params(GenerateOptions)
    prompt = prompt_of(choice, options)
    with st.container():
        request = written_on(request_of(choice, options, who, prompt))
    options = get_params(GenerateOptions)  # written_on may have changed the address
    step = ask_model(request, _("Running the model"))
    remember(request, step)
    with st.container():
        seen = step_attention(choice, request, step, options)
    text_strip(seen, step, request, options)
    controls(request, step, options)
    with st.container():
        draw_sampling(options)
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
        sink(choice, request, step)
    elif options.show == "induction":
        draw_induction(choice, request, step, options)
    else:
        next_token(request, step, options, prompt)


LONGEST_TITLE = 40  # characters of a chart's title on a phone


def mask_at_the_end(prompt: Prompt, model: str, revision: str | None = None) -> MaskedWords:
    """Return the request for a BERT's predictions for a mask after the prompt."""
    return MaskedWords(model, revision, text=f"{prompt.text} [MASK].")


def draw_mask_at_the_end(choice: ViewState) -> None:
    """Draw a BERT's predictions for a mask after the prompt, if no installed model can generate text."""
    masked = pick_page_model(MASKED, choice, GenerateOptions)
    request = mask_at_the_end(prompt_of(choice, get_params(GenerateOptions)), masked.model, masked.revision)
    text = request.text
    try:
        found = ask_model(request, _("Running the model"))
    except UserError:  # The page shows how to install a model that writes.
        return
    guesses = found.blanks[-1].guesses
    show_notice(
        _(
            "No installed model generates text. Instead, {model} fills a mask at the end: “{piece}” ({probability}).",
            model=masked.title,
            piece=guesses[0].piece,
            probability=percent(guesses[0].probability),
        ),
        role="status",
    )
    pieces, chances = [guess.piece for guess in guesses], [guess.probability for guess in guesses]
    code = "numbers = [guess.probability for guess in backend.predict(request).blanks[-1].guesses]"
    title = text if len(text) <= LONGEST_TITLE else f"… {text[-LONGEST_TITLE:].partition(' ')[2]}"
    draw_chart(
        bars(pieces, chances, theme(), title, marked=(0,)),
        "generate_mask",
        about=lambda: model_provenance() | {"text": text},
        computation=Computation(code, request=request),
    )


def draw_view() -> None:
    """Draw the view Generate in the page."""
    chosen = get_view_state()
    get_params(GenerateOptions)  # reports invalid parameters before the model runs
    answerer = pick_page_model(CAUSAL, chosen, GenerateOptions)
    # A decoder continues a single text, regardless of the chosen model.
    compose(chosen, "decoder", answerer, prompts=PROMPTS, draw_more=partial(pick_whole, chosen))
    try:
        draw(chosen, answerer)
    except UserError as refusal:
        if refusal.way_out == "head":
            draw_mask_at_the_end(chosen)
        offer_way_out(refusal, answerer, chosen)
        if get_params(GenerateOptions).written:
            st.button(
                _("To the prompt"),
                on_click=set_params,
                args=(GenerateOptions,),
                kwargs=PROMPT_ALONE,
            )
    how_to_read()
