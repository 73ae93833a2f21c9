"""Options of the view Vectors, and the widgets that select the layers of the vectors and their pooling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from attention.vectors import MIXES
from i18n import _, gettext_lazy, translate
from ui.input.controls import bound_widget
from ui.state.params import set_params
from viz.options import option

SHOWS = {
    "words": gettext_lazy("Words of the text"),
    "contexts": gettext_lazy("Word in contexts"),
    "sentences": gettext_lazy("Sentences"),
}
POOLED = {
    "mean": gettext_lazy("Mean"),
    "words": gettext_lazy("Mean of words"),
    "first": gettext_lazy("First token ([CLS])"),
    "max": gettext_lazy("Maximum"),
}


@dataclass(frozen=True)
class VectorsOptions:
    """Options of the page Vectors."""

    show: str = option(
        "words",
        label=gettext_lazy("View"),
        choices=SHOWS,
    )
    mix: str = option("last", choices=MIXES)
    level: int = 0  # used if ``mix`` is "level"
    pooling: str = option(
        "mean",
        label=gettext_lazy("Pooling"),
        help=gettext_lazy("How token vectors become a sentence vector (sentence-BERT, arXiv:1908.10084)"),
        choices=POOLED,
    )
    flat: str = option(
        "pca",
        label=gettext_lazy("Projection"),
        choices={"pca": "PCA", "umap": "UMAP"},
    )
    axes: int = option(
        2,
        label=gettext_lazy("Axes"),
        choices={2: "2-D", 3: "3-D"},
    )
    first: str = "She sat on the bank of the river and watched the boats."
    second: str = "He took the money to the bank and opened an account."
    third: str = "The bank raised the interest on its loans."
    term: str = option("bank", label=gettext_lazy("Word"), help=gettext_lazy("Words in at least two sentences"))
    bring: str = option(
        "typed",
        label=gettext_lazy("Sentences"),
        choices={"typed": gettext_lazy("Typed"), "file": gettext_lazy("Your file")},
    )
    lines: str = option(
        "A man is playing a guitar on stage.\n"
        "Somebody is making music with an instrument.\n"
        "The band gave a concert last night.\n"
        "The stock market fell sharply on Monday.\n"
        "Share prices dropped at the start of the week.\n"
        "It rained for three days without a break.\n"
        "The weather was wet from Friday to Sunday.\n"
        "My cat sleeps on the sofa all day.",
        label=gettext_lazy("One per line"),
        help=gettext_lazy("Empty lines are ignored"),
    )
    like: str = option(
        "Investors lost money.",
        label=gettext_lazy("Nearest to"),
        help=gettext_lazy("Compared with all others"),
    )


MIXED = {
    "last": gettext_lazy("Last layer"),
    "second": gettext_lazy("Second to last layer"),
    "sum4": gettext_lazy("Sum of the last four layers"),
    "concat4": gettext_lazy("Last four layers, concatenated"),
    "mean": gettext_lazy("Mean of all layers"),
}
MIX_HELP = gettext_lazy("The best layers depend on the task: see table 7 of arXiv:1810.04805.")


def level_names(levels: int) -> list[str]:
    """Return the name of each level of hidden states: the embeddings, then the layers.

    >>> level_names(3)
    ['Embeddings', 'After layer 0', 'After layer 1']
    """
    return [_("Embeddings"), *(_("After layer {layer}", layer=at) for at in range(levels - 1))]


def mix_name(options: VectorsOptions, levels: int) -> str:
    """Return the name of the chosen layer combination or level, in lower case for a sentence.

    >>> mix_name(VectorsOptions(), 7), mix_name(VectorsOptions(mix="level", level=3), 7)
    ('last layer', 'after layer 2')
    """
    name = translate(MIXED.get(options.mix) or level_names(levels)[min(options.level, levels - 1)])
    return name[0].lower() + name[1:]


def pick_mix(place: Any, options: VectorsOptions, levels: int) -> None:
    """Draw the widget that selects the layers of the vectors: the usual combinations, then each level."""
    names = {**MIXED, **{f"level {at}": name for at, name in enumerate(level_names(levels))}}
    shown = options.mix if options.mix != "level" else f"level {min(options.level, levels - 1)}"
    key = "vectors_mix"
    st.session_state[key] = shown

    def keep() -> None:
        mix, _space, level = str(st.session_state[key]).partition(" ")
        set_params(VectorsOptions, mix=mix, level=int(level or 0))

    place.selectbox(
        _("Layers"),
        list(names),
        key=key,
        format_func=lambda mix: translate(names[mix]),
        on_change=keep,
        help=translate(MIX_HELP),
    )


def pick_pooling(place: Any) -> None:
    """Draw the widget that selects how the tokens of a sentence are pooled."""
    bound_widget(VectorsOptions, "pooling", place.selectbox)
