"""How BERT learned: a sample of the reader's text, spoilt as in training, and what the model makes of it."""

from __future__ import annotations

import streamlit as st

from inference.questions.corruption import HIDDEN, KEPT, REPLACED, Corruption, Spoilt
from inference.questions.masked import MaskedWords
from ui.pages.masked_words.options import Options
from ui.run.answering import ask
from ui.run.refusals import say
from ui.show.csv_table import csv_table
from ui.show.draw_table import draw_table
from ui.show.numbers import percent
from ui.show.provenance import page_provenance
from ui.show.saving import save
from ui.state.options import choose_own, own
from viz.components.strip import strip
from viz.components.strip.strip import Chip, Mark
from wording import _, ngettext, sentence, told

MARKS: dict[str, Mark] = {HIDDEN: "masked", REPLACED: "removed", KEPT: "target"}
LABELS = {HIDDEN: sentence("hidden"), REPLACED: sentence("replaced"), KEPT: sentence("kept")}


def lesson(request: MaskedWords) -> None:
    """The sample, its losses and a button for another one."""
    options = own(Options)
    shared = {name: getattr(request, name) for name in ("model", "revision", "text", "pair", "cut")}
    found = ask(Corruption(**shared, seed=options.seed), _("Spoiling a share of the text"))
    st.button(
        _("Draw another sample"),
        key="lesson_again",
        on_click=choose_own,
        args=(Options,),
        kwargs={"seed": (options.seed + 1) % 1_000_000},
        icon=":material/casino:",
        help=_("Another seed; it is in the link, so that the same sample comes again"),
    )
    say(summary(found), role="status")
    _strip(found)
    st.caption(
        _(
            "Each pass of BERT's training chooses 15 % of the pieces (here at least one). Of these, 80 % are hidden "
            "(hatched), 10 % replaced by any piece (struck out; below it what the model reads), 10 % left as they are "
            "(dashed), and the model must guess all of them, not knowing which it sees unspoilt "
            "([arXiv:1810.04805](https://arxiv.org/abs/1810.04805), section 3.1). The loss is the negative natural "
            "logarithm of the right piece's probability; training makes its mean smaller."
        )
    )
    pieces = found.row.pieces
    rows = [(pieces[c.position], LABELS[c.how], c.seen, c.probability, c.loss) for c in found.chosen]
    columns = (
        sentence("piece"),
        sentence("what happened"),
        sentence("read instead"),
        sentence("probability of the piece"),
        sentence("loss"),
    )
    shown = [(piece, told(how), *others) for piece, how, *others in rows]
    draw_table({told(name): [row[at] for row in shown] for at, name in enumerate(columns)})
    save(
        _("Save as CSV"),
        csv_table(columns, rows),
        "headlight-lesson.csv",
        _("All digits"),
        provenance=page_provenance(),
    )


def summary(found: Spoilt) -> str:
    """The loss of the sample, and the hardest piece."""
    count = len(found.chosen)
    mean = sum(chosen.loss for chosen in found.chosen) / count
    hardest = max(found.chosen, key=lambda chosen: chosen.loss)
    return ngettext(
        "{count} piece is to be guessed; the loss is {mean:.2f}. Hardest is “{piece}”, to which the model gives"
        " {probability} (loss {loss:.2f}).",
        "{count} pieces are to be guessed; the loss is {mean:.2f}. Hardest is “{piece}”, to which the model gives"
        " {probability} (loss {loss:.2f}).",
        count,
        count=count,
        mean=mean,
        piece=found.row.pieces[hardest.position],
        probability=percent(hardest.probability),
        loss=hardest.loss,
    )


def _strip(found: Spoilt) -> None:
    chosen = {one.position: one for one in found.chosen}
    row = found.row
    chips = []
    for at, piece in enumerate(row.pieces):
        special = row.words[at] is None
        glued, unknown = row.goes_on(at), row.unknown[at]
        one = chosen.get(at)
        if one is None:
            chips.append(Chip(piece, special=special, glued=glued, unknown=unknown))
        else:
            label = f"{one.seen} · {one.loss:.1f}" if one.how == REPLACED else f"{one.loss:.1f}"
            title = _("{how}, loss {loss:.2f}", how=LABELS[one.how], loss=one.loss)
            chips.append(Chip(piece, mark=MARKS[one.how], glued=glued, label=label, title=title, unknown=unknown))
    strip.mount(chips, "lesson_strip", title=_("What the model must guess, with the loss below"))
