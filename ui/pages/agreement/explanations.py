"""Attribution of a word or a label: the figure, its sentences, and the words to pick."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from attention.agreement import mean_maps, mean_row_distance, rollout, with_residual
from attention.measures import is_punctuation
from attention.trace import Trace
from attention.view import DisplayToken, View
from i18n import _
from inference.tasks.labels import TextLabel, WordTags
from ui.attribution.methods import EFFECT, AttributionRequest, AttributionSet, compute_attributions
from ui.attribution.views import (
    ExplainedLabel,
    describe_agreement,
    describe_prediction,
    draw_methods,
    draw_words,
    pick_label,
    places_of_largest,
    words_csv,
)
from ui.input.controls import bound_widget
from ui.pages.agreement.options import AgreementOptions
from ui.run.notices import show_notice
from ui.run.page_model import ask_model
from ui.run.traces import request_of
from ui.show.tables import download_button, page_provenance
from ui.show.text import format_small, join_sentences
from ui.state.examples import example_of
from ui.state.params import get_params
from ui.state.selection import select
from ui.state.session import set_view_state
from ui.state.view_state import ViewState
from viz.components.matrices.matrices import picked_cell
from viz.components.token_strip.token_strip import TokenChip
from viz.components.token_strip.token_strip import mount as mount_strip
from viz.components.token_strip.token_strip import picked_chip as picked_chip

STRIP, FIGURE = "agreement_strip", "agreement_figure"


def focus_of(choice: ViewState, view: View) -> tuple[int, list[str]]:
    """Return the view's cell of the focus word, and the notes about the reader's choice of it.

    The focus is the reader's word, else the example's, else the word of the strongest link. In a causal model
    without a choice it is the last word.
    """
    if view.causal and choice.focus is None:  # later words have no influence, so the last word has the most candidates
        return len(view.keys) - 1, []
    selection, notes = select(choice, view, example_of(choice.text, choice.pair))
    return int(selection["focus"]), [note for note in notes if "“focus”" in note]


def words_of(view: View, focus: int, options: AgreementOptions) -> list[int]:
    """Return the cells of the candidate words, without special tokens and punctuation.

    The focus word is included only if ``options.itself`` is set. Words after the focus are left out in a causal
    model.
    """
    return [
        at
        for at, cell in enumerate(view.keys)
        if not (cell.special or is_punctuation(cell))
        and (options.itself or at != focus)
        and (at <= focus or not view.causal)
    ]


def pick_focus(view: View, focus: int, sizes: dict[int, float]) -> None:
    """Draw the sentence as chips on which the reader picks the focus word.

    ``sizes`` maps cells to causal effects; a chip's shade is its effect over the largest.
    """
    most = max(sizes.values(), default=0.0) or 1.0
    chips = [
        TokenChip(
            cell.text,
            shade=sizes[at] / most if at in sizes else None,
            mark="chosen" if at == focus else "",
            special=cell.special,
            title=_("ablated: {size:.3f}", size=sizes[at]) if at in sizes else "",
        )
        for at, cell in enumerate(view.keys)
    ]
    mount_strip(chips, STRIP, title=_("Click the word to explain"), on_pick=lambda: _set(view, picked_chip(STRIP)))


def _set(view: View, cell: int | None) -> None:
    if cell is not None and cell < len(view.keys):
        set_view_state(focus=view.keys[cell].pieces[0])


def answers(choice: ViewState, trace: Trace, view: View, focus: int, words: Sequence[int]) -> AttributionSet:
    """Compute all attribution methods for the focus word."""
    runs = tuple(view.keys[at].pieces for at in words)
    return compute_attributions(AttributionRequest(trace, request_of(choice), view.keys[focus].pieces, runs))


def figure(ways: AttributionSet, view: View, focus: int, words: Sequence[int]) -> None:
    """Draw the verdict, the matrices (method, word) and (method, method), and the download button."""
    cells = [view.keys[at] for at in words]
    show_notice(_verdict(ways, cells, view.keys[focus]), role="status")
    draw_methods(ways, cells, FIGURE, lambda: _on_pick(view, words))
    st.caption(
        _(
            "Left: each row is a method, each column a word, as shares of the row. Right: rank correlation of "
            "each pair of methods; framed, the ablation effect."
        )
    )
    download_button(
        _("Save the table"),
        words_csv(ways, cells),
        "headlight-agreement.csv",
        _("Every word's value and share by each method, as CSV"),
        provenance=page_provenance(),
    )


def _on_pick(view: View, words: Sequence[int]) -> None:
    place = picked_cell(FIGURE)
    if place is not None and place[2] < len(words):
        _set(view, words[place[2]])


def _verdict(ways: AttributionSet, cells: Sequence[DisplayToken], focus: DisplayToken) -> str:
    """Describe the word with the largest effect when it is left out, and the methods that agree."""
    effect = ways.values(EFFECT)
    if effect is None:
        return _(
            "{ways} methods explain “{word}”; the ablation effect is missing.",
            ways=len(ways.attributions),
            word=focus.text,
        )
    best = places_of_largest(effect)
    changes = (
        _(
            "Of {n} words, ablating “{left_out}” changes the vector of “{word}” most (1 − cosine = {size}).",
            left_out=cells[best[0]].text,
            word=focus.text,
            n=len(effect),
            size=format_small(effect[best[0]]),
        )
        if len(best) == 1
        else _(
            "{tied} of {n} words tie: ablating any of them changes the vector of “{word}” most (1 − cosine = {size}).",
            tied=len(best),
            word=focus.text,
            n=len(effect),
            size=format_small(effect[best[0]]),
        )
    )
    return join_sentences(changes, describe_agreement(ways))


def collapse(trace: Trace) -> None:
    """Show how much the rows of rollout differ between words, compared with last-layer attention."""
    maps = mean_maps(trace)
    show_notice(
        _(
            "Rollout rows differ by {rollout:.2f} between words (total variation distance, 0 to 1); rows of the "
            "last layer's attention by {last:.2f}.",
            rollout=mean_row_distance(rollout(with_residual(maps))),
            last=mean_row_distance(maps[-1]),
        ),
        role="status",
    )


def count_itself() -> None:
    """Draw the toggle that includes the focus word among the candidate words."""
    bound_widget(AgreementOptions, "itself", st.toggle)


def draw_label(choice: ViewState, trace: Trace) -> None:
    """Draw the predicted label, the control for the label to explain, and its attribution to words.

    Raise UserError if the model lacks the head.
    """
    request, options = request_of(choice), get_params(AgreementOptions)
    kind = WordTags if options.explain == "tag" else TextLabel
    said = ask_model(
        kind(request.model, request.revision, text=request.text, pair=request.pair, cut=request.cut),
        _("Asking the model"),
    )
    index = 0
    if options.explain == "tag":
        view = View(trace, words=True)
        focus = focus_of(choice, view)[0]
        pick_focus(view, focus, {})
        run = view.keys[focus].pieces
        index = next((at for at, place in enumerate(said.places) if place.run == run), 0)
    asked = ExplainedLabel(request, said, index, options.explain == "tag", options.label)
    show_notice(describe_prediction(asked), role="status")
    pick_label(AgreementOptions, asked)
    draw_words(asked, trace)
