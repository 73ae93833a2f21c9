"""The Block page: the drawing with its explanations, the parameters by part, the three kinds, the activation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from inference.questions.anatomy import (
    INNER,
    INTO,
    OUT,
    OUTER_NORMS,
    POSITIONS,
    PROJECTION,
    RELATIVE,
    REST,
    SEGMENTS,
    TOKENS,
    Build,
    Part,
    Stack,
    crossing,
)
from ui.pages.block.options import FOLDS, Options
from ui.pages.block.plan import activation, amount, towers
from ui.pages.block.texts import told
from ui.run.refusals import say
from ui.show.chart import draw_chart, theme
from ui.show.csv_table import frame_csv
from ui.show.saving import save
from ui.state.options import choose_own
from viz.components.block import block
from viz.figures.activation import activation as activation_figure
from viz.figures.bars import bars

KEY = "block"
PLACEMENTS = {
    "post": "adds each part's result and then normalises (post-norm)",
    "pre": "normalises before each part (pre-norm)",
    "both": "normalises before each part and what it gives",
    "branch": "normalises what each part gives before adding it",
    "mixed": "normalises in several places",
    "none": "does not normalise",
}
SHORT = {
    TOKENS: "tokens",
    POSITIONS: "positions",
    SEGMENTS: "segments",
    PROJECTION: "projection",
    RELATIVE: "rel. positions",
    INTO: "W_Q, W_K, W_V",
    OUT: "W_O",
    INNER: "q and k norms",
    REST: "attention, rest",
    crossing(INTO): "× W_Q, W_K, W_V",
    crossing(OUT): "× W_O",
    OUTER_NORMS: "outer norms",
}


def folded(options: Options) -> Iterator[tuple[str, DeltaGenerator]]:
    """The folded sections by name, each with its place, those that are unfolded only; what is opened stays open."""
    for name, title in FOLDS.items():
        key = f"fold_{name}"
        st.session_state[key] = name in options.unfolded
        place = st.expander(title, key=key, on_change=_folded)
        if place.open:
            yield name, place


def _folded() -> None:
    choose_own(Options, fold=",".join(name for name in FOLDS if st.session_state.get(f"fold_{name}")))


def sentence(build: Build) -> str:
    """What the model is, in one or two sentences."""
    sides = "; and ".join(_of_stack(stack) for stack in build.stacks)
    return f"{build.architecture} is {sides}. It has {build.total:,} parameters in all."


def _of_stack(stack: Stack) -> str:
    sizes, forward = stack.attention, stack.feed_forward
    sets = amount(sizes.kv_heads, "set")
    shared = f" sharing {sets} of keys and values" if sizes.kv_heads < sizes.heads else ""
    same = "" if stack.own == stack.layers else f" (the same {stack.own if stack.own > 1 else 'one'} over and over)"
    seen = "each token sees itself and those before it" if stack.causal else "each token sees all others"
    if stack.window:
        seen += f" (in {amount(stack.windowed, 'layer')} only within a window of {stack.window:,} tokens)"
    article = "an" if stack.part == "encoder" else "a"
    text = f"{article} {stack.part} of {amount(stack.layers, 'layer')}{same} in which {seen} through "
    text += (
        f"{amount(sizes.heads, 'head')} of {sizes.width} numbers{shared}; a layer {PLACEMENTS[stack.flow.placement]}"
    )
    if stack.flow.parallel:
        text += ", runs attention and feed-forward side by side"
    if forward is not None:
        name = activation(forward)
        text += f", and passes each token through {forward.hidden:,} numbers" + (f" with {name}" if name else "")
    return text


def drawing(build: Build, lengths: dict[str, int], options: Options, file: str) -> None:
    """The model drawn, and the part explained that was picked."""
    title = f"The parts of {build.architecture}"
    said = told(build, lengths)
    data = block.payload(towers(build, lengths), title, file, said, options.piece, list(sizes(build, lengths)))
    block.mount(data, KEY, _picked)
    st.caption(
        "Text flows from top to bottom. A box is a part of the model; click it to read what it does here. ⊕ adds; the "
        "line that leads round a part to ⊕ is the residual connection. The dashed frame is one layer. Numbers beside "
        "lines: tokens × numbers of each token."
    )
    for stack in build.stacks:
        say(" ".join(_found(stack)), "status")


def sizes(build: Build, lengths: dict[str, int]) -> Iterator[tuple[str, str, str]]:
    """The letters of the papers with this model's numbers, (letter, number, what it counts)."""
    two = len(build.stacks) > 1
    for letter, stack in zip("nm", build.stacks, strict=False):
        tokens = lengths[stack.part]
        yield letter, f"{tokens:,}", f"tokens of the {stack.part}" if two else "tokens"
    yield "d", f"{build.width:,}", "numbers of each token between the layers"
    yield from _letter("N", "layers", {stack.part: stack.layers for stack in build.stacks})
    yield from _letter("h", "heads a layer", {stack.part: stack.attention.heads for stack in build.stacks})
    if any(stack.attention.kv_heads < stack.attention.heads for stack in build.stacks):
        shared = {stack.part: stack.attention.kv_heads for stack in build.stacks}
        yield from _letter("h_kv", "sets of keys and values that the heads share", shared)
    yield from _letter(
        "d_k", "numbers of a query and a key", {stack.part: stack.attention.width for stack in build.stacks}
    )
    hidden = {stack.part: stack.feed_forward.hidden for stack in build.stacks if stack.feed_forward is not None}
    yield from _letter("d_ff", "numbers inside the feed-forward part", hidden)
    yield "|V|", f"{build.vocabulary:,}", "pieces that have a vector"


