"""What teaching changed in a model's heads, beside what the same training does with nothing to learn."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from probing import changed
from probing.across import Numbers
from training.jobs.job import CHANGES, Look
from ui.input.picking import control
from ui.pages.teach.changed_files import change_provenance, heads_csv
from ui.pages.teach.changed_film import draw_film
from ui.pages.teach.changed_head import draw_head, keep
from ui.pages.teach.changed_measured import Measured, measured
from ui.pages.teach.changed_truth import of_head, truth, waiting
from ui.pages.teach.changed_used import draw_used
from ui.pages.teach.options import ROWS, Teach
from ui.run.refusals import say
from ui.show.chart import draw_chart, theme
from ui.show.saving import save
from ui.state.options import own
from ui.state.session import current
from viz.figures.drift import Line, by_layer
from viz.figures.head_map import head_map
from viz.figures.head_marks import mark_heads
from wording import _

Place = tuple[int, int]


def draw(look: Look) -> None:
    """All that is known of it; a sentence where nothing is yet, or can be."""
    folder = look.folder / CHANGES
    if not changed.there(folder):
        say(waiting(look), role="status")
        return
    if why := changed.refused(folder):
        say(why, role="status")
        return
    control(
        Teach,
        "rows",
        st.segmented_control,
        _("Rows of the maps"),
        list(ROWS),
        format_func=ROWS.get,
        required=True,
        help=_(
            "All rows of a head's map, or only where the label is read: at [CLS] and its like for the class of a text,"
            " at the words that are tagged for tags"
        ),
    )
    options = own(Teach)
    found = measured(folder, options.rows)
    if found is None:
        say(_("None of the sentences that were compared has a tagged word. Look at all pieces instead."), role="status")
        return
    for line in truth(found, current().count):
        say(line, role="status")
    if found.facts.step == 0:
        return
    head = head_of(found, options)
    _maps(found, head)
    _layers(found)
    save(
        _("Save every head's figures"),
        heads_csv(found),
        "headlight-changed-heads.csv",
        _(
            "Both kinds of rows: how far each head has come in the task and in its twins, with intervals and the test,"
            " as CSV, all digits; heads counted from 0"
        ),
        provenance=change_provenance(look, found),
    )
    say(of_head(found, head, current().count), role="status")
    draw_head(look, found, head)
    draw_film(look, found, head)
    draw_used(look, found, head)


def head_of(found: Measured, options: Teach) -> Place:
    """The head that the address names, else the one that is furthest ahead of the twins."""
    asked = options.moved
    if asked is None or asked >= found.ahead.size:
        asked = int(found.ahead.argmax())
    return found.place(asked)


def _maps(found: Measured, head: Place) -> None:
    """Every head of the task, of the twin on the same scale, and the difference; a click picks a head."""
    told, base = found.across, current().count
    common: dict[str, Any] = {"selected": head, "base": base}
    limit = max(float(told.change.mean.max()), float(told.control.mean.max()), 1e-6)
    maps: tuple[tuple[Numbers, str, dict[str, Any]], ...] = (
        (told.change.mean, _("What the task moved"), {"limit": limit}),
        (told.control.mean, _("What training moves anyway"), {"limit": limit}),
        (told.more.mean, _("What is beyond it"), {"diverging": True, "meaning": (_("less than the twins"), _("more"))}),
    )
    for number, (place, (values, title, more)) in enumerate(zip(st.columns(3), maps, strict=True)):
        figure = head_map(found.as_map(values), theme(), title, _("divergence (bits)"), **common, **more)
        if number == 0:
            mark_heads(figure, found.beyond, "circle-open", theme(), base)
        draw_chart(figure, f"changed_map_{number}", place=place, on_click=partial(keep, found.shape[1]))
    st.caption(
        _(
            "Each cell is a head: the Jensen–Shannon divergence between its rows before and after, mean over the "
            "sentences. The twins had the same training, step for step, on the same texts with shuffled labels; the "
            "mean of two. Ring: beyond chance, that is further than the twins by a two-sided permutation test over the "
            "sentences, corrected for all heads by Holm's method, and ahead of them by {ahead:.1f} times the twins' "
            "largest difference in any head. In at most 5 of 100 trainings with nothing to learn is even one ring "
            "luck. Frame: the head below; a click selects another.",
            ahead=changed.AHEAD,
        )
    )


def _layers(found: Measured) -> None:
    names = {
        "task": _("the task"),
        "twin": _("with nothing to learn"),
        "other twin": _("with nothing to learn, another shuffle"),
    }
    lines = [Line(names[who], mean.mean, mean.low, mean.high) for who, mean in found.layers.items()]
    figure = by_layer(lines, theme(), _("How far each layer's heads have come"), current().count)
    draw_chart(figure, "changed_layers")
    st.caption(_("The mean over a layer's heads, with 95 % intervals over the sentences by the bootstrap."))
