"""Controls and names for the layers that vectors are taken from, and for pooling."""

from __future__ import annotations

from typing import Any

import streamlit as st

from i18n import _, gettext_lazy, translate
from ui.input.controls import bound_widget
from ui.pages.vectors.options import VectorsOptions
from ui.state.params import set_params

MIXED = {
    "last": gettext_lazy("Last layer"),
    "second": gettext_lazy("Second to last layer"),
    "sum4": gettext_lazy("Sum of the last four layers"),
    "concat4": gettext_lazy("Last four layers, concatenated"),
    "mean": gettext_lazy("Mean of all layers"),
}
MIX_HELP = gettext_lazy("Which layers serve best depends on the task: compare table 7 of arXiv:1810.04805.")


def level_names(levels: int) -> list[str]:
    """Return the name of each level: the embeddings, then the layers.

    >>> level_names(3)
    ['Embeddings', 'After layer 0', 'After layer 1']
    """
    return [_("Embeddings"), *(_("After layer {layer}", layer=at) for at in range(levels - 1))]


def mix_name(options: VectorsOptions, levels: int) -> str:
    """Return the name of the chosen mix or level, in lower case for use inside a sentence.

    >>> mix_name(VectorsOptions(), 7), mix_name(VectorsOptions(mix="level", level=3), 7)
    ('last layer', 'after layer 2')
    """
    name = translate(MIXED.get(options.mix) or level_names(levels)[min(options.level, levels - 1)])
    return name[0].lower() + name[1:]


def pick_mix(place: Any, options: VectorsOptions, levels: int) -> None:
    """Draw the control for the layers of the vectors: the usual mixes, then each level."""
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
    """Draw the control for pooling the tokens of a sentence."""
    bound_widget(VectorsOptions, "pooling", place.selectbox)
