"""The translation on the page: its requests, its decoding, the visitor's own translation, and a reference."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.alignment import END, CrossRowConvention, alignment
from attention.edits import Ablate, places_of, random_sets
from attention.trace import Trace
from attention.view import DisplayToken
from i18n import _, gettext_lazy
from inference import TraceRequest, UserError
from inference.tasks.decoding import Beam, BeamStep, ForcedTarget, NextBeams, NextTarget
from inference.text.encoding import check_text
from probing.alignments import AlignmentRun, AlignmentState, advance, load
from ui.input.controls import bound_widget
from ui.pages.translate.options import CrossHead, TranslateOptions
from ui.run.notices import show_notice
from ui.run.page_model import PageModel, ask_model
from ui.run.progress import stoppable_steps
from ui.run.services import get_backend
from ui.show.tables import page_provenance
from ui.show.text import format_semicolon_list
from ui.state.view_state import ViewState, example_of
from viz.paper.notebook import Computation

NEXT = "⟨next⟩"  # label of the token after an unfinished translation
MOST_TOP, MOST_WIDTH = 50, 8


@dataclass(frozen=True, eq=False)
class BeamSearch:
    """The steps of a beam search so far, each with its kept and dropped beams."""

    steps: tuple[BeamStep, ...]

    @property
    def best(self) -> Beam:
        """Return the best finished beam, else the best unfinished beam."""
        last = self.steps[-1]
        return (last.finished or last.beams)[0]


@dataclass(frozen=True, eq=False)
class Translation:
    """A source text and its translation, with the trace of both.

    Step k writes token k. Its query is at decoder position k, because the decoder's input begins with the start token.
    ``way`` is the decoding method: "greedy", "beam" or "own" for a translation that the visitor typed.
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
        """Return the label of a displayed word or token; the end of an unfinished text is labelled NEXT."""
        return NEXT if cell.text == END and cell.special and not self.is_finished else cell.text

    def provenance(self, **settings: Any) -> dict[str, Any]:
        """Return the provenance of numbers about the translation: its model, texts, decoding and ``settings``."""
        return {**page_provenance(), "target": self.text, "decoding": self.way, **settings}

    def question(self, at: int, top: int) -> NextTarget:
        """Return the request for step ``at`` with ``top`` candidates, which also scores the written token."""
        return replace(self.asked, written=self.tokens[:at], also=self.tokens[at : at + 1], top=top)


def request_of(choice: ViewState, who: PageModel) -> NextTarget:
    """Return the request for the first step of a translation; raise UserError for an invalid text."""
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
    """Return the decoding method: the chosen method, else "own" if a translation is typed, else "greedy".

    >>> decoding_of(ViewState(), TranslateOptions()), decoding_of(ViewState(target="Bonjour"), TranslateOptions())
    ('greedy', 'own')
    """
    return options.way or ("own" if choice.target.strip() else "greedy")


def pick_decoding(choice: ViewState, options: TranslateOptions, row: DeltaGenerator) -> str:
    """Draw the widgets for decoding in ``row`` and return the method.

    Show a note if a translation is typed but not used.
    """
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
        show_notice(_("Your translation above is unused. Choose “Your own” to read it."), "status")
    return way


def width_of(options: TranslateOptions) -> int:
    """Return the beam width, clipped to the range from 2 to MOST_WIDTH."""
    return max(2, min(options.width, MOST_WIDTH))


MOST_WRITTEN = 200  # longest translation in tokens


def run_translation(choice: ViewState, asked: NextTarget, who: PageModel, way: str, width: int) -> Translation | None:
    """Translate the text, and return the translation with its trace.

    ``way`` is "greedy", "beam" with ``width`` beams, or "own" for the translation that the reader typed. If that is
    missing, show a notice and return None. Raise UserError if the model cannot read the text.
    """
    if way == "own":
        if not choice.target.strip():
            show_notice(_("Type your own translation above."), "status")
            return None
        trace = _read(forced_request(asked, choice.target))
        row = trace.target
        tokens = () if row is None else row.ids[1:]
        return Translation(who, asked, tokens, way, trace)
    search = beam_tokens(asked, width) if way == "beam" else None
    tokens = greedy_tokens(asked) if search is None else search.best.tokens
    return Translation(who, asked, tokens, way, _read(trace_of(asked, tokens)), search)


