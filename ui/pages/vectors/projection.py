"""Vectors as a picture: which way they are made flat, what that leaves out, and the waiting where it takes long."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from attention.mask import Array
from attention.vectors import pca
from ui.input.picking import control
from ui.pages.vectors.arranging import FEWEST, MOST, NEIGHBOURS, Arrangement, arranger
from ui.pages.vectors.options import Vectors
from ui.run.refusals import say
from ui.show.chart import draw_chart, theme
from viz.figures.scatter import NAMED, scatter

PATIENCE = 0.4  # seconds before the page says what it waits for
WAYS = {"pca": "PCA", "umap": "UMAP"}
MARKS = (
    "Each dot is one of the vectors, named where there is room; hover names the others. Near dots are alike as far as "
    "so few axes can tell; the axes themselves mean nothing that has a name."
)


def picture(  # noqa: PLR0913  (one control or line, told all about itself)
    vectors: Array,
    names: Sequence[str],
    options: Vectors,
    what: str,
    *,
    marked: int | None = None,
    pale: Sequence[int] = (),
) -> None:
    """Draw (point, channel) vectors; ``what`` they are, in the plural. At most MOST of them, evenly taken."""
    axes = _controls(options)
    if len(names) < 3:
        say(f"A picture needs three {what} or more; here are {len(names)}.", role="status")
        return
    kept = np.unique(np.linspace(0, len(names) - 1, min(len(names), MOST)).astype(int))
    if len(kept) < len(names):
        say(f"{len(kept):,} of {len(names):,} {what} are drawn, evenly taken.", role="status")
    shown = np.asarray(vectors[kept] if len(kept) < len(names) else vectors)
    labels = [names[at] for at in kept]
    common: dict[str, Any] = {"marked": marked, "pale": pale} if len(kept) == len(names) else {}
    title = f"The {what}, {vectors.shape[1]:,} channels made {axes}"
    if options.flat == "pca":
        found = pca(shown, axes)
        say(_kept(found.shares, shown.shape[1]), role="status")
        named = [f"Axis {at + 1} ({share:.0%})" for at, share in enumerate(found.shares)]
        figure = scatter(found.points, labels, named, theme(), title, **common)
    else:
        points = _arranged(shown, axes, what)
        if points is None:
            return
        say(
            f"UMAP put each of the {len(labels):,} {what} beside its {NEIGHBOURS} nearest by cosine; how far apart"
            " groups lie means little.",
            role="status",
        )
        figure = scatter(points, labels, [f"Axis {at + 1}" for at in range(axes)], theme(), title, **common)
    draw_chart(figure, "vectors_picture")
    st.caption(MARKS + ("" if len(labels) <= NAMED else f" Above {NAMED} dots names are in the hover text only."))


def _controls(options: Vectors) -> int:
    """How it is made flat; into how many axes."""
    left, right = st.columns(2)
    control(Vectors, "flat", left.segmented_control, "Made flat by", list(WAYS), format_func=WAYS.get, required=True,
            help="PCA keeps the directions in which the vectors differ most, and distances along them. UMAP keeps "
            "neighbours together and gives up distances.")  # fmt: skip
    axes = 3 if options.axes == 3 else 2
    control(Vectors, "axes", right.segmented_control, "Axes", [2, 3], shown=axes, format_func="{}-D".format,
            required=True, help="A 3-D picture can be turned.")  # fmt: skip
    return axes


def _kept(shares: Array, channels: int) -> str:
    """What PCA's axes hold and leave out."""
    return (
        f"These {len(shares)} axes hold {shares.sum():.0%} of the variance; the other {1 - shares.sum():.0%} lies in"
        f" directions that are not drawn, of {channels:,} in all."
    )


def _arranged(vectors: Array, axes: int, what: str) -> Array | None:
    """UMAP's points; None while they are made, when that was stopped, and where there are too few."""
    if len(vectors) < FEWEST:
        say(
            f"UMAP places each point by its {NEIGHBOURS} nearest neighbours, so a picture of fewer than {FEWEST} points"
            f" means nothing; here are {len(vectors)} {what}. Bring more, or take PCA.",
            role="status",
        )
        return None
    arrangement = arranger().arrange(vectors, axes)
    arrangement.wait(PATIENCE)
    if arrangement.state == "done":
        return arrangement.points
    if arrangement.state in ("waiting", "running"):
        _watch(arrangement)
        return None
    if arrangement.state == "stopped":
        say("UMAP was stopped.", role="status")
    else:
        say("UMAP could not arrange these vectors.")
    st.button(
        "Try again",
        on_click=arranger().again,  # type: ignore[arg-type]  # what it gives back is not used
        args=(vectors, axes),
        help="Begin anew",
    )
    return None


@st.fragment(run_every=0.5)
def _watch(arrangement: Arrangement) -> None:
    """The running one; the whole page is drawn again when it has ended."""
    if arrangement.state not in ("waiting", "running"):
        st.rerun()
    doing = "Waiting for another one" if arrangement.state == "waiting" else "UMAP is arranging the points"
    say(
        f"{doing}: {arrangement.seconds:.0f} s so far. It does not tell how far it is; the first one since the app was"
        " started takes longer, to compile.",
        role="status",
    )
    st.button("Stop", on_click=arrangement.stop, help="End it; PCA stays at hand")
