"""The view Break the head: a claim about a head, sentences that refute it, and cards to save them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import streamlit as st

from attention.counterexamples import LinkTest, Outcome, measure_links
from attention.head_names import head_label
from attention.head_search import LEAST
from attention.mask import FloatArray
from attention.spreadsheet import column_names
from attention.trace import Trace
from attention.view import View
from classroom.cards import Card
from classroom.errors import NotInClass
from i18n import _, gettext_lazy, translate
from probing.pronoun_heads import PronounHeadScore, stored_pronoun_head
from ui.classroom import shared_address
from ui.input.composing import compose
from ui.input.controls import bound_widget, head_of, keep_head
from ui.input.probes import span_of, written_word
from ui.pages.break_head.question import ROLES, BreakHeadOptions, NounQuestion, Trial, find_words, run_trials
from ui.run.classes import store, visitor_secret
from ui.run.notices import show_notice
from ui.run.page_model import kind_of
from ui.run.traces import read_trace, view_computation
from ui.show.card_list import draw_board, draw_card_list
from ui.show.chart import About, draw_chart, theme
from ui.show.live_fragment import fragment_state
from ui.show.sections import open_section, reading_help
from ui.show.tables import csv_table, download_button, draw_table, page_provenance
from ui.show.text import in_points, join_sentences
from ui.state import classroom
from ui.state.params import get_params, set_params
from ui.state.selection import begin_with
from ui.state.session import get_view_state, typing_origin
from ui.state.view_state import ViewState
from ui.state.visitor_values import VisitorValues
from viz.components.token_strip.token_strip import Mark, StripLine, StripLines, TokenChip, mount, picked_chip
from viz.figures.head_maps import head_map
from viz.paper.notebook import Computation

OUTCOMES: dict[Outcome, str] = {
    "correct": gettext_lazy("correct"),
    "fooled": gettext_lazy("fooled"),
    "undecided": gettext_lazy("undecided"),
}


def describe_claim(score: PronounHeadScore | None, layer: int, head: int) -> str:
    """Return the claim that a head links pronouns, with its score on held-out sentences if it is known."""
    claim = _("Claim: head {layer}-{head} links pronouns to nouns.", layer=layer, head=head)
    if score is None:
        return claim
    return join_sentences(
        claim,
        _(
            "Correct in {hits} of {links} held-out sentences; rule “{rule}”: {by_rule}, chance: {chance:g}.",
            hits=score.hits[layer][head],
            links=score.links,
            rule=translate(score.rule),
            by_rule=round(score.links * score.rule_accuracy / 100),
            chance=score.links / 2,
        ),
    )


def describe_test(test: LinkTest, layer: int, head: int, names: tuple[str, str, str], is_known: bool) -> str:
    """Return the result on the visitor's sentence; ``names`` are the pronoun, the right noun and the other noun.

    Without a known right noun, the result is both weights without a verdict.
    """
    source, right, other = names
    values = {
        "layer": layer,
        "head": head,
        "source": source,
        "right": right,
        "other": other,
        "right_weight": f"{test.right:.0%}",
        "other_weight": f"{test.other:.0%}",
    }
    if not is_known:
        return _(
            "Head {layer}-{head}: “{source}” gives “{right}” {right_weight} and “{other}” {other_weight}. "
            "Which noun is right?",
            **values,
        )
    return _(
        "Head {layer}-{head} is {outcome}: “{source}” gives “{right}” {right_weight} and “{other}” {other_weight}.",
        outcome=translate(OUTCOMES[test.outcome]),
        **values,
    )


def describe_trials(test: LinkTest, trials: Sequence[Trial], names: tuple[str, str, str]) -> str:
    """Describe the test on other sentences: with both nouns swapped, and reworded.

    The sentences state which noun the head prefers after the swap, and how many rewordings have the outcome of
    ``test``. ``names`` are the pronoun, the right noun and the other noun.
    """
    parts = []
    swapped = next((one.test for one in trials if one.kind == "swapped"), None)
    if swapped is not None and "undecided" not in (test.outcome, swapped.outcome):
        chosen = names[1] if swapped.outcome == "correct" else names[2]
        parts.append(_("With nouns swapped, the head prefers “{word}”.", word=chosen))
    tests = [one.test for one in trials if one.kind == "reworded" and one.test is not None]
    if tests:
        parts.append(
            _(
                "Reworded, the result is the same in {same} of {count} sentences.",
                same=sum(one.outcome == test.outcome for one in tests),
                count=len(tests),
            )
        )
    return join_sentences(*parts)


CARDS, PROBLEM = "break_head_cards", "break_head_problem"
MOST_CARDS = 30  # cards of a visitor
MOST_KEPT = 100  # visitors whose cards a reload keeps
_KEPT: VisitorValues[tuple[Card, ...]] = VisitorValues(MOST_KEPT)


def offer_card(  # noqa: PLR0913  # the parts of a card
    choice: ViewState,
    view: View,
    names: tuple[str, str, str],
    head: tuple[int, int],
    test: LinkTest,
    trials: Sequence[Trial],
) -> None:
    """Draw the button that saves the sentence as a card, if the sentence refutes the claim.

    A card is a counter-example: the right noun is known, and the head gives the other noun more weight. ``names`` are
    the pronoun, the right noun and the other noun.
    """
    if problem := st.session_state.pop(PROBLEM, None):
        show_notice(problem)
    if test.outcome != "fooled":
        return
    reworded = [one.test for one in trials if one.kind == "reworded" and one.test is not None]
    source, right, other = names
    card = Card(
        model=choice.model,
        layer=head[0],
        head=head[1],
        text=view.trace.text,
        source=source,
        right=right,
        other=other,
        right_weight=round(test.right, 4),
        other_weight=round(test.other, 4),
        fooled=sum(one.outcome == "fooled" for one in reworded),
        reworded=len(reworded),
        address=shared_address(layer=head[0], head=head[1], source=source, right=right, other=other),
    )
    in_class = classroom.code() is not None
    st.button(
        _("Put on the board") if in_class else _("Keep as card"),
        key="break_head_keep",
        type="primary",
        icon=":material/bookmark_add:",
        on_click=_keep,
        args=(card,),
        help=_("Cards last until the app restarts."),
    )


def _keep(card: Card) -> None:
    kept = saved_cards()
    if card not in kept:
        st.session_state[CARDS] = (*kept, card)[-MOST_CARDS:]
        _KEPT.put(st.session_state[CARDS])
    code = classroom.code()
    if code is None:
        return
    try:
        store().post_card(code, visitor_secret(), card)
    except NotInClass as refusal:
        st.session_state[PROBLEM] = refusal.sentence


def saved_cards() -> tuple[Card, ...]:
    """Return the visitor's cards, from this session or from before a reload."""
    if CARDS not in st.session_state:
        st.session_state[CARDS] = _KEPT.get() or ()
    cards: tuple[Card, ...] = st.session_state[CARDS]
    return cards


