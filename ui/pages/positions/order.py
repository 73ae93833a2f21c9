"""Test of word order: the tokens in another order, with and without positions, and the effect on heads."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.head_names import head_label
from attention.positions import permute_map, shuffle_tokens, swap_words, words
from attention.tokens import TokenRow
from attention.trace import Trace
from i18n import _, error_message, gettext_lazy, translate
from i18n.lists import join_sentences
from inference import UserError
from inference.tasks.positions import OrderPass, OrderRequest, OrderTest, Positions
from inference.text.encoding import reordered_view
from ui.input.controls import bound_widget, control_row, keep_head
from ui.pages.positions.position_scheme import PositionsOptions, draw_position_scheme
from ui.run.notices import show_error, show_notice
from ui.run.services import get_backend
from ui.run.traces import displayed_request, request_of
from ui.show.chart import draw_chart, theme
from ui.show.microscope import draw_matrices
from ui.show.sections import open_section
from ui.show.tables import csv_table, download_button, page_provenance
from ui.show.text import format_and_list, format_small
from ui.state.params import set_params
from ui.state.session import set_view_state
from ui.state.view_state import ViewState
from viz.components.matrices.matrices import MatrixSpec
from viz.components.token_strip import token_strip
from viz.figures import head_maps
from viz.paper.notebook import Computation

HEADS = "order_heads"
SIDES = ("new", "moved")
Head = tuple[int, int]  # (layer, head)
# Code of notebooks, after ``test`` and ``weights``.
MAP = "numbers = reordered_view(backend.trace(reading), test.part, test.order, weights, *look).weights(0, 0)"
NOTICES = 0.1  # A head is counted if a weight changes by more than this.


def maps(choice: ViewState, trace: Trace, test: OrderTest, question: OrderRequest, place: Head) -> None:
    """Draw a head's map of the reordered text next to its original map, permuted to the new order.

    Both maps are drawn with and without position encodings. If the head ignores the order, they are equal.
    ``question`` is the request whose answer is ``test``, and ``place`` is (layer, head).
    """
    layer, head = place
    passes = {"having": (_("With positions"), test.having), "lacking": (_("Without positions"), test.lacking)}
    columns = iter(st.columns(4))
    options = choice.words, choice.special, choice.renormalise
    reading = displayed_request(choice, trace)
    tested = None if reading is None else Computation(
        "test = backend.inspect(request)", request=question, reading=reading, look=options,
        reordered_view=reordered_view, permute_map=permute_map)  # fmt: skip
    for key, (name, result) in passes.items():
        here = permute_map(result.text[layer].weights(head), test.order)
        views = [
            reordered_view(trace, test.part, test.order, map_, *options)
            for map_ in (result.mixed[layer].weights(head), here)
        ]
        labels = tuple(cell.text for cell in views[0].queries)
        if not labels:
            show_notice(
                _("The text has only special tokens. Show them in View options."),
                role="status",
            )
            return
        shown = [view.weights(0, 0) for view in views]
        limit = max(float(map_.max()) for map_ in shown)
        off = format_small(float(result.differences[layer, head]))
        notes = (
            _("head {layer}-{head}", layer=layer, head=head),
            _("{name}: {text}", name=_("largest difference of a weight"), text=off),
        )
        titles = tuple(_("{name}: {text}", name=name, text=text) for text in (_("New order"), _("Permuted")))
        codes = (
            f"test.{key}.mixed[{layer}].weights({head})",
            f"permute_map(test.{key}.text[{layer}].weights({head}), test.order)",
        )
        kept = "yes" if key == "having" else "no"
        about = tuple(_provenance(test, positions=kept, head=head_label(layer, head)).items())
        for side, title, map_, note, code in zip(SIDES, titles, shown, notes, codes, strict=True):
            computation = None if tested is None else tested.then(f"weights = {code}\n{MAP}")
            with next(columns):  # The cells show no numbers, so that the pair can be compared at a glance.
                sheet = MatrixSpec(title, map_, labels, labels, note, "sequential", limit)
                draw_matrices([sheet], f"order_{key}_{side}", numbers=False, about=about, computation=computation)
    st.caption(_("Rows attend to columns, in the new order. Right: the original map, permuted."))


def _provenance(test: OrderTest, **settings: str) -> dict[str, str]:
    """Return the provenance of a word-order test: the model, the text, the order of its tokens and ``settings``."""
    return {**page_provenance(), "stack": test.part, "token_order": " ".join(map(str, test.order)), **settings}


def all_heads(test: OrderTest, question: OrderRequest, selected: tuple[int, int]) -> None:
    """Draw the effect of the token order on every head: the largest difference of a weight. A click selects a head.

    The map is in an expander. ``question`` is the request whose answer is ``test``.
    """
    section = open_section(_("Order sensitivity"), "order_sensitivity")
    if section is None:
        return
    with section:
        show_notice(_describe_noticing(test), role="status")
        figure = head_maps.head_map(
            test.having.differences,
            theme(),
            _("Order sensitivity"),
            _("largest difference of a weight"),
            selected=selected,
        )
        computation = Computation("numbers = backend.inspect(request).having.differences", request=question)
        about = partial(_provenance, test)
        draw_chart(figure, HEADS, on_click=keep_head, about=about, computation=computation)
        st.caption(_("Click a cell to select its head."))
        download_button(
            _("Save as CSV"),
            differences_csv(test),
            "headlight-order.csv",
            _("Shown with and without positions; counts from 0"),
            provenance=_provenance(test),
        )


def _describe_noticing(test: OrderTest) -> str:
    found = test.having.differences
    many = int((found > NOTICES).sum())
    return _(
        "With positions, {many} of {heads} heads change a weight by over {least}.",
        many=many,
        heads=found.size,
        least=NOTICES,
    )


def differences_csv(test: OrderTest) -> str:
    """Return a CSV row per head: the largest change of a weight by the new order, with and without positions."""
    rows = (
        (layer, head, float(having), float(test.lacking.differences[layer, head]))
        for (layer, head), having in np.ndenumerate(test.having.differences)
    )
    return csv_table(("layer", "head", "with positions", "without positions"), rows)


LIST, SHORT = 190, 130  # Widths of a list of words and of a list of numbers, in pixels.


def order_test(choice: ViewState, trace: Trace, held: Positions, options: PositionsOptions) -> None:
    """Draw the widgets of the test of word order, run the test and draw its results."""
    if choice.opened:
        show_notice(
            _("Opened results cannot run again. Type a text."),
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
        with st.spinner(_("Running the model")):
            test = get_backend().inspect(question)
    except UserError as refusal:
        show_error(refusal)
        return
    layer, head = _pick_head(choice, test, row)
    show_notice(what_came_of_it(trace.model.name, test), role="status")
    maps(choice, trace, test, question, (layer, head))
    _strips(trace.source, order)
    show_notice(draw_position_scheme(held), role="status")
    show_notice(join_sentences(gettext_lazy("Positions removed:"), *test.done), role="status")
    all_heads(test, question, (layer, head))


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
        ("order_text", _("Text"), range(len(row))),
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
    """Return sentences on the result of the word-order test."""
    layers, heads = test.having.differences.shape
    layer, head = most_changed_head(test.having)
    having, lacking = float(test.having.differences.max()), float(test.lacking.differences.max())
    with_positions = _(
        "With positions, weights differ by up to {most} (head {layer}-{head}).",
        most=format_small(having),
        layer=layer,
        head=head,
    )
    if not test.masks:
        without = _(
            "Without positions, the map is the permuted original: over {layers} layers of {heads} "
            "heads, weights differ by at most {most} (rounding).",
            layers=layers,
            heads=heads,
            most=format_small(lacking),
        )
        return translate(join_sentences(without, with_positions))
    rules = {"causal": _("causal"), "window": _("local")}
    knows = _(
        "{model} keeps order by its {rule} mask: over {layers} layers of {heads} heads, weights "
        "differ by up to {most} without positions.",
        model=model,
        rule=format_and_list([rules[mask] for mask in test.masks]),
        layers=layers,
        heads=heads,
        most=format_small(lacking),
    )
    if test.unmasked is None:
        return translate(join_sentences(knows, with_positions))
    before = _(
        "Before the mask, first-layer scores equal the permuted ones to within {most}.",
        most=format_small(test.unmasked),
    )
    return translate(join_sentences(knows, before, with_positions))


def most_changed_head(result: OrderPass) -> Head:
    """Return the (layer, head) whose map changes most with the order."""
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
