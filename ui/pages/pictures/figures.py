"""The interactive view of a picture, and maps of heads by the regions that they link and by role."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from urllib.parse import urlencode

import numpy as np
import streamlit as st

from attention.head_names import head_label
from attention.patch_roles import (
    PATCH_ROLES,
    PatchEvidence,
    Region,
    RegionLinks,
    observe_patches,
    pack,
    region_links,
    tokens_of,
    unpack,
)
from attention.pictures import Grid
from attention.record import Unavailable
from attention.trace import Trace
from attention.view import View
from i18n import _, error_message, gettext_lazy, translate
from ui.input.controls import bound_widget
from ui.pages.pictures.options import ROLE_NAMES, PicturesOptions
from ui.pages.pictures.source import ShownPicture, store_picture, trace_computation
from ui.routes.limits import in_language
from ui.routes.pictures import description_of
from ui.routes.traces import PREFIX
from ui.run.notices import show_notice
from ui.run.services import ViewOptions as Sight
from ui.run.services import trace_seal
from ui.show.chart import draw_chart, draw_notebook_menu, theme
from ui.show.tables import csv_table, download_button, draw_table, model_fields
from ui.show.text import format_comma_list
from ui.state.params import set_params
from viz.components.picture import picture
from viz.components.picture.content import (
    PictureSelection,
    edge_head,
    grid_and_picture,
    part_of,
    payload,
    selected_weights,
    tokens_without_patch,
)
from viz.figures.head_maps import head_map, picked_head
from viz.paper.notebook import Computation

AGAIN = "picture_again"  # Session key: the number of repeated requests.


def selection_of(options: PicturesOptions, trace: Trace) -> PictureSelection:
    """Return the selected token and head of the picture; if the trace lacks them, use defaults.

    The default token is the first token without a patch, such as CLS, else the central patch. The default head is the
    head whose attention forms the clearest shape (edge score).
    """
    grid, _picture = grid_and_picture(trace)
    records, alone = trace.records(part_of(trace)), tokens_without_patch(trace)
    token = alone[0] if alone else grid.token(grid.rows // 2, grid.columns // 2)
    if options.token is not None and options.token < len(trace.source):
        token = options.token
    layer, head = options.layer, options.head
    if layer is None or head is None or layer >= len(records) or head >= records[layer].heads:
        layer, head = edge_head(trace, alone[0] if alone else token)
    return PictureSelection(layer, head, token, options.facing, options.by)


def draw_picture(  # noqa: PLR0913  # all parts of the view
    trace: Trace,
    options: PicturesOptions,
    title: str,
    cited: str = "",
    slot: str = "",
    look: PictureSelection | None = None,
    meaning: Callable[[PictureSelection], Mapping[str, object]] = asdict,
) -> PictureSelection:
    """Draw the interactive view of a picture and return its selection.

    ``look`` is the selection to show instead of that in the options. ``slot`` is part of the widget key and
    distinguishes two views on a page. ``meaning`` converts a clicked selection to options.
    """
    look, key = look or selection_of(options, trace), f"picture{slot}"
    data = payload(trace, look, title, description_of(trace, cited), *route(trace))
    picture.mount(data, key, partial(_on_click, key, trace, meaning))
    return look


def route(trace: Trace) -> tuple[str, str]:
    """Return the base path and the query string for requests about a trace."""
    sight = Sight(part_of(trace)).query()
    query = f"{sight}&seal={trace_seal(trace.id)}&again={st.session_state.get(AGAIN, 0)}{in_language()}"
    return f"{PREFIX}/{trace.id}", query


def offer_files(trace: Trace, look: PictureSelection, title: str, cited: str) -> None:
    """Draw download buttons for the view as an HTML page and for the trace."""
    asked: Mapping[str, object] = {**asdict(look), "title": title, "cited": cited, "seal": trace_seal(trace.id)}
    files = st.container(horizontal=True)
    files.link_button(
        _("Save as HTML"),
        f"{PREFIX}/{trace.id}/picture.html?{urlencode(asked)}" + in_language(),
        icon=":material/download:",
        help=_("The image and up to 1.5 MB of maps"),
    )
    files.link_button(
        _("Save the trace"),
        f"{PREFIX}/{trace.id}/trace.safetensors?seal={trace_seal(trace.id)}" + in_language(),
        icon=":material/save:",
        help=_("The image and results, to open again here"),
    )


def draw_weights_menu(shown: ShownPicture, options: PicturesOptions, look: PictureSelection) -> None:
    """Draw the menu with the notebook of the attention of the selected token in the selected head."""
    computation = partial(
        trace_computation,
        shown,
        options,
        "numbers = selected_weights(trace, selection)",
        selected_weights=selected_weights,
        selection=look,
    )
    about = {**_provenance(shown), **asdict(look)}
    numbers = partial(selected_weights, shown.trace, look)
    draw_notebook_menu(_("Attention weights"), "picture", numbers, lambda: about, computation)


def _provenance(shown: ShownPicture) -> dict[str, str]:
    """Return the provenance of numbers about a picture: the model and the picture's title."""
    return {**model_fields(shown.trace.model), "picture": shown.title}


