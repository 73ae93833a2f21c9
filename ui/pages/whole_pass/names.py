"""What stages and numbers are called on the page."""

from __future__ import annotations

from collections.abc import Sequence

from inference.questions.whole_pass import Opened, Origin, Stage, Term

FORMULAS = {
    "linear": "x · Wᵀ + b",
    "addmm": "x · W + b",
    "matmul": "matrix product",
    "embedding": "row of a table",
    "add": "sum",
    "sub": "difference",
    "mul": "product",
    "div": "quotient",
    "neg": "minus",
    "pow": "power",
    "mean": "mean",
    "rsqrt": "1/√x",
    "layer_norm": "LayerNorm",
    "softmax": "softmax",
    "scaled_dot_product_attention": "softmax(q · kᵀ · scale) · v",
    "gelu": "GELU",
    "relu": "ReLU",
    "silu": "SiLU",
}


def title(stage: Stage) -> str:
    """What a stage is, in its part.

    >>> title(Stage(3, "gelu", "encoder", 0, "feed-forward", "after the activation", "", (), (), (), (), 0, 0))
    'feed-forward, after the activation: GELU'
    """
    what = FORMULAS.get(stage.formula, stage.formula)
    return f"{stage.part}, {stage.role}: {what}" if stage.role else f"{stage.part}: {what}"


def short(stage: Stage) -> str:
    """The same in a layer's picture, where there is room for a word or two."""
    return stage.role or f"{stage.part}: {FORMULAS.get(stage.formula, stage.formula)}"


def place(stage: Stage, base: int, two: bool) -> str:
    """Which layer a stage is in, or before or after the layers; ``two``: of which side of the model."""
    side = f"{stage.side}, " if two else ""
    if stage.layer is not None:
        return f"{side}layer {stage.layer + base}"
    return side + ("before the layers" if stage.part == "embeddings" else "after the layers")


def written(opened: Opened) -> str:
    """A number as the sum of its terms.

    >>> found = (Term(0.75, (Origin(1.5), Origin(0.5))), Term(0.25, (Origin(0.25),)))
    >>> written(Opened(1.1, "products", "linear", found, 7, 0.1, 1.1))
    '1.1 = 1.5 · 0.5 + 0.25 + 0.1 (7 more)'
    """
    if opened.how == "function":
        name = FORMULAS.get(opened.formula, opened.formula)
        values = [f"{one.value:.4g}" for one in opened.terms[0].origins]
        if opened.formula == "softmax":
            return f"{opened.value:.4g} = e^({values[0]} - {values[1]}) / {values[2]}"
        inside = ", ".join(values)
        return f"{opened.value:.4g} = {name}({inside})"
    text = " + ".join(_term(term) for term in opened.terms)
    rest = f" + {_number(opened.rest)} ({opened.left} more)" if opened.left else ""
    return f"{opened.value:.4g} = {text}{rest}"


def _term(term: Term) -> str:
    return " · ".join(map(_origin, term.origins)) or _number(term.value)


def _origin(origin: Origin) -> str:
    return f"{_number(origin.value)} [{origin.name}]" if origin.name else _number(origin.value)


def _number(value: float) -> str:
    """Four digits, in brackets below zero."""
    return f"({value:.4g})" if value < 0 else f"{value:.4g}"


def stands(origin: Origin, stages: dict[int, Stage], base: int, two: bool, tokens: Sequence[str]) -> str:
    """Where a number of a term stands."""
    if origin.weight:
        return f"{origin.weight}[{', '.join(map(str, origin.place))}] of the file"
    if origin.stage is None:
        return origin.name or "a constant"
    stage = stages[origin.stage]
    row = origin.place[-2] if len(origin.place) > 1 else 0
    token = f", token {row} “{tokens[row]}”" if row < len(tokens) else ""
    return f"{place(stage, base, two)}, {title(stage)}{token}, number {origin.place[-1]}"
