"""Drawing of a model with explanations, its parameters by part, and its activation function."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from i18n import _, translate
from inference.tasks.anatomy import Build, ParameterGroup, Stack
from ui.pages.block import explanations
from ui.pages.block.names import BRIEF, PARTS, PLACEMENTS, SHORT, SIDES, amount
from ui.pages.block.options import FOLDS, BlockOptions
from ui.pages.block.plan import activation, towers
from ui.run.notices import show_notice
from ui.show.chart import draw_chart, theme
from ui.show.tables import download_button, draw_table, frame_csv, model_provenance
from ui.show.text import join_sentences
from ui.state.params import set_params
from viz.components.block import block
from viz.figures.formulas import activation as activation_figure
from viz.figures.token_bars import bars

KEY = "block"


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
    """Describe the model's stacks and its parameter count in one or two sentences."""
    sides = _("; and ").join(_of_stack(stack) for stack in build.stacks)
    return _(
        "{architecture} is {sides}. It has {total:,} parameters in all.",
        architecture=build.architecture,
        sides=sides,
        total=build.total,
    )


def _of_stack(stack: Stack) -> str:
    sizes, forward = stack.attention, stack.feed_forward
    values = {
        "layers": amount(stack.layers, "layer"),
        "same": _describe_shared(stack),
        "seen": _describe_mask(stack),
        "heads": amount(sizes.heads, "head"),
        "width": sizes.width,
        "shared": _(" sharing {sets} of keys and values", sets=amount(sizes.kv_heads, "set"))
        if sizes.kv_heads < sizes.heads
        else "",
        "placement": PLACEMENTS[stack.flow.placement],
    }
    text = (
        _(
            "an encoder of {layers}{same} in which {seen} through {heads} of {width} numbers{shared}; a layer "
            "{placement}",
            **values,
        )
        if stack.part == "encoder"
        else _(
            "a decoder of {layers}{same} in which {seen} through {heads} of {width} numbers{shared}; a layer "
            "{placement}",
            **values,
        )
    )
    if stack.flow.parallel:
        text += _(", runs attention and feed-forward side by side")
    if forward is not None:
        name = activation(forward)
        text += (
            _(", and passes each token through {hidden:,} numbers with {name}", hidden=forward.hidden, name=name)
            if name
            else _(", and passes each token through {hidden:,} numbers", hidden=forward.hidden)
        )
    return text


def _describe_shared(stack: Stack) -> str:
    """Describe how many distinct layers a stack repeats; "" if no layers are shared."""
    if stack.own == stack.layers:
        return ""
    return _(" (the same {own} over and over)", own=stack.own) if stack.own > 1 else _(" (the same one over and over)")


def _describe_mask(stack: Stack) -> str:
    """Describe which tokens a token can attend to."""
    seen = _("each token sees itself and those before it") if stack.causal else _("each token sees all others")
    if stack.window:
        seen += _(
            " (in {layers} only within a window of {window:,} tokens)",
            layers=amount(stack.windowed, "layer"),
            window=stack.window,
        )
    return seen


def drawing(build: Build, lengths: dict[str, int], options: BlockOptions, file: str) -> None:
    """Draw the model with the explanations of its parts, and the notes about how it was traced."""
    title = _("The parts of {architecture}", architecture=build.architecture)
    said = explanations.explain_parts(build, lengths)
    data = block.payload(towers(build, lengths), title, file, said, options.piece, list(sizes(build, lengths)))
    block.mount(data, KEY, _on_pick)
    st.caption(
        _(
            "Text flows from top to bottom. A box is a part of the model; click it to read what it does here. ⊕ adds; "
            "the line that leads round a part to ⊕ is the residual connection. The dashed frame is one layer. Numbers "
            "beside lines: tokens × numbers of each token."
        )
    )
    for stack in build.stacks:
        show_notice(join_sentences(*_describe_source(stack)), "status")


def sizes(build: Build, lengths: dict[str, int]) -> Iterator[tuple[str, str, str]]:
    """Yield this model's values of the papers' symbols, as (symbol, number, meaning)."""
    two = len(build.stacks) > 1
    for letter, stack in zip("nm", build.stacks, strict=False):
        tokens = lengths[stack.part]
        yield letter, f"{tokens:,}", _("tokens of the {side}", side=SIDES[stack.part]) if two else _("tokens")
    yield "d", f"{build.width:,}", _("numbers of each token between the layers")
    yield from _letter("N", _("layers"), {stack.part: stack.layers for stack in build.stacks})
    yield from _letter("h", _("heads a layer"), {stack.part: stack.attention.heads for stack in build.stacks})
    if any(stack.attention.kv_heads < stack.attention.heads for stack in build.stacks):
        shared = {stack.part: stack.attention.kv_heads for stack in build.stacks}
        yield from _letter("h_kv", _("sets of keys and values that the heads share"), shared)
    yield from _letter(
        "d_k", _("numbers of a query and a key"), {stack.part: stack.attention.width for stack in build.stacks}
    )
    hidden = {stack.part: stack.feed_forward.hidden for stack in build.stacks if stack.feed_forward is not None}
    yield from _letter("d_ff", _("numbers inside the feed-forward part"), hidden)
    yield "|V|", f"{build.vocabulary:,}", _("pieces that have a vector")


