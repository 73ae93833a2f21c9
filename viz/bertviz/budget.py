"""How long a text BertViz's views can take, and why not longer.

BertViz makes one SVG element per weight. Measured in Chromium on two busy cores without a graphics card, an element
costs about 15 µs until it is painted, whatever the view: 300,000 elements are about 5 s, 1.2 million 18 s.
"""

from __future__ import annotations

from dataclasses import replace
from math import isqrt, sqrt

from attention.record import Record, first_attending
from attention.view import View
from i18n import LazyMessage, gettext_lazy
from viz.bertviz.views import views_in_document

MOST_ELEMENTS = 300_000
MOST_BYTES = 8_000_000
BYTES_PER_NUMBER = 8 / 3  # 16 bits in base64
CALLED = {
    "head": gettext_lazy("BertViz's head view"),
    "model": gettext_lazy("BertViz's model view"),
    "neuron": gettext_lazy("BertViz's neuron view"),
}


def budget(kind: str, layers: int, heads: int, channels: int = 64) -> int:
    """The most tokens for a view ("head", "model", "neuron"); ``channels`` of a query matter to the neuron view only.

    >>> budget("model", 6, 12), budget("head", 6, 12), budget("neuron", 6, 12, 32)
    (64, 158, 174)
    """
    # Elements per pair of tokens: the model view draws every head, the head view those of one layer, the neuron view
    # one head several times over.
    each = {"model": layers * heads, "head": heads, "neuron": 8}[kind]
    numbers = MOST_BYTES / BYTES_PER_NUMBER / (layers * heads)
    vectors = channels if kind == "neuron" else 0
    # A head's n² weights and 2 · n · channels numbers of its vectors: the n at which they fill the document.
    fits = int(sqrt(vectors**2 + numbers) - vectors)
    return min(isqrt(MOST_ELEMENTS // each), fits)


def too_long(kind: str, view: View) -> LazyMessage | None:
    """One sentence that says why this view is not offered for this text; None when it is."""
    views = [replace(view, words=False)] if kind == "neuron" else views_in_document(view)
    tokens = max(max(len(v.queries), len(v.keys)) for v in views)
    record = first_attending(view.trace.records(view.part))
    channels = int(record.query.shape[-1]) if isinstance(record, Record) else 64
    most = budget(kind, view.layers, view.heads, channels)
    if tokens <= most:
        return None
    return gettext_lazy(
        "{view} draws every weight as an element of the page, which takes seconds beyond {most} tokens on this model "
        "({layers} layers of {heads} heads), and this text has {tokens}. Shorten the text, or stay with the Explore "
        "page, which draws what the screen can show.",
        view=CALLED[kind],
        most=most,
        layers=view.layers,
        heads=view.heads,
        tokens=tokens,
    )
