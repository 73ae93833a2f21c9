"""The Positions page: what the model holds in words."""

from __future__ import annotations

import streamlit as st

from inference.questions.positions import Positions, Rotary, Table
from ui.input.picking import control
from ui.pages.positions.options import SHOWS, Options
from ui.run.refusals import say


def pick_view() -> None:
    """Which of the page's figures is shown."""
    control(Options, "show", st.segmented_control, "What to look at", list(SHOWS), format_func=SHOWS.get, required=True,
         help="Four ways to see how a model tells word order")  # fmt: skip


def what_it_holds(held: Positions) -> str:
    """How this model tells where a token stands, in a few sentences."""
    said = [_added(held.model, table) for table in held.tables]
    if held.rotary:
        said.append(_turned(held.model, held.rotary))
    if held.biases:
        buckets, heads = held.biases[0].values.shape
        said.append(
            f"{held.model} adds a learned number by distance to every score of its self-attention: {buckets} for each "
            f"of {heads} heads."
        )
    if held.slopes is not None:
        said.append(f"{held.model} takes a fixed amount per token of distance from every score (ALiBi).")
    if held.others:
        said.append(f"{held.model} holds positions in a way of its own ({held.others[0]}).")
    if not said:
        said.append(f"{held.model} works positions out in code of its own; it holds no table of them.")
    if held.kind == "decoder":
        said.append("It looks back only, and that alone tells it something about order.")
    return " ".join(said)


def _added(model: str, table: Table) -> str:
    positions, dimensions = table.vectors.shape
    kind = "a learned vector" if not table.layout else "a vector of sines and cosines"
    return (
        f"{model} adds {kind} for each of {positions:,} positions to the word vectors"
        f" ({table.path}, {positions:,} × {dimensions})."
    )


def _turned(model: str, sets: tuple[Rotary, ...]) -> str:
    bases = [
        ("base not stated" if turning.theta is None else f"base {turning.theta:,.0f}")
        + (f" in its {turning.layers.replace('_', ' ')} layers" if turning.layers else "")
        for turning in sets
    ]
    channels = f"{2 * len(sets[0].frequencies)} of {sets[0].width} channels of a head"
    return f"{model} turns queries and keys by an angle for each position (rotary): {', '.join(bases)}; {channels}."


def past_the_end(held: Positions) -> None:
    """What becomes of a text that is longer than the model was made for."""
    st.markdown("**Past the last position**")
    if held.trained is None:
        end = f"{held.model} names no longest text: what it does depends on distances, which never run out."
    elif held.tables and not held.tables[0].layout:
        end = (
            f"{held.model} has learned vectors for {len(held.tables[0].vectors):,} positions and none for a further "
            "one; nothing can be computed in its place."
        )
    else:
        end = (
            f"{held.model} was set up for {held.trained:,} positions. Its formula goes on, but what it has "
            "learned to do with larger positions is not known; this app stops there."
        )
    refused = f" A text of more tokens is refused: “{held.refusal}”" if held.refusal else ""
    say(end + refused, role="status")