def _letter(letter: str, meaning: str, numbers: dict[str, int]) -> Iterator[tuple[str, str, str]]:
    """Yield a single line if all stacks have the same number, else a line per stack."""
    if len(set(numbers.values())) == 1:
        yield letter, f"{next(iter(numbers.values())):,}", meaning
    else:
        yield from ((letter, f"{number:,}", f"{meaning}, {translate(SIDES[part])}") for part, number in numbers.items())


def _describe_source(stack: Stack) -> list[str]:
    """Describe how a stack's connections were found, and which differences the drawing leaves out."""
    said = []
    if stack.flow.followed:
        said.append(
            _(
                "The {side}'s connections were found in the numbers of a small pass: what each part read is what "
                "the drawing says it reads.",
                side=SIDES[stack.part],
            )
        )
    else:
        said.append(
            _(
                "Some of the {side}'s connections are taken from the order in which its parts ran.",
                side=SIDES[stack.part],
            )
        )
    if stack.alike < stack.layers:
        said.append(
            _(
                "{alike} of its {layers} layers are connected so; the others differ a little.",
                alike=stack.alike,
                layers=stack.layers,
            )
        )
    ahead = _("left all vectors before it as they were") if stack.causal else _("changed the vectors before it too")
    said.append(_("There, changing the last token {ahead}.", ahead=ahead))
    return said


def _on_pick() -> None:
    part = block.picked_part(KEY)
    if part is not None:
        set_params(BlockOptions, piece=part)


def parameters(build: Build) -> None:
    """Draw the parameters by part as bars, as a table and as a CSV file."""
    largest = max(build.parts, key=lambda part: part.count)
    show_notice(
        _(
            "Of {total:,} parameters, {n:,} ({share:.0%}) are {part}. The parts below sum to {counted:,}, as the "
            "library counts.",
            total=build.total,
            n=largest.count,
            share=largest.count / build.total,
            part=_part_phrase(largest),
            counted=build.parameter_count,
        ),
        "status",
    )
    million = build.total >= 1_000_000
    unit, by = (_("million parameters"), 1e6) if million else (_("thousand parameters"), 1e3)
    labels = [_label(part) for part in build.parts]
    figure = bars(labels, [part.count / by for part in build.parts], theme(), _("Parameters by part"), unit)
    draw_chart(figure, "parameters")
    st.caption(
        _(
            "A bar is one kind of part, all layers together, biases included; × stands for cross-attention. Tensors "
            "that are used twice count once."
        )
    )
    table = _table(build.parts)
    draw_table(table, key="parameters_table")
    if build.tied:
        first, again = build.tied[0]
        more = _(", and so on for {n} names", n=len(build.tied)) if len(build.tied) > 1 else ""
        show_notice(
            _("Used more than once: {first} is also {again}{more}.", first=first, again=again, more=more), "status"
        )
    rows = frame_csv(table)
    download_button(
        _("Save as CSV"), rows, "parameters.csv", _("The table, one line a part"), provenance=model_provenance()
    )


def _part_phrase(part: ParameterGroup) -> str:
    """Return the name of a part for use inside a sentence."""
    name = PARTS.get(part.name, part.name)
    return _("the {side}'s {part}", side=SIDES[part.where], part=name) if part.where else translate(name)


def _label(part: ParameterGroup) -> str:
    """Return the short name of a part, for a bar."""
    name = translate(SHORT.get(part.name) or PARTS.get(part.name, part.name))
    return f"{translate(BRIEF[part.where])} {name}" if part.where else name


def _table(parts: Sequence[ParameterGroup]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            _("part"): [_part_label(part) for part in parts],
            _("parameters"): [part.count for part in parts],
            _("layers"): [str(part.layers or "") for part in parts],
            _("tensors (of the first layer)"): [
                ", ".join(f"{one.name} {'×'.join(map(str, one.shape))}" for one in part.tensors) for part in parts
            ],
        }
    )


def _part_label(part: ParameterGroup) -> str:
    """Return the full name of a part, for the table."""
    name = translate(PARTS.get(part.name, part.name))
    return f"{translate(SIDES[part.where])} {name}" if part.where else name


def activations(build: Build) -> None:
    """Draw the activation function between the feed-forward matrices, as the model's module computes it."""
    forward = build.stacks[0].feed_forward
    if forward is None or not forward.activation.inputs.size:
        show_notice(
            _("This model computes its activation inside a larger step, so that it cannot be asked alone."), "status"
        )
        return
    found = forward.activation
    stated = _(" (its configuration says “{stated}”)", stated=found.stated) if found.stated else ""
    name = found.name or _("a function that is none of the usual ones")
    at = int(abs(found.inputs + 1).argmin())
    relu = found.name == "ReLU"
    beside = _(", as the original Transformer does") if relu else _(", where ReLU gives 0")
    show_notice(
        _(
            "This model computes {name}{stated}: of {input:.2f} it makes {output:.3f}{beside}.",
            name=name,
            stated=stated,
            input=found.inputs[at],
            output=found.outputs[at],
            beside=beside,
        ),
        "status",
    )
    figure = activation_figure(found.inputs, found.outputs, found.name, theme())
    draw_chart(figure, "activation")
    dots = "" if relu else _("; dots are ReLU, for comparison")
    st.caption(_("The line is what the model's own module gives for each number{dots}.", dots=dots))
