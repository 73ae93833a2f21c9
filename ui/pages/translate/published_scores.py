"""Published scores of the embedded translator, in a folded section."""

from __future__ import annotations

import streamlit as st

from i18n import _
from inference.catalogue.published_scores import translation_scores as figures
from ui.run.notices import show_notice
from ui.run.page_model import PageModel


def draw_published(who: PageModel) -> None:
    """Draw the published scores and their data source; draw nothing for models without scores."""
    found = figures(who.model)
    if found is None:
        return
    with st.expander(_("Published scores")):
        show_notice(
            _(
                "{model} on {sentences:,} held-out sentences: BLEU {bleu:.1f}, chrF {chrf:.1f} (greedy);"
                " {beams_bleu:.1f}, {beams_chrf:.1f} (beam search); {copied_bleu:.1f}, {copied_chrf:.1f} (English"
                " copied). BLEU {short_bleu:.1f} for at most 7 words, {long_bleu:.1f} for 12 or more.",
                model=who.title,
                sentences=found.greedy.sentences,
                bleu=found.greedy.bleu,
                chrf=found.greedy.chrf,
                beams_bleu=found.beams.bleu,
                beams_chrf=found.beams.chrf,
                copied_bleu=found.copied.bleu,
                copied_chrf=found.copied.chrf,
                short_bleu=found.short.bleu,
                long_bleu=found.long.bleu,
            ),
            "status",
        )
        st.caption(
            _(
                "Trained on [tatoeba.org](https://tatoeba.org) pairs from"
                " [manythings.org/anki](https://www.manythings.org/anki/), [CC BY 2.0"
                " FR](https://creativecommons.org/licenses/by/2.0/fr/). Scores as in sacrebleu"
                " ([arXiv:1804.08771](https://arxiv.org/abs/1804.08771))."
            )
        )
