"""The view Agreement: attribution methods compared with the effect of ablating words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from attention.agreement import mean_maps, mean_row_distance, rollout, with_residual
from attention.measures import is_punctuation
from attention.trace import Trace
from attention.view import DisplayToken, View
from i18n import _, gettext_lazy
from inference import UserError
from inference.errors import too_many_tokens
from inference.tasks.attribution import MOST_TOKENS, WordGradients, WordPath
from inference.tasks.labels import TextLabel, WordTags
from ui.attribution.methods import (
    EFFECT,
    MOST_MISSED,
    AttributionRequest,
    AttributionSet,
    compute_attributions,
    shares_computation,
)
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
from ui.input.composing import compose
from ui.input.controls import bound_widget
from ui.run.notices import show_error, show_notice
from ui.run.page_model import ask_model, kind_of, pick_single_text_model
from ui.run.traces import read_trace, request_of
from ui.show.sections import reading_help
from ui.show.tables import download_table, request_provenance
from ui.show.text import format_comma_list, format_small, join_sentences
from ui.state.params import get_params
from ui.state.selection import select
from ui.state.session import get_view_state, set_view_state
from ui.state.view_state import ViewState, example_of
from viz.components.matrices.matrices import picked_cell
from viz.components.token_strip.token_strip import TokenChip
from viz.components.token_strip.token_strip import mount as mount_strip
from viz.components.token_strip.token_strip import picked_chip as picked_chip
from viz.export import format_value
from viz.options import option

EXPLAINED = {
    "vector": gettext_lazy("A word's vector"),
    "label": gettext_lazy("Label of the text"),
    "tag": gettext_lazy("Tag of a word"),
}


@dataclass(frozen=True)
class AgreementOptions:
    """Options of the page Agreement."""

    explain: str = option(
        "vector",
        label=gettext_lazy("Output to explain"),
        help=gettext_lazy("A label needs a classification head; “Fine-tune a model” trains one."),
        choices=EXPLAINED,
    )
    label: int | None = None  # index of the explained label; None is the likeliest label
    # Include the focus word among the candidate words.
    itself: bool = option(
        False,
        label=gettext_lazy("Include word itself"),
        help=gettext_lazy("Adds the word's own share, which the residual stream enlarges."),
    )


STRIP, FIGURE = "agreement_strip", "agreement_figure"


def focus_of(choice: ViewState, view: View) -> tuple[int, list[str]]:
    """Return the index of the explained word in ``view.keys``, and notes about an invalid selection.

    It is the word that the visitor selected, else the word of the bundled example, else the word with the strongest
    link. In a causal model without a selected word, it is the last word.
    """
    if view.causal and choice.focus is None:  # later words have no influence, so the last word has the most candidates
        return len(view.keys) - 1, []
    selection, notes = select(choice, view, example_of(choice.text, choice.pair))
    return int(selection["focus"]), [note for note in notes if "“focus”" in note]


def words_of(view: View, focus: int, options: AgreementOptions) -> list[int]:
    """Return the indices of the words to which the vector of the focus word is attributed.

    Special tokens and punctuation are left out, and in a causal model words after the focus. The focus word is included
    only if ``options.itself`` is set.
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

    ``sizes`` maps words to their causal effects; a chip is shaded by its effect relative to the largest.
    """
    most = max(sizes.values(), default=0.0) or 1.0
    chips = [
        TokenChip(
            cell.text,
            shade=sizes[at] / most if at in sizes else None,
            mark="chosen" if at == focus else "",
            special=cell.special,
            title=f"{sizes[at]:.3f}" if at in sizes else "",
        )
        for at, cell in enumerate(view.keys)
    ]
    mount_strip(chips, STRIP, title=_("Click a word"), on_pick=lambda: _set(view, picked_chip(STRIP)))


def _set(view: View, cell: int | None) -> None:
    if cell is not None and cell < len(view.keys):
        set_view_state(focus=view.keys[cell].pieces[0])


def question_of(choice: ViewState, trace: Trace, view: View, focus: int, words: Sequence[int]) -> AttributionRequest:
    """Return the request for the attributions of the focus word's vector."""
    runs = tuple(view.keys[at].pieces for at in words)
    return AttributionRequest(trace, request_of(choice), view.keys[focus].pieces, runs)


def figure(question: AttributionRequest, ways: AttributionSet, view: View, focus: int, words: Sequence[int]) -> None:
    """Draw how much each word contributes to the vector of a word, by every attribution method.

    Two matrices are drawn: the scores (method, word) in ``ways``, and the rank correlation of each pair of methods
    (method, method). ``focus`` is the index of the explained word, and ``words`` are the indices of the words with a
    score.
    """
    cells = [view.keys[at] for at in words]
    if verdict := _verdict(ways, cells, view.keys[focus]):
        show_notice(verdict, role="status")
    computation = shares_computation(question, ways)
    about = _provenance(question, view.keys[focus], focus in words)
    draw_methods(
        ways, cells, FIGURE, lambda: _on_pick(view, words), about=tuple(about.items()), computation=computation
    )
    st.caption(_("Framed: the ablation effect."))
    download_table(words_csv(ways, cells), "headlight-agreement.csv", provenance=about)