def _on_click(key: str, trace: Trace, meaning: Callable[[PictureSelection], Mapping[str, object]]) -> None:
    """Store the clicked selection in the options, or load a pasted picture.

    If the server had forgotten the trace, count up AGAIN, which makes the view request its data again.
    """
    if (content := picture.pasted_file(key)) is not None:
        store_picture(content)
        return
    records = trace.records(part_of(trace))
    look = picture.picked_selection(key, len(records), records[0].heads, len(trace.source))
    if look is None:
        st.session_state[AGAIN] = st.session_state.get(AGAIN, 0) + 1
    else:
        set_params(PicturesOptions, **meaning(look))


def keep_picked_head(key: str) -> None:
    """Select the clicked head of a map of heads (a callback)."""
    place = picked_head(st.session_state[key])
    if place is not None:
        set_params(PicturesOptions, layer=place[0], head=place[1])


KEY = "picture_regions"
DRAG = gettext_lazy("Drag region A, which attends, then region B, which is attended to.")
MOST = 8  # The number of heads in the table.


def draw_region_links(shown: ShownPicture, options: PicturesOptions) -> None:
    """Draw the editor of two regions A and B, and the heads with the most attention from A to B."""
    grid, _picture = grid_and_picture(shown.trace)
    drawn = {"one": unpack(options.one, grid), "other": unpack(options.other, grid)}
    left, right = st.columns(2)
    with left:
        base, query = route(shown.trace)
        data = picture.regions_payload(shown.trace, f"{base}/picture.jpg?{query}", shown.title, drawn)
        picture.mount_regions(data, KEY, lambda: _on_draw(grid))
        _buttons(grid, options)
    one, other = drawn["one"], drawn["other"]
    with right:
        if one is None or other is None:
            show_notice(translate(DRAG), role="status")
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
        st.button(_("Clear all"), key="picture_regions_none", on_click=set_params, args=(PicturesOptions,),
                  kwargs={"one": "", "other": ""})  # fmt: skip


