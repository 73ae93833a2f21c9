"""What each head is for, as a sign on each cell of a map of heads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from attention.mask import FloatArray
from i18n import _
from viz.figures.head_map import head_map
from viz.figures.labels import escape_label, truncate
from viz.figures.palette import color_at, ink_on, sequential_scale
from viz.figures.theme import Theme

SIGNS = {
    "previous": "←",
    "next": "→",
    "same": "↻",
    "first": "⇤",
    "separator": "¶",
    "repeat": "=",
    "broad": "∗",
}
LONGEST = 5  # characters of a relation's name on a cell


def role_map(  # noqa: PLR0913  (what a figure may be told, by name)
    shares: FloatArray,
    roles: Sequence[Sequence[str]],
    relations: Sequence[Sequence[str]],
    theme: Theme,
    title: str,
    *,
    selected: tuple[int, int] | None = None,
    base: int = 0,
) -> go.Figure:
    """A cell for each head: a sign for its role, above the relation it finds where there is one.

    ``shares`` is (layer, head), 0 to 1, NaN for a head without a role; ``roles`` and ``relations`` name each head's, by
    layer and head, "" for none. Relations are text, not markup.
    """
    figure = head_map(shares, theme, title, _("share of attention"), selected=selected, base=base, limit=1.0)
    places = [(layer, head) for layer in range(len(roles)) for head in range(len(roles[layer]))]
    figure.add_scatter(
        x=[head + base for _, head in places],
        y=[layer + base for layer, _ in places],
        text=[_sign(roles[layer][head], relations[layer][head]) for layer, head in places],
        mode="text",
        textfont={"size": 11, "color": [_ink(shares[place], theme) for place in places]},
        hoverinfo="skip",
    )
    return figure


def _sign(role: str, relation: str) -> str:
    """What stands on a cell.

    >>> _sign("previous", ""), _sign("", "obj"), _sign("", "")
    ('<span style="font-size:16px">←</span>', 'obj', '')
    """
    sign = f'<span style="font-size:{13 if relation else 16}px">{SIGNS[role]}</span>' if role else ""
    return "<br>".join(part for part in (sign, escape_label(truncate(relation, LONGEST))) if part)


def _ink(share: float, theme: Theme) -> str:
    """A colour that is read on the cell; one without a share is the ground's."""
    return ink_on(color_at(sequential_scale(theme), float(np.nan_to_num(share))))
