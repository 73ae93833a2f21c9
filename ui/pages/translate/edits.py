"""Edits of a translation model, and their effects: every head in turn, and other sets for comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import streamlit as st

from attention.edits import Ablate, Edit, EditSet, MaskEdge, pack, places_of, random_sets
from attention.mask import FloatArray
from attention.trace import Trace
from attention.view import DisplayToken, View
from i18n import _, format_comma_list, gettext_lazy, translate
from ui.ablation.controls import chosen_edits as panel_edits
from ui.ablation.controls import draw_panel, toggle_kept_edits
from ui.ablation.edits import Head, describe_edit
from ui.ablation.effects import RANDOM_SETS, SEED, ComparedEdits
from ui.input.controls import bound_widget
from ui.pages.translate.options import PARTS, CrossHead, TranslateOptions, keep_head, part_head
from ui.pages.translate.step import cells_of, forcing_request
from ui.pages.translate.translation import ABLATIONS, RANDOM, Translation, changes_computation
from ui.run.notices import show_notice
from ui.run.page_model import ask_model
from ui.run.progress import stoppable_steps
from ui.run.services import get_backend
from ui.show.chart import draw_chart, theme
from ui.show.tables import csv_table, download_button
from ui.show.text import factor, join_sentences
from ui.state.params import get_params
from ui.state.view_state import ViewState
from viz.components.token_strip import token_strip
from viz.components.token_strip.token_strip import TokenChip
from viz.figures.evaluation import random_sets as random_figure
from viz.figures.head_maps import head_map, mark_heads, picked_head

STRIP = "translate_cut"
toggle = partial(toggle_kept_edits, TranslateOptions, part="cross")  # a callback that adds or removes edits


def chosen_edits(options: TranslateOptions, head: CrossHead) -> EditSet:
    """Return the edits in the options, or a default; show a notice for each edit that cannot be parsed.

    By default the shown cross-attention head ``head`` is ablated; if clicks mask edges, there are no edits by default.
    """
    return panel_edits(options, (head.layer, head.head) if options.clicking == "head" else None, "cross")


def pick_clicks(options: TranslateOptions) -> None:
    """Draw the widgets that select the ablated stack and the effect of a click.

    If a click masks edges, also draw the widget for the heads in which it does so.
    """
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
    """Draw the source as clickable words; a click masks the attention to a word, or restores it.

    The attention is that of the word written at step ``at``, in the cross-attention heads that the options select.
    """
    trace = translation.trace
    word = next((cell for cell in cells_of(choice, translation) if cell.pieces[0] <= at < cell.pieces[1]), None)
    if word is None:
        show_notice(_("First click a word of the translation above."), "status")
        return
    heads = heads_of(trace, head, get_params(TranslateOptions).scope)
    cells = View(trace, "cross", words=choice.words, special=choice.special).keys
    gone = {cut.key for cut in _cross_cuts(edits) if word.pieces[0] <= cut.query < word.pieces[1]}
    chips = [
        TokenChip(cell.text, special=cell.special, mark="removed" if gone & set(range(*cell.pieces)) else "")
        for cell in cells
    ]

    def keep() -> None:
        place = token_strip.picked_chip(STRIP)
        if place is not None and place < len(cells):
            toggle(edits, masked_edges(heads, word, cells[place]))

    token_strip.mount(
        chips,
        STRIP,
        title=_("Click a source word to mask it for “{word}”", word=translation.cell_label(word)),
        on_pick=keep,
    )


def heads_of(trace: Trace, head: CrossHead, scope: str) -> list[Head]:
    """Return the cross-attention heads in ``scope`` ("head", "layer" or "all") as (layer, head)."""
    every = places_of(trace, "cross")
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
    if heads:
        names = [part_head(edit.part or trace.part, edit.layer, edit.head) for edit in heads[:4]]
        rest = f" + {len(heads) - 4}" if len(heads) > 4 else ""
        said.append(_("without {heads}", heads=translate(format_comma_list(names)) + rest))
    cut = _cross_cuts(edits)
    looks = Counter((edit.query, edit.key) for edit in cut)  # number of heads in which each edge is masked
    for query, key in sorted(looks)[:3]:
        name = f"“{trace.source.pieces[key]}”" if key < len(trace.source) else str(key)
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
        said.append(_("other edits: {many}", many=others))
    return translate(format_comma_list(said))


def _cross_cuts(edits: EditSet) -> list[MaskEdge]:
    return [edit for edit in edits if isinstance(edit, MaskEdge) and edit.part == "cross"]


def draw_edit_list(edits: EditSet, trace: Trace) -> None:
    """Draw a folded section with the list of edits and a text field for their codes."""
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
            describe=lambda edit: _(
                "{name}: {text}", name=translate(PARTS[edit.part or trace.part]), text=describe_edit(edit)
            ),
            form=_(
                "ax2-5, ae0-1, ad0-1: ablate a cross, encoder or decoder head. ux2-5: uniform weights. "
                "cx2-5-3-4: hide source token 4 from step 3."
            ),
        )


MAP = "translate_map"
AT_ONCE = 8  # edit sets in a request
UNIT = gettext_lazy("change of the log-probability")


@dataclass(frozen=True, eq=False)
class EditEffects:
    """The effects of edit sets on a translation whose tokens are given.

    ``changes`` (set,) are the changes of the translation's log-probability, in nats. ``others`` (set,) is True if the
    most probable token changes at some step.
    """

    changes: FloatArray
    others: FloatArray


def effects(translation: Translation, sets: Sequence[EditSet], doing: str) -> EditEffects:
    """Return the effect of each edit set on the translation; fewer if the visitor stops. May raise UserError."""
    question = forcing_request(translation)
    plain = ask_model(question, _("Running the model"))
    changes, others = [np.zeros(0, np.float32)], [np.zeros(0, np.bool_)]
    starts = range(0, len(sets), AT_ONCE)
    for at in stoppable_steps(f"{question.key}:{hash(tuple(sets))}", len(starts), doing):
        with st.spinner(doing, show_time=True):
            found = get_backend().predict(replace(question, edits=tuple(sets[starts[at] : starts[at] + AT_ONCE])))
        changes.append(found.logs.sum(axis=1) - plain.logs.sum())
        others.append((found.likeliest != plain.likeliest).any(axis=1))
    return EditEffects(np.concatenate(changes), np.concatenate(others))


def every_head(translation: Translation, head: CrossHead, edits: EditSet, options: TranslateOptions) -> None:
    """Ablate each head of a stack in turn and draw the effects as a map; a click on a head ablates it."""
    part = options.side
    places = places_of(translation.trace, part)
    sets = [(Ablate(*place, part),) for place in places]
    found = effects(translation, sets, _("Running the model"))
    if not len(found.changes):
        return
    values = np.full((places[-1][0] + 1, max(one for _, one in places) + 1), np.nan, np.float32)
    for place, change in zip(places, found.changes, strict=False):
        values[place] = change
    show_notice(summary(found, places, part), "status")
    selected = (head.layer, head.head) if part == "cross" else None
    figure = head_map(
        values, theme(), _("Ablate heads"), translate(UNIT), diverging=True, selected=selected)  # fmt: skip
    gone = [(edit.layer, edit.head) for edit in edits if isinstance(edit, Ablate) and edit.part == part]
    turned = [place for place, other in zip(places, found.others, strict=False) if other and place not in gone]
    mark_heads(figure, turned, "circle-open", theme(), "another token first")
    mark_heads(figure, gone, "x", theme(), "ablated")

    def on_click(key: str) -> None:
        place = picked_head(st.session_state[key])
        if place is not None:
            head_clicked(place, part, edits, options)

    request = forcing_request(translation)
    complete = len(found.changes) == values.size  # the visitor may stop, and layers may lack heads
    computation = changes_computation(ABLATIONS, translation, request, part) if complete else None
    note = _("−0.7 means half as likely. Ring: at some step, another token comes first; cross: ablated.")
    about = partial(translation.provenance, stack=part)
    draw_chart(figure, MAP, on_click=on_click, about=about, computation=computation, test=note)
    st.caption(join_sentences(note, _("Click to toggle.")))
    rows = [
        (part, layer, one, float(change), bool(turned))
        for (layer, one), change, turned in zip(places, found.changes, found.others, strict=False)
    ]
    table = csv_table(("part", "layer", "head", UNIT, "another token first"), rows)
    download_button(
        _("Save all heads"), table, "headlight-every-head.csv", _("All digits"), provenance=translation.provenance()
    )


def summary(found: EditEffects, places: Sequence[Head], part: str) -> str:
    """Return sentences with the head whose ablation changes the translation's probability most.

    They also count the ablations, as far as computed, that change the most probable token at some step.
    """
    most = int(np.abs(found.changes).argmax())
    head = part_head(part, *places[most])
    change = float(found.changes[most])
    named = {"head": head, "times": factor(change)}
    first = (
        _("{head} matters most: without it, the translation is {times} times less probable.", **named)
        if change < 0
        else _("{head} matters most: without it, the translation is {times} times more probable.", **named)
    )
    second = _(
        "{number} of {removals} ablations change the likeliest token at some step.",
        number=int(found.others.sum()),
        removals=len(found.changes),
    )
    return join_sentences(f"{first[0].upper()}{first[1:]}", second)


def head_clicked(place: Head, part: str, edits: EditSet, options: TranslateOptions) -> None:
    """Ablate or restore the clicked head; if clicks mask edges, only select the head."""
    if options.clicking == "head":
        toggle(edits, [Ablate(*place, part)])
    if part == "cross":
        keep_head(*place)


def chance(translation: Translation, edits: EditSet) -> None:
    """Draw the effects of other sets of as many edits in the same stack, for comparison; may raise UserError."""
    trace = translation.trace
    if not edits:
        return
    parts = {edit.part or trace.part for edit in edits}
    if len(parts) != 1:
        show_notice(_("No other sets have this size."), "status")
        return
    [part] = parts
    keys = [at for at, special in enumerate(trace.token_rows(part)[1].special) if not special]
    sets = random_sets(edits, places_of(translation.trace, part), keys, RANDOM_SETS, SEED)
    if len(sets) < 2:
        show_notice(_("No other sets have this size."), "status")
        return
    mine = effects(translation, [edits], _("Running the model"))
    found = effects(translation, sets, _("Running the model"))
    if not len(mine.changes) or len(found.changes) < 2:
        return
    compared = ComparedEdits(edits, sets, found.changes, float(mine.changes[0]))
    result = _(
        "Of {edits}, {share:.0f}% change the probability less (median: factor {factor}); "
        "{turned} change the likeliest token at some step.",
        edits=compared.name(),
        share=100 * compared.share_below,
        factor=factor(compared.median),
        turned=int(found.others.sum()),
    )
    names = {"edits": edits, "keys": keys, "many": RANDOM_SETS, "seed": SEED}
    compared.draw(
        "translate_random",
        result,
        random_figure(found.changes, compared.chosen, theme(), translate(UNIT)),
        lambda: translation.provenance(edits=pack(edits)) | compared.provenance(),
        changes_computation(RANDOM, translation, forcing_request(translation), part, **names),
    )
