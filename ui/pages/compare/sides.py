"""The two readings (a text read by a model): construction, alignment and names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property

import streamlit as st

from attention.comparison import Aligned, AlignedViews, align, same_heads
from attention.edits import EditSet
from attention.trace import Trace
from attention.view import View
from i18n import _, gettext_lazy, translate
from i18n.lists import format_and_list
from inference import TraceRequest, UserError
from inference.byte_cache import ByteLru
from inference.catalogue.listing import ModelCard
from inference.files import sources
from ui.ablation.edits import describe_edits
from ui.input.second_text import pick_second_text
from ui.input.unknown_words import require_readable
from ui.pages.compare.options import CompareOptions, pick_edits, pick_heads, pick_second_model, pick_words
from ui.run import fine_tuning
from ui.run.downloading import offer_or_show
from ui.run.notices import show_notice
from ui.run.services import ViewOptions, get_backend, get_trace_store
from ui.run.traces import displayed_request, request_of
from ui.state.params import get_params
from ui.state.session import get_view_state
from ui.state.view_state import ViewState

KEPT = 2**25  # bytes of cached alignments
PARTS = {"encoder": gettext_lazy("encoder"), "decoder": gettext_lazy("decoder"), "cross": gettext_lazy("cross")}
A_PAIR = 200  # approximate bytes of an aligned pair of cells


@dataclass(frozen=True, eq=False)
class Sides:
    """Two readings (a text read by a model) with aligned words, and their names."""

    beside: AlignedViews  # of the words that are compared
    look: ViewOptions
    options: CompareOptions
    models: tuple[str, str]  # display titles of the models
    readers: tuple[tuple[str, str], tuple[str, str]]  # name and revision of each model
    edits: EditSet = ()
    best: bool = False  # whether heads are paired by similarity
    requests: tuple[TraceRequest, TraceRequest] | None = None  # of both readings; None if the first has no request

    @property
    def two_models(self) -> bool:
        """Return True if the second reading is by another model."""
        return self.options.differs == "model"

    def label(self, pair: int, *, key: bool) -> str:
        """Return the word of an aligned pair; if its two words differ, return both, joined by an arrow.

        ``pair`` is the index of a pair of keys, or of queries if ``key`` is False.
        """
        aligned = self.beside.keys if key else self.beside.queries
        left, right = (self._text(side, aligned.pairs[pair][side], key=key) for side in (0, 1))
        same = self.two_models or left.casefold() == right.casefold()
        return left if same else f"{left} → {right}"

    def names(self) -> tuple[str, str]:
        """Return phrases that follow a number and name the readings, such as “in the first text”.

        If the texts differ in a single word, the phrases quote that word.
        """
        if self.two_models:
            return _("in {model}", model=self.models[0]), _("in {model}", model=self.models[1])
        if self.options.differs == "edit":
            edits = describe_edits(self.edits, self.beside.left)
            return _("without ablation"), _("with {edits}", edits=edits) if edits else _("without ablation")
        if self.changed_word is None:
            return _("in the first text"), _("in the second")
        one, other = (_("with {edits}", edits=f"“{word}”") for word in self.changed_word)
        return one, other

    @cached_property
    def changed_word(self) -> tuple[str, str] | None:
        """Return the two words if the texts differ in a single word, else None."""
        words = [tuple(self._text(side, pair[side], key=True) for side in (0, 1)) for pair in self.beside.keys.pairs]
        other = [(one, two) for one, two in words if one.casefold() != two.casefold()]
        return other[0] if len(other) == 1 and not any(self.unmatched_keys) else None

    @cached_property
    def unmatched_keys(self) -> tuple[list[int], list[int]]:
        """Return the keys of the first and of the second reading that have no counterpart."""
        first, second = (
            sorted(
                set(range(len(view.keys))) - {cell for pair in self.beside.keys.pairs for cell in range(*pair[side])}
            )
            for side, view in enumerate((self.beside.left, self.beside.right))
        )
        return first, second

    def _text(self, side: int, run: tuple[int, int], *, key: bool) -> str:
        view = (self.beside.left, self.beside.right)[side]
        cells = (view.keys if key else view.queries)[slice(*run)]
        return "".join(cell.text for cell in cells)


def sides_of(choice: ViewState, trace: Trace, look: ViewOptions, options: CompareOptions) -> Sides | None:
    """Draw the widgets that choose the second reading; return both readings with their names.

    Return None with a notice if the second reading is missing or cannot be compared with the first.
    """
    left = get_trace_store().view(trace, look)
    asked = request_of(choice)
    models = (_title(choice.model, choice.revision),) * 2
    edits: EditSet = ()
    reader, place = choice, st.container()
    if options.differs == "text":
        other = pick_second_text(CompareOptions, choice, options.other, differs="text")
        if not other:
            show_notice(_("Type a second text, or pick a ready pair."), role="status")
            return None
        _says_too_long()
        asked = replace(asked, text=other, target=None)
    elif options.differs == "model":
        column, place = st.columns(2)
        with column:
            model, revision = pick_second_model(choice, options)
        reader = replace(choice, model=model, revision=revision)
        asked = request_of(reader)
        models = (models[0], _title(model, revision))
    else:
        edits = pick_edits(options, left)
        # A translation is forced, so that both readings are of the same text.
        asked = replace(asked, edits=edits, target=choice.target or trace.target_text)
    second = _read(asked, reader)
    if second is None or not _fits(trace, second, look, models):
        return None
    right = get_trace_store().view(second, look)
    if not left.keys or not right.keys or not left.queries or not right.queries:
        show_notice(
            _("Only hidden special tokens are left."),
            role="status",
        )
        return None
    aligned = _align_cached(left, right, look)
    beside = _pick_words(aligned) if options.differs == "text" else aligned
    options = replace(options, shared=beside is not aligned)  # texts without replaced words draw no widget for it
    with place:
        best = options.differs == "model" and pick_heads(same_heads(left, right) is not None)
    readers = (choice.model, choice.revision), (reader.model, reader.revision)
    first = displayed_request(choice, trace)
    requests = None if first is None else (first, asked)
    return Sides(beside, look, options, models, readers, edits, best, requests)


def _read(asked: TraceRequest, reader: ViewState) -> Trace | None:
    """Return the trace of the second reading, or None with a notice if it fails."""
    try:
        with st.spinner(_("Running the model"), show_time=True):
            return require_readable(get_backend().trace(asked))
    except UserError as refusal:
        if refusal.way_out == "download" or reader.model == get_view_state().model:
            offer_or_show(refusal, reader)
        else:  # the error's ways out would change the first reading
            show_notice(refusal.message)
        return None


def aligned_code(readings: str, shared: bool) -> str:
    """Return notebook code, an expression, for the aligned views of two readings.

    ``readings`` is code for the two requests, and ``shared`` leaves out replaced words. The code also uses
    AlignedViews, View and ``look``, which is the result of ``view_arguments``.
    """
    views = f"AlignedViews.align(*(View(backend.trace(reading), *look) for reading in {readings}))"
    return f"{views}.shared_words()" if shared else views


def view_arguments(look: ViewOptions) -> tuple[str | None, bool, bool, bool]:
    """Return view options as the arguments of View that follow the trace."""
    return look.part or None, look.words, look.special, look.renormalise


@cache
def _alignment_cache() -> ByteLru[tuple[Aligned, Aligned]]:
    return ByteLru(KEPT)


def _align_cached(left: View, right: View, look: ViewOptions) -> AlignedViews:
    """Return both views with aligned cells; recent alignments are cached."""
    key = (left.trace.id, right.trace.id, look)
    found = _alignment_cache().get_or_make(
        key, lambda: align(left, right), lambda made: A_PAIR * sum(len(one.pairs) for one in made)
    )
    return AlignedViews(left, right, *found)


def _pick_words(beside: AlignedViews) -> AlignedViews:
    """Draw the widget that leaves out replaced words if the texts have any; return the words that are compared."""
    shared = beside.shared_words()
    if (shared.queries, shared.keys) == (beside.queries, beside.keys):
        return beside
    return shared if pick_words() else beside


def _fits(left: Trace, right: Trace, look: ViewOptions, models: tuple[str, str]) -> bool:
    """Return whether the second reading has the viewed stack, with a notice if not."""
    part = look.part or left.part
    if part in right.parts:
        return True
    show_notice(
        _(
            "{first} shows {part} attention; {second} has only {parts}. Pick another model or stack.",
            first=models[0],
            part=translate(PARTS[part]),
            second=models[1],
            parts=format_and_list([PARTS[name] for name in right.parts]),
        )
    )
    return False


def _says_too_long() -> None:
    if get_params(CompareOptions).other and "other" not in st.query_params:
        show_notice(_("These texts are too long for a link."), role="status")


def _title(model: str, revision: str) -> str:
    cards: dict[str, ModelCard] = {card.id: card for card in fine_tuning.cards(model)}
    title = cards[model].title if model in cards else model
    return f"{title} ({revision})" if revision and not sources.is_taught(model) else title
