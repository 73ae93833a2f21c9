"""Positions page, order test: the tokens in another order, with and without positions."""

from __future__ import annotations

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.positions import shuffle_tokens, swap_words, words
from attention.tokens import TokenRow
from attention.trace import Trace
from i18n import _, error_message, gettext_lazy, translate
from i18n.lists import join_sentences
from inference import UserError
from inference.tasks.positions import OrderPass, OrderRequest, OrderTest, Positions
from ui.input.controls import bound_widget, control_row
from ui.pages.positions.options import PositionsOptions
from ui.pages.positions.order_maps import all_heads, maps
from ui.pages.positions.position_scheme import draw_position_scheme
from ui.run.notices import show_error, show_notice
from ui.run.services import get_backend
from ui.run.traces import request_of
from ui.show.text import format_small
from ui.state.params import set_params
from ui.state.session import set_view_state
from ui.state.view_state import ViewState
from viz.components.token_strip import token_strip

Head = tuple[int, int]
LIST, SHORT = 190, 130  # Widths of a list of words and of a list of numbers, in pixels.


def order_test(choice: ViewState, trace: Trace, held: Positions, options: PositionsOptions) -> None:
    """Draw the controls, run the order test and draw its results."""
    if choice.opened:
        show_notice(
            _("Opened results cannot be run again. Type a text to run the test."),
            role="status",
        )
        return
    row = control_row("order")
    order = _pick_order(trace.source, options, row)
    if order is None:
        return
    request = request_of(choice)
    question = OrderRequest(
        model=request.model,
        revision=request.revision,
        text=request.text,
        pair=request.pair,
        cut=request.cut,
        order=order,
    )
    try:
        with st.spinner(_("Running both orders")):
            test = get_backend().inspect(question)
    except UserError as refusal:
        show_error(refusal)
        return
    layer, head = _pick_head(choice, test, row)
    show_notice(what_came_of_it(trace.model.name, test), role="status")
    maps(choice, trace, test, layer, head)
    _strips(trace.source, order)
    show_notice(draw_position_scheme(held), role="status")
    show_notice(join_sentences(gettext_lazy("Positions removed:"), *test.done), role="status")
    all_heads(test, (layer, head))


def _pick_order(row: TokenRow, options: PositionsOptions, place: DeltaGenerator) -> tuple[int, ...] | None:
    """Draw the controls in ``place`` and return the permutation of the tokens.

    Show a notice and return None if the text has no other order.
    """
    bound_widget(PositionsOptions, "mix", place.segmented_control, required=True)
    try:
        if options.mix == "shuffle":
            place.button(
                _("Another shuffle"),
                on_click=set_params,
                args=(PositionsOptions,),
                kwargs={"seed": options.seed + 1},
                help=_("The link stores the seed"),
                icon=":material/shuffle:",
            )
            return shuffle_tokens(row, options.seed)
        first, second = _pair(row, options)
        texts = ["".join(row.pieces[start:stop]) for start, stop in words(row)]
        numbers = range(len(texts))
        name = texts.__getitem__
        bound_widget(
            PositionsOptions, "first", place.selectbox, options=numbers, format_func=name, shown=first, width=LIST
        )
        bound_widget(
            PositionsOptions, "second", place.selectbox, options=numbers, format_func=name, shown=second, width=LIST
        )
        return swap_words(row, first, second)
    except ValueError as error:
        show_notice(error_message(error))
        return None


def _pair(row: TokenRow, options: PositionsOptions) -> tuple[int, int]:
    """Return the indices of the words to swap; the default is the first two words."""
    count = len(words(row))
    first = options.first if options.first is not None and options.first < count else 0
    second = options.second if options.second is not None and options.second < count else min(first + 1, count - 1)
    return first, second


def _strips(row: TokenRow, order: tuple[int, ...]) -> None:
    """Draw both orders as token strips, with the original position below each token."""
    for key, title, tokens in (
        ("order_text", _("The text"), range(len(row))),
        ("order_mixed", _("New order"), order),
    ):
        chips = [
            token_strip.TokenChip(
                row.pieces[token],
                mark="chosen" if order[place] != place else "",
                glued=place > 0 and row.words[token] is not None and row.words[token] == row.words[tokens[place - 1]],
                special=row.special[token],
                unknown=row.unknown[token],
                label=str(token),
            )
            for place, token in enumerate(tokens)
        ]
        token_strip.mount(chips, key, title=title)


def what_came_of_it(model: str, test: OrderTest) -> str:
    """Return sentences on the result of the order test."""
    layers, heads = test.having.differences.shape
    layer, head = most_changed_head(test.having)
    having, lacking = float(test.having.differences.max()), float(test.lacking.differences.max())
    with_positions = _(
        "With positions a weight differs by up to {most} (head {layer}-{head}).",
        most=format_small(having),
        layer=layer,
        head=head,
    )
    if not test.masks:
        without = _(
            "Without positions the new map is the permuted original: over {layers} layers of {heads} heads, "
            "weights differ by at most {most} (rounding).",
            layers=layers,
            heads=heads,
            most=format_small(lacking),
        )
        return translate(join_sentences(without, with_positions))
    rules = {"causal": _("causal"), "window": _("local")}
    knows = _(
        "{model} keeps order without positions, by its {rule} mask: over {layers} layers of {heads} heads a "
        "weight still differs by up to {most}.",
        model=model,
        rule=_(" and ").join(rules[mask] for mask in test.masks),
        layers=layers,
        heads=heads,
        most=format_small(lacking),
    )
    if test.unmasked is None:
        return translate(join_sentences(knows, with_positions))
    before = _(
        "Before the mask, the first layer's scores equal the permuted ones to within {most}.",
        most=format_small(test.unmasked),
    )
    return translate(join_sentences(knows, before, with_positions))


def most_changed_head(result: OrderPass) -> Head:
    """Return the (layer, head) with the largest difference."""
    layer, head = np.unravel_index(int(result.differences.argmax()), result.differences.shape)
    return int(layer), int(head)


def _pick_head(choice: ViewState, test: OrderTest, row: DeltaGenerator) -> Head:
    """Draw the selectors in ``row`` and return the selected head, by default the head with the largest change."""
    layers, heads = test.having.differences.shape
    inside = choice.layer is not None and choice.head is not None and choice.layer < layers and choice.head < heads
    layer, head = (choice.layer or 0, choice.head or 0) if inside else most_changed_head(test.having)
    parts = ("layer", _("Layer"), layers, layer), ("head", _("Head"), heads, head)
    for name, label, count, value in parts:
        key = f"order_{name}"
        st.session_state[key] = value
        row.selectbox(
            label,
            range(count),
            key=key,
            format_func=lambda at: str(at),
            on_change=_keep_head,
            width=SHORT,
        )
    return layer, head


def _keep_head() -> None:
    set_view_state(layer=st.session_state["order_layer"], head=st.session_state["order_head"])
