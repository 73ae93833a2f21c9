"""The view Block: the model drawn from its modules, its parameters by part, and schematic models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.trace import Trace, attention_everywhere
from i18n import _, gettext_lazy, translate
from inference import UserError
from inference.tasks.anatomy import Anatomy, Build, ParameterGroup, Stack
from ui.input.composing import compose
from ui.pages.block import explanations
from ui.pages.block.cost import costs
from ui.pages.block.plan import BRIEF, FOLDS, PARTS, PLACEMENTS, SHORT, SIDES, TITLES, BlockOptions, amount, towers
from ui.run.notices import show_error, show_notice
from ui.run.page_model import kind_of
from ui.run.services import get_backend
from ui.run.traces import read_trace
from ui.show.chart import draw_chart, theme
from ui.show.sections import reading_help
from ui.show.tables import download_button, draw_table, frame_csv, model_provenance
from ui.show.text import format_semicolon_list, join_sentences
from ui.state.params import get_params, set_params
from ui.state.session import get_view_state
from ui.state.view_state import ViewState
from viz.components.block import block
from viz.components.block.block import ENTERS, WIDTH, LayerBox, LayerTower, PartBox
from viz.figures.formulas import activation as activation_figure
from viz.figures.token_bars import bars
from viz.paper.notebook import Computation

KEY = "block"
MOST_TIED = 3  # tied weights that are named


def open_sections(options: BlockOptions) -> Iterator[tuple[str, DeltaGenerator]]:
    """Draw an expander for each section, and yield the name and container of those that are open."""
    for name, title in FOLDS.items():
        key = f"fold_{name}"
        st.session_state[key] = name in options.open_sections
        place = st.expander(translate(title), key=key, on_change=_on_fold)
        if place.open:
            yield name, place


def _on_fold() -> None:
    set_params(BlockOptions, fold=",".join(name for name in FOLDS if st.session_state.get(f"fold_{name}")))


def sentence(build: Build) -> str:
    """Describe the model's stacks and its parameter count."""
    sides = format_semicolon_list([_of_stack(stack) for stack in build.stacks])
    return _(
        "{architecture}: {sides}; {total:,} parameters.",
        architecture=build.architecture,
        sides=sides,
        total=build.total,
    )


def _of_stack(stack: Stack) -> str:
    layers = amount(stack.layers, "layer")
    if stack.own < stack.layers:
        layers = _("{layers} ({own} distinct)", layers=layers, own=stack.own)
    return _(
        "{side} of {layers} with {heads}, {placement}",
        side=SIDES[stack.part],
        layers=layers,
        heads=amount(stack.attention.heads, "head"),
        placement=PLACEMENTS[stack.flow.placement],
    )


def drawing(build: Build, lengths: dict[str, int], options: BlockOptions, file: str) -> None:
    """Draw the architecture of the model, with an explanation of the selected part.

    Notes state which connections were inferred, and in how many layers the drawn layer recurs. ``lengths`` are the
    numbers of tokens that "encoder" and "decoder" read, and ``file`` is the name of the download.
    """
    said = explanations.explain_parts(build, lengths)
    data = block.payload(
        towers(build, lengths), build.architecture, file, said, options.piece, list(sizes(build, lengths))
    )
    block.mount(data, KEY, _on_pick)
    st.caption(
        _(
            "Click a part to read about it. ⊕ adds; lines around parts: residual connections; "
            "numbers: tokens × dimensions."
        )
    )
    for stack in build.stacks:
        if said_of_source := _describe_source(stack):
            show_notice(join_sentences(*said_of_source), "status")


def sizes(build: Build, lengths: dict[str, int]) -> Iterator[tuple[str, str, str]]:
    """Yield the model's sizes under the symbols of the papers, as (symbol, number, meaning).

    An example is ("d_k", "64", "query and key width").
    """
    two = len(build.stacks) > 1
    for letter, stack in zip("nm", build.stacks, strict=False):
        tokens = lengths[stack.part]
        yield letter, f"{tokens:,}", f"{_('tokens')}, {translate(SIDES[stack.part])}" if two else _("tokens")
    yield "d", f"{build.width:,}", _("model width")
    yield from _letter("N", _("layers"), {stack.part: stack.layers for stack in build.stacks})
    yield from _letter("h", _("heads per layer"), {stack.part: stack.attention.heads for stack in build.stacks})
    if any(stack.attention.kv_heads < stack.attention.heads for stack in build.stacks):
        shared = {stack.part: stack.attention.kv_heads for stack in build.stacks}
        yield from _letter("h_kv", _("key–value heads"), shared)
    yield from _letter("d_k", _("query and key width"), {stack.part: stack.attention.width for stack in build.stacks})
    hidden = {stack.part: stack.feed_forward.hidden for stack in build.stacks if stack.feed_forward is not None}
    yield from _letter("d_ff", _("feed-forward width"), hidden)
    yield "|V|", f"{build.vocabulary:,}", _("vocabulary size")


