"""Ablations of a translation model: heads and masked edges, clicked or typed, stored in the URL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

import streamlit as st

from attention.edits import Ablate, Edit, EditSet, MaskEdge
from attention.head_names import head_label
from attention.trace import Trace
from attention.view import DisplayToken, View
from i18n import _, format_comma_list, gettext_lazy, translate
from ui.ablation.controls import chosen_edits as panel_edits
from ui.ablation.controls import draw_panel, keep_edits
from ui.ablation.edits import Head, describe_edit, toggle_edits
from ui.input.controls import bound_widget
from ui.pages.translate.heads import CrossHead
from ui.pages.translate.options import TranslateOptions
from ui.pages.translate.target_strip import cells_of
from ui.pages.translate.translation import Translation
from ui.run.notices import show_notice
from ui.state.params import get_params
from ui.state.view_state import ViewState
from viz.components.token_strip import token_strip
from viz.components.token_strip.token_strip import TokenChip

STRIP = "translate_cut"
PARTS = {
    "encoder": gettext_lazy("encoder"),
    "decoder": gettext_lazy("decoder"),
    "cross": gettext_lazy("cross"),
}  # names of a head's stack in a sentence
put = partial(keep_edits, TranslateOptions)  # a callback that stores edits in the URL


def chosen_edits(options: TranslateOptions, head: CrossHead) -> EditSet:
    """Return the chosen edits; show a notice for each unreadable edit.

    Without a choice, the ablated head is the cross head on screen, or none if clicks mask edges.
    """
    return panel_edits(options, (head.layer, head.head) if options.clicking == "head" else None, "cross")


def pick_clicks(options: TranslateOptions) -> None:
    """Draw the controls for the effect of a click and for the heads concerned."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        bound_widget(
            TranslateOptions,
            "side",
            st.segmented_control,
            required=True,
        )
        bound_widget(TranslateOptions, "clicking", st.segmented_control, required=True)
        if options.clicking == "cut":
            bound_widget(TranslateOptions, "scope", st.selectbox, width=190)


def pick_masked_edges(choice: ViewState, translation: Translation, head: CrossHead, at: int, edits: EditSet) -> None:
    """Draw the source as chips; a click masks or restores the edges to the clicked word.

    The edges begin at the word that step ``at`` writes.
    """
    trace = translation.trace
    word = next((cell for cell in cells_of(choice, translation) if cell.pieces[0] <= at < cell.pieces[1]), None)
    if word is None:
        show_notice(_("First click a word of the translation above."), "status")
        return
    heads, scope = heads_of(trace, head, get_params(TranslateOptions).scope), edits
    cells = View(trace, "cross", words=choice.words, special=choice.special).keys
    gone = {cut.key for cut in _cross_cuts(edits) if word.pieces[0] <= cut.query < word.pieces[1]}
    chips = [
        TokenChip(cell.text, special=cell.special, mark="removed" if gone & set(range(*cell.pieces)) else "")
        for cell in cells
    ]

    def keep() -> None:
        place = token_strip.picked_chip(STRIP)
        if place is not None and place < len(cells):
            put(toggle_edits(scope, masked_edges(heads, word, cells[place])))

    token_strip.mount(
        chips,
        STRIP,
        title=_("Click a source word to hide from “{word}”", word=translation.cell_label(word)),
        on_pick=keep,
    )


def heads_of(trace: Trace, head: CrossHead, scope: str) -> list[Head]:
    """Return the cross heads in ``scope`` ("head", "layer" or "all") as (layer, head)."""
    records = trace.records("cross")
    every = [(layer, at) for layer, record in enumerate(records) for at in range(record.heads)]
    return {
        "head": [(head.layer, head.head)],
        "layer": [place for place in every if place[0] == head.layer],
        "all": every,
    }[scope]


def masked_edges(heads: Sequence[Head], word: DisplayToken, source: DisplayToken) -> list[Edit]:
    """Return the masked edges from every step of a target word to every token of a source word.

    >>> from attention.edits import pack
    >>> cells = [DisplayToken("did", False, 0, 0, (0, 1)), DisplayToken("chat", False, 0, 1, (3, 5))]
    >>> pack(masked_edges([(1, 2)], cells[1], cells[0]))
    'cx1-2-3-0,cx1-2-4-0'
    """
    steps, keys = range(*word.pieces), range(*source.pieces)
    return [MaskEdge(*place, step, key, "cross") for place in heads for step in steps for key in keys]


def describe_edits(edits: EditSet, trace: Trace) -> str:
    """Return a phrase that names up to four heads and three masked edges, and counts the other edits."""
    said = []
    heads = [edit for edit in edits if isinstance(edit, Ablate)]
    if 0 < len(heads) <= 4:
        said.append(
            _(
                "without {heads}",
                heads=format_comma_list([part_head(edit.part or trace.part, edit.layer, edit.head) for edit in heads]),
            )
        )
    elif heads:
        said.append(_("without {number} heads", number=len(heads)))
    cut = _cross_cuts(edits)
    looks = Counter((edit.query, edit.key) for edit in cut)  # number of heads in which each edge is masked
    for query, key in sorted(looks)[:3]:
        name = f"“{trace.source.pieces[key]}”" if key < len(trace.source) else _("source token {place}", place=key)
        said.append(
            _(
                "{token} hidden from step {step} (heads: {number})",
                step=query + 1,
                token=name,
                number=looks[query, key],
            )
        )
    others = len(edits) - len(heads) - len(cut) + max(0, len(looks) - 3)
    if others:
        said.append(_("other edits: {number}", number=others))
    return translate(format_comma_list(said))


def part_head(part: str, layer: int, head: int) -> str:
    """Return the name of a head with its stack."""
    return _("{part} head {head}", part=PARTS[part], head=head_label(layer, head))


def _cross_cuts(edits: EditSet) -> list[MaskEdge]:
    return [edit for edit in edits if isinstance(edit, MaskEdge) and edit.part == "cross"]


def draw_edit_list(edits: EditSet, trace: Trace) -> None:
    """Draw a folded section with the list of edits and a text field for them."""
    with st.expander(_("Edits")):
        draw_panel(
            TranslateOptions,
            edits,
            offered=[
                Ablate(layer, head, part)
                for part in trace.parts
                for layer, record in enumerate(trace.records(part))
                for head in range(record.heads)
            ],
            describe=lambda edit: _("{part}: {edit}", part=PARTS[edit.part or trace.part], edit=describe_edit(edit)),
            form=_(
                "ax2-5, ae0-1, ad0-1: ablate a cross, encoder or decoder head. ux2-5: uniform weights."
                " cx2-5-3-4: hide source token 4 from step 3."
            ),
        )
