"""The computation of a single attention weight: step by step, channel by channel, and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import numpy as np
import streamlit as st

from attention.record import Record
from attention.spreadsheet import safe_cell
from attention.walkthrough import WeightSteps, align_rows, format_projection, lines, products, weigh
from i18n import _, translate, typeset_number
from ui.input.controls import ALL_STAGES
from ui.pages.step_by_step import explanations
from ui.pages.step_by_step.explanations import paper
from ui.pages.step_by_step.weight import STAGES, WeightPath, WeightPlace, labels, place, window
from ui.run.notices import show_notice
from ui.show.chart import theme
from ui.show.microscope import draw_matrices
from ui.show.sections import open_section
from ui.show.tables import download_button, page_provenance
from ui.show.text import format_comma_list, format_share, join_sentences, scientific
from viz.figures.theme import sides
from viz.matrix_specs import step_by_step as sheets
from viz.matrix_specs.heads import neuron as neuron_sheets


def row_csv(pieces: Sequence[str], weighing: WeightSteps) -> str:
    """Return a CSV with a line for each key; numbers have the shortest digits that restore the float32.

    ``weighing`` has the steps of a single query; ``pieces`` are the keys.
    """
    columns = {
        "q·k": weighing.dots,
        "scaled": weighing.scaled,
        "after soft cap": weighing.capped,
        "bias": weighing.bias,
        "score": weighing.scores,
        "weight": weighing.weights,
    }
    there = {name: values[0] for name, values in columns.items() if values is not None}
    lines = io.StringIO(newline="")
    writer = csv.writer(lines)
    writer.writerow(["key", "token", *there])
    for at, piece in enumerate(pieces):
        writer.writerow([at, safe_cell(piece), *(str(values[at]) for values in there.values())])
    return "\ufeff" + lines.getvalue()


WINDOW = 32  # The maximum number of keys in the figures.
NUMBERED = 24  # With more keys, the cells show no numbers.


def sentence(spot: WeightPlace) -> str:
    """Return a sentence on the rank and the score of the selected weight."""
    record, (who, whom) = spot.record, spot.pieces
    weights = record.weights(spot.head, spot.row)[0]
    above = int((weights > weights[spot.key]).sum())
    said = _(
        "{head}: “{who}” gives “{whom}” {weight} of its attention (rank {rank} of {keys} keys).",
        head=spot.name,
        who=who,
        whom=whom,
        weight=format_share(float(weights[spot.key])),
        rank=above + 1,
        keys=len(weights),
    )
    if not isinstance(record, Record):
        return said
    score = float(record.scores(spot.head, spot.row)[0, spot.key])
    if np.isinf(score):
        return _(
            "{head}: the mask hides “{whom}” from “{who}”.",
            head=spot.name,
            whom=whom,
            who=who,
        )
    return join_sentences(said, _("Its score before softmax: {score:.2f}.", score=score))


def only_weights(spot: WeightPlace) -> None:
    """Draw only a row of attention weights, for architectures that expose no queries and keys."""
    shown = window(len(spot.keys), WINDOW, spot.key)
    row = spot.record.weights(spot.head, spot.row)[0][shown]
    who = labels(spot.queries, spot.row)[0]
    draw_matrices([sheets.weights(row, who, labels(spot.keys, shown), place(shown, spot.key))], "steps_weights")


def only_scores(spot: WeightPlace) -> None:
    """Draw only the step from queries and keys to scores, for layers that cannot be decomposed."""
    record = spot.record
    assert isinstance(record, Record)
    shown = window(len(spot.keys), WINDOW, spot.key)
    query, keys = record.query[spot.head], record.key[record.kv_head(spot.head)]
    scores(spot, weigh(query[spot.row], keys, record, spot.head, spot.row), shown, query[spot.query], keys[spot.key])


def steps(way: WeightPath, stage: str) -> None:
    """Draw a stage of the computation, or all stages, from the layer's input to the comparison with its output."""
    spot = way.spot
    shown = window(len(spot.keys), WINDOW, spot.key)
    drawn = {
        "input": lambda: _draw_input(way),
        "projections": lambda: _projections(way, shown),
        "weights": lambda: scores(spot, way.weighing, shown, way.query, way.keys[spot.key]),
        "values": lambda: _draw_weighted_values(way, shown),
        "output": lambda: _draw_concatenation(way),
        "residual": lambda: _draw_output(way),
        "check": lambda: _draw_comparison(way),
    }
    for name in STAGES if stage == ALL_STAGES else [stage]:
        if stage == ALL_STAGES:
            st.header(translate(STAGES[name]))
        drawn[name]()
    if len(shown) < len(spot.keys):
        show_notice(_("{shown} of {keys} keys are drawn.", shown=len(shown), keys=len(spot.keys)), "status")


