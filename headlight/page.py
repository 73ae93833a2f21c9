"""A trace as one page of bounded size, for a notebook: the microscope with as many maps inside as there is room for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from attention.head_summary import HeadSummary
from attention.mask import FloatArray
from attention.pooling import far_pool, max_pool
from attention.view import View
from i18n import _
from viz.components.explore.content import payload, script, style
from viz.components.standalone.standalone import Theme, standalone_html

LARGEST = 1_000_000  # bytes of what a cell holds
SMALL = (48, 24, 12)  # cells on a side of a small map; the first that leaves room is taken
PER_MAP = 150  # bytes around the numbers of one map
HEIGHT = 760  # of the page in the notebook, in pixels
# Scripts of the page run, and reach neither the notebook nor a server; a file may be saved.
FRAME = (
    '<iframe sandbox="allow-scripts allow-downloads" title="Headlight" '
    'style="width:100%;height:{height}px;border:0" srcdoc="{page}"></iframe>'
)


def standalone_page(view: View, survey: HeadSummary, selection: Mapping[str, Any], theme: Theme = "auto") -> str:
    """The page as a file of its own, as the app exports it; raises viz.export.TooLong where no map fits."""
    return _page(view, survey, selection, None, theme)


def notebook_frame(view: View, survey: HeadSummary, selection: Mapping[str, Any], theme: Theme = "auto") -> str:
    """The page inside a notebook's cell, at most LARGEST bytes: all maps, or those nearest to the chosen head, or none.

    The page says which. Of a text whose tokens alone take more, a sentence.
    """
    one = len(view.queries) * len(view.keys) + focus_bytes(view)
    for least in (one, 0):  # smaller small maps before none of the chosen head
        for size in SMALL:
            small = replace(survey, thumbnails=_pool_thumbnails(survey, size))
            bare = _iframe_html(_page(view, small, selection, 0, theme))
            room = (LARGEST - size_of(bare) - PER_MAP * view.layers * view.heads) * 3 // 4  # as base64 writes it
            if room >= least:
                return _fit_maps(view, small, selection, room, theme) or bare
    said = _(
        "Headlight: a text of {tokens:,} tokens is too long for a page inside a notebook. "
        'Save it to a file of its own with .save("page.html").',
        tokens=len(view.queries),
    )
    return f"<p>{said}</p>"


def _fit_maps(view: View, survey: HeadSummary, selection: Mapping[str, Any], room: int, theme: Theme) -> str | None:
    """The page with all maps that there is room for; beside a part of them, what one word gives the others in all."""
    every = view.layers * view.heads * len(view.queries) * len(view.keys)
    for most in (2 * every, every, room - focus_bytes(view)):
        if 0 < most <= room and size_of(made := _iframe_html(_page(view, survey, selection, most, theme))) <= LARGEST:
            return made
    return None


def focus_bytes(view: View) -> int:
    """Bytes of what one word gives the others in all heads."""
    return 2 * view.layers * view.heads * len(view.keys)


def _page(view: View, survey: HeadSummary, selection: Mapping[str, Any], most: int | None, theme: Theme) -> str:
    data = payload(view, survey, selection, "", "", 0)
    return standalone_html(view, data, survey, None, *_script_and_style(), most, theme)


@cache
def _script_and_style() -> tuple[str, str]:
    return script(), style()


def _iframe_html(page: str) -> str:
    """The page as an attribute: nothing in it can end the attribute it stands in."""
    return FRAME.format(height=HEIGHT, page=page.replace("&", "&amp;").replace('"', "&quot;"))


def size_of(page: str) -> int:
    """Bytes that a notebook's file keeps."""
    return len(page.encode())


def _pool_thumbnails(survey: HeadSummary, size: int) -> FloatArray:
    pool = far_pool if survey.signed else max_pool
    return np.array([[pool(small, size) for small in layer] for layer in survey.thumbnails])