def draw_cards() -> None:
    """Draw the visitor's saved cards; cards sent to a class are drawn on its board."""
    kept = saved_cards()
    if kept and classroom.code() is None:
        draw_card_list(kept[::-1])


NO_PRONOUN = gettext_lazy("Type a pronoun and two nouns, or click the pronoun.")
STRIP, MAP, RIGHT = "break_head_strip", "break_head_map", "break_head_right"
TESTED = "break_head_tested"  # session key of (model, layer, head), the head tested last
MOST_LINES = 12
LEAST_LINE = 0.03  # weights under it have no line
MARGINS = "right, other = measure_links(view, words)\nnumbers = right - other"  # code of a notebook


def draw_view() -> None:
    """Draw the view Break the head in the page."""
    begin_with(get_view_state())
    draw_text_and_claim()
    code = classroom.code()
    if code is not None:
        draw_board(code)
    _draw_help()


@st.fragment
def draw_text_and_claim() -> None:
    """Draw the text box, the claim about the head, its test on the text, and the saved cards.

    A new text reruns only this part of the page (a Streamlit fragment).
    """
    with fragment_state() as chosen:
        compose(chosen, kind_of(chosen), live=True)
        trace = read_trace(chosen)
        if trace is not None:
            _draw(chosen, trace)
        draw_cards()


def _draw_help() -> None:
    with reading_help():
        st.markdown(
            _(
                "- **Fooled**: the pronoun attends more to the other noun, by over {least}. **Undecided**: the "
                "weights differ less.\n"
                "- One sentence does not refute a score over many; it shows where the head fails.",
                least=in_points(LEAST),
            )
        )


