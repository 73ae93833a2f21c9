"""The embedded BERT's figures, stated where it answers."""

from __future__ import annotations

import streamlit as st

from inference.published import guessed
from ui.answering import Answerer
from ui.refusals import say


def published(who: Answerer) -> None:
    """A sentence with the figures and one about the data, for the model that comes with the app; nothing for others."""
    found = guessed(who.model)
    if found is None:
        return
    say(
        f"{who.title}, on texts that it never read: of {found.masked:,} masked pieces the first guess is right for"
        f" {found.first:.1%} and one of five for {found.five:.1%} (the commonest pieces: {found.common_first:.1%} and"
        f" {found.common_five:.1%}); of {found.pairs:,} pairs of texts {found.follows:.1%} are judged rightly, where"
        " the wrong ones come from another document. It knows few facts.",
        "status",
    )
    st.caption(
        "Learned from English Wikipedia articles, by their contributors,"
        " [CC BY-SA 3.0](https://creativecommons.org/licenses/by-sa/3.0/); its card lies beside it in assets/models."
    )
