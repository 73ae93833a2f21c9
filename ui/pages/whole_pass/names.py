"""What stages and numbers are called on the page."""

from __future__ import annotations

from collections.abc import Sequence

from inference.questions.whole_pass import ACTIVATED, EMBEDDINGS, HIDDEN, Opened, Origin, Stage, Term
from ui.show.lists import commas
from wording import _, sentence, told

FORMULAS = {
    "linear": "x · Wᵀ + b",
    "addmm": "x · W + b",
    "matmul": sentence("matrix product"),
    "embedding": sentence("row of a table"),
    "add": sentence("sum"),
    "sub": sentence("difference"),
    "mul": sentence("product"),
    "div": sentence("quotient"),
    "neg": sentence("minus"),
    "pow": sentence("power"),
    "mean": sentence("mean"),
    "rsqrt": "1/√x",
    "layer_norm": "LayerNorm",
    "softmax": "softmax",
    "scaled_dot_product_attention": "softmax(q · kᵀ · scale) · v",
    "gelu": "GELU",
    "relu": "ReLU",
    "silu": "SiLU",
}

# What the parts of a pass and the roles of its stages are called, and the two texts that a head judges.
WORDS: dict[str, str] = {
    word: word
    for word in (
        sentence("embeddings"),
        sentence("attention"),
        sentence("cross-attention"),
        sentence("feed-forward"),
        sentence("norm"),
        sentence("residual"),
        sentence("scale"),
        sentence("pooler"),
        sentence("head"),
        sentence("probabilities"),
        sentence("queries"),
        sentence("keys"),
        sentence("values"),
        sentence("weighed values"),
        sentence("output"),
        sentence("hidden"),
        sentence("after the activation"),
        sentence("token embeddings"),
        sentence("position embeddings"),
        sentence("segment embeddings"),
        sentence("relative positions"),
        sentence("other"),
        sentence("encoder"),
        sentence("decoder"),
        sentence("the second follows"),
        sentence("the second is from elsewhere"),
        sentence("in their order"),
        sentence("swapped"),
    )
}

INSIDE = (HIDDEN, ACTIVATED)  # what a feed-forward part has between its two products


def named(word: str) -> str:
    """A part, a role, a side or a verdict, as its reader calls it."""
    return told(WORDS.get(word, word))


def formula(name: str) -> str:
    """A function by its formula, or as torch calls it."""
    return told(FORMULAS[name]) if name in FORMULAS else name


def role(stage: Stage) -> str:
    """What a stage is for in its part; one that makes several things has them all."""
    return commas([named(one) for one in stage.role.split(", ")])


def title(stage: Stage) -> str:
    """What a stage is, in its part.

    >>> title(Stage(3, "gelu", "encoder", 0, "feed-forward", "after the activation", "", (), (), (), (), 0, 0))
    'feed-forward, after the activation: GELU'
    """
    what = {"part": named(stage.part), "formula": formula(stage.formula)}
    return _("{part}, {role}: {formula}", role=role(stage), **what) if stage.role else _("{part}: {formula}", **what)


def short(stage: Stage) -> str:
    """The same beside others of its part, where there is room for a word or two."""
    return role(stage) if stage.role else formula(stage.formula)


def in_stack(stage: Stage) -> str:
    """The part that a stage ends, in the picture of the whole.

    >>> in_stack(Stage(3, "gelu", "encoder", 0, "feed-forward", "after the activation", "", (), (), (), (), 0, 0))
    'feed-forward, hidden'
    """
    if stage.part == EMBEDDINGS:
        return short(stage)
    part = named(stage.part)
    return _("{part}, hidden", part=part) if stage.role in INSIDE else part


def place(stage: Stage, base: int, two: bool) -> str:
    """Which layer a stage is in, or before or after the layers; ``two``: of which side of the model."""
    if stage.layer is not None:
        found = _("layer {layer}", layer=stage.layer + base)
    else:
        found = _("before the layers") if stage.part == EMBEDDINGS else _("after the layers")
    return _("{side}, {place}", side=named(stage.side), place=found) if two else found


def written(opened: Opened) -> str:
    """A number as the sum of its terms.

    >>> found = (Term(0.75, (Origin(1.5), Origin(0.5))), Term(0.25, (Origin(0.25),)))
    >>> written(Opened(1.1, "products", "linear", found, 7, 0.1, 1.1))
    '1.1 = 1.5 · 0.5 + 0.25 + 0.1 (7 more)'
    """
    if opened.how == "function":
        name = formula(opened.formula)
        values = [f"{one.value:.4g}" for one in opened.terms[0].origins]
        if opened.formula == "softmax":
            less = _number(opened.terms[0].origins[1].value)
            return f"{opened.value:.4g} = e^({values[0]} - {less}) / {values[2]}"
        inside = ", ".join(values)
        return f"{opened.value:.4g} = {name}({inside})"
    text = " + ".join(_term(term) for term in opened.terms)
    if opened.left:
        text = _("{sum} + {rest} ({left} more)", sum=text, rest=_number(opened.rest), left=opened.left)
    return f"{opened.value:.4g} = {text}"


def _term(term: Term) -> str:
    return " · ".join(map(_origin, term.origins)) or _number(term.value)


def _origin(origin: Origin) -> str:
    return f"{_number(origin.value)} [{told(origin.name)}]" if origin.name else _number(origin.value)


def _number(value: float) -> str:
    """Four digits, in brackets below zero."""
    return f"({value:.4g})" if value < 0 else f"{value:.4g}"


def stands(origin: Origin, stages: dict[int, Stage], base: int, two: bool, tokens: Sequence[str]) -> str:
    """Where a number of a term stands."""
    if origin.weight:
        return _("{weight}[{place}] of the file", weight=origin.weight, place=", ".join(map(str, origin.place)))
    if origin.stage is None:
        return told(origin.name) or _("a constant")
    stage = stages[origin.stage]
    row = origin.place[-2] if len(origin.place) > 1 else 0
    where = {"place": place(stage, base, two), "stage": title(stage), "number": origin.place[-1]}
    if row >= len(tokens):
        return _("{place}, {stage}, number {number}", **where)
    return _("{place}, {stage}, token {row} “{token}”, number {number}", row=row, token=tokens[row], **where)