def _draw(choice: ViewState, trace: Trace) -> None:
    options = get_params(BreakHeadOptions)
    if trace.pair or len(trace.parts) > 1:
        show_notice(_("Type a single sentence; choose a model that does not translate."), role="status")
        return
    view = View(trace, words=True)
    question = find_words(view, options)
    if question is None:
        show_notice(translate(NO_PRONOUN), role="status")
        return
    words = question.words
    score = stored_pronoun_head(trace.model)
    weights = measure_links(view, words)
    margins = weights[0] - weights[1]
    layer, head = _tested_head(choice, score, margins)
    if not question.has_pronoun:
        _draw_claim(score, (layer, head))
        _ask_for_pronoun(view, question)
        return
    test = LinkTest(*(float(one) for one in weights[:, layer, head]))
    names = written_word(view, words.source), written_word(view, words.right), written_word(view, words.other)
    _draw_claim(score, (layer, head))
    show_notice(describe_test(test, layer, head, names, question.is_known), role="status")
    _draw_right_noun(view, question)
    _draw_sentence(view, question, (layer, head), options)
    about = partial(_provenance, view, question, (layer, head))
    if typing_origin() is None:  # The trials follow when the visitor has finished typing.
        trials = run_trials(choice, view, words, (layer, head), options.rewordings)
        if question.is_known:
            offer_card(choice, view, names, (layer, head), test, trials)
        _draw_trials(test, trials, names, about)
    if section := open_section(_("Other heads"), "break_head_others"):
        with section:
            computation = view_computation(choice, view, MARGINS, measure_links=measure_links, words=words)
            _draw_heads(margins, (layer, head), names, question.is_known, partial(about, variants=0), computation)
            bound_widget(BreakHeadOptions, "rewordings", st.text_area, height=100)


def _tested_head(choice: ViewState, score: PronounHeadScore | None, margins: FloatArray) -> tuple[int, int]:
    """Return the selected head, or the one tested before on this model; first, it is the model's pronoun head.

    A new sentence deselects the head, but it is to break the head that was tested on the sentence before.
    """
    model, layer, head = st.session_state.get(TESTED, ("", None, None))
    if choice.layer is None and model == choice.model:
        choice = replace(choice, layer=layer, head=head)
    found = (score.layer, score.head) if choice.layer is None and score is not None else head_of(choice, margins)
    st.session_state[TESTED] = (choice.model, *found)
    return found


def _provenance(view: View, question: NounQuestion, head: tuple[int, int], **settings: Any) -> dict[str, Any]:
    """Return the provenance of a test: the text, the tested head, the words, the rule and ``settings``."""
    words = question.words
    noun, other = ("right_noun", "other_noun") if question.is_known else ("first_noun", "second_noun")
    named = {"pronoun": words.source, noun: words.right, other: words.other}
    cells = {name: _word_and_span(view, at) for name, at in named.items()}
    rule = (
        f"correct if the right noun's weight is larger by over {LEAST:g}, fooled if the other noun's is, else undecided"
    )
    outcome = {"outcome": rule} if question.is_known else {}
    return {
        **page_provenance(),
        "tokens_read": len(view.trace.source),
        "claim": "the head links pronouns to nouns",
        "tested_head": head_label(*head),
        **cells,
        "weight_of_a_word": "sum over its tokens, mean over the pronoun's tokens",
        **outcome,
        **settings,
    }


def _word_and_span(view: View, cell: int) -> str:
    """Return a word as written, with its characters in the text if they are known."""
    span = span_of(view, cell)
    return written_word(view, cell) + (f" (characters {span[0]} to {span[1]})" if span else "")


def _draw_heads(  # noqa: PLR0913  (the parts of a figure)
    margins: FloatArray,
    head: tuple[int, int],
    names: tuple[str, str, str],
    is_known: bool,
    about: About,
    computation: Computation | None,
) -> None:
    """Draw the difference between the nouns' weights for every head, and the number of fooled heads."""
    meaning = (_("fooled"), _("correct")) if is_known else None
    figure = head_map(
        margins, theme(), f"{names[1]} − {names[2]}", _("Difference"), diverging=True, selected=head, meaning=meaning
    )
    draw_chart(figure, MAP, on_click=keep_head, about=about, computation=computation)
    if is_known:
        st.caption(
            _(
                "{fooled} of {size} heads are fooled.",
                fooled=int((margins < -LEAST).sum()),
                size=margins.size,
            )
        )


def _draw_right_noun(view: View, question: NounQuestion) -> None:
    """Draw the choice of the right noun; nothing is chosen while it is unknown."""
    words = question.words
    nouns = sorted((words.right, words.other))
    st.session_state[RIGHT] = words.right if question.is_known else None

    def choose() -> None:
        right = st.session_state[RIGHT]
        other = next(at for at in nouns if at != right)
        set_params(BreakHeadOptions, right=view.keys[right].text, other=view.keys[other].text)

    st.segmented_control(
        translate(ROLES["right"]),
        nouns,
        key=RIGHT,
        format_func=lambda at: written_word(view, at),
        required=question.is_known,
        on_change=choose,
    )