def _draw_input(way: WeightPath) -> None:
    spot, wiring = way.spot, way.layer.wiring
    rows = np.array([spot.query] if spot.part == "cross" else sorted({spot.query, spot.key}))
    normed = None if way.walk.normed is None else way.walk.normed[rows]
    found = sheets.layer_input(way.layer.stream[rows], normed, wiring.before, labels(spot.queries, rows))
    if way.layer.memory is not None:
        found.append(sheets.encoder_output(way.layer.memory[[spot.key]], labels(spot.keys, np.array([spot.key]))))
    draw_matrices(found, "steps_incoming", numbers=False)
    if wiring.before is not None:
        st.latex(explanations.norm_formula(wiring.before))
    st.markdown(explanations.describe_input(wiring, spot.part))


def _projections(way: WeightPath, shown: np.ndarray) -> None:
    spot, made, wiring = way.spot, way.walk, way.layer.wiring
    at = place(shown, spot.key)
    names = labels(spot.keys, shown)
    who, whom = spot.pieces
    found = [
        sheets.stages(f"q “{who}”", made.query, wiring.query, spot.head, spot.query),
        sheets.stages(f"k “{whom}”", made.key, wiring.key, way.group, spot.key),
        sheets.key_vectors("K", way.keys[shown], names, at),
        sheets.key_vectors("V", way.values[shown], names, at),
    ]
    draw_matrices(found, "steps_projections", numbers=False)
    st.markdown(explanations.projections(wiring))
    st.latex(explanations.projection_formula(wiring, spot.part))
    st.latex(_one_channel(way))
    _matrices(way)


def _one_channel(way: WeightPath) -> str:
    """Return the projection formula of the query channel with the largest product, with its numbers."""
    branch, head = way.layer.wiring.query, way.spot.head
    channel = int(np.abs(way.query * way.keys[way.spot.key]).argmax())
    vectors = way.layer.stream if way.walk.normed is None else way.walk.normed
    bias = None if branch.bias is None else float(branch.bias[head, channel])
    return align_rows(
        format_projection(vectors[way.spot.query], branch.weight[:, head, channel], bias, f"q_{{{channel}}}")
    )


def _matrices(way: WeightPath) -> None:
    """Draw the head's projection matrices in an expander; the data is sent only if the expander is open."""
    section = open_section(_("Head matrices"), "steps_matrices_open")
    if section is None:
        return
    wiring, head = way.layer.wiring, way.spot.head
    parts = {
        "W_Qᵀ": wiring.query.weight[:, head].T,
        "W_Kᵀ": wiring.key.weight[:, way.group].T,
        "W_Vᵀ": wiring.value.weight[:, way.group].T,
        "W_O": wiring.output[head],
    }
    with section:
        found = [sheets.matrix(name, np.asarray(values)) for name, values in parts.items()]
        draw_matrices(found, "steps_matrices", numbers=False)


def scores(spot: WeightPlace, weighing: WeightSteps, shown: np.ndarray, query: np.ndarray, key: np.ndarray) -> None:
    """Draw the step from dot products to weights.

    ``query`` and ``key`` have shape (channel,) and are the vectors that enter the dot product.
    """
    assert isinstance(spot.record, Record)
    names, at = labels(spot.keys, shown), place(shown, spot.key)
    who = labels(spot.queries, spot.row)[0]
    weights = sheets.weights(weighing.weights[0][shown], who, names, at)
    found = [sheets.product(query, key), *sheets.scores(weighing, shown, who, names, at), weights]
    draw_matrices(found[:1], "steps_product", numbers=False)
    draw_matrices(found[1:], "steps_scores", numbers=len(shown) <= NUMBERED or None)
    st.markdown(explanations.rules(spot.record, weighing))
    st.latex(explanations.score_formula(spot.record, weighing))
    st.latex(align_rows(lines(query, key, weighing, spot.key)))
    download_button(
        _("Save as CSV"),
        row_csv(spot.keys.labels, weighing),
        "headlight-one-row.csv",
        _("Product, score and weight of every key"),
        provenance=page_provenance(),
    )