def _answer(found: RegionLinks, shown: ShownPicture, options: PicturesOptions) -> None:
    """Draw the heads, sorted by the attention of region A to B beyond that of other patches."""
    beyond = found.beyond
    if not np.isfinite(beyond).any():
        show_notice(_("Region A has every patch. Draw it smaller."), role="status")
        return
    look = selection_of(options, shown.trace)
    order = [(int(at) // beyond.shape[1], int(at) % beyond.shape[1]) for at in np.argsort(-beyond, axis=None)]
    best = order[0]
    show_notice(
        _(
            "Head {layer}-{head} links A to B most: mean attention {weight:.0%}, other patches {usual:.0%}.",
            layer=best[0],
            head=best[1],
            weight=float(found.weights[best]),
            usual=float(found.usual[best]),
        ),
        role="status",
    )
    title, unit = _("A to B"), _("Difference")
    chart = head_map(beyond, theme(), title, unit, diverging=True, selected=(look.layer, look.head))
    draw_chart(
        chart,
        "picture_links",
        on_click=keep_picked_head,
        about=partial(_provenance, shown),
        computation=_links_computation(shown, options),
    )
    rows = [(layer, head, *(float(table[layer, head]) for table in (found.weights, found.usual, beyond)))
            for layer, head in order]  # fmt: skip
    names = [_("Layer"), _("Head"), _("A to B"), _("Others to B"), _("Difference")]
    digits = st.column_config.NumberColumn(format="%.4f")
    listed = [dict(zip(names, row, strict=True)) for row in rows[:MOST]]
    draw_table(listed, column_config=dict.fromkeys(names[2:], digits))
    st.caption(
        _(
            "Mean over A's patches of the summed weight on B, minus the mean over other patches, without "
            "special tokens and the patch itself."
        )
    )
    download_button(_("Save as CSV"), csv_table(names, rows), "headlight-picture-links.csv",
         _("All digits"),
         provenance=_provenance(shown))  # fmt: skip


def _links_computation(shown: ShownPicture, options: PicturesOptions) -> Computation | None:
    """Return the computation of each head's attention from region A to region B, beyond that of other patches."""
    grid, _picture = grid_and_picture(shown.trace)
    regions = [unpack(packed, grid) for packed in (options.one, options.other)]
    ends = [None if region is None else tokens_of(region, grid).tolist() for region in regions]
    code = f"numbers = region_links(View(trace, {part_of(shown.trace)!r}), *map(np.array, regions)).beyond"
    return trace_computation(shown, options, code, region_links=region_links, View=View, regions=ends)


MOST_NAMED = 12  # The list names at most so many heads of a role.


def roles(shown: ShownPicture, options: PicturesOptions) -> None:
    """Draw a map of each head's attention to the patches of a role, and the list of heads by role.

    A role is a kind of key relative to the query patch, such as the patches around it. A widget selects the role.
    """
    try:
        found = observe_patches(shown.trace, part_of(shown.trace))
    except Unavailable as reason:
        show_notice(error_message(reason), role="status")
        return
    bound_widget(PicturesOptions, "role", st.selectbox)
    look = selection_of(options, shown.trace)
    share = found.shares[options.role]
    known = np.isfinite(share)
    if not known.any():
        show_notice(_("No patch has such a place."), role="status")
        return
    left, right = st.columns(2)
    with left:
        title = _("Attention to {what}", what=translate(ROLE_NAMES[options.role]))
        unit = _("entropy relative to uniform") if options.role == "broad" else _("share of attention")
        chart = head_map(share.astype(np.float32), theme(), title, unit, limit=1.0, selected=(look.layer, look.head))
        draw_chart(
            chart,
            "picture_roles",
            on_click=keep_picked_head,
            about=partial(_provenance, shown),
            computation=trace_computation(
                shown,
                options,
                f"numbers = observe_patches(trace, {part_of(shown.trace)!r}).shares[{options.role!r}]",
                observe_patches=observe_patches,
            ),
        )
    with right:
        _draw_named_heads(found)
    st.caption(
        _(
            "Means over patches with such a place; uniform: {chance:.1%}. Role: the narrowest with "
            "half of the attention; “about evenly”: 85% of maximal entropy (our thresholds). Fixed "
            "shifts act like convolutions ([arXiv:1911.03584](https://arxiv.org/abs/1911.03584)).",
            chance=found.chance[options.role],
        )
    )
    download_button(_("Save as CSV"), _table(found), "headlight-picture-roles.csv",
         _("All digits"),
         provenance=_provenance(shown))  # fmt: skip


def _draw_named_heads(found: PatchEvidence) -> None:
    """Draw a list of the roles, each with its heads."""
    layers, heads = found.shares["itself"].shape
    names = {(layer, head): found.role(layer, head) for layer in range(layers) for head in range(heads)}
    lines = []
    for role in PATCH_ROLES:
        mine = [head_label(layer, head) for (layer, head), name in names.items() if name == role]
        if mine:
            shown = format_comma_list(mine[:MOST_NAMED]) + (" …" if len(mine) > MOST_NAMED else "")
            lines.append(_("- {what} ({many}): {heads}", what=translate(ROLE_NAMES[role]), many=len(mine), heads=shown))
    rest = sum(not name for name in names.values())
    lines.append(_("- none: {many} of {all} heads; pictures: 1", many=rest, all=len(names)))
    st.markdown("\n".join(lines))


def _table(found: PatchEvidence) -> str:
    layers, heads = found.shares["itself"].shape
    places = [(layer, head) for layer in range(layers) for head in range(heads)]
    rows = [(*place, *(float(found.shares[role][place]) for role in PATCH_ROLES), found.role(*place))
            for place in places]  # fmt: skip
    return csv_table(["layer", "head", *PATCH_ROLES, "role"], rows)
