"""Options of the view Generate, its prompt, and the tokens generated after the prompt (their path)."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from i18n import _, gettext_lazy, translate
from inference.tasks.decoding import DecodingStep, NextToken
from inference.text.encoding import check_text
from ui.input.controls import fingerprint
from ui.run.notices import show_notice
from ui.run.page_model import PageModel
from ui.show.tables import model_provenance
from ui.state.params import AnsweringOptions, drop_place, get_params, set_params
from ui.state.session import FRESH, set_view_state
from ui.state.view_state import ViewState, example_of
from viz.options import option

SHOWS = {
    "next": gettext_lazy("Next token"),
    "looks": gettext_lazy("Attention"),
    "heads": gettext_lazy("All heads"),
    "layers": gettext_lazy("Logit lens"),
    "sink": gettext_lazy("Attention sinks"),
    "induction": gettext_lazy("Induction heads"),
}
PICKS = {"likeliest": gettext_lazy("Greedy"), "drawn": gettext_lazy("Sampled")}
OVERS = {
    "head": gettext_lazy("One head"),
    "layer": gettext_lazy("This layer"),
    "all": gettext_lazy("All layers"),
}
CELLS = {
    "strongest": (gettext_lazy("Largest earlier weight"), gettext_lazy("weight")),
    "reach": (gettext_lazy("Mean distance"), gettext_lazy("tokens")),
}


@dataclass(frozen=True)
class GenerateOptions(AnsweringOptions):
    """Options of the page Generate."""

    show: str = option(
        "next",
        label=gettext_lazy("View"),
        choices=SHOWS,
    )
    whole: bool = option(False, of_text=drop_place)  # read an example sentence with its last word
    written: str = ""  # ids of the generated tokens, separated by dots
    of: str = ""  # fingerprint of the model and the prompt of these tokens
    at: int | None = option(None, of_text=drop_place)  # token whose step is shown; None is the next token
    # The token that "Next token" appends.
    pick: str = option(
        "likeliest",
        label=gettext_lazy("Decoding"),
        help=gettext_lazy(
            "“Sampled” uses temperature, top-k and top-p ([arXiv:1904.09751](https://arxiv.org/abs/1904.09751))."
        ),
        choices=PICKS,
    )
    more: int = option(20, label=gettext_lazy("How many"))
    temperature: int = 100  # hundredths
    top_k: int = option(0, label="Top-k", help=gettext_lazy("Draws from the k likeliest tokens; 0 means all tokens."))
    top_p: int = 100  # hundredths
    seed: int = option(
        0,
        label=gettext_lazy("Seed"),
        help=gettext_lazy("The same seed writes the same text."),
    )
    top: int = option(10, label=gettext_lazy("Candidates"))
    over: str = option(
        "head",
        label=gettext_lazy("Text shade"),
        choices=OVERS,
    )
    # Measure in the map of heads.
    cell: str = option(
        "strongest",
        label=gettext_lazy("Cells"),
        choices={name: title for name, (title, _unit) in CELLS.items()},
    )
    # Seed of the random tokens in the test for induction heads.
    sample: int = option(0, label=gettext_lazy("Seed"))
    # Include the first token in figures of attention.
    first: bool = option(
        True,
        label=gettext_lazy("Include first token"),
        help=gettext_lazy("Off: the other weights are rescaled to sum to 1."),
    )


def is_sampling(options: GenerateOptions) -> bool:
    """Return True if tokens are sampled, or if the options of sampling differ from their defaults."""
    names = ("pick", "temperature", "top_k", "top_p", "seed")
    return any(getattr(options, name) != getattr(GenerateOptions, name) for name in names)


KNOWN = 100  # candidates in a request; figures show fewer
MOST_TOP, MOST_MORE = 50, 100
TEMPERATURES, TOP_PS = (5, 200), (1, 100)  # minimum and maximum, in hundredths
REPEATED_NAME = "Mr Dorvelin met Mrs Quastrel in the garden. Later that day Mr Dor"
PROMPTS = (
    "The keys to the old wooden cabinet in the hall",
    "The capital of France is Paris. The capital of Italy is",
    REPEATED_NAME,
    "Monday, Tuesday, Wednesday,",
    "Once upon a time there was a little fox who",
)
WHOLE = "generate_whole"  # session key of the switch
PROMPT_ALONE: dict[str, Any] = {"written": "", "of": "", "at": None}  # options without generated tokens
PROMPT_ONLY = gettext_lazy("The link's tokens do not fit this text; only the prompt is shown.")
HISTORY = "generate_history"  # session key: generated tokens by ``mark_of`` the request
_PATH = re.compile(r"[0-9]{1,7}(\.[0-9]{1,7}){0,4095}")


@dataclass(frozen=True)
class Prompt:
    """The text that the model reads before it generates.

    If the text is an example of the app, its last word may be missing, so that the model has to guess it. ``left_out``
    is this word, else "".
    """

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
    """Return a short hash of the model and the prompt; a path of generated tokens is valid only for the same hash."""
    return fingerprint(f"{request.model}\0{request.revision}\0{request.cut}", request.text)


def request_of(choice: ViewState, options: GenerateOptions, who: PageModel, prompt: Prompt) -> NextToken:
    """Return the request for the next token on the chosen path of tokens, with the chosen sampling options.

    Show a notice if the tokens in the link are damaged or belong to another prompt or model.
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
    if read_path(options.written) is None or (
        options.written and options.of not in (mark_of(asked), *st.session_state.get(HISTORY, {}))
    ):
        show_notice(translate(PROMPT_ONLY), "status")
    return on_path(asked, options)


