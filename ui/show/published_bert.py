"""The embedded BERT's figures, folded where it answers: the page is about the reader's own text."""

from __future__ import annotations

import streamlit as st

from inference.catalogue.published import Guessed, guessed
from ui.run.answering import Answerer
from ui.run.refusals import say
from ui.show.relation_names import in_words


def published(who: Answerer, base: int) -> None:
    """Sentences with the figures and one about the data, for the model that comes with the app; nothing for others.

    ``base``: layers and heads are shown from 0 or from 1.
    """
    found = guessed(who.model)
    if found is None:
        return
    with st.expander(f"How good is {who.title}?"):
        say(answers(who.title, found), "status")
        if found.tired is not None:
            say(slide(found, base), "status")
        st.caption(
            "Learned from English Wikipedia articles, by their contributors, [CC BY-SA"
            " 3.0](https://creativecommons.org/licenses/by-sa/3.0/); its card lies beside it in assets/models."
        )


def answers(title: str, found: Guessed) -> str:
    """How often its answers are right."""
    return (
        f"{title}, on texts that it never read: of {found.masked:,} masked pieces the first guess is right for"
        f" {found.first:.1%} and one of five for {found.five:.1%} (the commonest pieces: {found.common_first:.1%} and"
        f" {found.common_five:.1%}); of {found.pairs:,} pairs of texts {found.follows:.1%} are judged rightly, where"
        " the wrong ones come from another document. It knows few facts."
    )


def slide(found: Guessed, base: int) -> str:
    """How well its heads show what heads are known for: the tired animal, and the relations between words."""
    if found.tired is None:
        return ""
    said = (
        f"In the sentence about the tired animal, its layer {found.tired.layer + base} · head"
        f" {found.tired.head + base} gives “animal” {found.tired.weight:.2f} of the attention of “it”"
    )
    if found.behind is None:
        return f"{said}."
    if found.behind.points <= 0:
        return f"{said}; on no relation between words is its best head behind the embedded encoder's."
    return (
        f"{said}; its best head for a relation between words is at most {found.behind.points:.1f} percentage points"
        f" behind the embedded encoder's ({in_words(found.behind.relation)})."
    )
