"""The Translate page: what the model is asked, and the translation that the whole page is about."""

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
from ui.pages.translate.options import SHOWS, WAYS, TranslateOptions
from ui.run.notices import show_notice
from ui.run.page_model import PageModel, ask_model
from ui.state.view_state import ViewState

NEXT = "⟨next⟩"  # what the last step would write where the translation has not ended
MOST_TOP, MOST_WIDTH = 50, 8


@dataclass(frozen=True, eq=False)
class BeamSearch:
    """Beam search as far as it came: its steps from the first on."""

    steps: tuple[BeamStep, ...]

    @property
    def best(self) -> Beam:
        """The best way that has ended, else the best so far."""
        last = self.steps[-1]
        return (last.finished or last.beams)[0]


@dataclass(frozen=True, eq=False)
class Translation:
    """A source and its translation as the model reads both.

    Step k writes token k: the decoder's query at place k, which has read the start token and the tokens before k.
    """

    who: PageModel
    asked: NextTarget  # the question of the first step
    tokens: tuple[int, ...]  # as written; the token that ends it is the last of them where it has ended
    way: str
    trace: Trace
    search: BeamSearch | None = None  # what beam search went through, where it wrote the tokens

    @property
    def length(self) -> int:
        """Tokens without the one that ends it."""
        return 0 if self.trace.target is None else len(self.trace.target) - 1

    @property
    def is_finished(self) -> bool:
        """Whether the model has ended it."""
        return self.length < len(self.tokens)

    @property
    def pieces(self) -> tuple[str, ...]:
        """Its tokens as shown, without the one that ends it."""
        row = self.trace.target
        return () if row is None else row.pieces[1:]

    @property
    def text(self) -> str:
        """As a reader reads it."""
        return self.trace.target_text or ""

    def cell_label(self, cell: DisplayToken) -> str:
        """A cell of attention.alignment as it is called here: after a text that has not ended comes no end."""
        return NEXT if cell.text == END and cell.special and not self.is_finished else cell.text

    def question(self, at: int, top: int) -> NextTarget:
        """What the model is asked at step ``at``."""
        return replace(self.asked, written=self.tokens[:at], also=self.tokens[at : at + 1], top=top)

    def step(self, at: int, top: int) -> DecodingStep:
        """The model's answer at step ``at``. Raises Refusal."""
        return ask_model(self.question(at, top), _("Asking the model"))


def request_of(choice: ViewState, who: PageModel) -> NextTarget:
    """The question of the first step; raises Refusal for a text that no model can read."""
    return NextTarget(model=who.model, revision=who.revision, text=check_text(choice.text), cut=choice.cut)


def trace_of(asked: NextTarget, tokens: tuple[int, ...]) -> TraceRequest:
    """What is asked for the attention of exactly these tokens."""
    return TraceRequest(
        model=asked.model,
        revision=asked.revision,
        text=asked.text,
        cut=asked.cut,
        written=tokens,
        edits=asked.edits,
    )


def decoding_of(choice: ViewState, options: TranslateOptions) -> str:
    """How the translation comes about.

    >>> decoding_of(ViewState(), TranslateOptions()), decoding_of(ViewState(target="Bonjour"), TranslateOptions())
    ('greedy', 'own')
    """
    return options.way or ("own" if choice.target.strip() else "greedy")


def pick_decoding(choice: ViewState, options: TranslateOptions, row: DeltaGenerator) -> str:
    """The controls for it in a row; a sentence where a typed translation is not used."""
    way = decoding_of(choice, options)
    with row:
        bound_widget(
            TranslateOptions,
            "way",
            st.segmented_control,
            _("The translation is"),
            list(WAYS),
            shown=way,
            format_func=WAYS.get,
            required=True,
            help=_(
                "Greedy: the likeliest token at each step. Beam search: several ways are followed at once. Your own:"
                " what you typed under “Translation”, read as if the model had written it."
            ),
        )
        if way == "beam" or options.show == "beams":
            bound_widget(
                TranslateOptions,
                "width",
                st.number_input,
                _("Beams"),
                shown=width_of(options),
                min_value=2,
                max_value=MOST_WIDTH,
                width=110,
                help=_("How many ways are followed at once"),
            )
        bound_widget(
            TranslateOptions,
            "show",
            st.segmented_control,
            _("Look at"),
            list(SHOWS),
            format_func=SHOWS.get,
            required=True,
            help=_(
                "The alignment matrix, the decoding step by step, the beams as a tree, every head of every part,"
                " experiments, and heads scored on hand-aligned sentences"
            ),
        )
    if way != "own" and choice.target.strip():
        show_notice(_("The translation that is typed above is not read here; choose “Your own” for it."), "status")
    return way


def width_of(options: TranslateOptions) -> int:
    """How many beams are followed."""
    return max(2, min(options.width, MOST_WIDTH))
