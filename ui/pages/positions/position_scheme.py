"""Options of the view Positions, and sentences on how the model encodes positions and on its length limit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from i18n import _, gettext_lazy, translate
from i18n.lists import format_comma_list, join_sentences
from inference.tasks.positions import Positions, PositionTable, RotaryAngles
from ui.input.controls import bound_widget
from ui.run.notices import show_notice
from ui.show.tables import model_provenance
from ui.state.params import drop_place
from viz.options import option
from viz.paper.notebook import Computation

SHOWS = {
    "test": gettext_lazy("Order test"),
    "vectors": gettext_lazy("Position vectors"),
    "shift": gettext_lazy("Shift matrix"),
    "distance": gettext_lazy("Scores by distance"),
}
LONGEST = 512  # The maximum number of positions, or the maximum distance in tokens.


def provenance_of(computation: Computation) -> Callable[[], dict[str, str]]:
    """Return a callback that returns the provenance of the numbers in a download.

    The provenance names the model if ``computation`` contains a request to it; numbers from a paper's formula have
    none.
    """
    return model_provenance if "request" in computation.names else dict


@dataclass(frozen=True)
class PositionsOptions:
    """Options of the Positions page; None stands for a default that fits the model."""

    show: str = option(
        "test",
        label=gettext_lazy("View"),
        choices=SHOWS,
    )
    # The kind of permutation.
    mix: str = option(
        "shuffle",
        label=gettext_lazy("Word order"),
        help=gettext_lazy("A word's tokens move together; special tokens stay"),
        choices={"shuffle": gettext_lazy("Shuffle the words"), "swap": gettext_lazy("Swap two words")},
    )
    seed: int = 1  # The seed of the shuffle.
    # The indices of the swapped words.
    first: int | None = option(
        None,
        label=gettext_lazy("This word"),
        of_text=drop_place,
    )
    second: int | None = option(None, label=gettext_lazy("and that one"), of_text=drop_place)
    length: int = 64  # The number of positions.
    # The dimension of the sinusoidal vectors.
    size: int | None = option(None, label=gettext_lazy("Dimensions d"), help=gettext_lazy("An even number"))
    # The shift k of the matrix M_k.
    shift: int = option(5, label=gettext_lazy("Shift k"))
    curves: str = ""  # The dimensions drawn as curves, such as "0-1-20".


def length_of(options: PositionsOptions) -> int:
    """Return the number of positions to draw, clamped to its limits."""
    return min(max(2, options.length), LONGEST)


def pick_view() -> None:
    """Draw the widget that selects the view of the page Positions."""
    bound_widget(PositionsOptions, "show", st.segmented_control, required=True)


def draw_position_scheme(held: Positions) -> str:
    """Return sentences on how the model encodes positions: by embeddings, rotation, biases or ALiBi."""
    said = [_describe_learned(held.model, table) for table in held.tables]
    if held.rotary:
        said.append(_describe_rotary(held.model, held.rotary))
    if held.biases:
        buckets, heads = held.biases[0].values.shape
        said.append(
            _(
                "{model} adds {buckets} learned biases by distance to the scores of {heads} heads.",
                model=held.model,
                buckets=buckets,
                heads=heads,
            )
        )
    if held.slopes is not None:
        said.append(_("{model} lowers scores in proportion to distance (ALiBi).", model=held.model))
    if held.others or not said:
        other = ", ".join(held.others[:1]) or "–"
        said.append(_("{model} encodes positions in its own way ({other}).", model=held.model, other=other))
    return translate(join_sentences(*said))


def _describe_learned(model: str, table: PositionTable) -> str:
    positions, dimensions = table.vectors.shape
    return _(
        "{model} adds {kind} vectors for {positions:,} positions ({path}, {positions:,} × {dimensions}).",
        kind=_("sinusoidal") if table.layout else _("learned"),
        model=model,
        positions=positions,
        path=table.path,
        dimensions=dimensions,
    )


def _describe_rotary(model: str, sets: tuple[RotaryAngles, ...]) -> str:
    return _(
        "{model} rotates queries and keys (rotary, {bases}): {turned} of {width} channels per head.",
        model=model,
        bases=format_comma_list([_base(turning) for turning in sets]),
        turned=2 * len(sets[0].frequencies),
        width=sets[0].width,
    )


def _base(turning: RotaryAngles) -> str:
    """Return the base of the rotary angles, with the layer type if the model has several."""
    base = _(
        "base {base}, d_k = {width}",
        base="–" if turning.theta is None else f"{turning.theta:,.0f}",
        width=turning.width,
    )
    return f"{base} ({turning.layers.replace('_', ' ')})" if turning.layers else base


def draw_length_limit(held: Positions) -> None:
    """Show the length limit of the model and its error message for longer texts."""
    st.markdown(_("**Length limit**"))
    if held.trained is None:
        end = _("{model} has no length limit: only distances matter.", model=held.model)
    else:
        end = _(
            "{model} reads at most {positions:,} positions; others have no vectors or training.",
            model=held.model,
            positions=held.trained,
        )
    show_notice(end, role="status")