def _letter(letter: str, meaning: str, numbers: dict[str, int]) -> Iterator[tuple[str, str, str]]:
    """One line where encoder and decoder agree, else one for each."""
    if len(set(numbers.values())) == 1:
        yield letter, f"{next(iter(numbers.values())):,}", meaning
    else:
        yield from ((letter, f"{number:,}", f"{meaning}, {part}") for part, number in numbers.items())


def _found(stack: Stack) -> list[str]:
    """How the drawing was found, and what it leaves out."""
    said = []
    if stack.flow.followed:
        said.append(
            f"The {stack.part}'s connections were found in the numbers of a small pass: what each part read is what "
            "the drawing says it reads."
        )
    else:
        said.append(f"Some of the {stack.part}'s connections are taken from the order in which its parts ran.")
    if stack.alike < stack.layers:
        said.append(f"{stack.alike} of its {stack.layers} layers are connected so; the others differ a little.")
    ahead = "left all vectors before it as they were" if stack.causal else "changed the vectors before it too"
    said.append(f"There, changing the last token {ahead}.")
    return said


def _picked() -> None:
    part = block.picked(KEY)
    if part is not None:
        choose_own(Options, piece=part)


def parameters(build: Build) -> None:
    """Bars and a table; their sum is the library's own count."""
    largest = max(build.parts, key=lambda part: part.count)
    say(
        f"Of {build.total:,} parameters, {largest.count:,} ({largest.count / build.total:.0%}) are "
        f"{_place(largest)}{largest.name}. The parts below sum to {build.counted:,}, as the library counts.",
        "status",
    )
    million = build.total >= 1_000_000
    unit, by = ("million parameters", 1e6) if million else ("thousand parameters", 1e3)
    labels = [_place(part, short=True) + SHORT.get(part.name, part.name) for part in build.parts]
    figure = bars(labels, [part.count / by for part in build.parts], theme(), "Parameters by part", unit)
    draw_chart(figure, "parameters")
    st.caption(
        "A bar is one kind of part, all layers together, biases included; × stands for cross-attention. Tensors that "
        "are used twice count once."
    )
    table = _table(build.parts)
    st.dataframe(table, hide_index=True, key="parameters_table")
    if build.tied:
        first, again = build.tied[0]
        more = f", and so on for {len(build.tied)} names" if len(build.tied) > 1 else ""
        say(f"Used more than once: {first} is also {again}{more}.", "status")
    rows = frame_csv(table)
    save("Save as CSV", rows, "parameters.csv", "The table, one line a part", of_model=True)


def _place(part: Part, short: bool = False) -> str:
    return "" if not part.where else f"{part.where[:3]}. " if short else f"the {part.where}'s "


def _table(parts: Sequence[Part]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "part": [f"{part.where} {part.name}".strip() for part in parts],
            "parameters": [part.count for part in parts],
            "layers": [str(part.layers or "") for part in parts],
            "tensors (of the first layer)": [
                ", ".join(f"{one.name} {'×'.join(map(str, one.shape))}" for one in part.tensors) for part in parts
            ],
        }
    )


def activations(build: Build) -> None:
    """The function between the feed-forward part's matrices, as the model computes it."""
    forward = build.stacks[0].feed_forward
    if forward is None or not forward.activation.inputs.size:
        say("This model computes its activation inside a larger step, so that it cannot be asked alone.", "status")
        return
    found = forward.activation
    stated = f" (its configuration says “{found.stated}”)" if found.stated else ""
    name = found.name or "a function that is none of the usual ones"
    at = int(abs(found.inputs + 1).argmin())
    relu = found.name == "ReLU"
    beside = ", as the original Transformer does" if relu else ", where ReLU gives 0"
    say(
        f"This model computes {name}{stated}: of {found.inputs[at]:.2f} it makes {found.outputs[at]:.3f}{beside}.",
        "status",
    )
    figure = activation_figure(found.inputs, found.outputs, found.name, theme())
    draw_chart(figure, "activation")
    dots = "" if relu else "; dots are ReLU, for comparison"
    st.caption(f"The line is what the model's own module gives for each number{dots}.")
