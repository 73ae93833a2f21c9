"""A sample of BERT's masked-language-model corruption of the text, and the model's losses on it."""

from __future__ import annotations

import streamlit as st

from i18n import _, gettext_lazy, translate
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
    found = ask_model(Corruption(**shared, seed=options.seed), _("Filling the blanks"))
    st.button(
        _("Draw another sample"),
        key="lesson_again",
        on_click=set_params,
        args=(MaskedWordsOptions,),
        kwargs={"seed": (options.seed + 1) % 1_000_000},
        icon=":material/casino:",
        help=_("The link stores the seed"),
    )
    show_notice(summary(found), role="status")
    _strip(found)
    st.caption(
        _(
            "BERT's training selects 15 % of the tokens: 80 % are masked (hatched), 10 % replaced (struck "
            "out), 10 % kept (dashed) ([arXiv:1810.04805](https://arxiv.org/abs/1810.04805), section 3.1). "
            "The loss is the negative natural logarithm of the original's probability."
        )
    )
    pieces = found.row.pieces
    rows = [(pieces[c.position], LABELS[c.how], c.seen, c.probability, c.loss) for c in found.chosen]
    columns = (
        gettext_lazy("piece"),
        gettext_lazy("what happened"),
        gettext_lazy("input"),
        gettext_lazy("probability"),
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
    return _(
        "Selected tokens: {count}; the mean loss is {mean:.2f}. Highest: “{piece}”, {loss:.2f} (probability "
        "{probability}).",
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
    token_strip.mount(chips, "lesson_strip", title=_("Loss of each token"))
