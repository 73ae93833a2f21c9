"""Matrices for each step of an attention weight, tokens downwards, channels or keys to the right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attention.mask import FloatArray
from attention.walkthrough import LayerParameters, LayerSteps, Norm, ProjectionParameters, ProjectionSteps, WeightSteps
from i18n import _, gettext_lazy, translate, typeset_number
from viz.components.matrices.matrices import MatrixSpec

USUAL = 0.99  # quantile of the residual stream's absolute values at which the colours end
SCORE = gettext_lazy("Score")
SCORES = {  # by (is a bias added, is a mask applied)
    (False, False): SCORE,
    (True, False): gettext_lazy("score, with bias"),
    (False, True): gettext_lazy("score, with mask"),
    (True, True): gettext_lazy("score, with bias and mask"),
}
STAGES = {
    "projected": "x·W + b",
    "normed": gettext_lazy("after its norm"),
    "rotated": gettext_lazy("turned by its position"),
}


def norm_name(norm: Norm) -> str:
    """Return the usual name of a norm, "LayerNorm" or "RMSNorm".

    >>> norm_name(Norm("rms", 1e-6))
    'RMSNorm'
    """
    return "LayerNorm" if norm.kind == "layer" else "RMSNorm"


def layer_input(
    stream: FloatArray, normed: FloatArray | None, norm: Norm | None, names: Sequence[str]
) -> list[MatrixSpec]:
    """Return the matrices of a layer's input, shape (token, channel), before and after its norm."""
    sheets = [_clipped_matrix("x", stream, tuple(names))]
    if normed is not None and norm is not None:
        sheets.append(MatrixSpec(f"{norm_name(norm)}(x)", normed, tuple(names), note=_("The input of the matrices.")))
    return sheets


def encoder_output(memory: FloatArray, names: Sequence[str]) -> MatrixSpec:
    """Return the matrix of the encoder's output, shape (key, channel), the input of cross-attention."""
    return _clipped_matrix(_("m, the encoder's output"), memory, tuple(names))


def stages(name: str, made: ProjectionSteps, branch: ProjectionParameters, head: int, token: int) -> MatrixSpec:
    """Return a matrix of a query or key vector after each step of its computation, shape (step, channel).

    ``head`` and ``token`` select the vector in ``made``, which has the results of the steps that exist in the layer,
    such as projection and rotation. ``branch`` has the projection's parameters.
    """
    titles = STAGES if branch.bias is not None else {**STAGES, "projected": "x·W"}
    found = [(title, getattr(made, field)) for field, title in titles.items()]
    rows = [(translate(title), stage[head, token]) for title, stage in found if stage is not None]
    channels = len(rows[0][1])
    note = (
        _("1 × {channels} channels, from one matrix.", channels=channels)
        if len(rows) == 1
        else _("1 × {channels} channels, from top to bottom.", channels=channels)
    )
    return MatrixSpec(name, np.stack([values for _, values in rows]), tuple(title for title, _ in rows), note=note)


def key_vectors(name: str, vectors: FloatArray, names: Sequence[str], marked: int | None) -> MatrixSpec:
    """Return the matrix of the vectors of the keys, shape (key, channel)."""
    note = _("A row a token, {channels} channels.", channels=vectors.shape[1])
    return MatrixSpec(name, vectors, tuple(names), note=note, marked_rows=() if marked is None else (marked,))


def scores(
    weighing: WeightSteps, shown: FloatArray, who: str, names: Sequence[str], marked: int | None
) -> list[MatrixSpec]:
    """Return a matrix (1, key) for each step from a query's dot products to its scores, such as scale and bias.

    Steps that the layer does not have are left out. ``who`` names the query, and ``shown`` are the indices of the keys
    to draw.
    """
    bias = weighing.bias if weighing.bias is not None and weighing.bias.any() else None
    steps = {
        "q · k": weighing.dots,
        f"× {weighing.scale:.4g}": weighing.scaled,
        gettext_lazy("after the soft cap"): weighing.capped,
        gettext_lazy("bias"): bias,
        SCORES[bias is not None, not weighing.allowed.all()]: weighing.scores,
    }
    if bias is None and weighing.allowed.all():
        del steps[SCORE]
    return [
        MatrixSpec(translate(name), values[:, shown], (who,), tuple(names), marked_columns=_marks(marked))
        for name, values in steps.items()
        if values is not None
    ]


def matrix(name: str, weights: FloatArray) -> MatrixSpec:
    """Return a head's projection matrix for drawing, shape (channel of the head, channel of the stream)."""
    rows = tuple(str(at) for at in range(len(weights)))
    note = _(
        "Rows: the head's {heads_own} channels; columns: {stream} of the stream.",
        heads_own=len(weights),
        stream=weights.shape[1],
    )
    return MatrixSpec(name, weights, rows, note=note)


