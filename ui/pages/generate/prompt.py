"""The prompt of the page Generate, and the path of tokens generated after it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from i18n import _, gettext_lazy, translate
from inference.tasks.decoding import DecodingStep, NextToken
from inference.text.encoding import check_text
from ui.input.controls import fingerprint
from ui.pages.generate.options import GenerateOptions
from ui.run.notices import show_notice
from ui.run.page_model import PageModel
from ui.state.examples import example_of
from ui.state.params import set_params
from ui.state.session import FRESH, set_view_state
from ui.state.view_state import ViewState

KNOWN = 100  # candidates in a request; figures show fewer
MOST_TOP, MOST_MORE = 50, 100
TEMPERATURES, TOP_PS = (5, 200), (1, 100)  # minimum and maximum, in hundredths
PROMPTS: dict[str, str] = {
    gettext_lazy("A distant subject"): "The keys to the old wooden cabinet in the hall",
    gettext_lazy("A fact"): "The capital of France is Paris. The capital of Italy is",
    gettext_lazy("A repeated name"): "Mr Dorvelin met Mrs Quastrel in the garden. Later that day Mr Dor",
    gettext_lazy("A list"): "Monday, Tuesday, Wednesday,",
    gettext_lazy("A story"): "Once upon a time there was a little fox who",
}
PROMPT_ALONE: dict[str, Any] = {"written": "", "of": "", "at": None}  # options without generated tokens
HISTORY = "generate_history"  # session key: generated tokens by ``mark_of`` the request
_PATH = re.compile(r"[0-9]{1,7}(\.[0-9]{1,7}){0,4095}")


@dataclass(frozen=True)
class Prompt:
    """The text that the model reads before it generates, and the omitted last word of an example."""

    text: str
    left_out: str = ""
    whole: str = ""  # the example with its last word


def prompt_of(choice: ViewState, options: GenerateOptions) -> Prompt:
    """Return the text as the prompt; examples of the app stop before their last word.

    Raise UserError if the text is invalid.

    >>> prompt_of(ViewState(), GenerateOptions()).text, prompt_of(ViewState(), GenerateOptions()).left_out
    ("The animal didn't cross the street because it was too", 'tired')
    """
    text = check_text(choice.text)
    if options.whole or example_of(choice.text, choice.pair) is None:
        return Prompt(text)
    before, _, last = text.rstrip(".!?").rpartition(" ")
    return Prompt(before, last, text) if before else Prompt(text)


def write_path(tokens: tuple[int, ...]) -> str:
    """Format generated tokens for a link; ``read_path`` is the inverse.

    >>> write_path((284, 13)), read_path("284.13"), read_path("")
    ('284.13', (284, 13), ())
    """
    return ".".join(str(token) for token in tokens)


def read_path(raw: str) -> tuple[int, ...] | None:
    """Parse the generated tokens of a link; None if they are damaged."""
    if not raw:
        return ()
    return tuple(int(token) for token in raw.split(".")) if _PATH.fullmatch(raw) else None


def mark_of(request: NextToken) -> str:
    """Return a short fingerprint of the model and the prompt, which a path of tokens belongs to."""
    return fingerprint(f"{request.model}\0{request.revision}\0{request.cut}", request.text)


def request_of(choice: ViewState, options: GenerateOptions, who: PageModel, prompt: Prompt) -> NextToken:
    """Return the request for the next token on the chosen path, under the chosen sampling rule.

    Show a notice if the link's tokens are damaged or belong to another prompt or model.
    """
    asked = NextToken(
        model=who.model,
        revision=who.revision,
        text=prompt.text,
        cut=choice.cut,
        top=KNOWN,
        temperature=clamp(options.temperature, *TEMPERATURES),
        top_k=clamp(options.top_k, 0, KNOWN),
        top_p=clamp(options.top_p, *TOP_PS),
        seed=options.seed,
    )
    if read_path(options.written) is None:
        show_notice(_("The written tokens of the link are damaged; only the prompt is shown."), "status")
    elif options.written and options.of not in (mark_of(asked), *st.session_state.get(HISTORY, {})):
        show_notice(_("The written tokens of the link belong to another text or model; they are left out."), "status")
    return on_path(asked, options)


def clamp(value: int, least: int, most: int) -> int:
    """Return the value limited to the range from ``least`` to ``most``."""
    return max(least, min(value, most))


def on_path(asked: NextToken, options: GenerateOptions) -> NextToken:
    """Return the request with the written tokens of the options, if they belong to its model and prompt."""
    mine = options.of == mark_of(asked)
    return replace(asked, written=(read_path(options.written) or ()) if mine else ())


def go_to(request: NextToken, path: tuple[int, ...]) -> None:
    """Move to another path after the same prompt, through the address, so that the back button works."""
    set_params(GenerateOptions, written=write_path(path), of=mark_of(request) if path else "", at=None)


def prompts() -> None:
    """Draw the control of the ready prompts."""
    st.session_state["generate_prompt"] = None
    st.selectbox(
        _("Ready prompts"),
        list(PROMPTS),
        index=None,
        key="generate_prompt",
        format_func=translate,
        placeholder=_("Choose"),
        width=230,
        on_change=_start_ready_prompt,
    )


def left_out(prompt: Prompt, options: GenerateOptions, choice: ViewState) -> None:
    """Draw the notice and the button about the omitted last word of an example."""
    if prompt.left_out:
        show_notice(_("The example's last word is left out for the model to predict."), role="status")
        _reading(_("Whole example"), True)
    elif options.whole and example_of(choice.text, choice.pair) is not None:
        _reading(_("Drop last word"), False)


def _reading(label: str, whole: bool) -> None:
    """Draw a button that reads the example with or without its last word."""
    st.button(label, on_click=set_params, args=(GenerateOptions,), kwargs={"whole": whole, **PROMPT_ALONE})


def _start_ready_prompt() -> None:
    name = st.session_state["generate_prompt"]
    if name in PROMPTS:
        new_prompt(PROMPTS[name])


def new_prompt(text: str) -> None:
    """Start with another prompt and no generated tokens."""
    set_view_state(**FRESH, text=text, pair="")
    set_params(GenerateOptions, **PROMPT_ALONE)


def text_of(request: NextToken, step: DecodingStep) -> str:
    """Return the prompt, truncated as requested, followed by the generated text."""
    ends = [span[1] for span in step.row.spans[: prompt_length(step, request)] if span is not None]
    return request.text[: max(ends)] + step.text if request.cut and ends else request.text + step.text


def prompt_length(step: DecodingStep, request: NextToken) -> int:
    """Return the number of tokens before the generated tokens."""
    return len(step.row) - len(request.written)
