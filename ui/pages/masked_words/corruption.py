"""A sample of BERT's masked-language-model corruption of the text, and the model's losses on it."""

from __future__ import annotations

import streamlit as st

from i18n import _, gettext_lazy, ngettext, translate
from inference.tasks.predictions import HIDDEN, KEPT, REPLACED, CorruptedText, Corruption, MaskedWords
from ui.pages.masked_words.options import MaskedWordsOptions
from ui.run.notices import show_notice
from ui.run.page_model import ask_model
from ui.show.tables import csv_table, download_button, draw_table, page_provenance
from ui.show.text import percent
from ui.state.params import get_params, set_params
from viz.components.token_strip import token_strip
from viz.components.token_strip.token_strip import Mark, TokenChip

MARKS: dict[str, Mark] = {HIDDEN: "masked", REPLACED: "removed", KEPT: "target"}
LABELS = {HIDDEN: gettext_lazy("hidden"), REPLACED: gettext_lazy("replaced"), KEPT: gettext_lazy("kept")}


def draw_corruption(request: MaskedWords) -> None:
    """Draw the sample, its losses, and a button for another sample."""
    options = get_params(MaskedWordsOptions)
    shared = {name: getattr(request, name) for name in ("model", "revision", "text", "pair", "cut")}
    found = ask_model(Corruption(**shared, seed=options.seed), _("Spoiling a share of the text"))
    st.button(
        _("Draw another sample"),
        key="lesson_again",
        on_click=set_params,
        args=(MaskedWordsOptions,),
        kwargs={"seed": (options.seed + 1) % 1_000_000},
        icon=":material/casino:",
        help=_("Another seed; it is in the link, so that the same sample comes again"),
    )
    show_notice(summary(found), role="status")
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
        gettext_lazy("piece"),
        gettext_lazy("what happened"),
        gettext_lazy("read instead"),
        gettext_lazy("probability of the piece"),
        gettext_lazy("loss"),
    )
    shown = [(piece, translate(how), *others) for piece, how, *others in rows]
    draw_table({translate(name): [row[at] for row in shown] for at, name in enumerate(columns)})
    download_button(
        _("Save as CSV"),
        csv_table(columns, rows),
        "headlight-lesson.csv",
        _("All digits"),
        provenance=page_provenance(),
    )


def summary(found: CorruptedText) -> str:
    """Describe the mean loss of the sample, and the token with the largest loss."""
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


def _strip(found: CorruptedText) -> None:
    chosen = {one.position: one for one in found.chosen}
    row = found.row
    chips = []
    for at, piece in enumerate(row.pieces):
        special = row.words[at] is None
        glued, unknown = row.goes_on(at), row.unknown[at]
        one = chosen.get(at)
        if one is None:
            chips.append(TokenChip(piece, special=special, glued=glued, unknown=unknown))
        else:
            label = f"{one.seen} · {one.loss:.1f}" if one.how == REPLACED else f"{one.loss:.1f}"
            title = _("{how}, loss {loss:.2f}", how=LABELS[one.how], loss=one.loss)
            chips.append(TokenChip(piece, mark=MARKS[one.how], glued=glued, label=label, title=title, unknown=unknown))
    token_strip.mount(chips, "lesson_strip", title=_("What the model must guess, with the loss below"))
