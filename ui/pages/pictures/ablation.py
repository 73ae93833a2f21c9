"""Ablation of heads, edges and patches of a picture: effects on maps and output, and random edits for comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st

from attention.edits import Ablate, Edit, EditSet, MaskEdge, MaskKey, as_head_map, places_of, random_sets
from attention.pictures import Picture
from attention.trace import Trace
from i18n import _, gettext_lazy
from inference import UserError
from inference.tasks.picture_outputs import PictureLabels, PictureOutput
from ui.ablation.controls import chosen_edits, draw_panel, toggle_kept_edits
from ui.ablation.edits import Head
from ui.ablation.effects import SEED, ComparedEdits, heads_csv
from ui.pages.pictures.figures import draw_picture, keep_picked_head, selection_of
from ui.pages.pictures.options import PicturesOptions, describe_edit, describe_edits, place_name
from ui.pages.pictures.prediction import PictureMetric, pick_metric
from ui.pages.pictures.source import ShownPicture, read_picture, say_needs_model
from ui.run.notices import show_error, show_notice
from ui.show.chart import draw_chart, theme
from ui.show.tables import download_button, draw_table, model_fields, set_answering_model
from ui.show.text import format_small, percent
from ui.state.params import set_params
from viz.components.picture.content import PictureSelection, grid_and_picture, part_of
from viz.figures.evaluation import random_sets as random_figure
from viz.figures.head_maps import head_map, mark_heads

RANDOM_SETS = 20  # The number is small because each set needs a forward pass over all patches.


def every_head(watch: PictureMetric, trace: Trace, edits: EditSet, selected: Head) -> None:
    """Draw a map of the effect of ablating each head; a click selects a head.

    The computation starts on request, because it needs a forward pass for each head.
    """
    places = places_of(trace, part_of(trace))
    if not _is_requested("heads", watch, _("Ablate each head"), len(places)):
        return
    doing = _("Ablating each head")
    found = watch.changes([(Ablate(*place),) for place in places], len(trace.source), doing)
    if not len(found):
        return
    most = places[int(np.abs(found).argmax())]
    show_notice(
        _(
            "Of {known} heads, ablating {layer}-{head} has the largest effect: {change}.",
            known=len(found),
            layer=most[0],
            head=most[1],
            change=format_small(float(found[np.abs(found).argmax()])),
        ),
        role="status",
    )
    figure = head_map(
        as_head_map(places, found),
        theme(),
        _("Ablate each head"),
        watch.effect,
        diverging=bool(watch.name),
        selected=selected,
    )
    mark_heads(figure, [(one.layer, one.head) for one in edits if isinstance(one, Ablate)], "x", theme(), "ablated")
    draw_chart(
        figure,
        "picture_causes",
        on_click=keep_picked_head,
        about=lambda: model_fields(trace.model),
        computation=watch.computation(
            "((Ablate(*head),) for head in heads)",
            "as_head_map(heads, changes)",
            len(trace.source),
            heads=places,
            Ablate=Ablate,
            as_head_map=as_head_map,
        ),
    )
    download_button(
        _("Save as CSV"),
        heads_csv(places, found, watch.effect),
        "headlight-picture-heads.csv",
        _("All digits"),
        provenance=model_fields(trace.model),
    )


def draw_random_sets(watch: PictureMetric, trace: Trace, edits: EditSet) -> None:
    """Draw the effects of other edit sets of the same kinds, and the rank of the chosen set among them."""
    if not edits:
        return
    grid, _picture = grid_and_picture(trace)
    patches = range(grid.start, grid.start + len(grid))
    sets = random_sets(edits, places_of(trace, part_of(trace)), patches, RANDOM_SETS, SEED)
    if len(sets) < 2 or not _is_requested("chance", watch, _("Random baseline"), len(sets)):
        return
    found = watch.changes(sets, len(trace.source), _("Computing the comparison"))
    if len(found) < 2:
        return
    chosen = float(watch.changes([edits], len(trace.source), _("Computing the comparison"))[0])
    compared = ComparedEdits(edits, sets, found, chosen, RANDOM_SETS)
    computation = watch.computation(
        f"random_sets(edits, heads, {patches}, {RANDOM_SETS}, {SEED})", "changes", len(trace.source),
        edits=edits, heads=places_of(trace, part_of(trace)), random_sets=random_sets)  # fmt: skip
    compared.draw(
        "picture_chance",
        compared.result(),
        random_figure(found, chosen, theme(), watch.effect),
        lambda: model_fields(trace.model) | compared.provenance(),
        computation,
    )


def _is_requested(what: str, watch: PictureMetric, label: str, passes: int) -> bool:
    """Return whether the reader requested the computation for this metric; draw its button otherwise."""
    key, mark = f"picture_wants_{what}", f"{watch.question.key}:{watch.at}"
    if st.session_state.get(key) == mark:
        return True
    want = partial(st.session_state.__setitem__, key, mark)
    st.button(label, key=f"{key}_button", on_click=want,
              help=_("{passes} forward passes; can be stopped", passes=passes))  # fmt: skip
    return False


FORM = gettext_lazy("a3-1: ablate head 3-1; c3-1-8-2: mask 8 → 2 there; h3-2: hide token 2 in layer 3.")
MOST_TOKENS = 1100  # The maximum number of tokens of a picture under many edits.


@dataclass(frozen=True)
class PictureExperiment:
    """An ablation experiment on a picture: the shown trace, the selected head and token, and the edits."""

    shown: ShownPicture
    picture: Picture
    look: PictureSelection
    edits: EditSet

    @property
    def trace(self) -> Trace:
        """Return the trace without edits."""
        return self.shown.trace


def draw_ablation(shown: ShownPicture, options: PicturesOptions) -> None:
    """Draw the widgets for the edits, the maps before and after them, and their effect on the output.

    Show a notice instead if only a recording of the picture exists, or if it has more than MOST_TOKENS tokens.
    """
    picture = shown.trace.picture
    if not shown.model or picture is None:
        say_needs_model()
        return
    if len(shown.trace.source) > MOST_TOKENS:
        show_notice(_("The image has {tokens} tokens; the limit is {most}. Choose a smaller size.",
              tokens=len(shown.trace.source), most=MOST_TOKENS), role="status")  # fmt: skip
        return
    set_answering_model(shown.model, options.revision or None)
    look = selection_of(options, shown.trace)
    edits = chosen_edits(options, (look.layer, look.head))
    case = PictureExperiment(shown, picture, look, edits)
    try:
        _draw_controls(case, options)
        _maps(case, options)
        watch = pick_metric(options, picture, shown.model)
        if watch is not None:
            _answer(case, watch)
            left, right = st.columns(2)
            with left:
                every_head(watch, case.trace, edits, (look.layer, look.head))
            with right:
                draw_random_sets(watch, case.trace, edits)
    except UserError as refusal:
        show_error(refusal)


def _draw_controls(case: PictureExperiment, options: PicturesOptions) -> None:
    """Draw buttons that edit the selected head and token, and the list of edits."""
    look, trace = case.look, case.trace
    layers = range(len(trace.records(part_of(trace))))
    here = place_name(trace, look.token)
    head = [Ablate(look.layer, look.head)]
    hidden = [MaskKey(layer, look.token) for layer in layers]
    with st.container(horizontal=True):
        _toggle(case, head, _("Ablate {layer}-{head}", layer=look.layer, head=look.head),
                _("Restore {place}", place=f"{look.layer}-{look.head}"), "head")  # fmt: skip
        _toggle(case, hidden, _("Mask {place}", place=here), _("Restore {place}", place=here), "patch")
        if options.looks is None or options.looks >= len(trace.source):
            st.button(_("Mask from {place}", place=here), key="picture_cut", on_click=set_params,
                      args=(PicturesOptions,), kwargs={"looks": look.token})  # fmt: skip
        else:
            _second(case, options.looks, here)
    draw_panel(
        PicturesOptions,
        case.edits,
        offered=[Ablate(*place) for place in places_of(trace, part_of(trace))],
        describe=lambda edit: describe_edit(edit, trace),
        form=FORM,
    )


def _second(case: PictureExperiment, looks: int, here: str) -> None:
    """Draw the buttons for the second end of a masked edge; ``looks`` is its query."""
    names = {"query": place_name(case.trace, looks), "key": here}
    cut = MaskEdge(case.look.layer, case.look.head, looks, case.look.token)

    def keep() -> None:
        toggle_kept_edits(PicturesOptions, case.edits, [cut])
        set_params(PicturesOptions, looks=None)

    st.button(_("Mask {query} → {key}", **names), key="picture_cut_to", on_click=keep,
              disabled=looks == case.look.token)  # fmt: skip
    st.button(_("None"), key="picture_cut_none", on_click=set_params, args=(PicturesOptions,), kwargs={"looks": None})


def _toggle(case: PictureExperiment, edits: Sequence[Edit], add: str, remove: str, key: str) -> None:
    there = set(edits) <= set(case.edits)
    st.button(remove if there else add, key=f"picture_without_{key}", on_click=toggle_kept_edits,
              args=(PicturesOptions, case.edits, edits))  # fmt: skip


def _maps(case: PictureExperiment, options: PicturesOptions) -> None:
    """Draw the maps of the model without edits and with them, in two columns."""
    left, right = st.columns(2)
    with left:
        st.header(_("Original"))
        draw_picture(case.trace, options, case.shown.title, case.shown.cited, "_own", case.look)
    with right:
        st.header(_("Ablated"))
        if not case.edits:
            show_notice(_("Nothing is ablated."), role="status")
            return
        changed = read_picture(options, case.picture, case.shown.model, case.edits)
        if changed is None:
            return
        draw_picture(changed, options, case.shown.title, case.shown.cited, "_changed", case.look)
        part, row = part_of(changed), np.array([case.look.token])
        own, now = (
            trace.records(part)[case.look.layer].weights(case.look.head, row)[0] for trace in (case.trace, changed)
        )
        st.caption(
            _(
                "In head {layer}-{head}, {moved:.1%} of the attention of {place} moved. Ablation changes later layers.",
                moved=float(0.5 * np.abs(own - now).sum()),
                place=place_name(case.trace, case.look.token),
                layer=case.look.layer,
                head=case.look.head,
            )
        )


def _answer(case: PictureExperiment, watch: PictureMetric) -> None:
    """Show the change of the output in a sentence and in a table."""
    if not case.edits:
        return
    said = watch.ask([(), case.edits])
    before, after = watch.numbers(said)
    what = describe_edits(case.edits, case.trace)
    if not watch.name:
        show_notice(_("With {edits}: cosine to the original {cosine:.4f}.",
              edits=what, cosine=float(after)), role="status")  # fmt: skip
    else:
        is_probability = isinstance(watch.question, PictureLabels) and said.probabilities is not None
        first, last = (
            percent(float(np.exp(value))) if is_probability else format_small(float(value)) for value in (before, after)
        )
        show_notice(
            _(
                "{unit} of “{name}”: {after} with {edits}, {before} before.",
                edits=what,
                unit=_("Probability") if is_probability else _("Logit"),
                name=watch.name,
                after=last,
                before=first,
            ),
            role="status",
        )
    if watch.name:
        _draw_likeliest(said)


def _draw_likeliest(said: PictureOutput) -> None:
    """Draw a table of the five likeliest names before the edits, with their values before and after."""
    known = said.values if said.probabilities is None else said.probabilities
    order = known[0].argsort()[::-1][:5]
    unit = _("Logit") if said.probabilities is None else _("Probability")
    rows = [{_("Label"): said.names[at], _("{unit} before", unit=unit): float(known[0, at]),
             _("{unit} after", unit=unit): float(known[1, at])} for at in order]  # fmt: skip
    draw_table(rows)