def forced_request(asked: NextTarget, target: str) -> TraceRequest:
    """Return the trace request for a given translation; raise UserError for an invalid target text."""
    return TraceRequest(
        model=asked.model,
        revision=asked.revision,
        text=asked.text,
        target=check_text(target, gettext_lazy("target text")),
        cut=asked.cut,
        edits=asked.edits,
    )


def greedy_tokens(asked: NextTarget) -> tuple[int, ...]:
    """Return the tokens of the greedy translation and show its text as it grows; may raise UserError."""
    step = ask_model(asked, _("Running the model"))
    source = len(step.source) if step.source is not None else 0
    most = max(1, min(step.room, MOST_WRITTEN, 2 * source + 20))
    place, tokens, text = st.empty(), list[int](), ""
    for at in stoppable_steps(f"{asked.key}:greedy", most, _("Running the model")):
        if step.ended or step.room == 0:
            continue  # run through the remaining steps, so that the progress bar disappears
        if at:
            with place.container():
                show_notice(f"{text} …", "none")
        tokens.append(step.greedy.token)
        step = get_backend().predict(replace(asked, written=tuple(tokens)))
        text = step.text
    place.empty()
    return tuple(tokens)


def beams_request(asked: NextTarget, width: int) -> NextBeams:
    """Return the request for the first step of a beam search."""
    return NextBeams(
        model=asked.model, revision=asked.revision, text=asked.text, cut=asked.cut, edits=asked.edits, width=width
    )


def beam_tokens(asked: NextTarget, width: int) -> BeamSearch:
    """Run beam search and show the best beam as it grows; raise UserError if it finds no translation."""
    question = beams_request(asked, width)
    first = ask_model(question, _("Running the model"))
    steps, place = [first], st.empty()
    doing = _("Running the model")
    for _at in stoppable_steps(f"{question.key}:beams", MOST_WRITTEN, doing):
        last = steps[-1]
        if last.done or not last.beams:
            continue
        with place.container():
            show_notice(f"{last.beams[0].text} …", "none")
        steps.append(get_backend().predict(replace(question, beams=last.beams, finished=last.finished)))
    place.empty()
    if not (steps[-1].finished or steps[-1].beams):
        raise UserError(gettext_lazy("Beam search found no translation. Choose greedy."))
    return BeamSearch(tuple(steps))


def _read(request: TraceRequest) -> Trace:
    with st.spinner(_("Running the model"), show_time=True):
        return get_backend().trace(request)


FRENCH = gettext_lazy("English to French")  # the language's name in model cards


def writes_french(model: str) -> bool:
    """Return True if a model is listed as a translator from English to French."""
    return any(card.id == model and card.language == FRENCH for card in get_backend().models())


def reference(source: str, written: str) -> str:
    """Return a note with the reference translation of an example, and the words in which ``written`` differs.

    Return "" if there is no reference, or if the translations are equal.

    >>> reference("A text of my own.", "Un texte.")
    ''
    """
    french = (example_of(source, "") or {}).get("french", "")
    if not french or _letters(french) == _letters(written):
        return ""
    return _("A correct translation: “{french}” Changed: {changes}.", french=french, changes=_changes(written, french))


def _changes(written: str, correct: str) -> str:
    """Return the replaced words of a translation and their corrections.

    >>> _changes("parce qu'elle était en route.", "parce qu'il était large.")
    '“elle” → “il”; “en route” → “large”'
    """
    before, after = (re.findall(r"\w+", text) for text in (written, correct))
    edits = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    pairs = [(before[a:b], after[c:d]) for kind, a, b, c, d in edits if kind != "equal"]
    return format_semicolon_list([f"“{' '.join(old)}” → “{' '.join(new)}”" for old, new in pairs])


