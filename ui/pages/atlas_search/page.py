"""The view Word pairs: the strongest links between two words in all heads of an atlas."""

from __future__ import annotations

from collections import Counter
from functools import partial

import streamlit as st

from attention.head_names import head_label
from i18n import _, translate
from inference.errors import UserError
from probing.atlas.search import FoundLinks, LinkQuery, find_links, hits
from probing.atlas.store import Atlas
from ui.input.controls import bound_widget
from ui.pages.atlas_search.options import AtlasSearchOptions
from ui.run.notices import show_error, show_notice
from ui.show.atlases import atlas_computation, atlas_provenance, describe_atlas, draw_links, pick_atlas, read_windows
from ui.show.chart import draw_chart, theme
from ui.show.sections import reading_help
from ui.show.tables import draw_table
from ui.state.params import get_params
from ui.state.session import get_view_state
from viz.figures.token_bars import bars

SHOWN_HEADS, SHOWN_WINDOWS, SHOWN_ROWS = 10, 5, 200
SNIPPET = 140  # characters of a window in the table


def draw_view() -> None:
    """Draw the view Word pairs in the page."""
    first, second, third = st.columns(3)
    atlas = pick_atlas(AtlasSearchOptions, first)
    if atlas is None:
        return
    bound_widget(AtlasSearchOptions, "query", second.text_input)
    bound_widget(AtlasSearchOptions, "key", third.text_input)
    with st.expander(_("Filters")):
        _draw_filters()
    try:
        found = find_links(atlas, _query())
    except UserError as refusal:
        show_error(refusal)
        return
    _draw_result(atlas, found)
    with reading_help():
        st.markdown(describe_atlas(atlas))
        st.markdown(
            _(
                "- Weaker links are not stored, so the counts are not frequencies.\n"
                "- Parts of speech come from annotated sentences only."
            )
        )


def _draw_filters() -> None:
    columns = st.columns(4)
    bound_widget(AtlasSearchOptions, "query_tag", columns[0].text_input)
    bound_widget(AtlasSearchOptions, "key_tag", columns[1].text_input)
    bound_widget(AtlasSearchOptions, "nearest", columns[2].number_input, min_value=0, max_value=127)
    bound_widget(AtlasSearchOptions, "least", columns[3].number_input, min_value=0, max_value=100)
    bound_widget(AtlasSearchOptions, "only", st.checkbox)


def _query() -> LinkQuery:
    """Return the query of the options."""
    options, view = get_params(AtlasSearchOptions), get_view_state()
    head = (view.layer, view.head) if options.only and view.layer is not None and view.head is not None else None
    return LinkQuery(
        options.query,
        options.key,
        head,
        query_tag=options.query_tag,
        key_tag=options.key_tag,
        nearest=options.nearest,
        least=options.least / 100,
    )


def _describe_query() -> str:
    """Return the searched links in words, for a file's provenance."""
    asked = _query()
    ends = [
        f"“{word or '*'}”" + (f" ({tag})" if tag else "")
        for word, tag in ((asked.query, asked.query_tag), (asked.key, asked.key_tag))
    ]
    head = "" if asked.head is None else f" by head {head_label(*asked.head)}"
    limits = f", at least {asked.nearest} tokens apart" if asked.nearest else ""
    limits += f", excess at least {asked.least:g}" if asked.least else ""
    return f"stored links from {ends[0]} to {ends[1]}{head}{limits}"


def _draw_result(atlas: Atlas, found: FoundLinks) -> None:
    """Draw the number of links by head, the strongest windows, and a table."""
    said = _(
        "Links found: {n:,}. Each head's {stored:,} links of largest excess are stored.",
        n=len(found),
        stored=atlas.manifest["links_per_head"],
    )
    show_notice(said, "status")
    for note in found.notes:
        st.caption(translate(note))
    if not len(found):
        return
    columns = found.columns
    counts = Counter(columns["head"].tolist()).most_common(SHOWN_HEADS)
    figure = bars(
        [found.heads[head].label for head, _count in counts],
        [count for _head, count in counts],
        theme(),
        _("Stored links by head"),
        _("Links"),
    )
    computation = atlas_computation(
        atlas,
        f"heads = find_links(atlas, query).columns['head']\n"
        f"numbers = [count for _head, count in Counter(heads.tolist()).most_common({SHOWN_HEADS})]",
        find_links=find_links, query=_query(), Counter=Counter)  # fmt: skip
    about = partial(atlas_provenance, atlas, _describe_query())
    draw_chart(figure, "atlas_hits", about=about, computation=computation)
    traces = read_windows(atlas, columns["window"][:SHOWN_WINDOWS].tolist())
    for at, trace in enumerate(traces or ()):
        head = found.heads[columns["head"][at]]
        title = _(
            "Head {head}: excess {excess:.2f}, weight {weight:.2f}",
            head=head.label,
            excess=float(columns["excess"][at]),
            weight=float(columns["weight"][at]),
        )
        draw_links(trace, head, f"atlas_hit_{at}", title, (int(columns["query"][at]), int(columns["key"][at])))
    rows = hits(atlas, found, SHOWN_ROWS)
    draw_table(
        {
            _("Head"): [f"{row['layer']}-{row['head']}" for row in rows],
            _("Excess"): [round(row["excess"], 3) for row in rows],
            _("Weight"): [round(row["weight"], 3) for row in rows],
            _("Text"): [" ".join(row["text"].split())[:SNIPPET] for row in rows],
        },
        key="atlas_hits_table",
    )
