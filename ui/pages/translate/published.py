"""The embedded translator's figures, folded where it answers."""

from __future__ import annotations

import streamlit as st

from inference.catalogue.published import published as figures
from ui.run.answering import Answerer
from ui.run.refusals import say


def published(who: Answerer) -> None:
    """A sentence with the figures and one about the data, for the model that comes with the app; nothing for others."""
    found = figures(who.model)
    if found is None:
        return
    with st.expander(f"How good is {who.title}?"):
        say(
            f"{who.title}, on {found.greedy.sentences:,} held-out sentences of the kind that it learned from: BLEU"
            f" {found.greedy.bleu:.1f} and chrF {found.greedy.chrf:.1f} greedily, {found.beams.bleu:.1f} and"
            f" {found.beams.chrf:.1f} with beams; handing back the English sentence gets {found.copied.bleu:.1f} and"
            f" {found.copied.chrf:.1f}. With at most 7 words: BLEU {found.short.bleu:.1f}; with 12 or more:"
            f" {found.long.bleu:.1f}.",
            "status",
        )
        st.caption(
            "Learned from sentence pairs of [tatoeba.org](https://tatoeba.org) by way of"
            " [manythings.org/anki](https://www.manythings.org/anki/), [CC BY 2.0"
            " FR](https://creativecommons.org/licenses/by/2.0/fr/). BLEU and chrF as sacrebleu counts them"
            " ([arXiv:1804.08771](https://arxiv.org/abs/1804.08771))."
        )