def _letter(letter: str, meaning: str, numbers: dict[str, int]) -> Iterator[tuple[str, str, str]]:
    """Yield a single line if all stacks have the same number, else a line per stack."""
    if len(set(numbers.values())) == 1:
        yield letter, f"{next(iter(numbers.values())):,}", meaning
    else:
        yield from ((letter, f"{number:,}", f"{meaning}, {translate(SIDES[part])}") for part, number in numbers.items())


def _describe_source(stack: Stack) -> list[str]:
    """Describe how a stack's connections were found, and which differences the drawing leaves out."""
    said = []
    if not stack.flow.followed:
        said.append(
            _(
                "Connections of the {side} are partly inferred from order.",
                side=SIDES[stack.part],
            )
        )
    if stack.alike < stack.layers:
        said.append(
            _(
                "{alike} of {layers} layers have this form; the others differ slightly.",
                alike=stack.alike,
                layers=stack.layers,
            )
        )
    return said


def _on_pick() -> None:
    part = block.picked_part(KEY)
    if part is not None:
        set_params(BlockOptions, piece=part)


def parameters(build: Build, request: Anatomy) -> None:
    """Draw the parameters by part as bars, as a table and as a CSV file; ``build`` is the answer to ``request``."""
    largest = max(build.parts, key=lambda part: part.count)
    show_notice(
        _(
            "{part}: {n:,} of {total:,} parameters ({share:.0%}). All parts sum to {counted:,}.",
            total=build.total,
            n=largest.count,
            share=largest.count / build.total,
            part=_part_label(largest),
            counted=build.parameter_count,
        ),
        "status",
    )
    labels = [_label(part) for part in build.parts]
    millions = [part.count / 1e6 for part in build.parts]
    figure = bars(labels, millions, theme(), _("Parameters by part"), _("{n} parameters", n="10⁶"))
    code = "numbers = [part.count / 1e6 for part in backend.inspect(request).parts]"
    draw_chart(figure, "parameters", about=model_provenance, computation=Computation(code, request=request))
    st.caption(_("All layers, with biases; ×: cross-attention; tied tensors count once."))
    table = _table(build.parts)
    draw_table(table, key="parameters_table")
    if build.tied:
        names = ", ".join(f"{first} = {again}" for first, again in build.tied[:MOST_TIED])
        show_notice(_("Tied weights ({n}): {names}.", n=len(build.tied), names=names), "status")
    rows = frame_csv(table)
    download_button(_("Save as CSV"), rows, "parameters.csv", _("All digits"), provenance=model_provenance())


def _label(part: ParameterGroup) -> str:
    """Return the short name of a part, for a bar."""
    name = translate(SHORT.get(part.name) or PARTS.get(part.name, part.name))
    return f"{translate(BRIEF[part.where])} {name}" if part.where else name


def _table(parts: Sequence[ParameterGroup]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            _("Part"): [_part_label(part) for part in parts],
            _("Parameters"): [part.count for part in parts],
            _("Layers"): [str(part.layers or "") for part in parts],
            _("Tensors (first layer)"): [
                ", ".join(f"{one.name} {'×'.join(map(str, one.shape))}" for one in part.tensors) for part in parts
            ],
        }
    )


def _part_label(part: ParameterGroup) -> str:
    """Return the full name of a part, for the table."""
    name = translate(PARTS.get(part.name, part.name))
    return f"{translate(SIDES[part.where])} {name}" if part.where else name


def activations(build: Build, request: Anatomy) -> None:
    """Draw the activation function of the feed-forward part, as evaluated in the model.

    ``build`` is the answer to ``request``.
    """
    forward = build.stacks[0].feed_forward
    if forward is None or not forward.activation.inputs.size:
        show_notice(_("The activation is not a separate step, so it is not plotted."), "status")
        return
    found = forward.activation
    name = found.name or found.stated or "–"
    at = int(abs(found.inputs + 1).argmin())
    show_notice(
        _(
            "This model uses {name} (configuration: {stated}): {input:.2f} becomes {output:.3f}.",
            name=name,
            stated=found.stated or "–",
            input=found.inputs[at],
            output=found.outputs[at],
        ),
        "status",
    )
    figure = activation_figure(found.inputs, found.outputs, found.name, theme())
    relu = "" if found.name == "ReLU" else "*np.maximum(found.inputs, 0), "
    code = f"found = backend.inspect(request).stacks[0].feed_forward.activation\nnumbers = [{relu}*found.outputs]"
    draw_chart(figure, "activation", about=model_provenance, computation=Computation(code, request=request))
    if found.name != "ReLU":
        st.caption(_("Line: the model's own module."))


