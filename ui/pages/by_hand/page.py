"""The view By hand: a layer on a small example, with editable numbers and every step as a matrix."""

from collections.abc import Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.toy_example import ToyExample, compute_example
from i18n import _, translate
from ui.input.controls import ALL_STAGES, pick_stage
from ui.pages.by_hand import steps as matrix_steps
from ui.pages.by_hand.controls import files, get_example, pick, pick_head, set_example_params, sizes, tables
from ui.pages.by_hand.descriptions import describe_largest, draw_curve, draw_printed, gradient, next_words, what_is_left
from ui.pages.by_hand.example import STAGES, ByHandOptions, Example, fit_options, pair, preset_of, rules_of
from ui.pages.by_hand.steps import MatrixStep, cell_of, open_cell, sum_of
from ui.run.notices import show_notice
from ui.show.chart import theme
from ui.show.sections import reading_help
from viz.components.matrices import matrices
from viz.figures.theme import sides

Sections = Mapping[str, tuple[str, list[MatrixStep]]]  # formula and matrices of each stage


def get_sections(options: ByHandOptions, example: Example, found: ToyExample) -> Sections:
    """Return the formula and the matrices of each stage of the calculation, by name of the stage.

    Stages without matrices are left out, such as the LayerNorms if the example ends with the attention.
    """
    worked, head = found.worked, options.shown
    at = pair(options, worked)
    x = "X" if found.positions is None else "(X + P)"
    divided = r"Q K^\top / \sqrt{d_k}" if options.scaled else r"Q K^\top"
    last = "O" if found.layer is None else "Y"
    every: Sections = {
        "projections": (
            rf"Q = {x}\,W_Q \quad K = {x}\,W_K \quad V = {x}\,W_V",
            [*matrix_steps.enter(example, found), *matrix_steps.project(example, found, head)],
        ),
        "weights": (
            rf"A = \mathrm{{softmax}}\left({divided}\right) \quad a_j = e^{{s_j}} / \textstyle\sum_k e^{{s_k}}",
            matrix_steps.compare(example, worked, head, at, options.scaled),
        ),
        "values": (
            r"\mathrm{head} = A\,V \quad \mathrm{Concat}(\mathrm{head}_1, \dots, \mathrm{head}_h)",
            matrix_steps.mix(example, worked, head, at[0]),
        ),
        "output": (r"O = \mathrm{Concat}\,W_O", matrix_steps.mix_heads(example, found)),
        "layer": (
            r"N = \mathrm{LayerNorm}(X + O) \quad Y = \mathrm{LayerNorm}(N + \mathrm{ReLU}(N W_1)\,W_2)",
            matrix_steps.residual_steps(example, found),
        ),
        "word": (rf"\mathrm{{softmax}}({last}\,E^\top)", matrix_steps.next_word_steps(example, found)),
        "gradient": (
            r"\partial a_j / \partial s_k = a_j (\delta_{jk} - a_k)",
            gradient(example, worked, head, at[0]),
        ),
    }
    return {name: (formula, steps) for name, (formula, steps) in every.items() if steps}


def stage_of(options: ByHandOptions, sections: Sections) -> str:
    """Return the name of the stage to draw, or ALL_STAGES.

    It is the chosen stage, else the stage of the selected cell. By default, it is "weights" if a query is selected,
    else "projections".
    """
    if options.stage in (*sections, ALL_STAGES):
        return options.stage
    opened = (name for name, (_formula, steps) in sections.items() if cell_of(options.cell, steps))
    usual = "projections" if options.row is None else "weights"
    return next(opened, usual)


