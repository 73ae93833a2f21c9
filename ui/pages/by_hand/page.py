"""The view By hand: a layer on a small example, with editable numbers and every step as a matrix."""

from collections.abc import Sequence

import streamlit as st

from attention.toy_example import ToyExample, compute_example
from i18n import _, translate
from ui.pages.by_hand import steps as matrix_steps
from ui.pages.by_hand.controls import files, get_example, pick, pick_head, set_example_params, sizes, tables
from ui.pages.by_hand.descriptions import describe_largest, draw_curve, draw_printed, gradient, next_words, what_is_left
from ui.pages.by_hand.example import ByHandOptions, Example, fit_options, pair, preset_of, rules_of
from ui.pages.by_hand.steps import MatrixStep, cell_of, mix_heads, next_word_steps, open_cell, residual_steps, sum_of
from ui.run.notices import show_notice
from ui.show.chart import theme
from ui.show.reading_help import reading_help
from viz.components.matrices import matrices
from viz.figures.theme import sides


def section(title: str, formula: str, steps: Sequence[MatrixStep], options: ByHandOptions, key: str) -> None:
    """Draw a section: its formula, its matrices, and the calculation of the opened cell."""
    st.markdown(f"**{title}** {formula}")

    def keep() -> None:
        picked = matrices.picked_cell(f"by_hand_sheets_{key}")
        if picked is not None:
            at, row, column = picked
            place = {"row": row, "column": column} if key == "compare" and steps[at].sheet.columns[1:] else {}
            pair_now = {} if place else {"row": options.row, "column": options.column}
            set_example_params(**place, **pair_now, shown=options.shown, cell=f"{steps[at].key}-{row}-{column}")

    place = cell_of(options.cell, steps)
    matrices.mount(open_cell(steps, place), f"by_hand_sheets_{key}", on_pick=keep)
    if place is not None:
        show_notice(sum_of(steps[place[0]], *place[1:]), role="status")


def draw_observations(options: ByHandOptions, example: Example, found: ToyExample) -> None:
    """Draw the sentences about the matrices, and the comparison with the numbers that a tutorial prints."""
    preset = preset_of(options.preset)
    said, printed = ([], []) if options.numbers else (preset["said"], preset["printed"])
    show_notice(describe_largest(example.tokens, found.worked, options.shown, options.causal), role="status")
    show_notice(next_words(example, found, said), role="status")
    if printed and not options.causal and not options.positions:
        draw_printed(printed, example, found.worked)


def attention(options: ByHandOptions, example: Example, found: ToyExample) -> None:
    """Draw the sections from X to the concatenated heads."""
    worked, head = found.worked, options.shown
    at = pair(options, worked)
    x = "X" if found.positions is None else "(X + P)"
    formula = f"$Q = {x}\\,W_Q \\quad K = {x}\\,W_K \\quad V = {x}\\,W_V$"
    steps = [*matrix_steps.enter(example, found), *matrix_steps.project(example, found, head)]
    section(_("Project."), formula, steps, options, "project")
    divided = "Q K^\\top / \\sqrt{d_k}" if options.scaled else "Q K^\\top"
    with st.container():  # always present, so that later elements keep their position
        pick_head(options)
    share = "$a_j = e^{s_j} / \\sum_k e^{s_k}$"
    formula = f"$A = \\mathrm{{softmax}}\\left({divided}\\right)$"
    formula = _("{formula}, row by row: {share}", formula=formula, share=share)
    section(
        _("Compare."),
        formula,
        matrix_steps.compare(example, worked, head, at, options.scaled),
        options,
        "compare",
    )
    show_notice(matrix_steps.worked_line(example, worked, head, at, options.scaled), role="status")
    formula = _("{formula}, the heads side by side", formula="$\\mathrm{head} = A\\,V$")
    section(_("Mix."), formula, matrix_steps.mix(example, worked, head, at[0]), options, "mix")


def draw_next_word(options: ByHandOptions, example: Example, found: ToyExample) -> None:
    """Draw the sections from the heads to the next word, and the gradient of the softmax."""
    section(_("Join."), "$O = \\mathrm{Concat}\\,W_O$", mix_heads(example, found), options, "join")
    if found.layer is not None:
        formula = "$N = \\mathrm{LayerNorm}(X + O) \\quad Y = \\mathrm{LayerNorm}(N + \\mathrm{ReLU}(N W_1)\\,W_2)$"
        section(_("Go on."), formula, residual_steps(example, found), options, "around")
    name = "O" if found.layer is None else "Y"
    formula = f"$\\mathrm{{softmax}}({name}\\,E^\\top)$"
    formula = _("{formula}, a row of {table} for each word", formula=formula, table="$E$")
    section(_("Next word."), formula, next_word_steps(example, found), options, "words")
    head, row = options.shown, pair(options, found.worked)[0]
    formula = _(
        "{formula} for {same}, else {other}",
        formula="$\\partial a_j / \\partial s_k = a_j (1 - a_j)$",
        same="$j = k$",
        other="$-a_j a_k$",
    )
    st.markdown(_("**Why over √d_k?**"))
    show_notice(what_is_left(example, found.worked, head, row), role="status")
    section(_("Learn."), formula, gradient(example, found.worked, head, row), options, "learn")


def marks() -> str:
    """Return the caption that explains the marks in the matrices."""
    less, more = map(translate, sides(theme()))
    return _(
        "{less}: negative, {more}: positive; weights from pale (0) to strong (1). Click a cell, or press "
        "Enter on it, for its calculation.",
        less=less,
        more=more,
    )


def how_to_read() -> None:
    """Draw the help text."""
    with reading_help():
        st.markdown(
            _(
                "- Each token has a **query**, a **key** and a **value**: rows of Q, K and V. A weight is "
                "the softmax of query · key over √d_k; the result mixes the values "
                "([arXiv:1706.03762](https://arxiv.org/abs/1706.03762), equation 1). The **causal mask** "
                "sets the weights of later tokens to 0.\n- Each **head** uses its own d_k columns; **W_O** "
                "mixes the heads (section 3.2.2). Residual sum, LayerNorm and feed-forward follow (sections "
                "3.1 and 3.3).\n- Dot products with a vector for each **word** give the next word (section "
                "3.4). Omitted: biases, dropout and learned factors."
            )
        )


def draw_view() -> None:
    """Draw the view."""
    now, small, problems = get_example()
    now, more = fit_options(now, small)
    with st.container():  # always present, so that later elements keep their position
        for problem in [*problems, *more]:
            show_notice(problem, role="status")
    pick(now, small)
    result = compute_example(small, rules_of(now))
    inputs, figures = st.columns([2, 3], gap="medium")  # narrow screens show the inputs first
    with inputs:
        st.markdown(_("**Change the numbers**"))
        tables(now, small)
        with st.expander(_("Sizes")):
            sizes(small)
        with st.expander(_("Files")):
            files(small, result)
    with figures:
        draw_observations(now, small, result)
        attention(now, small, result)
        draw_next_word(now, small, result)
        st.caption(marks())
    draw_curve(result.worked)
    how_to_read()
