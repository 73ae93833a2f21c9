"""Options of the view Ablation, and the widgets that change its edits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from attention.edits import FORMS, Ablate, Edit, EditSet, MaskEdge, MaskKey, Uniform, drop_token_edits
from attention.view import DisplayToken, View
from i18n import _, gettext_lazy, translate
from ui.ablation.controls import draw_panel, toggle_kept_edits
from ui.ablation.edits import Head, at_token, keep_only, swap_heads, toggle_edits
from ui.input.controls import bound_widget
from ui.state.params import AnsweringOptions, drop_place, set_params
from ui.state.session import set_view_state
from viz.components.token_strip.token_strip import Mark, TokenChip, mount
from viz.components.token_strip.token_strip import picked_chip as picked_chip
from viz.options import option

WATCHES = {
    "vector": gettext_lazy("Sentence vector"),
    "blank": gettext_lazy("Masked word"),
    "follows": gettext_lazy("Next sentence"),
    "next": gettext_lazy("Next token"),
    "label": gettext_lazy("Label of the text"),
    "tag": gettext_lazy("Tag of a word"),
}
CLICKS = {
    "ablate": gettext_lazy("Ablate heads"),
    "uniform": gettext_lazy("Uniform weights"),
    "cut": gettext_lazy("Mask edge"),
    "hide": gettext_lazy("Mask word"),
}


@dataclass(frozen=True)
class CauseOptions(AnsweringOptions):
    """Options of the page Cause."""

    watch: str = option(
        "vector",
        label=gettext_lazy("Output"),
        help=gettext_lazy("The answer whose change is measured."),
        choices=WATCHES,
    )
    first: str = ""  # first and second are the compared words or labels; "" is the likeliest
    second: str = ""
    # Token of the tagged word; None is the word with the surest label.
    word: int | None = option(
        None,
        label=gettext_lazy("Word"),
        of_text=drop_place,
    )
    # Packed edits; "" ablates the selected head, if any, and "-" is no edit.
    edits: str = option("", of_text=drop_token_edits)
    clicking: str = option(
        "ablate",
        label=gettext_lazy("Click action"),
        help=gettext_lazy("Click heads. Mask an edge: click a head, its query and its key."),
        choices=CLICKS,
    )
    looks: int | None = option(None, of_text=drop_place)  # query token of the edge to mask, until the key is clicked
    # Layer in which clicks hide a word; None is every layer.
    where: int | None = option(
        None,
        label=gettext_lazy("Mask in"),
        help=gettext_lazy("In every layer, other words cannot attend to it."),
    )
    later: int | None = None  # head whose rows are compared: layer · heads + head
    greedy: str = option(
        "least",
        label=gettext_lazy("Each step ablates"),
        help=gettext_lazy("The head that makes the total effect least or largest."),
        choices={"least": gettext_lazy("the least"), "most": gettext_lazy("the most")},
    )
    # Number of heads that the curve removes.
    steps: int | None = option(
        None,
        label=gettext_lazy("Heads to ablate"),
        help=gettext_lazy("Each step tries every remaining head."),
    )
    curve: bool = False


STRIP = "cause_strip"
toggle = partial(toggle_kept_edits, CauseOptions)  # callback that adds edits to the address, or removes them


def head_picked(options: CauseOptions, edits: EditSet, place: Head) -> None:
    """Select the clicked head on all pages; if clicks ablate heads, also ablate or restore it."""
    set_view_state(layer=place[0], head=place[1])
    if options.clicking in ("ablate", "uniform"):
        toggle(edits, [(Ablate if options.clicking == "ablate" else Uniform)(*place)])


def pick_clicks(view: View, options: CauseOptions) -> None:
    """Draw the widget that selects the effect of a click, and if clicks hide words, the widget for the layer."""
    bound_widget(CauseOptions, "clicking", st.segmented_control, required=True)
    if options.clicking == "hide":
        bound_widget(
            CauseOptions,
            "where",
            st.selectbox,
            options=[None, *view.attending],
            format_func=lambda layer: _("every layer") if layer is None else _("layer {layer}", layer=layer),
        )


def pick_words(view: View, options: CauseOptions, edits: EditSet, head: Head) -> None:
    """Draw the text as clickable words; hidden words and the ends of masked edges are marked.

    An edge is the attention from a query to a key in ``head``. A click hides a word or selects the ends of an edge, as
    ``options.clicking`` determines.
    """
    hidden = {at_token(view, edit.key) for edit in edits if isinstance(edit, MaskKey)}
    cut = {at_token(view, edit.key) for edit in edits if isinstance(edit, MaskEdge)}
    looking = {at_token(view, edit.query) for edit in edits if isinstance(edit, MaskEdge)}
    if options.clicking == "cut" and options.looks is not None:
        looking.add(at_token(view, options.looks))
    chips = [
        TokenChip(
            cell.text,
            special=cell.special,
            mark=_mark(at, hidden, cut, looking),
        )
        for at, cell in enumerate(view.keys)
    ]
    picks = {"cut": _("Click the query word"), "hide": _("Click a word")}
    title = picks.get(options.clicking, _("Text"))
    if options.clicking == "cut" and options.looks is not None:
        title = _("Click the key word")
    picking = options.clicking in ("cut", "hide")
    mount(chips, STRIP, title=title, on_pick=(lambda: _word(view, options, edits, head)) if picking else None)


def _mark(at: int, hidden: set[int], cut: set[int], looking: set[int]) -> Mark:
    return "removed" if at in hidden else "chosen" if at in looking else "target" if at in cut else ""


def _word(view: View, options: CauseOptions, edits: EditSet, head: Head) -> None:
    at = picked_chip(STRIP)
    if at is None or at >= len(view.keys):
        return
    cell = view.keys[at]
    if options.clicking == "hide":
        layers = view.attending if options.where is None else [options.where]
        toggle(edits, [MaskKey(layer, key) for layer in layers for key in range(*cell.pieces)])
    elif options.looks is None:
        set_params(CauseOptions, looks=cell.pieces[0])
    else:
        looks = view.queries[max(0, at_token(view, options.looks))]
        set_params(CauseOptions, looks=None)
        toggle(edits, _cuts(head, looks, cell))


def _cuts(head: Head, query: DisplayToken, key: DisplayToken) -> list[Edit]:
    return [MaskEdge(*head, one, other) for one in range(*query.pieces) for other in range(*key.pieces)]


def draw_edit_list(edits: EditSet, places: Sequence[Head], head: Head) -> None:
    """Draw an expander with buttons for whole layers, the list of edits, and a field to type edits."""
    with st.expander(_("All edits")):
        layer = head[0]
        mine = [Ablate(*place) for place in places if place[0] == layer]
        shortcuts = (
            (
                _("Ablate layer"),
                toggle_edits(edits, mine),
                _("Ablates or restores the heads of layer {layer}.", layer=layer),
            ),
            (_("Keep only layer"), keep_only(layer, places), _("Ablates the heads of other layers.")),
            (_("Swap ablated"), swap_heads(edits, places), _("Restores the ablated heads, ablates all others.")),
        )
        draw_panel(
            CauseOptions,
            edits,
            offered=[Ablate(*place) for place in places],
            shortcuts=shortcuts,
            form=translate(FORMS),
        )
