"""The view Compare atlases: the difference of each head between two atlases, as a map and as tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from i18n import _, gettext_lazy, translate, typeset_number
from inference.errors import UserError
from inference.tasks.atlas import ATLAS_MEASURES, Integers
from probing.atlas.compare import OTHER_TEXTS, AtlasComparison, compare_atlases, comparison_rows
from probing.atlas.store import Atlas
from ui.input.controls import bound_widget, keep_head
from ui.pages.atlas_compare.options import PROFILE, SHARED, SHOWN, AtlasCompareOptions
from ui.run.notices import show_error, show_notice
from ui.show.atlases import (
    MEASURE_TITLES,
    atlas_name,
    atlas_provenance,
    atlas_titles,
    brief_label,
    describe_atlas,
    open_atlas,
    pick_atlas,
)
from ui.show.chart import About, draw_chart, theme
from ui.show.sections import open_section, reading_help
from ui.show.tables import csv_table, download_table, draw_table
from ui.show.text import join_sentences
from ui.show.views import link_to_view
from ui.state.params import get_params
from ui.state.session import get_view_state
from viz.figures.head_maps import head_map, mark_heads
from viz.figures.theme import sentence_case

CLEAR = gettext_lazy("Clear: the 95% interval of the difference excludes zero (Bonferroni over heads and measures).")
UNITS = {"entropy": gettext_lazy("bits"), "distance": gettext_lazy("tokens")}


def draw_view() -> None:
    """Draw the view Compare atlases in the page."""
    left, middle, right = st.columns(3)
    options = get_params(AtlasCompareOptions)
    first, name = pick_atlas(AtlasCompareOptions, left), atlas_name(options.atlas)
    if first is None or name is None:
        return
    titles = atlas_titles(options.atlas, options.other)
    others = [other for other in titles if other != name] or [name]
    shown = options.other if options.other in titles else others[0]
    bound_widget(
        AtlasCompareOptions, "other", middle.selectbox, options=list(titles), shown=shown, format_func=titles.get
    )
    bound_widget(AtlasCompareOptions, "show", right.selectbox)
    try:
        second = open_atlas(shown)
        found = compare_atlases(first, second)
    except UserError as refusal:
        show_error(refusal)
        return
    _draw_map(found, options.show, lambda: {"first": atlas_provenance(first), "second": atlas_provenance(second)})
    _draw_head(found, _chosen_index(found, options.show), name, shown)
    _draw_heads(found)
    about = comparison_provenance(first, second)
    download_table(comparison_csv(found), "headlight-atlas-changes.csv", key="atlas_change_save", provenance=about)
    with reading_help():
        st.markdown("- " + describe_atlas(first) + "\n- " + describe_atlas(second))
        lines = (
            _("Profile: a head's measures as shares, and its attention by distance."),
            translate(CLEAR),
            _("Shared links: of a head's 1,000 strongest, those in both atlases."),
        )
        st.markdown("\n".join(f"- {line}" for line in lines))


def _draw_map(found: AtlasComparison, show: str, about: About) -> None:
    """Draw the change of every head of each stack, and a sentence on the clear changes and on the largest.

    Profiles and shared links have no interval. A head then counts if any of its measures has changed clearly.
    ``show`` is the name of the measure. ``about`` returns the provenance of both atlases.
    """
    columns = slice(None) if show in (PROFILE, SHARED) else slice(place := ATLAS_MEASURES.index(show), place + 1)
    clear: Integers = np.any(found.clear[:, columns], axis=1)
    largest = largest_change(found, show)
    show_notice(
        _(
            "{clear} of {heads} heads changed clearly; head {head} changed most ({change}).",
            clear=int(clear.sum()),
            heads=len(found.heads),
            head=found.heads[largest].label,
            change=describe_change(found, largest, show),
        ),
        "status",
    )
    if not found.same_texts:
        show_notice(translate(OTHER_TEXTS), "status")
    values = {PROFILE: found.distances, SHARED: 100 * found.shared}.get(show)
    if values is None:
        values = found.difference[:, ATLAS_MEASURES.index(show)]
    chosen = found.heads[_chosen_index(found, show)]
    note = _("Ring: clear change, for profiles and links of any measure.")
    for part in dict.fromkeys(head.part for head in found.heads):
        mine = [at for at, head in enumerate(found.heads) if head.part == part]
        heads = [found.heads[at] for at in mine]
        table = np.full((heads[-1].layer + 1, max(head.head for head in heads) + 1), np.nan, np.float32)
        for at, head in zip(mine, heads, strict=True):
            table[head.layer, head.head] = values[at]
        title = _("Change of each head")
        figure = head_map(
            table,
            theme(),
            title if len(found.heads) == len(heads) else f"{title} · {part}",
            translate(SHOWN[show]),
            diverging=show not in (PROFILE, SHARED),
            selected=(chosen.layer, chosen.head),
            meaning=None if show in (PROFILE, SHARED) else (_("less in the second"), _("more in the second")),
        )
        marked = [(head.layer, head.head) for at, head in zip(mine, heads, strict=True) if clear[at]]
        mark_heads(figure, marked, "circle-open", theme(), "clear change")
        draw_chart(figure, f"atlas_change_{part}", on_click=keep_head, about=about, test=join_sentences(note, CLEAR))
    st.caption(join_sentences(note, _("Click a head.")))


def largest_change(found: AtlasComparison, show: str) -> int:
    """Return the index of the head with the largest absolute change of the measure ``show``.

    For profiles and shared links, this is the head with the largest distance of its profiles.
    """
    changes = found.difference[:, ATLAS_MEASURES.index(show)] if show in ATLAS_MEASURES else found.distances
    return int(np.argmax(np.abs(np.nan_to_num(changes))))


def describe_change(found: AtlasComparison, head: int, show: str) -> str:
    """Return the change of the measure ``show`` in a head, with its sign and unit; shares have no unit.

    For profiles and shared links, return the distance of the head's profiles. ``head`` is an index of ``found.heads``.
    """
    if show not in ATLAS_MEASURES:
        return f"{translate(SHOWN[PROFILE])} {found.distances[head]:.2f}"
    change = typeset_number(f"{found.difference[head, ATLAS_MEASURES.index(show)]:+.3f}")
    return f"{change} {translate(UNITS[show])}" if show in UNITS else change


def _chosen_index(found: AtlasComparison, show: str) -> int:
    """Return the index of the selected head, or of the head whose measure ``show`` changed most."""
    view = get_view_state()
    numbers = [at for at, head in enumerate(found.heads) if (head.layer, head.head) == (view.layer, view.head)]
    return numbers[0] if numbers else largest_change(found, show)


def _draw_head(found: AtlasComparison, at: int, first: str, second: str) -> None:
    """Draw the measures of the head with index ``at`` in both atlases, and links to its two pages."""
    head = found.heads[at]
    st.header(_("Head {layer}-{head}", layer=head.layer, head=head.head))
    draw_table(
        [
            {
                _("Measure"): translate(MEASURE_TITLES[measure]),
                _("First"): _round(found.values[0], at, place),
                _("Second"): _round(found.values[1], at, place),
                _("Difference"): _round(found.difference, at, place),
                f"{_('95% interval')} (Bonferroni)": f"{found.low[at, place]:.3f} – {found.high[at, place]:.3f}",
                _("Clear"): bool(found.clear[at, place]),
            }
            for place, measure in enumerate(ATLAS_MEASURES)
        ],
        key="atlas_change_head",
    )
    with st.container(horizontal=True):
        for name, title in ((first, _("Head in the first")), (second, _("Head in the second"))):
            link_to_view("head_atlas", title, query={"atlas": name, "layer": head.layer, "head": head.head})


def _round(values: Integers, head: int, place: int) -> float:
    return round(float(values[head, place]), 3)


def _draw_heads(found: AtlasComparison) -> None:
    """Draw the table of all heads, the largest change first."""
    section = open_section(_("Every head"), "atlas_change_open")
    if section is None:
        return
    rows = comparison_rows(found)
    shared = [row["shared_links"] for row in rows]
    labels = [[brief_label(one[at]) if at in one else "" for at in found.order] for one in found.labels]
    columns = {
        _("Head"): [f"{row['layer']}-{row['head']}" for row in rows],
        sentence_case(translate(SHOWN[PROFILE])): [round(row["distance"], 3) for row in rows],
        sentence_case(translate(SHOWN[SHARED])): [None if share is None else round(100 * share, 1) for share in shared],
        _("Clear"): [sum(cell["clear"] for cell in row["measures"].values()) for row in rows],
        _("First label"): labels[0],
        _("Second label"): labels[1],
    }
    with section:
        draw_table(columns, key="atlas_change_heads")


def comparison_csv(found: AtlasComparison) -> str:
    """Return a CSV table with a row for each head and measure, the heads in the order of their change."""
    rows = [
        [
            row.get("part", found.heads[0].part),
            row["layer"],
            row["head"],
            row["distance"],
            row["shared_links"],
            row["first_label"],
            row["second_label"],
            measure,
            *(cell[name] for name in ("first", "second", "difference", "low", "high", "clear")),
        ]
        for row in comparison_rows(found)
        for measure, cell in row["measures"].items()
    ]
    names = ["stack", "layer", "head", "distance of profiles", "shared links", "first label", "second label"]
    return csv_table([*names, "measure", "first", "second", "difference", "low", "high", "clear"], rows)


def comparison_provenance(first: Atlas, second: Atlas) -> dict[str, Any]:
    """Return the provenance of a saved comparison: both atlases, and definitions of its columns."""
    intervals = len(first.heads) * len(ATLAS_MEASURES)
    return {
        "first": atlas_provenance(first),
        "second": atlas_provenance(second),
        "difference": "second minus first",
        "low, high": f"95% interval of the difference, Bonferroni-corrected for {intervals} intervals",
        "clear": "the interval excludes zero",
        "shared links": "share of the strongest links, at most 1,000, that are in both atlases",
    }