def _draw_weighted_values(way: WeightPath, shown: np.ndarray) -> None:
    spot = way.spot
    values = way.values
    weights = way.weighing.weights[0]
    lengths = np.abs(weights) * np.linalg.norm(values, axis=1)
    most = int(lengths.argmax())
    show_notice(
        _(
            "Largest contribution: “{token}”, weight {weight:.2f} times a value of norm {length:.2f}.",
            token=spot.keys.pieces[most],
            weight=weights[most],
            length=np.linalg.norm(values[most]),
        ),
        role="status",
    )
    found = sheets.weighted_values(weights, values, shown, labels(spot.keys, shown), place(shown, spot.key))
    draw_matrices(found, "steps_gathered", numbers=False)
    st.latex(r"z_i = \sum_j a_{ij}\, v_j")


def _draw_concatenation(way: WeightPath) -> None:
    spot, wiring = way.spot, way.layer.wiring
    part = way.walk.context[spot.head, 0] @ wiring.output[spot.head]
    st.markdown(
        _(
            "Head {head}, one of {heads}, adds a vector of norm {length:.2f}; the whole output has norm {whole:.2f}.",
            head=spot.head,
            heads=wiring.heads,
            length=np.linalg.norm(part),
            whole=np.linalg.norm(way.walk.output[0]),
        )
    )
    draw_matrices(sheets.concatenated_heads(way.walk, spot.head), "steps_joined", numbers=False)
    st.latex(explanations.leaving_formula(wiring))


def _draw_output(way: WeightPath) -> None:
    wiring = way.layer.wiring
    if wiring.ends in ("sum", "norm"):
        draw_matrices([sheets.layer_output(way.walk, way.layer.stream, wiring)], "steps_leaving", numbers=False)
    st.markdown(explanations.describe_output(wiring))
    norm = wiring.closing or wiring.after
    if norm is not None:
        st.latex(explanations.norm_formula(norm))


def _draw_comparison(way: WeightPath) -> None:
    layer, spot = way.layer, way.spot
    ours, theirs = way.walk.last[0], layer.output[spot.query]
    away = float(np.abs(ours - theirs).max())
    st.markdown(
        _(
            "Largest difference from the layer's output: **{away}** here, **{largest}** over {tokens} "
            "tokens, for numbers up to {size:.1f} in float32.",
            away=scientific(away),
            largest=scientific(layer.largest),
            tokens=layer.compared,
            size=layer.size,
        )
    )
    draw_matrices(sheets.result_difference(ours, theirs), "steps_compared", numbers=False)


KEYS = 40  # The maximum number of keys in the figure.


def neuron(spot: WeightPlace) -> None:
    """Draw the neuron view for the query token and a range of keys around the selected key."""
    record = spot.record
    assert isinstance(record, Record)
    query, keys = record.query[spot.head][spot.query], record.key[record.kv_head(spot.head)]
    shown = window(len(keys), KEYS, spot.key)
    weights = record.weights(spot.head, spot.row)[0][shown]
    _sentence(spot, query, keys[spot.key])
    found = neuron_sheets(query, keys[shown], record.scale, weights, labels(spot.keys, shown), place(shown, spot.key))
    draw_matrices(found, "neuron", numbers=None)
    below, above = sides(theme())
    st.caption(
        join_sentences(
            _(
                "{below}: negative; {above}: positive. Queries and keys include any norms and rotation, as in BertViz "
                "({paper}).",
                below=below.capitalize(),
                above=above,
                paper=paper("1906.05714"),
            ),
            "" if len(shown) == len(keys) else _("{shown} of {keys} keys are drawn.", shown=len(shown), keys=len(keys)),
        )
    )


def _sentence(spot: WeightPlace, query: np.ndarray, key: np.ndarray) -> None:
    who, whom = spot.pieces
    found = products(query, key)
    parts = [
        _("{name} ({detail})", name=str(at), detail=typeset_number(f"{one * other:+.2f}"))
        for at, (one, other) in zip(found.channels, found.terms, strict=True)
    ]
    show_notice(
        _(
            "{head}, “{who}” to “{whom}”: q · k = {total:.2f}. Largest of {n} products: channels "
            "{parts}; the {left} others sum to {rest:.2f}.",
            head=spot.name,
            who=who,
            whom=whom,
            total=found.total,
            n=len(query),
            parts=format_comma_list(parts),
            left=found.left,
            rest=found.rest,
        ),
        role="status",
    )