def draw_section(name: str, sections: Sections, options: ByHandOptions) -> None:
    """Draw a stage of the calculation: its formula, its matrices, and the calculation of the selected cell."""
    formula, steps = sections[name]
    st.markdown(f"${formula}$")

    def keep() -> None:
        picked = matrices.picked_cell(f"by_hand_sheets_{name}")
        if picked is not None:
            at, row, column = picked
            place = {"row": row, "column": column} if name == "weights" and steps[at].sheet.columns[1:] else {}
            pair_now = {} if place else {"row": options.row, "column": options.column}
            set_example_params(**place, **pair_now, shown=options.shown, cell=f"{steps[at].key}-{row}-{column}")

    place = cell_of(options.cell, steps)
    matrices.mount(open_cell(steps, place), f"by_hand_sheets_{name}", on_pick=keep)
    if place is not None:
        show_notice(sum_of(steps[place[0]], *place[1:]), role="status")


def draw_stage(name: str, sections: Sections, options: ByHandOptions, example: Example, found: ToyExample) -> None:
    """Draw a stage and the sentences about it."""
    worked, head = found.worked, options.shown
    at = pair(options, worked)
    if name == "gradient":
        show_notice(what_is_left(example, worked, head, at[0]), role="status")
    draw_section(name, sections, options)
    if name == "weights":
        show_notice(matrix_steps.worked_line(example, worked, head, at, options.scaled), role="status")
        printed = [] if options.numbers else preset_of(options.preset)["printed"]
        if printed and not options.causal and not options.positions:
            draw_printed(printed, example, worked)
    if name == "gradient":
        draw_curve(worked)


def draw_stages(options: ByHandOptions, example: Example, found: ToyExample, stage: str, row: DeltaGenerator) -> None:
    """Draw sentences on the result of the small example, then one stage of its calculation or all stages.

    ``row`` is the container for the widget that selects the head.
    """
    said = [] if options.numbers else preset_of(options.preset)["said"]
    show_notice(describe_largest(example.tokens, found.worked, options.shown, options.causal), role="status")
    show_notice(next_words(example, found, said), role="status")
    with row:
        pick_head(options)
    sections = get_sections(options, example, found)
    for name in sections if stage == ALL_STAGES else [stage]:
        if stage == ALL_STAGES:
            st.header(translate(STAGES[name]))
        draw_stage(name, sections, options, example, found)
    st.caption(marks())


def marks() -> str:
    """Return the caption that explains the marks in the matrices."""
    less, more = map(translate, sides(theme()))
    return _(
        "{less}: negative, {more}: positive; weights from 0 to 1. Click a cell, or press Enter, for its calculation.",
        less=less,
        more=more,
    )


def how_to_read() -> None:
    """Draw the help text."""
    with reading_help():
        st.markdown(
            _(
                "- Each token has a **query**, a **key** and a **value**: rows of Q, K and V. A weight is the softmax "
                "of query · key over √d_k; the result mixes the values "
                "([arXiv:1706.03762](https://arxiv.org/abs/1706.03762), equation 1). The **causal mask** zeroes "
                "weights of later tokens.\n"
                "- **W_O** mixes the **heads** (section 3.2.2). Residual sum, LayerNorm and feed-forward follow "
                "(sections 3.1 and 3.3).\n"
                "- Products with a vector per **word** give the next word (section 3.4). Omitted: biases, dropout, "
                "learned factors."
            )
        )


def draw_view() -> None:
    """Draw the view By hand in the page."""
    now, small, problems = get_example()
    now, more = fit_options(now, small)
    with st.container():  # always present, so that later elements keep their position
        for problem in [*problems, *more]:
            show_notice(problem, role="status")
    pick(now, small)
    result = compute_example(small, rules_of(now))
    sections = get_sections(now, small, result)
    row = st.container(horizontal=True, vertical_alignment="bottom")
    stage = pick_stage(ByHandOptions, {name: STAGES[name] for name in sections}, stage_of(now, sections), row)
    inputs, figures = st.columns([2, 3], gap="medium")  # narrow screens show the inputs first
    with inputs:
        st.markdown(_("**Change the numbers**"))
        tables(now, small)
        with st.expander(_("Sizes")):
            sizes(small)
        with st.expander(_("Files")):
            files(small, result)
    with figures:
        draw_stages(now, small, result, stage, row)
    how_to_read()
