"""What the parts of a model are called on the page Block."""

from __future__ import annotations

from collections.abc import Callable

from inference.questions.anatomy import (
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
from wording import ngettext, sentence

SIDES = {"encoder": sentence("encoder"), "decoder": sentence("decoder")}
TITLES = {"encoder": sentence("Encoder"), "decoder": sentence("Decoder")}
BRIEF = {"encoder": sentence("enc."), "decoder": sentence("dec.")}
PARTS: dict[str, str] = {
    TOKENS: sentence("token embeddings"),
    POSITIONS: sentence("position embeddings"),
    SEGMENTS: sentence("segment embeddings"),
    PROJECTION: sentence("projection of the embeddings"),
    RELATIVE: sentence("relative positions"),
    INTO: sentence("attention: queries, keys, values"),
    OUT: sentence("attention: output"),
    INNER: sentence("attention: norms of queries and keys"),
    REST: sentence("attention: other"),
    crossing(INTO): sentence("cross-attention: queries, keys, values"),
    crossing(OUT): sentence("cross-attention: output"),
    crossing(INNER): sentence("cross-attention: norms of queries and keys"),
    crossing(REST): sentence("cross-attention: other"),
    FORWARD: sentence("feed-forward"),
    NORMS: sentence("norms"),
    SCALES: sentence("scales"),
    OUTER_NORMS: sentence("norms outside of the layers"),
    POOLER: sentence("pooler"),
    HEAD: sentence("head"),
    OTHER: sentence("other"),
}
SHORT: dict[str, str] = {  # on bars
    TOKENS: sentence("tokens"),
    POSITIONS: sentence("positions"),
    SEGMENTS: sentence("segments"),
    PROJECTION: sentence("projection"),
    RELATIVE: sentence("rel. positions"),
    INTO: "W_Q, W_K, W_V",
    OUT: "W_O",
    INNER: sentence("q and k norms"),
    REST: sentence("attention, rest"),
    crossing(INTO): "× W_Q, W_K, W_V",
    crossing(OUT): "× W_O",
    OUTER_NORMS: sentence("outer norms"),
}
PLACEMENTS = {
    "post": sentence("adds each part's result and then normalises (post-norm)"),
    "pre": sentence("normalises before each part (pre-norm)"),
    "both": sentence("normalises before each part and what it gives"),
    "branch": sentence("normalises what each part gives before adding it"),
    "mixed": sentence("normalises in several places"),
    "none": sentence("does not normalise"),
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
    """A number with its noun.

    >>> amount(1, "token"), amount(1200, "token")
    ('1 token', '1,200 tokens')
    """
    return COUNTED[what](number)
