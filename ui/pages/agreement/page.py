"""The view Agreement: attribution methods compared with the effect of leaving words out."""

import streamlit as st

from attention.trace import Trace
from attention.view import View
from i18n import _
from inference import UserError
from inference.tasks.attribution import MOST_TOKENS, WordGradients, WordPath
from ui.attribution.methods import EFFECT, MOST_MISSED
from ui.input.composing import compose
from ui.input.controls import bound_widget
from ui.pages.agreement.explanations import answers, collapse, count_itself, figure, focus_of, pick_focus, words_of
from ui.pages.agreement.labels import draw_label
from ui.pages.agreement.options import AgreementOptions
from ui.run.notices import show_error, show_notice
from ui.run.page_model import kind_of, pick_single_text_model
from ui.run.traces import read_trace
from ui.show.reading_help import reading_help
from ui.state.params import get_params
from ui.state.session import get_view_state
from ui.state.view_state import ViewState


def how_to_read() -> None:
    """Draw the help text, which explains the rows."""
    with reading_help():
        st.markdown(
            _(
                "- Each row estimates how much each word matters to the chosen word's last vector. *Ablated* "
                "measures it: the word is masked in every layer.\n"
                "- A method whose order differs from *Ablated* does not explain this effect "
                "([arXiv:1902.10186](https://arxiv.org/abs/1902.10186), "
                "[arXiv:1908.04626](https://arxiv.org/abs/1908.04626)).\n"
                "- *Attention*: last layer, mean over heads. *Rollout*, *flow*: all layers, half residual stream "
                "([arXiv:2005.00928](https://arxiv.org/abs/2005.00928)). *Norms*: last layer "
                "([arXiv:2004.10102](https://arxiv.org/abs/2004.10102)). *Value zeroing*: "
                "[arXiv:2301.12971](https://arxiv.org/abs/2301.12971).\n"
                "- *Gradients*: size of the Jacobian in {directions} random directions (fixed seed). *Integrated "
                "gradients*: {steps} steps from zero, omitted if the path's error exceeds {missed:.0%} "
                "([arXiv:1703.01365](https://arxiv.org/abs/1703.01365)).\n"
                "- For a *label*, ablation and gradients explain its logit. The other methods explain the vector "
                "that the task head reads.",
                directions=WordGradients.directions,
                steps=WordPath.steps,
                missed=MOST_MISSED,
            )
        )


def draw(choice: ViewState, trace: Trace) -> None:
    """Draw the control of the explained output, then all attribution methods."""
    if choice.opened:
        show_notice(_("A saved trace contains attention only. Close it to run the model on its text."))
        return
    if trace.target is not None:
        show_notice(_("{model} is an encoder-decoder. Choose an encoder or a decoder.", model=trace.model.name))
        return
    if len(trace.source) > MOST_TOKENS:
        show_notice(
            _(
                "The text has {tokens} tokens; the limit here is {most}. Shorten it.",
                tokens=len(trace.source),
                most=MOST_TOKENS,
            )
        )
        return
    options = get_params(AgreementOptions)
    bound_widget(AgreementOptions, "explain", st.segmented_control, required=True)
    if options.explain == "vector":
        _vector(choice, trace, options)
    else:
        try:
            draw_label(choice, trace)
        except UserError as refusal:
            show_error(refusal)
    how_to_read()


def _vector(choice: ViewState, trace: Trace, options: AgreementOptions) -> None:
    """Draw the attribution of a word's vector to the words of the text."""
    view = View(trace, words=True)
    focus, notes = focus_of(choice, view)
    words = words_of(view, focus, options)
    for note in notes:
        show_notice(note, role="status")
    if len(words) < 3:
        show_notice(_("Comparing orders needs at least three words. Choose a later word or a longer text."))
        pick_focus(view, focus, {})
        return
    strip = st.container()
    count_itself()
    ways = answers(choice, trace, view, focus, words)
    effect = ways.values(EFFECT)
    with strip:
        pick_focus(view, focus, {} if effect is None else dict(zip(words, map(float, effect), strict=True)))
    for problem in ways.problems:
        show_notice(problem, role="status")
    if ways.attributions:
        figure(ways, view, focus, words)
        collapse(trace)


def draw_view() -> None:
    """Draw the view."""
    selected = get_view_state()
    answerer = pick_single_text_model(selected)
    chosen = answerer.answer_for(selected)
    compose(selected, kind_of(chosen), answerer)
    read_now = read_trace(chosen)
    if read_now is not None:
        draw(chosen, read_now)
