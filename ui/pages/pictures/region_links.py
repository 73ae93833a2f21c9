"""Pictures page: the heads that attend from one region of the picture to another."""

from __future__ import annotations

import numpy as np
import streamlit as st

from attention.patch_roles import Region, RegionLinks, pack, region_links, tokens_of, unpack
from attention.pictures import Grid
from attention.record import Unavailable
from attention.view import View
from i18n import _, error_message
from ui.pages.pictures.drawing import route, selection_of
from ui.pages.pictures.options import PicturesOptions
from ui.pages.pictures.shown_picture import ShownPicture
from ui.run.notices import show_notice
from ui.show.chart import draw_chart, theme
from ui.show.tables import csv_table, download_button, draw_table, model_fields
from ui.state.params import set_params
from viz.components.picture import picture
from viz.components.picture.content import grid_and_picture, part_of
from viz.figures.head_maps import head_map, picked_head

KEY = "picture_regions"
MOST = 8  # The number of heads in the table.


def draw_region_links(shown: ShownPicture, options: PicturesOptions) -> None:
    """Draw the editor of both regions, and the heads with the most attention from A to B."""
    grid, _picture = grid_and_picture(shown.trace)
    drawn = {"one": unpack(options.one, grid), "other": unpack(options.other, grid)}
    left, right = st.container(key="stacks").columns(2)
    with left:
        base, query = route(shown.trace)
        data = picture.regions_payload(shown.trace, f"{base}/picture.jpg?{query}", shown.title, drawn)
        picture.mount_regions(data, KEY, lambda: _on_draw(grid))
        st.caption(_("Drag region A, whose patches attend, then region B, which is attended to."))
        _buttons(grid, options)
    one, other = drawn["one"], drawn["other"]
    with right:
        if one is None or other is None:
            show_notice(_("Draw two regions to rank the heads by attention from A to B."), role="status")
            return
        try:
            found = _score_heads(shown, one, other, grid)
        except Unavailable as reason:
            show_notice(error_message(reason), role="status")
            return
        _answer(found, shown, options)


def _score_heads(shown: ShownPicture, one: Region, other: Region, grid: Grid) -> RegionLinks:
    return region_links(View(shown.trace, part_of(shown.trace)), tokens_of(one, grid), tokens_of(other, grid))


def _on_draw(grid: Grid) -> None:
    found = picture.picked_region(KEY, grid)
    if found is not None:
        set_params(PicturesOptions, **{found[0]: pack(found[1])})


def _buttons(grid: Grid, options: PicturesOptions) -> None:
    """Draw the buttons that swap or clear the regions."""
    with st.container(horizontal=True):
        st.button(_("Swap regions"), key="picture_regions_swap", on_click=set_params, args=(PicturesOptions,),
                  kwargs={"one": options.other, "other": options.one},
                  disabled=unpack(options.one, grid) is None and unpack(options.other, grid) is None)  # fmt: skip
        st.button(_("Clear regions"), key="picture_regions_none", on_click=set_params, args=(PicturesOptions,),
                  kwargs={"one": "", "other": ""})  # fmt: skip


def _answer(found: RegionLinks, shown: ShownPicture, options: PicturesOptions) -> None:
    """Draw the heads, sorted by the attention of region A to B beyond that of other patches."""
    beyond = found.beyond
    if not np.isfinite(beyond).any():
        show_notice(_("Region A contains every patch; none is left to compare. Draw it smaller."), role="status")
        return
    look = selection_of(options, shown.trace)
    order = [(int(at) // beyond.shape[1], int(at) % beyond.shape[1]) for at in np.argsort(-beyond, axis=None)]
    best = order[0]
    show_notice(
        _(
            "Head {layer}-{head} links A to B most: mean attention {weight:.2f}, from other patches {usual:.2f}.",
            layer=best[0],
            head=best[1],
            weight=float(found.weights[best]),
            usual=float(found.usual[best]),
        ),
        role="status",
    )
    title, unit = _("Heads linking A to B"), _("weight above other patches")
    chart = head_map(beyond, theme(), title, unit, diverging=True, selected=(look.layer, look.head))
    draw_chart(
        chart,
        "picture_links",
        on_click=_on_click,
        about=lambda: {**model_fields(shown.trace.model), "picture": shown.title},
    )
    rows = [(layer, head, *(float(table[layer, head]) for table in (found.weights, found.usual, beyond)))
            for layer, head in order]  # fmt: skip
    names = [_("layer"), _("head"), _("A to B"), _("others to B"), _("difference")]
    digits = st.column_config.NumberColumn(format="%.4f")
    listed = [dict(zip(names, row, strict=True)) for row in rows[:MOST]]
    draw_table(listed, column_config=dict.fromkeys(names[2:], digits))
    st.caption(
        _(
            "Weight: mean over A's patches, summed over B's, minus that of patches outside A. Special tokens "
            "and a patch's weight on itself do not count. Click a head to show it."
        )
    )
    download_button(_("Save the table"), csv_table(names, rows), "headlight-picture-links.csv",
         _("Every head's weights as CSV, all digits"),
         provenance={**model_fields(shown.trace.model), "picture": shown.title})  # fmt: skip


def _on_click(key: str) -> None:
    place = picked_head(st.session_state[key])
    if place is not None:
        set_params(PicturesOptions, layer=place[0], head=place[1])
