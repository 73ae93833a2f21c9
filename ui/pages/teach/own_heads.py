"""Which heads a label needs: each removed in turn; and the sentence on other pages, with the head that is picked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from attention.cause import Set
from attention.edits import Ablate
from attention.mask import Array
from attention.trace import Trace
from inference.questions.effects import LabelEffects
from ui.explaining.asked import Asked, about
from ui.pages.teach.options import Teach
from ui.removing import every_head
from ui.removing.asked import changes
from ui.removing.edits import Head
from ui.run.refusals import say
from ui.run.shelf import backend
from ui.show.chart import draw_chart, theme
from ui.show.explore_link import explore_link
from ui.show.numbers import small
from ui.show.saving import save
from ui.state.choice import Choice, fits, to_query
from ui.state.options import choose_own, own
from ui.state.session import current
from viz.figures.head_map import head_map, picked
from wording import _, sentence

HEADS = "teach_heads"
FALLS = sentence(
    "Without head {layer}-{head} {what} falls by {size}, the most of all heads. {few} of {all} heads have less than a"
    " tenth of that effect."
)
RISES = sentence(
    "Without head {layer}-{head} {what} rises by {size}, the most of all heads. {few} of {all} heads have less than a"
    " tenth of that effect."
)


def draw_heads(asked: Asked, trace: Trace) -> None:
    """Every head's effect on the label as a map, on which the head of the link is picked."""
    if not trace.has_qkv():
        say(
            _(
                "{model} computes attention in its own way, so no head is removed here.",
                model=trace.model.architecture,
            ),
            "status",
        )
        _links(asked, None)
        return
    places = every_head.places_of(trace)
    found = _effects(asked, places, len(trace.source))
    if not len(found):
        return
    base, width = current().count, 1 + max(head for _, head in places)
    strongest = places[int(np.abs(found).argmax())]
    head = next((place for place in places if own(Teach).needed == place[0] * width + place[1]), strongest)
    _verdict(asked, places, found, base)
    unit = _("change of {what}", what=asked.what)
    figure = head_map(
        every_head.laid_out(places, found),
        theme(),
        _("What each head's removal changes"),
        unit,
        diverging=True,
        meaning=(_("it falls"), _("it rises")),
        selected=head,
        base=base,
    )
    draw_chart(figure, HEADS, on_click=partial(_picked, width))
    st.caption(
        _(
            "Each cell is one head, removed while all others stay. Frame: the head that the links below show; a click "
            "picks another."
        )
    )
    save(_("Save the table"), every_head.table(places, found, unit, base),
         "headlight-label-heads.csv", _("Every head's effect as CSV, all digits"), key="teach_save_heads",
         provenance=about(asked))  # fmt: skip
    _links(asked, head)


def _effects(asked: Asked, places: Sequence[Head], tokens: int) -> Array:
    """By how much the label's number moves without each head, (head,); fewer where the reader has stopped."""
    question = LabelEffects(asked.request.model, text=asked.request.text, at=asked.at)

    def logits(sets: Sequence[Set]) -> Array:
        told: Array = backend().predict(replace(question, edits=tuple(sets))).values[:, asked.label]
        return told

    sets = [(Ablate(*place),) for place in places]
    return changes(f"{question.key}:{asked.label}", sets, tokens, _("Removing every head in turn"), logits)


def _verdict(asked: Asked, places: Sequence[Head], found: Array, base: int) -> None:
    """The head whose removal changes most, in a sentence."""
    sizes = np.abs(found)
    best = int(sizes.argmax())
    layer, head = places[best]
    said = _(
        FALLS if found[best] < 0 else RISES,
        layer=layer + base,
        head=head + base,
        what=asked.what,
        size=small(float(sizes[best])),
        few=int((sizes < sizes.max() / 10).sum()),
        all=len(found),
    )
    say(said, role="status")


def _picked(width: int, key: str) -> None:
    place = picked(st.session_state[key])
    if place is not None:
        choose_own(Teach, needed=place[0] * width + place[1])


def _links(asked: Asked, head: Head | None) -> None:
    """The same sentence, model and head on other pages."""
    there = Choice(model=asked.request.model, text=asked.request.text, focus=asked.place.reads[0])
    there = there if head is None else replace(there, layer=head[0], head=head[1])
    with st.container(horizontal=True):
        explore_link(there)
        if fits(there):
            st.page_link(
                "../../pages/cause.py",
                label=_("Remove more on Cause"),
                icon=":material/content_cut:",
                query_params={**to_query(there), "watch": _("tag") if asked.of_word else _("label")},
                help=_("This sentence and this model on the page Cause, with the same answer watched"),
            )