def _ask_for_pronoun(view: View, question: NounQuestion) -> None:
    """Draw the sentence, in which a click sets the pronoun."""
    show_notice(translate(NO_PRONOUN), role="status")
    chips = [TokenChip(cell.text, special=cell.special) for cell in view.keys]
    mount(chips, STRIP, title=translate(ROLES["source"]), on_pick=lambda: _pick_word(view, question, "source"))


def _draw_sentence(view: View, question: NounQuestion, head: tuple[int, int], options: BreakHeadOptions) -> None:
    """Draw the sentence with lines from the pronoun, and the control of the word that a click sets."""
    words = question.words
    row = view.weights(*head)[words.source]
    marks: dict[int, Mark] = {words.source: "chosen", words.right: "target", words.other: "target"}
    labels = {words.source: translate(ROLES["source"])}
    if question.is_known:
        labels |= {words.right: translate(ROLES["right"]), words.other: translate(ROLES["other"])}
    chips = [
        TokenChip(
            cell.text,
            mark=marks.get(at, ""),
            special=cell.special,
            label=labels.get(at, ""),
            title=f"{row[at]:.2f}",
        )
        for at, cell in enumerate(view.keys)
    ]
    strongest = sorted(range(len(row)), key=lambda at: -row[at])[:MOST_LINES]
    lines = [
        StripLine(words.source, at, round(float(row[at]), 4), chosen=question.is_known and at == words.right)
        for at in strongest
        if row[at] >= LEAST_LINE
    ]
    caption = _("Attention from “{word}” in head {head}", word=chips[words.source].text, head=head_label(*head))
    mount(
        chips,
        STRIP,
        title=caption,
        on_pick=lambda: _pick_word(view, question, options.clicking),
        drawn=StripLines(lines, caption),
    )
    bound_widget(BreakHeadOptions, "clicking", st.segmented_control, required=True, width="content")


def _pick_word(view: View, question: NounQuestion, role: str) -> None:
    """Give the clicked word a role; the word that had it gets that of the clicked word, if it had one.

    Another pronoun does not tell which noun is right.
    """
    cell = picked_chip(STRIP)
    if cell is None or cell >= len(view.keys) or view.keys[cell].special:
        return
    cells = asdict(question.words)
    for name, at in cells.items():
        if at == cell:
            cells[name] = cells[role]
    cells[role] = cell
    following = list(ROLES)[(list(ROLES).index(role) + 1) % len(ROLES)]
    stated = ROLES if question.is_known or role != "source" else ("source",)
    set_params(BreakHeadOptions, clicking=following, **{name: view.keys[cells[name]].text for name in stated})


def _draw_claim(score: PronounHeadScore | None, head: tuple[int, int]) -> None:
    known = score is not None and head[0] < len(score.hits) and head[1] < len(score.hits[0])
    st.caption(describe_claim(score if known else None, *head))


def _draw_trials(
    test: LinkTest, trials: list[Trial], names: tuple[str, str, str], about: Callable[..., dict[str, Any]]
) -> None:
    """Draw the other sentences with the head's weights, and their download.

    ``about`` returns the provenance of the test with settings.
    """
    if not trials:
        return
    if summary := describe_trials(test, trials, names):
        show_notice(summary, role="status")
    kinds = {"swapped": _("Swap nouns"), "reworded": _("Rewording")}
    headings = (_("Change"), _("Sentence"), names[1], names[2], _("Prefers"))
    preferred = {"correct": names[1], "fooled": names[2], "undecided": translate(OUTCOMES["undecided"])}
    rows = [
        (kinds[one.kind], one.text, None, None, None)
        if one.test is None
        else (kinds[one.kind], one.text, one.test.right, one.test.other, preferred[one.test.outcome])
        for one in trials
    ]
    rewordings = "typed" if get_params(BreakHeadOptions).rewordings.strip() else "by rules"
    unique = column_names(headings)
    decimals = st.column_config.NumberColumn(format="%.2f")
    draw_table(
        dict(zip(unique, zip(*rows, strict=True), strict=True)), column_config=dict.fromkeys(unique[2:4], decimals)
    )
    download_button(
        _("Save as CSV"),
        csv_table(headings, rows),
        "headlight-break-head.csv",
        _("All digits"),
        provenance=about(variants=len(trials), rewordings=rewordings),
    )
