"""Names of a model's parts on the page Block."""

from __future__ import annotations

from collections.abc import Callable

from i18n import gettext_lazy, ngettext
from inference.tasks.anatomy import (
    INNER,
    INTO,
    ORDER,
    OUT,
    OUTER_NORMS,
    POSITIONS,
    PROJECTION,
    RELATIVE,
    REST,
    SEGMENTS,
    TOKENS,
    crossing,
)

SIDES = {"encoder": gettext_lazy("encoder"), "decoder": gettext_lazy("decoder")}
TITLES = {"encoder": gettext_lazy("Encoder"), "decoder": gettext_lazy("Decoder")}
BRIEF = {"encoder": gettext_lazy("enc."), "decoder": gettext_lazy("dec.")}
PARTS: dict[str, str] = {name: name for name in ORDER}  # translated messages by their English text
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
    "post": gettext_lazy("post-norm"),
    "pre": gettext_lazy("pre-norm"),
    "both": gettext_lazy("norms before and after each part"),
    "branch": gettext_lazy("norms before each addition"),
    "mixed": gettext_lazy("norms in several places"),
    "none": gettext_lazy("no norms"),
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