def _letters(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def describe_forcing(translation: Translation) -> str:
    """Describe how many tokens of a typed translation are the model's first choice (teacher forcing).

    Return "" if the model wrote the translation itself. May raise UserError.
    """
    if translation.way != "own" or not translation.tokens:
        return ""
    asked = translation.asked
    found = ask_model(
        ForcedTarget(
            model=asked.model, revision=asked.revision, text=asked.text, written=translation.tokens, cut=asked.cut
        ),
        _("Running the model"),
    )
    first = int((found.likeliest[0] == translation.tokens).sum())
    return _(
        "Teacher forcing: each step reads your tokens. {first} of {tokens} are the model's first choice.",
        first=first,
        tokens=len(translation.tokens),
    )


# Code of notebooks.
HEADS = """\
trace = backend.trace(reading)
heads = places_of(trace, part)
"""
CANDIDATES = """\
chances = [found.probability for found in backend.predict(request).candidates]
numbers = [*chances, max(0, 1 - sum(chances))]
"""
CHANGES = """\
logs = backend.predict(replace(request, edits=((), *sets))).logs.sum(axis=1)
numbers = logs[1:] - logs[0]
"""
ABLATIONS = "sets = [(Ablate(*head, part),) for head in heads]\n"
RANDOM = "sets = random_sets(edits, heads, keys, many, seed)\n"
BEAMS = """\
steps = [backend.predict(request)]
while len(steps) < length:
    steps.append(backend.predict(replace(request, beams=steps[-1].beams, finished=steps[-1].finished)))
branches = [branch for step in steps for branch in step.branches if branch.fate in fates]
numbers = [branch.score for branch in branches]
"""
MATRICES = "alignment(trace, *head, words, CrossRowConvention(read_at), special).weights"
SCORES = """\
run, state = AlignmentRun(load(), model, revision), AlignmentState()
for _chunk in run.chunks():
    state = advance(backend, run, state)
numbers = 100 * state.all().share[convention]
"""


def changes_computation(
    sets: str, translation: Translation, request: ForcedTarget, part: str, **names: Any
) -> Computation:
    """Return notebook code that computes how each of several sets of edits changes a translation's log-probability.

    ``sets`` is the code that makes the edit sets, ABLATIONS or RANDOM, and ``names`` has the values it uses. ``part``
    is the stack of the heads.
    """
    return Computation(
        f"{HEADS}{sets}{CHANGES}", reading=trace_of(translation.asked, translation.tokens), request=request, part=part,
        places_of=places_of, replace=replace, Ablate=Ablate, random_sets=random_sets, **names)  # fmt: skip


def beams_computation(request: NextBeams, search: BeamSearch, fates: Sequence[str]) -> Computation:
    """Return notebook code for the scores of the branches with these ``fates``; ``request`` is for the first step."""
    return Computation(BEAMS, request=request, length=len(search.steps), fates=list(fates), replace=replace)


def matrix_computation(
    translation: Translation, head: CrossHead, words: bool, special: bool, read_at: CrossRowConvention
) -> Computation:
    """Return notebook code for the alignment matrix of a head, or of the mean over all cross-attention heads."""
    kept = "" if head.mean else f"heads = [{(head.layer, head.head)}]\n"
    return Computation(
        f"{HEADS}{kept}numbers = np.mean([{MATRICES} for head in heads], axis=0)",
        reading=trace_of(translation.asked, translation.tokens), part="cross", words=words, special=special,
        read_at=read_at.value, places_of=places_of, alignment=alignment,
        CrossRowConvention=CrossRowConvention)  # fmt: skip


def scores_computation(run: AlignmentRun, state: AlignmentState, convention: int) -> Computation | None:
    """Return notebook code for the percentage of manually linked target words that each head aligns correctly.

    Return None for the visitor's own sentences and for a run that was stopped. ``convention`` is an index of READINGS.
    """
    if run.alignments.digest != load().digest or state.done < len(run.chunks()):
        return None
    return Computation(
        SCORES, model=run.model, revision=run.revision, convention=convention,
        AlignmentRun=AlignmentRun, AlignmentState=AlignmentState, advance=advance, load=load)  # fmt: skip