def _provenance(question: AttributionRequest, focus: DisplayToken, with_itself: bool) -> dict[str, str]:
    """Return the provenance of the attributions of a word's vector; ``with_itself`` if the word is a candidate too."""
    first, stop = question.focus
    tokens = f"token {first}" if stop - first == 1 else f"tokens {first} to {stop - 1}"
    return request_provenance(question.request) | {
        "explained": f"last vector of “{focus.text}” ({tokens}, from 0)",
        "word_itself": format_value(with_itself),
        "gradient_directions": f"{WordGradients.directions}, fixed seed",
        "integrated_gradients": f"cosine with the final vector, {WordPath.steps} steps from zero embeddings",
    }


def _on_pick(view: View, words: Sequence[int]) -> None:
    place = picked_cell(FIGURE)
    if place is not None and place[2] < len(words):
        _set(view, words[place[2]])


def _verdict(ways: AttributionSet, cells: Sequence[DisplayToken], focus: DisplayToken) -> str:
    """Describe the word with the largest effect when it is left out, and the methods that agree; "" without effects."""
    effect = ways.values(EFFECT)
    if effect is None:
        return ""
    best = places_of_largest(effect)
    changes = _(
        "Of {n} words, masking {masked} changes the vector of “{word}” most (1 − cosine = {size}).",
        n=len(effect),
        masked=format_comma_list([f"“{cells[at].text}”" for at in best]),
        word=focus.text,
        size=format_small(effect[best[0]]),
    )
    return join_sentences(changes, describe_agreement(ways))


def collapse(trace: Trace) -> None:
    """Show how much the rows of attention rollout, and of last-layer attention, differ between words."""
    maps = mean_maps(trace)
    show_notice(
        _(
            "Attention rollout's rows differ by {rollout:.2f} between words (total variation, 0 to 1), "
            "rows of the last layer by {last:.2f}.",
            rollout=mean_row_distance(rollout(with_residual(maps))),
            last=mean_row_distance(maps[-1]),
        ),
        role="status",
    )


def count_itself() -> None:
    """Draw the toggle that includes the explained word itself in its own attribution."""
    bound_widget(AgreementOptions, "itself", st.toggle)


def draw_label(choice: ViewState, trace: Trace) -> None:
    """Draw the predicted label, the widget that selects the label to explain, and its attribution to words.

    Raise UserError if the model lacks the task head.
    """
    request, options = request_of(choice), get_params(AgreementOptions)
    kind = WordTags if options.explain == "tag" else TextLabel
    said = ask_model(
        kind(request.model, request.revision, text=request.text, pair=request.pair, cut=request.cut),
        _("Running the model"),
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


def how_to_read() -> None:
    """Draw the help text, which explains the attribution methods (the rows of the figure)."""
    with reading_help():
        st.markdown(
            _(
                "- Rows estimate each word's effect on the chosen word's last vector. *Ablated* measures it by "
                "masking the word in every layer. Methods of another order do not explain it "
                "([arXiv:1902.10186](https://arxiv.org/abs/1902.10186), "
                "[arXiv:1908.04626](https://arxiv.org/abs/1908.04626)).\n"
                "- *Attention*: last layer, mean over heads. *Attention rollout*, *Attention flow*: all layers, half "
                "residual stream ([arXiv:2005.00928](https://arxiv.org/abs/2005.00928)). *Norms*: last layer "
                "([arXiv:2004.10102](https://arxiv.org/abs/2004.10102)). *Value zeroing rollout*: "
                "all layers ([arXiv:2301.12971](https://arxiv.org/abs/2301.12971)).\n"
                "- *Gradient*: the Jacobian in {directions} random directions (fixed seed). *Integrated gradients*, of "
                "the cosine with the final vector: {steps} steps from zero embeddings, omitted at errors over "
                "{missed:.0%} ([arXiv:1703.01365](https://arxiv.org/abs/1703.01365)).",
                directions=WordGradients.directions,
                steps=WordPath.steps,
                missed=MOST_MISSED,
            )
        )


def draw(choice: ViewState, trace: Trace) -> None:
    """Draw the widget that selects the output to explain, then the explanation by every attribution method."""
    if choice.opened:
        show_notice(_("A saved trace has attention only. Close it to run its text."))
        return
    if trace.target is not None:
        show_notice(_("{name} reads one text and writes another. Pick an encoder or decoder.", name=trace.model.name))
        return
    if len(trace.source) > MOST_TOKENS:
        show_error(too_many_tokens(len(trace.source), MOST_TOKENS))
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
        show_notice(_("Three words needed: choose a later word or a longer text."))
        pick_focus(view, focus, {})
        return
    strip = st.container()
    count_itself()
    question = question_of(choice, trace, view, focus, words)
    ways = compute_attributions(question)
    effect = ways.values(EFFECT)
    with strip:
        pick_focus(view, focus, {} if effect is None else dict(zip(words, map(float, effect), strict=True)))
    for problem in ways.problems:
        show_notice(problem, role="status")
    if ways.attributions:
        figure(question, ways, view, focus, words)
        collapse(trace)


def draw_view() -> None:
    """Draw the view Agreement in the page."""
    selected = get_view_state()
    answerer = pick_single_text_model(selected)
    chosen = answerer.answer_for(selected)
    compose(selected, kind_of(chosen), answerer)
    read_now = read_trace(chosen)
    if read_now is not None:
        draw(chosen, read_now)
