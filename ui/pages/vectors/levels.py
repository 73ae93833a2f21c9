"""The Vectors page: the names of the layers that vectors are taken from."""

from __future__ import annotations

from typing import Any

import streamlit as st

from ui.input.picking import control
from ui.pages.vectors.options import Vectors
from ui.state.options import choose_own
from wording import _, sentence, told

POOLED = {
    "mean": sentence("Mean of all tokens"),
    "words": sentence("Mean without special tokens"),
    "first": sentence("First token ([CLS] in BERT)"),
    "max": sentence("Largest value of each channel"),
}
MIXED = {
    "last": sentence("Last layer"),
    "second": sentence("Second to last layer"),
    "sum4": sentence("Sum of the last four layers"),
    "concat4": sentence("Last four layers, one after the other"),
    "mean": sentence("Mean of all layers"),
}
MIX_HELP = sentence(
    "A model holds one vector for each token before its first layer (embeddings) and after every layer. Which of them "
    "serves best depends on the task; BERT's authors compare such mixes in table 7 of arXiv:1810.04805. A model of "
    "fewer than four layers gives all that it has for the last four."
)


def level_names(levels: int, base: int) -> list[str]:
    """What each level is called; layers are counted from ``base``.

    >>> level_names(3, 0)
    ['Embeddings', 'After layer 0', 'After layer 1']
    """
    return [_("Embeddings"), *(_("After layer {layer}", layer=at + base) for at in range(levels - 1))]


def mix_name(options: Vectors, levels: int, base: int) -> str:
    """Where the vectors are from, to stand inside a sentence.

    >>> mix_name(Vectors(), 7, 0), mix_name(Vectors(mix="level", level=3), 7, 0)
    ('last layer', 'after layer 2')
    """
    name = told(MIXED.get(options.mix) or level_names(levels, base)[min(options.level, levels - 1)])
    return name[0].lower() + name[1:]


def pick_mix(place: Any, options: Vectors, levels: int, base: int) -> None:
    """Which layers the vectors are taken from: the usual mixes, then each level."""
    names = {**MIXED, **{f"level {at}": name for at, name in enumerate(level_names(levels, base))}}
    shown = options.mix if options.mix != "level" else f"level {min(options.level, levels - 1)}"
    key = "vectors_mix"
    st.session_state[key] = shown

    def keep() -> None:
        mix, _space, level = str(st.session_state[key]).partition(" ")
        choose_own(Vectors, mix=mix, level=int(level or 0))

    place.selectbox(_("Vectors from"), list(names), key=key, format_func=lambda mix: told(names[mix]), on_change=keep,
                    help=told(MIX_HELP))  # fmt: skip


def pick_pooling(place: Any) -> None:
    """How the tokens of a sentence become one vector."""
    control(
        Vectors,
        "pooling",
        place.selectbox,
        _("One vector for a sentence"),
        list(POOLED),
        format_func=POOLED.get,
        help=_(
            "all-MiniLM-L6-v2 was trained to compare sentences by the mean of all its last layer's tokens "
            "(sentence-BERT, arXiv:1908.10084). Other models were trained by another of these, or by none."
        ),
    )
