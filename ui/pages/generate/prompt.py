"""The Generate page: the prompt that is read, and the path of tokens written after it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from inference.questions.decoding import NextToken, Step
from inference.text.accepted import check_text
from ui.input.hiding import fingerprint
from ui.pages.generate.options import Options
from ui.run.answering import Answerer
from ui.run.refusals import say
from ui.state.choice import Choice
from ui.state.examples import example_of
from ui.state.options import choose_own
from ui.state.session import FRESH, choose
from wording import _, sentence, told

KNOWN = 100  # candidates that are asked for; the figures show the first few
MOST_TOP, MOST_MORE = 50, 100
TEMPERATURES, TOP_PS = (5, 200), (1, 100)  # hundredths, the least and the most
PROMPTS: dict[str, str] = {
    sentence("A verb far from its subject"): "The keys to the old wooden cabinet in the hall",
    sentence("A fact"): "The capital of France is Paris. The capital of Italy is",
    sentence("A name that comes again"): "Mr Dorvelin met Mrs Quastrel in the garden. Later that day Mr Dor",
    sentence("A list"): "Monday, Tuesday, Wednesday,",
    sentence("A story"): "Once upon a time there was a little fox who",
}
PROMPT_ALONE: dict[str, Any] = {"written": "", "of": "", "at": None}  # options: nothing is written after it
HISTORY = "generate_history"  # in the session, by the mark of model and prompt: what was written after it
_PATH = re.compile(r"[0-9]{1,7}(\.[0-9]{1,7}){0,4095}")


@dataclass(frozen=True)
class Prompt:
    """What the model reads before it writes, and the word of an example that was left out for it to find."""

    text: str
    left_out: str = ""
    whole: str = ""  # the example with it


def prompt_of(choice: Choice, options: Options) -> Prompt:
    """The text as it was typed; one of the app's own sentences stops before its last word. Raises Refusal.

    >>> prompt_of(Choice(), Options()).text, prompt_of(Choice(), Options()).left_out
    ("The animal didn't cross the street because it was too", 'tired')
    """
    text = check_text(choice.text)
    if options.whole or example_of(choice.text, choice.pair) is None:
        return Prompt(text)
    before, _, last = text.rstrip(".!?").rpartition(" ")
    return Prompt(before, last, text) if before else Prompt(text)


def write_path(tokens: tuple[int, ...]) -> str:
    """Written tokens for a link; ``read_path`` is its inverse.

    >>> write_path((284, 13)), read_path("284.13"), read_path("")
    ('284.13', (284, 13), ())
    """
    return ".".join(str(token) for token in tokens)


def read_path(raw: str) -> tuple[int, ...] | None:
    """Written tokens from a link; None where it is damaged."""
    if not raw:
        return ()
    return tuple(int(token) for token in raw.split(".")) if _PATH.fullmatch(raw) else None


def mark_of(request: NextToken) -> str:
    """A few letters for the model and the prompt, so that tokens after one are not taken for tokens after another."""
    return fingerprint(f"{request.model}\0{request.revision}\0{request.cut}", request.text)


def request_of(choice: Choice, options: Options, who: Answerer, prompt: Prompt) -> NextToken:
    """What the model is asked: what comes next on the chosen path, under the chosen rule."""
    asked = NextToken(
        model=who.model,
        revision=who.revision,
        text=prompt.text,
        cut=choice.cut,
        top=KNOWN,
        temperature=within(options.temperature, *TEMPERATURES),
        top_k=within(options.top_k, 0, KNOWN),
        top_p=within(options.top_p, *TOP_PS),
        seed=options.seed,
    )
    if read_path(options.written) is None:
        say(_("The tokens that the link says were written cannot be read; the prompt alone is shown."), "status")
    elif options.written and options.of not in (mark_of(asked), *st.session_state.get(HISTORY, {})):
        say(_("The tokens that the link says were written follow another text or model; they are left out."), "status")
    return on_path(asked, options)


def within(value: int, least: int, most: int) -> int:
    """The nearest number that a control can show."""
    return max(least, min(value, most))


def on_path(asked: NextToken, options: Options) -> NextToken:
    """The question after the tokens that were written, where they were written after this prompt by this model."""
    mine = options.of == mark_of(asked)
    return replace(asked, written=(read_path(options.written) or ()) if mine else ())


def go_to(request: NextToken, path: tuple[int, ...]) -> None:
    """Another path after the same prompt; the address follows, so that the browser's back button undoes it."""
    choose_own(Options, written=write_path(path), of=mark_of(request) if path else "", at=None)


def prompts() -> None:
    """Ready prompts."""
    st.session_state["generate_prompt"] = None
    st.selectbox(
        _("Ready prompts"),
        list(PROMPTS),
        index=None,
        key="generate_prompt",
        format_func=told,
        placeholder=_("Pick one"),
        width=230,
        on_change=_ready,
        help=_("Beginnings of texts that show something; any text of your own is typed into the box above."),
    )


def left_out(prompt: Prompt, options: Options, choice: Choice) -> None:
    """What of an example is read, once there is an answer to it."""
    if prompt.left_out:
        say(_("Of the example all but its last word is read; what does the model put there?"), role="status")
        hint = _("The model then goes on after the full stop. Your own texts are always read whole.")
        _reading(_("Read the whole example"), True, hint)
    elif options.whole and example_of(choice.text, choice.pair) is not None:
        _reading(_("Leave the last word out"), False, _("The model then says what it would put there."))


def _reading(label: str, whole: bool, hint: str) -> None:
    """A button that reads the example with its last word, or without."""
    st.button(label, on_click=choose_own, args=(Options,), kwargs={"whole": whole, **PROMPT_ALONE}, help=hint)


def _ready() -> None:
    name = st.session_state["generate_prompt"]
    if name in PROMPTS:
        new_prompt(PROMPTS[name])


def new_prompt(text: str) -> None:
    """Read another text; nothing is written after it yet."""
    choose(**FRESH, text=text, pair="")
    choose_own(Options, **PROMPT_ALONE)


def text_of(request: NextToken, step: Step) -> str:
    """What is read as far as it goes: the prompt, cut where the reader cut it, and the written tokens as text."""
    ends = [span[1] for span in step.row.spans[: prompt_length(step, request)] if span is not None]
    return request.text[: max(ends)] + step.text if request.cut and ends else request.text + step.text


def prompt_length(step: Step, request: NextToken) -> int:
    """Tokens before the written ones."""
    return len(step.row) - len(request.written)
