"""Step by step page, view "All heads": the attention of a token in every head of a layer."""

from __future__ import annotations

from functools import partial
from unicodedata import east_asian_width

import numpy as np
import streamlit as st

from attention.measures import as_shares, entropy
from attention.record import AnyRecord, Record
from attention.walkthrough import LayerParameters, softmax
from i18n import _
from ui.pages.step_by_step.explanations import paper, shared_heads
from ui.pages.step_by_step.weight import WeightPlace, labels, place, window
from ui.run.notices import show_notice
from ui.show.microscope import draw_matrices
from ui.show.text import join_sentences
from ui.state.session import set_view_state
from viz.components.matrices import matrices
from viz.matrix_specs.heads import multi_head as sheets

KEYS = 40  # The maximum number of keys in the figure.
KEY = "multi_head"


def multi_head(spot: WeightPlace, wiring: LayerParameters | None) -> None:
    """Draw the weights of the query token in every head, and the layer's shapes and parameters.

    The parameters need ``wiring``, which is None if the layer could not be decomposed.
    """
    record = spot.record
    weights = np.stack([record.weights(head, spot.row)[0] for head in range(record.heads)])
    shown = window(record.keys, KEYS, spot.key)
    single = as_one_head(record, spot.query)
    _sentence(spot, weights, single)
    found = sheets(
        weights,
        entropy(as_shares(weights)),
        labels(spot.keys, shown),
        shown,
        head=spot.head,
        marked=place(shown, spot.key),
        single=single,
    )
    draw_matrices(found, KEY, on_pick=partial(_on_pick, spot, shown))
    st.caption(
        join_sentences(
            _("Rows: heads; columns: keys. Click a cell to select both."),
            ""
            if len(shown) == record.keys
            else _("{shown} of {keys} keys are drawn.", shown=len(shown), keys=record.keys),
            "" if single is None else _("“As one head”: all channels in one dot product and softmax."),
        )
    )
    st.markdown(
        _(
            "Several heads give a token several sets of weights ({paper}, section 3.2.2). Many heads can "
            "be removed with little loss ({pruned}).",
            paper=paper("1706.03762"),
            pruned=paper("1905.10650"),
        )
    )
    if isinstance(record, Record):
        st.code(shapes(record, wiring), language=None)
    if wiring is not None:
        _parameters(wiring)


def as_one_head(record: AnyRecord, query: int) -> np.ndarray | None:
    """Return the weights of a query if all heads of the layer were a single head, shape (key,).

    The single head has the channels of all heads, so its scores are the sum of their dot products, times the layer's
    scale and 1/√heads. Return None if the layer has a bias, a soft cap or sinks, or if only its maps are recorded.
    """
    biased = isinstance(record, Record) and record.bias is not None and record.bias.any()
    if not isinstance(record, Record) or biased or record.softcap is not None or record.sinks is not None:
        return None
    rows = np.array([query])
    heads = range(record.heads)
    total = np.sum([record.query[head][rows] @ record.key[record.kv_head(head)].T for head in heads], axis=0)
    scores = np.asarray(total * np.float32(record.scale * record.heads**-0.5), np.float32)
    allowed = record.mask.block(rows, slice(None))
    if allowed is not None:
        scores[~allowed] = -np.inf
    weights: np.ndarray = softmax(scores)[0]
    return weights


def shapes(record: Record, wiring: LayerParameters | None) -> str:
    """Return a text table of the tensor shapes in this layer for this text."""
    heads, queries, channels = record.query.shape
    kv_heads, keys, deep = record.value.shape
    width = "d" if wiring is None else wiring.query.weight.shape[0]
    out = "d" if wiring is None else wiring.output.shape[2]
    rows = {
        "x": f"{queries} × {width}",
        "Q": f"{heads} × {queries} × {channels}",
        "K, V": f"{kv_heads} × {keys} × {channels}, {kv_heads} × {keys} × {deep}",
        "Q·Kᵀ, A": f"{heads} × {queries} × {keys}",
        "z": f"{heads} × {queries} × {deep}",
        "Concat(z)": f"{queries} × {heads * deep}",
        "Concat(z)·W_O": f"{queries} × {out}",
    }
    return "\n".join(name + " " * (14 - _columns(name)) + shape for name, shape in rows.items())


def _columns(text: str) -> int:
    """Return the width of a text in a monospaced font, in columns; East Asian wide characters take two."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def _sentence(spot: WeightPlace, weights: np.ndarray, single: np.ndarray | None) -> None:
    tops = weights.argmax(axis=1)
    at = weights[:, spot.key]
    most = int(np.bincount(tops).argmax())
    who, whom = spot.pieces
    show_notice(
        join_sentences(
            _(
                "“{who}” in the {heads} heads of layer {layer}: “{whom}” gets {least:.0%} to {most:.0%}, "
                "{mean:.0%} on average, {here:.0%} in head {head}.",
                who=who,
                heads=len(weights),
                layer=spot.layer,
                whom=whom,
                least=at.min(),
                most=at.max(),
                mean=at.mean(),
                here=at[spot.head],
                head=spot.head,
            ),
            _(
                "“{token}” gets most in {n} of {heads} heads; different top tokens: {different}.",
                different=len(set(tops.tolist())),
                n=int((tops == most).sum()),
                heads=len(weights),
                token=spot.keys.pieces[most],
            ),
            ""
            if single is None
            else _("As one head, “{token}” would get {weight:.1%}.", token=whom, weight=single[spot.key]),
        ),
        role="status",
    )


def _parameters(wiring: LayerParameters) -> None:
    """Draw a table of the number of parameters of each projection matrix."""
    branches = {"W_Q": wiring.query, "W_K": wiring.key, "W_V": wiring.value}
    sizes = {name: branch.weight.shape for name, branch in branches.items()} | {"W_O": wiring.output.shape}
    counted = wiring.parameters
    st.table(
        {
            _("Matrix"): [*sizes, _("Sum")],
            _("Sizes"): [" × ".join(map(str, size)) for size in sizes.values()] + [""],
            _("Parameters, with any biases and norms"): [f"{counted[name]:,}" for name in sizes]
            + [f"{sum(counted.values()):,}"],
        },
        hide_index=True,
    )
    sizes_note = _("Sizes: input × heads × channels; W_O: heads × channels × output.")
    st.caption(sizes_note if wiring.kv_heads == wiring.heads else join_sentences(sizes_note, shared_heads(wiring)))


def _on_pick(spot: WeightPlace, shown: np.ndarray) -> None:
    found = matrices.picked_cell(KEY)
    if found is None:
        return
    sheet, row, column = found
    if sheet == 0 and row < spot.record.heads and column < len(shown):
        set_view_state(**{**spot.selection, "head": row, "to": int(shown[column])})
    elif sheet == 1 and row < spot.record.heads:
        set_view_state(**{**spot.selection, "head": row})