SIZE = 5  # tokens in the picture of a mask
ALL = tuple(tuple(True for _ in range(SIZE)) for _ in range(SIZE))
BACK = tuple(tuple(key <= query for key in range(SIZE)) for query in range(SIZE))
KIND_NAMES = {**TITLES, "encoder-decoder": gettext_lazy("Encoder and decoder")}
DIFFERS = {
    "encoder": gettext_lazy("Tokens attend to all tokens: for understanding texts."),
    "decoder": gettext_lazy("Tokens attend to themselves and earlier ones: for predicting the next."),
    "encoder-decoder": (gettext_lazy("The decoder also attends to the encoder (cross-attention).")),
}


def kinds(build: Build) -> None:
    """Draw diagrams of the three kinds of model, and mark the model's own kind."""
    row = st.container(horizontal=True)  # wraps on narrow screens
    for place, kind in (
        (row.container(width=WIDTH), "encoder"),
        (row.container(width=WIDTH), "decoder"),
        (st.container(), "encoder-decoder"),
    ):
        with place:
            st.markdown(f"**{translate(KIND_NAMES[kind])}**" + (_(" (this model)") if kind == build.kind else ""))
            block.mount(block.payload(schematic(kind), translate(KIND_NAMES[kind]), kind), f"kind_{kind}")
            st.caption(translate(DIFFERS[kind]))
    st.caption(
        _(
            "Rows attend to columns; filled: a weight may be nonzero "
            "([arXiv:1706.03762](https://arxiv.org/abs/1706.03762), sections 3.1 and 3.2.3). "
            "Additions and norms are omitted."
        )
    )


def schematic(kind: str) -> list[LayerTower]:
    """Return a schematic diagram of a kind of model ("encoder", "decoder" or "encoder-decoder")."""
    if kind == "encoder-decoder":
        return [_tower("encoder", cross=False), _tower("decoder", cross=True)]
    return [_tower(kind, cross=False)]


def _tower(part: str, cross: bool) -> LayerTower:
    looks = BACK if part == "decoder" else ALL
    title = _("Masked self-attention") if part == "decoder" else _("Self-attention")
    steps = [LayerBox(PartBox(f"{part} looks", "attention", title, cells=looks), (ENTERS,))]
    if cross:
        steps.append(LayerBox(PartBox("crosses", "cross-attention", _("Cross-attention"), cells=ALL), (0,)))
    steps.append(LayerBox(PartBox(f"{part} forwards", "feed-forward", _("Feed-forward")), (len(steps) - 1,)))
    reads = _("the text")
    return LayerTower(translate(TITLES[part]), reads, (), (), "N ×", tuple(steps), len(steps) - 1, (), "")


def how_to_read() -> None:
    """Draw the help text."""
    with reading_help():
        st.markdown(
            _(
                "- Each of N layers has **attention**, which mixes tokens, and a **feed-forward** part for each token "
                "alone; inputs are added to outputs ([arXiv:1706.03762](https://arxiv.org/abs/1706.03762), section "
                "3.1).\n"
                "- Norms follow the addition (post-norm) or precede each part (pre-norm, "
                "[arXiv:2002.04745](https://arxiv.org/abs/2002.04745))."
            )
        )


def draw(choice: ViewState, trace: Trace, options: BlockOptions) -> None:
    """Draw the summary and the drawing of the model, and the folded sections."""
    model, revision = (trace.model.name if choice.opened else choice.model), choice.revision or None
    try:
        if (lacking := attention_everywhere(trace.layers, trace.attending())) is not None:
            raise UserError(lacking, way_out="embedded")
        with st.spinner(_("Inspecting the model")):
            request = Anatomy(model=model, revision=revision)
            build = get_backend().inspect(request)
    except UserError as refusal:
        show_error(refusal)
        return
    lengths = {"encoder": len(trace.source), "decoder": len(trace.target or trace.source)}
    show_notice(sentence(build), "status")
    # A single tower leaves room for the sections; an encoder with a decoder takes the full width.
    alone = len(build.stacks) == 1
    left, right = st.columns([3, 2], gap="medium") if alone else (st.container(), st.container())
    with left:
        drawing(build, lengths, options, trace.model.architecture)
    sections = {
        "parameters": lambda: parameters(build, request),
        "kinds": lambda: kinds(build),
        "activation": lambda: activations(build, request),
        "cost": lambda: costs(build, model, revision, lengths[build.stacks[0].part]),
    }
    with right:
        how_to_read()
        for name, place in open_sections(options):
            with place:
                try:
                    sections[name]()
                except UserError as refusal:
                    show_error(refusal)


def draw_view() -> None:
    """Draw the view Block in the page."""
    chosen = get_view_state()
    compose(chosen, kind_of(chosen))
    options = get_params(BlockOptions)
    found = read_trace(chosen)
    if found is not None:
        draw(chosen, found, options)