def weights(values: FloatArray, who: str, names: Sequence[str], marked: int | None) -> MatrixSpec:
    """Return a matrix with the attention weights of the query ``who``, one column per key."""
    note = _("These {n} sum to {total:.2f}.", n=len(values), total=values.sum())
    row, columns = values[None], tuple(names)
    return MatrixSpec(_("weight"), row, (who,), columns, note=note, palette="sequential", marked_columns=_marks(marked))


def weighted_values(
    weights: FloatArray, values: FloatArray, shown: FloatArray, names: Sequence[str], marked: int | None
) -> list[MatrixSpec]:
    """Return two matrices: the weighted value vectors, (key, channel), and their sum, the head's output.

    The last row of the first matrix is the sum of the keys that are not in ``shown``.
    """
    parts = weights[:, None] * values
    rows, titles = parts[shown], list(names)
    if len(shown) < len(parts):
        rest = parts.sum(axis=0) - rows.sum(axis=0)
        rows, titles = np.concatenate([rows, rest[None]]), [*titles, _("{n} others", n=len(parts) - len(shown))]
    marks = () if marked is None else (marked,)
    return [
        MatrixSpec(_("weight × v"), rows, tuple(titles), marked_rows=marks),
        MatrixSpec(
            _("z, their sum"), parts.sum(axis=0, keepdims=True), ("z",), note=_("The head's output for this token.")
        ),
    ]


def concatenated_heads(way: LayerSteps, head: int) -> list[MatrixSpec]:
    """Return matrices of all heads' outputs (head, channel), and of the result of W_O."""
    heads, channels = way.context.shape[0], way.context.shape[2]
    names = tuple(_("head {head}", head=at) for at in range(heads))
    note = _(
        "{heads} heads of {channels} channels: together {width}.",
        heads=heads,
        channels=channels,
        width=heads * channels,
    )
    return [
        MatrixSpec(_("z of every head"), way.context[:, 0], names, note=note, marked_rows=(head,)),
        MatrixSpec(
            _("After W_O"),
            way.output[:1],
            ("a",),
            note=_("{channels} channels again, as many as x.", channels=way.output.shape[1]),
        ),
    ]


def layer_output(way: LayerSteps, stream: FloatArray, wiring: LayerParameters) -> MatrixSpec:
    """Return a matrix of the last steps of a layer: the residual sum and the norms around it.

    The matrix has a row for each step, with the channels of the first query in ``way``. ``stream`` (token, channel) is
    the input of the layer, and ``wiring`` has its norms.
    """
    added = way.output if way.settled is None else way.settled
    found = {
        "a" if wiring.after is None else f"{norm_name(wiring.after)}(a)": added,
        "x": stream[way.rows],
        _("their sum"): way.summed,
        "" if wiring.closing is None else _("{norm}(sum)", norm=norm_name(wiring.closing)): way.closed,
    }
    rows = {name: values[0] for name, values in found.items() if values is not None}
    return _clipped_matrix(_("Output"), np.stack(list(rows.values())), tuple(rows))


def result_difference(ours: FloatArray, theirs: FloatArray) -> list[MatrixSpec]:
    """Return matrices of a layer's recomputed output, the model's own, and their difference, shape (channel,)."""
    both = np.stack([ours, theirs])
    return [
        _clipped_matrix(_("Results"), both, (_("computed here"), _("The model's own"))),
        MatrixSpec(_("Difference"), (ours - theirs)[None], (_("rounding"),), note=_("On its own scale.")),
    ]


def product(query: FloatArray, key: FloatArray) -> MatrixSpec:
    """Return a matrix of one row: the product of query and key in each channel. Their sum is the dot product.

    ``query`` and ``key`` are (channel,).
    """
    return MatrixSpec(
        _("q × k of this pair"), (query * key)[None], ("q × k",), note=_("These {n} sum to q · k.", n=len(query))
    )


def _clipped_matrix(name: str, values: FloatArray, rows: tuple[str, ...]) -> MatrixSpec:
    """Return a matrix with a clipped colour scale, since a few channels of the stream are far larger."""
    limit = float(np.quantile(np.abs(values), USUAL))
    channel = int(np.abs(values).max(axis=0).argmax())
    largest = float(values[np.abs(values[:, channel]).argmax(), channel])
    number = typeset_number(f"{largest:.2f}")
    note = _(
        "Largest number: {number}, channel {channel}; colours end at ±{limit:.2f}.",
        number=number,
        channel=channel,
        limit=limit,
    )
    return MatrixSpec(name, values, rows, note=note, limit=limit if limit > 0 else None)


def _marks(marked: int | None) -> tuple[int, ...]:
    return () if marked is None else (marked,)