def clamp(value: int, least: int, most: int) -> int:
    """Return the value limited to the range from ``least`` to ``most``."""
    return max(least, min(value, most))


def on_path(asked: NextToken, options: GenerateOptions) -> NextToken:
    """Return the request with the generated tokens in the options.

    If these tokens belong to another prompt or model, return the request without generated tokens.
    """
    mine = options.of == mark_of(asked)
    return replace(asked, written=(read_path(options.written) or ()) if mine else ())


def go_to(request: NextToken, path: tuple[int, ...]) -> None:
    """Show the text with another path of tokens; the browser's back button returns."""
    set_params(GenerateOptions, written=write_path(path), of=mark_of(request) if path else "", at=None)


def pick_whole(choice: ViewState) -> None:
    """Draw the check box that keeps the last word of an example in the prompt, if the text is an example."""
    if example_of(choice.text, choice.pair) is None:
        return
    last = prompt_of(choice, GenerateOptions()).left_out
    if not last:
        return
    st.session_state[WHOLE] = get_params(GenerateOptions).whole
    st.checkbox(
        _("Include “{word}”", word=last),
        key=WHOLE,
        on_change=lambda: set_params(GenerateOptions, whole=st.session_state[WHOLE], **PROMPT_ALONE),
        help=_("Off: the model predicts the last word."),
    )


def new_prompt(text: str) -> None:
    """Start with another prompt and no generated tokens."""
    set_view_state(**FRESH, text=text, pair="")
    set_params(GenerateOptions, **PROMPT_ALONE)


def text_of(request: NextToken, step: DecodingStep) -> str:
    """Return the prompt, cut off after the last token that the model reads, and the generated text."""
    ends = [span[1] for span in step.row.spans[: prompt_length(step, request)] if span is not None]
    return request.text[: max(ends)] + step.text if request.cut and ends else request.text + step.text


def step_provenance(request: NextToken, step: DecodingStep, **settings: Any) -> dict[str, Any]:
    """Return the provenance of a step: the model, the prompt, the generated tokens and ``settings``."""
    written = {"written_tokens": list(request.written), "written_text": f"“{step.text}”"} if request.written else {}
    read = {"tokens_read": len(step.row)}
    return {**model_provenance(), "text": request.text, **written, **read, **settings}


def prompt_length(step: DecodingStep, request: NextToken) -> int:
    """Return the number of tokens of the prompt, which precede the generated tokens."""
    return len(step.row) - len(request.written)
