"""Positions page: sentences on the model's position scheme and its length limit."""

from __future__ import annotations

import streamlit as st

from i18n import _, gettext_lazy, translate
from i18n.lists import format_comma_list, join_sentences
from inference.tasks.positions import Positions, PositionTable, RotaryAngles
from ui.input.controls import bound_widget
from ui.pages.positions.options import PositionsOptions
from ui.run.notices import show_notice


def pick_view() -> None:
    """Draw the control that selects the view of the page."""
    bound_widget(PositionsOptions, "show", st.segmented_control, required=True)


def draw_position_scheme(held: Positions) -> str:
    """Return sentences on the model's position embeddings, biases and mask."""
    said = [_describe_learned(held.model, table) for table in held.tables]
    if held.rotary:
        said.append(_describe_rotary(held.model, held.rotary))
    if held.biases:
        buckets, heads = held.biases[0].values.shape
        said.append(
            _(
                "{model} adds a learned number by distance to every score of its self-attention: {buckets} for each "
                "of {heads} heads.",
                model=held.model,
                buckets=buckets,
                heads=heads,
            )
        )
    if held.slopes is not None:
        said.append(_("{model} takes a fixed amount per token of distance from every score (ALiBi).", model=held.model))
    if held.others:
        said.append(_("{model} holds positions in a way of its own ({other}).", model=held.model, other=held.others[0]))
    if not said:
        said.append(_("{model} works positions out in code of its own; it holds no table of them.", model=held.model))
    if held.kind == "decoder":
        said.append(_("It looks back only, and that alone tells it something about order."))
    return translate(join_sentences(*said))


def _describe_learned(model: str, table: PositionTable) -> str:
    positions, dimensions = table.vectors.shape
    template = (
        gettext_lazy(
            "{model} adds a vector of sines and cosines for each of {positions:,} positions to the word vectors "
            "({path}, {positions:,} × {dimensions})."
        )
        if table.layout
        else gettext_lazy(
            "{model} adds a learned vector for each of {positions:,} positions to the word vectors "
            "({path}, {positions:,} × {dimensions})."
        )
    )
    return _(
        template,
        model=model,
        positions=positions,
        path=table.path,
        dimensions=dimensions,
    )


def _describe_rotary(model: str, sets: tuple[RotaryAngles, ...]) -> str:
    return _(
        "{model} turns queries and keys by an angle for each position (rotary): {bases}; {turned} of {width} channels "
        "of a head.",
        model=model,
        bases=format_comma_list([_base(turning) for turning in sets]),
        turned=2 * len(sets[0].frequencies),
        width=sets[0].width,
    )


def _base(turning: RotaryAngles) -> str:
    """Return the base of the rotary angles, with the layer type if the model has several."""
    base = _("base not stated") if turning.theta is None else _("base {base:,.0f}", base=turning.theta)
    if not turning.layers:
        return base
    return _("{base} in its {kind} layers", base=base, kind=turning.layers.replace("_", " "))


def draw_length_limit(held: Positions) -> None:
    """Show the length limit of the model and its error message for longer texts."""
    st.markdown(_("**Past the last position**"))
    if held.trained is None:
        end = _(
            "{model} names no longest text: what it does depends on distances, which never run out.", model=held.model
        )
    elif held.tables and not held.tables[0].layout:
        end = _(
            "{model} has learned vectors for {positions:,} positions and none for a further one; nothing can be "
            "computed in its place.",
            model=held.model,
            positions=len(held.tables[0].vectors),
        )
    else:
        end = _(
            "{model} was set up for {positions:,} positions. Its formula goes on, but what it has "
            "learned to do with larger positions is not known; this app stops there.",
            model=held.model,
            positions=held.trained,
        )
    refused = _("A text of more tokens is refused: “{refusal}”", refusal=held.refusal) if held.refusal else ""
    show_notice(join_sentences(end, refused), role="status")
