"""BertViz's neuron view, fed with the queries and keys of a trace.

BertViz computes them with copies of BERT, GPT-2 and RoBERTa of its own; here they are the ones the model used, for
every architecture whose queries and keys the trace holds. A head shows q, k, their elementwise product and
q · k · scale, the model's own scale. What enters the softmax besides is not in the picture; the document names it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from attention.display_tokens import DisplayToken
from attention.mask import FloatArray
from attention.record import Record, Unavailable
from attention.trace import attention_everywhere
from attention.view import View
from i18n import _, join_sentences, translate
from viz.bertviz.views import document, pack, sides, weights


def neuron_html(  # noqa: PLR0913  (what a document may be told, by name)
    view: View, *, prefix: str | None = None, dark: bool = False, layer: int = 0, head: int = 0, base: int = 0
) -> str:
    """The neuron view of every layer and head of the view's part; ``layer`` and ``head`` (from 0) are shown first,
    and written from ``base``.

    Always by pieces, since a merged word has no query of its own. ``prefix`` as in ``head_html``.
    Raises Unavailable when the architecture gave its finished maps only.
    """
    view = replace(view, words=False)
    records = _records(view, base)
    rows, cols = _positions(view.queries), _positions(view.keys)
    part = {
        **sides(view),
        "weights": weights(view),
        "queries": [_vectors(record.query[:, rows]) for record in records],
        "keys": [_vectors(record.key[:, cols]) for record in records],
        "scale": [record.scale for record in records],
    }
    causal = all(record.mask.causal for record in records)
    if causal:
        part["split"] = None  # BertViz hides what lies ahead by position, which a part of the text would shift
    payload = {"layer": layer, "head": head, "causal": causal, "parts": [part]}
    hint = _("Rest on a token on the left to see where it looks; press the + beside it to see its query and the keys.")
    scales = sorted({f"{record.scale:.4g}" for record in records})
    notes = (
        _("The column q · k holds the product times the model's scale, {scales}.", scales=_(" or ").join(scales)),
        *describe_omissions(view),
        _("Queries and keys are rounded to 16 bits."),
    )
    return document(
        "neuron", view, payload, prefix=prefix, dark=dark, hint=hint, notes=translate(join_sentences(*notes)), base=base
    )


def describe_omissions(view: View) -> list[str]:
    """What the picture leaves out for this model, a sentence each: where weights are not softmax(q · k · scale)."""
    records = _records(view)
    caps = sorted({record.softcap for record in records if record.softcap is not None})
    masks = [record.mask for record in records]
    holes = any(mask.left is not None or mask.right is not None or mask.allowed is not None for mask in masks)
    uneven = len({mask.causal for mask in masks}) > 1
    sentences = {
        _("The model adds a position bias to each score before the softmax; q · k is shown without it."): any(
            record.bias is not None for record in records
        ),
        _(
            "The model bends scores towards ±{caps} before the softmax (soft cap); q · k is shown before that.",
            caps=", ±".join(f"{cap:g}" for cap in caps),
        ): bool(caps),
        _("The model keeps a share of each row for a sink that is no token, so weights sum to less than one."): any(
            record.sinks is not None for record in records
        ),
        _("Some pairs are masked in the model: their q · k is shown, their weight is 0."): holes or uneven,
        _("Weights were scaled to sum to one over the tokens shown."): view.renormalise and not view.special,
        _("Special tokens are hidden, so weights sum to less than one."): not view.renormalise and not view.special,
    }
    return [sentence for sentence, true in sentences.items() if true]


def _records(view: View, base: int = 0) -> list[Record]:
    if (lacking := attention_everywhere(view.layers, view.attending, base)) is not None:
        raise Unavailable(lacking)
    for layer in range(view.layers):
        view.trace.query(layer, 0, view.part)  # raises with the reason where a layer is known by its maps only
    return [record for record in view.trace.records(view.part) if isinstance(record, Record)]


def _positions(cells: tuple[DisplayToken, ...]) -> list[int]:
    return [cell.pieces[0] for cell in cells]


def _vectors(values: FloatArray) -> dict[str, Any]:
    """One layer's vectors, (head, token, channel), packed."""
    return pack(values, float(np.abs(values).max(initial=0)) or 1.0)
