"""A 2-D or 3-D projection of vectors by PCA or UMAP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import streamlit as st

from attention.mask import FloatArray
from attention.vectors import pca
from i18n import _, gettext_lazy, translate
from ui.input.controls import bound_widget
from ui.pages.vectors.options import VectorsOptions
from ui.pages.vectors.umap_jobs import FEWEST, MOST, NEIGHBOURS, UmapJob, get_umap_pool
from ui.pages.vectors.umap_worker import arrange
from ui.run.notices import show_notice
from ui.run.redrawing import redraw_every
from ui.show.chart import draw_chart, theme
from viz.figures.vectors import drawing_order, scatter
from viz.paper.notebook import Computation

PATIENCE = 0.4  # seconds to wait before the progress is shown
MARKS = gettext_lazy("Near dots are similar as far as these axes show.")


def picture(  # noqa: PLR0913  (options of a single figure)
    vectors: FloatArray,
    names: Sequence[str],
    options: VectorsOptions,
    what: str,
    *,
    marked: int | None = None,
    pale: Sequence[int] = (),
    about: Mapping[str, Any],
    computation: Computation | None = None,
) -> None:
    """Draw a projection of at most MOST evenly spaced ``vectors``, shape (point, channel), to 2 or 3 dimensions.

    ``what`` names the points in the plural. ``marked`` is the index of a highlighted point, and ``pale`` are the
    indices of faint points. ``about`` is the provenance of the vectors, and ``computation`` notebook code that computes
    ``vectors``.
    """
    axes = _controls(options)
    if len(names) < 3:
        show_notice(
            _(
                "{method} needs {fewest} {what}; here are {n}.",
                method="PCA",
                fewest=3,
                what=what,
                n=len(names),
            ),
            role="status",
        )
        return
    kept = np.unique(np.linspace(0, len(names) - 1, min(len(names), MOST)).astype(int))
    if len(kept) < len(names):
        show_notice(
            _("Shown: {drawn:,} of {all:,} {what}.", drawn=len(kept), all=len(names), what=what),
            role="status",
        )
    shown = np.asarray(vectors[kept] if len(kept) < len(names) else vectors)
    labels = [names[at] for at in kept]
    common: dict[str, Any] = {"marked": marked, "pale": pale} if len(kept) == len(names) else {}
    order = drawing_order(len(kept), **common)
    title = _(
        "The {what}: {channels:,} dimensions projected to {axes}", what=what, channels=vectors.shape[1], axes=axes
    )
    if options.flat == "pca":
        found = pca(shown, axes)
        show_notice(_describe_variance(found.shares, shown.shape[1]), role="status")
        named = [f"{_('Axis {axis}', axis=at)} ({share:.0%})" for at, share in enumerate(found.shares, 1)]
        figure = scatter(found.points, labels, named, theme(), title, **common)
        if computation is not None:
            code = f"numbers = pca(vectors[order], {axes}).points[:, -1]"
            computation = computation.then(code, order=kept[order], pca=pca)
    else:
        points = _umap_points(shown, axes, what)
        if points is None:
            return
        show_notice(
            _(
                "UMAP of {n:,} {what}, {neighbours} neighbours by cosine; distances between groups mean little.",
                n=len(labels),
                what=what,
                neighbours=NEIGHBOURS,
            ),
            role="status",
        )
        figure = scatter(
            points, labels, [_("Axis {axis}", axis=at + 1) for at in range(axes)], theme(), title, **common
        )
        if computation is not None:
            code = (
                "# UMAP amplifies rounding errors, so the points can differ on another machine.\n"
                f"numbers = arrange(vectors[kept], {axes}, {NEIGHBOURS})[order, -1]"
            )
            computation = computation.then(code, kept=kept, order=order, arrange=arrange)
    method = "PCA" if options.flat == "pca" else f"UMAP, {NEIGHBOURS} neighbours by cosine"
    about = {**about, "projection": f"{method}, {axes} axes"}
    draw_chart(figure, "vectors_picture", about=lambda: about, computation=computation)
    st.caption(translate(MARKS))


def _controls(options: VectorsOptions) -> int:
    """Draw the controls for method and axes, and return the number of axes."""
    left, right = st.columns(2)
    bound_widget(VectorsOptions, "flat", left.segmented_control, required=True)
    bound_widget(VectorsOptions, "axes", right.segmented_control, required=True)
    return options.axes


def _describe_variance(shares: FloatArray, channels: int) -> str:
    """Return a sentence with the shares of variance inside and outside the axes of the PCA."""
    return _(
        "These {axes} of {channels:,} axes explain {held:.0%} of the variance and miss {lost:.0%}.",
        axes=len(shares),
        held=shares.sum(),
        lost=1 - shares.sum(),
        channels=channels,
    )


def _umap_points(vectors: FloatArray, axes: int, what: str) -> FloatArray | None:
    """Return UMAP's points; None, with a notice, if they are not ready, stopped, failed or too few."""
    if len(vectors) < FEWEST:
        show_notice(
            _(
                "{method} needs {fewest} {what}; here are {n}.",
                method="UMAP",
                fewest=FEWEST,
                what=what,
                n=len(vectors),
            ),
            role="status",
        )
        return None
    arrangement = get_umap_pool().arrange(vectors, axes)
    arrangement.wait(PATIENCE)
    if arrangement.state == "done":
        return arrangement.points
    if arrangement.state in ("waiting", "running"):
        redraw_every(0.5, _watch, arrangement)
        return None
    if arrangement.state == "stopped":
        show_notice(arrangement.late or _("Stopped."), role="status")
    else:
        show_notice(_("UMAP failed here. Use PCA."))
    st.button(
        _("Try again"),
        on_click=get_umap_pool().restart,  # type: ignore[arg-type]  # Streamlit ignores the return value
        args=(vectors, axes),
    )
    return None


def _watch(arrangement: UmapJob) -> None:
    """Draw the progress of a job; rerun the page when the job has ended."""
    if arrangement.state not in ("waiting", "running"):
        st.rerun()
    show_notice(
        _(
            "UMAP: {seconds:.0f} s. The first run also compiles.",
            seconds=arrangement.seconds,
        ),
        role="status",
    )
    st.button(_("Stop"), on_click=arrangement.stop)
