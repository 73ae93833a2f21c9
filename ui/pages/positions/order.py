"""The order test on the Positions page: the same tokens in another order, with positions and without."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from attention.order import shuffled, swapped, words
from attention.tokens import TokenRow
from attention.trace import Trace
from inference import Refusal
from inference.questions.order import ROUNDING, OrderRequest, OrderTest, Pass
from ui.input.picking import control
from ui.pages.positions.options import Options
from ui.pages.positions.order_maps import all_heads, maps
from ui.run.reading import request_of
from ui.run.refusals import say, show
from ui.run.shelf import backend
from ui.show.numbers import small
from ui.state.choice import Choice
from ui.state.options import choose_own
from ui.state.session import choose
from viz.components.strip import strip
from wording import _, said_by, sentence, told
from wording.joined import together

MIXES = {"shuffle": sentence("Shuffle the words"), "swap": sentence("Swap two words")}
Head = tuple[int, int]


def order_test(choice: Choice, trace: Trace, options: Options) -> None:
    """Pick another order, ask the model, draw what came of it."""
    if choice.opened:
        say(
            _("An opened file holds no model to ask again. Type a text of your own, and its model reads it twice."),
            role="status",
        )
        return
    columns = st.columns([2.2, 1.4, 1.4, 0.8, 0.8], vertical_alignment="bottom")
    order = _pick_order(trace.source, options, columns)
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
        with st.spinner(_("Reading both orders, with positions and without")):
            test = backend().inspect(question)
    except Refusal as refusal:
        show(refusal)
        return
    layer, head = _pick_head(choice, test, columns[3:])
    _strips(trace.source, order)
    say(what_came_of_it(trace.model.name, test, choice.count), role="status")
    maps(choice, trace, test, layer, head)
    say(together(sentence("How positions were taken away:"), *test.done), role="status")
    all_heads(test, (layer, head), choice.count)


def _pick_order(row: TokenRow, options: Options, columns: Sequence[Any]) -> tuple[int, ...] | None:
    """The tokens in the order that is chosen; None where there is none, which is then said."""
    left, right, last = columns[:3]
    control(Options, "mix", left.segmented_control, _("What happens to the words"), list(MIXES), format_func=MIXES.get,
         required=True, help=_("The pieces of a word move together; special tokens stay where they are"))  # fmt: skip
    try:
        if options.mix == "shuffle":
            right.button(
                _("Another shuffle"),
                on_click=choose_own,
                args=(Options,),
                kwargs={"seed": options.seed + 1},
                help=_("A link keeps the shuffle that is shown"),
                icon=":material/shuffle:",
            )
            return shuffled(row, options.seed)
        first, second = _pair(row, options)
        texts = ["".join(row.pieces[start:stop]) for start, stop in words(row)]
        numbers = range(len(texts))
        name = texts.__getitem__
        control(Options, "first", right.selectbox, _("This word"), numbers, format_func=name, shown=first,
                help=_("It changes places with the other one"))  # fmt: skip
        control(Options, "second", last.selectbox, _("and that one"), numbers, format_func=name, shown=second,
                help=_("A word of the same text"))  # fmt: skip
        return swapped(row, first, second)
    except ValueError as error:
        say(said_by(error))
        return None


def _pair(row: TokenRow, options: Options) -> tuple[int, int]:
    """Which words are swapped: those chosen, else the first and the next one."""
    count = len(words(row))
    first = options.first if options.first is not None and options.first < count else 0
    second = options.second if options.second is not None and options.second < count else min(first + 1, count - 1)
    return first, second


def _strips(row: TokenRow, order: tuple[int, ...]) -> None:
    """Both orders as chips; the number under a token is its place in the text."""
    for key, title, tokens in (
        ("order_text", _("The text"), range(len(row))),
        ("order_mixed", _("The same tokens in another order"), order),
    ):
        chips = [
            strip.Chip(
                row.pieces[token],
                mark="chosen" if order[place] != place else "",
                glued=place > 0 and row.words[token] is not None and row.words[token] == row.words[tokens[place - 1]],
                special=row.special[token],
                unknown=row.unknown[token],
                label=str(token),
            )
            for place, token in enumerate(tokens)
        ]
        strip.mount(chips, key, title=title)


def what_came_of_it(model: str, test: OrderTest, base: int) -> str:
    """The result in a few sentences, made from its numbers."""
    layers, heads = test.having.differences.shape
    layer, head = strongest(test.having)
    having, lacking = float(test.having.differences.max()), float(test.lacking.differences.max())
    template = (
        sentence("With positions it is another map: a weight differs by up to {most} (layer {layer} · head {head}).")
        if having > ROUNDING
        else sentence("With positions a weight differs by up to {most} (layer {layer} · head {head}).")
    )
    with_positions = _(template, most=small(having), layer=layer + base, head=head + base)
    if not test.masks:
        without = _(
            "Without positions the map of the new order is the text's own map with its rows and columns moved along: "
            "over {layers} layers of {heads} heads no weight differs by more than {most}, which is rounding.",
            layers=layers,
            heads=heads,
            most=small(lacking),
        )
        return told(together(without, with_positions))
    rules = {"causal": _("lets a token look back only"), "window": _("lets a token look at its neighbourhood only")}
    knows = _(
        "{model} knows order even without positions, because its mask {rule}: over {layers} layers of {heads} heads a "
        "weight still differs by up to {most} from the text's own map moved along.",
        model=model,
        rule=_(" and ").join(rules[mask] for mask in test.masks),
        layers=layers,
        heads=heads,
        most=small(lacking),
    )
    if test.unmasked is None:
        return told(together(knows, with_positions))
    before = _(
        "The mask is what is left: before it, the first layer's scores are the text's moved along, to within {most}.",
        most=small(test.unmasked),
    )
    return told(together(knows, before, with_positions))


def strongest(result: Pass) -> Head:
    """The (layer, head) whose map differs most."""
    layer, head = np.unravel_index(int(result.differences.argmax()), result.differences.shape)
    return int(layer), int(head)


def _pick_head(choice: Choice, test: OrderTest, columns: Sequence[Any]) -> Head:
    """The chosen head, or the one that notices most."""
    layers, heads = test.having.differences.shape
    inside = choice.layer is not None and choice.head is not None and choice.layer < layers and choice.head < heads
    layer, head = (choice.layer or 0, choice.head or 0) if inside else strongest(test.having)
    parts = ("layer", _("Layer"), layers, layer), ("head", _("Head"), heads, head)
    for column, (name, label, count, value) in zip(columns, parts, strict=True):
        key = f"order_{name}"
        st.session_state[key] = value
        column.selectbox(
            label,
            range(count),
            key=key,
            format_func=lambda at: str(at + choice.count),
            on_change=_keep_head,
            help=_("At first the one whose map changes most with the order"),
        )
    return layer, head


def _keep_head() -> None:
    choose(layer=st.session_state["order_layer"], head=st.session_state["order_head"])
