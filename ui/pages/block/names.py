"""Names of a model's parts on the page Block."""

from __future__ import annotations

from collections.abc import Callable

from i18n import gettext_lazy, ngettext
from inference.tasks.anatomy import (
    FORWARD,
    HEAD,
    INNER,
    INTO,
    NORMS,
    OTHER,
    OUT,
    OUTER_NORMS,
    POOLER,
    POSITIONS,
    PROJECTION,
    RELATIVE,
    REST,
    SCALES,
    SEGMENTS,
    TOKENS,
    crossing,
)

SIDES = {"encoder": gettext_lazy("encoder"), "decoder": gettext_lazy("decoder")}
TITLES = {"encoder": gettext_lazy("Encoder"), "decoder": gettext_lazy("Decoder")}
BRIEF = {"encoder": gettext_lazy("enc."), "decoder": gettext_lazy("dec.")}
PARTS: dict[str, str] = {
    TOKENS: gettext_lazy("token embeddings"),
    POSITIONS: gettext_lazy("position embeddings"),
    SEGMENTS: gettext_lazy("segment embeddings"),
    PROJECTION: gettext_lazy("projection of the embeddings"),
    RELATIVE: gettext_lazy("relative positions"),
    INTO: gettext_lazy("attention: queries, keys, values"),
    OUT: gettext_lazy("attention: output"),
    INNER: gettext_lazy("attention: norms of queries and keys"),
    REST: gettext_lazy("attention: other"),
    crossing(INTO): gettext_lazy("cross-attention: queries, keys, values"),
    crossing(OUT): gettext_lazy("cross-attention: output"),
    crossing(INNER): gettext_lazy("cross-attention: norms of queries and keys"),
    crossing(REST): gettext_lazy("cross-attention: other"),
    FORWARD: gettext_lazy("feed-forward"),
    NORMS: gettext_lazy("norms"),
    SCALES: gettext_lazy("scales"),
    OUTER_NORMS: gettext_lazy("norms outside of the layers"),
    POOLER: gettext_lazy("pooler"),
    HEAD: gettext_lazy("head"),
    OTHER: gettext_lazy("other"),
}
SHORT: dict[str, str] = {  # short names for the labels of bars
    TOKENS: gettext_lazy("tokens"),
    POSITIONS: gettext_lazy("positions"),
    SEGMENTS: gettext_lazy("segments"),
    PROJECTION: gettext_lazy("projection"),
    RELATIVE: gettext_lazy("rel. positions"),
    INTO: "W_Q, W_K, W_V",
    OUT: "W_O",
    INNER: gettext_lazy("q and k norms"),
    REST: gettext_lazy("attention, rest"),
    crossing(INTO): "× W_Q, W_K, W_V",
    crossing(OUT): "× W_O",
    OUTER_NORMS: gettext_lazy("outer norms"),
}
PLACEMENTS = {
    "post": gettext_lazy("adds each part's result and then normalises (post-norm)"),
    "pre": gettext_lazy("normalises before each part (pre-norm)"),
    "both": gettext_lazy("normalises before each part and what it gives"),
    "branch": gettext_lazy("normalises what each part gives before adding it"),
    "mixed": gettext_lazy("normalises in several places"),
    "none": gettext_lazy("does not normalise"),
}
COUNTED: dict[str, Callable[[int], str]] = {
    "token": lambda n: ngettext("{n:,} token", "{n:,} tokens", n, n=n),
    "head": lambda n: ngettext("{n:,} head", "{n:,} heads", n, n=n),
    "layer": lambda n: ngettext("{n:,} layer", "{n:,} layers", n, n=n),
    "set": lambda n: ngettext("{n:,} set", "{n:,} sets", n, n=n),
    "parameter": lambda n: ngettext("{n:,} parameter", "{n:,} parameters", n, n=n),
    "thread": lambda n: ngettext("{n:,} thread", "{n:,} threads", n, n=n),
}


def amount(number: int, what: str) -> str:
    """Return a number with its noun in the right form.

    >>> amount(1, "token"), amount(1200, "token")
    ('1 token', '1,200 tokens')
    """
    return COUNTED[what](number)
