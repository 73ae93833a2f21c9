"""The page's translation, its requests to the model and its decoding controls."""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.alignment import END
from attention.trace import Trace
from attention.view import DisplayToken
from i18n import _
from inference import TraceRequest
from inference.tasks.decoding import Beam, BeamStep, DecodingStep, NextTarget
from inference.text.encoding import check_text
from ui.input.controls import bound_widget
from ui.pages.translate.options import TranslateOptions
from ui.run.notices import show_notice
from ui.run.page_model import PageModel, ask_model
from ui.state.view_state import ViewState

NEXT = "⟨next⟩"  # label of the token after an unfinished translation
MOST_TOP, MOST_WIDTH = 50, 8


@dataclass(frozen=True, eq=False)
class BeamSearch:
    """The steps of a beam search so far."""

    steps: tuple[BeamStep, ...]

    @property
    def best(self) -> Beam:
        """Return the best finished beam, else the best unfinished beam."""
        last = self.steps[-1]
        return (last.finished or last.beams)[0]


@dataclass(frozen=True, eq=False)
class Translation:
    """A source text and its translation, with the trace of both.

    Step k writes token k. Its query is at decoder position k, after the start token and the tokens before k.
    """

    who: PageModel
    asked: NextTarget  # request for the first step
    tokens: tuple[int, ...]  # token ids as written; the last is the end token if the translation is finished
    way: str
    trace: Trace
    search: BeamSearch | None = None  # the beam search that wrote the tokens, if any

    @property
    def length(self) -> int:
        """Return the number of tokens without the end token."""
        return 0 if self.trace.target is None else len(self.trace.target) - 1

    @property
    def is_finished(self) -> bool:
        """Return True if the model has written an end token."""
        return self.length < len(self.tokens)

    @property
    def pieces(self) -> tuple[str, ...]:
        """Return the tokens as displayed, without the end token."""
        row = self.trace.target
        return () if row is None else row.pieces[1:]

    @property
    def text(self) -> str:
        """Return the decoded text."""
        return self.trace.target_text or ""

    def cell_label(self, cell: DisplayToken) -> str:
        """Return the label of a cell; after an unfinished text the end is labelled NEXT."""
        return NEXT if cell.text == END and cell.special and not self.is_finished else cell.text

    def question(self, at: int, top: int) -> NextTarget:
        """Return the request for step ``at`` with ``top`` candidates and the written token."""
        return replace(self.asked, written=self.tokens[:at], also=self.tokens[at : at + 1], top=top)

    def step(self, at: int, top: int) -> DecodingStep:
        """Return the model's answer at step ``at``; may raise UserError."""
        return ask_model(self.question(at, top), _("Asking the model"))


def request_of(choice: ViewState, who: PageModel) -> NextTarget:
    """Return the request for the first step; raise UserError for an invalid text."""
    return NextTarget(model=who.model, revision=who.revision, text=check_text(choice.text), cut=choice.cut)


def trace_of(asked: NextTarget, tokens: tuple[int, ...]) -> TraceRequest:
    """Return the trace request for exactly these target tokens."""
    return TraceRequest(
        model=asked.model,
        revision=asked.revision,
        text=asked.text,
        cut=asked.cut,
        written=tokens,
        edits=asked.edits,
    )


def decoding_of(choice: ViewState, options: TranslateOptions) -> str:
    """Return the decoding method: the chosen one, else "own" if a translation is typed, else "greedy".

    >>> decoding_of(ViewState(), TranslateOptions()), decoding_of(ViewState(target="Bonjour"), TranslateOptions())
    ('greedy', 'own')
    """
    return options.way or ("own" if choice.target.strip() else "greedy")


def pick_decoding(choice: ViewState, options: TranslateOptions, row: DeltaGenerator) -> str:
    """Draw the decoding controls in ``row`` and return the method; note if a typed translation is unused."""
    way = decoding_of(choice, options)
    with row:
        bound_widget(TranslateOptions, "way", st.segmented_control, shown=way, required=True)
        if way == "beam" or options.show == "beams":
            bound_widget(
                TranslateOptions,
                "width",
                st.number_input,
                shown=width_of(options),
                min_value=2,
                max_value=MOST_WIDTH,
                width=220,
            )
        bound_widget(TranslateOptions, "show", st.segmented_control, required=True)
    if way != "own" and choice.target.strip():
        show_notice(_("The translation typed above is unused. Choose “Your own” to read it."), "status")
    return way


def width_of(options: TranslateOptions) -> int:
    """Return the beam width, clipped to the range from 2 to MOST_WIDTH."""
    return max(2, min(options.width, MOST_WIDTH))
