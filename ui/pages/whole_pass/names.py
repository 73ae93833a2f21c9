"""Names of the stages (calls that compute new numbers) of a forward pass on screen, and numbers as equations."""

from __future__ import annotations

from collections.abc import Sequence

from i18n import _, gettext_lazy, translate, typeset_number
from inference.tasks.whole_pass import ACTIVATED, EMBEDDINGS, HEAD, HIDDEN, Opened, Origin, Stage, Term
from ui.show.text import format_comma_list

FORMULAS = {
    "linear": "x · Wᵀ + b",
    "addmm": "x · W + b",
    "matmul": "x · y",
    "embedding": "E[id]",
    "add": "x + y",
    "sub": "x − y",
    "mul": "x ⊙ y",
    "div": "x / y",
    "neg": "−x",
    "pow": "xⁿ",
    "mean": "mean(x)",
    "rsqrt": "1/√x",
    "layer_norm": "LayerNorm",
    "softmax": "softmax",
    "scaled_dot_product_attention": "softmax(q · kᵀ · scale) · v",
    "gelu": "GELU",
    "relu": "ReLU",
    "silu": "SiLU",
}

# Parts of a pass, roles of its stages, sides of the model, and verdicts of the heads for sentence pairs.
WORDS: dict[str, str] = {
    word: word
    for word in (
        gettext_lazy("embeddings"),
        gettext_lazy("attention"),
        gettext_lazy("cross-attention"),
        gettext_lazy("feed-forward"),
        gettext_lazy("norm"),
        gettext_lazy("residual"),
        gettext_lazy("scale"),
        gettext_lazy("pooler"),
        gettext_lazy("probabilities"),
        gettext_lazy("queries"),
        gettext_lazy("keys"),
        gettext_lazy("values"),
        gettext_lazy("weighted values"),
        gettext_lazy("output"),
        gettext_lazy("hidden"),
        gettext_lazy("after the activation"),
        gettext_lazy("token embeddings"),
        gettext_lazy("position embeddings"),
        gettext_lazy("segment embeddings"),
        gettext_lazy("relative positions"),
        gettext_lazy("other"),
        gettext_lazy("encoder"),
        gettext_lazy("decoder"),
        gettext_lazy("the second follows"),
        gettext_lazy("the second is from elsewhere"),
        gettext_lazy("in their order"),
        gettext_lazy("swapped"),
    )
}
WORDS[HEAD] = gettext_lazy("task head")  # "head" alone would read as an attention head

INSIDE = (HIDDEN, ACTIVATED)  # roles between the two matrix products of a feed-forward part


def display_name(word: str) -> str:
    """Return the translated name of a part of the model, a stage's role, encoder or decoder, or a verdict."""
    return translate(WORDS.get(word, word))


def formula(name: str) -> str:
    """Return the formula of a torch function, or its torch name if FORMULAS lacks it."""
    return FORMULAS.get(name, name)


def role(stage: Stage) -> str:
    """Return the display name of a stage's role, such as "after the activation".

    The names of several roles are joined with commas.
    """
    return format_comma_list([display_name(one) for one in stage.role.split(", ")])


def title(stage: Stage) -> str:
    """Return a label with the part, the role and the formula of a stage.

    >>> title(Stage(3, "gelu", "encoder", 0, "feed-forward", "after the activation", "", (), (), (), (), 0, 0))
    'feed-forward, after the activation: GELU'
    """
    part = display_name(stage.part)
    name = _("{first}, {then}", first=part, then=role(stage)) if stage.role else part
    return _("{name}: {text}", name=name, text=formula(stage.formula))


def stage_name(stage: Stage) -> str:
    """Return the number of a stage and its untranslated name, for the provenance.

    >>> stage_name(Stage(3, "gelu", "encoder", 0, "feed-forward", "after the activation", "", (), (), (), (), 0, 0))
    '3 (encoder, layer 0, feed-forward, after the activation: gelu)'
    """
    layer = "" if stage.layer is None else f"layer {stage.layer}"
    words = ", ".join(word for word in (stage.side, layer, stage.part, stage.role) if word)
    return f"{stage.number} ({words}: {stage.formula})"


def short_title(stage: Stage) -> str:
    """Return the role of a stage, or its formula if it has no role."""
    return role(stage) if stage.role else formula(stage.formula)


def in_stack(stage: Stage) -> str:
    """Return the label of a stage in the diagram of the whole pass.

    It is the part of the model, with a note for its hidden layer. An embedding is labelled by its role.

    >>> in_stack(Stage(3, "gelu", "encoder", 0, "feed-forward", "after the activation", "", (), (), (), (), 0, 0))
    'feed-forward, hidden'
    """
    if stage.part == EMBEDDINGS:
        return short_title(stage)
    part = display_name(stage.part)
    return _("{part}, hidden", part=part) if stage.role in INSIDE else part


def place(stage: Stage, two: bool) -> str:
    """Return the layer of a stage as text, else "before the layers" or "after the layers".

    If ``two`` is True, the model has two stacks, and the text also names the encoder or the decoder.
    """
    if stage.layer is not None:
        found = _("layer {layer}", layer=stage.layer)
    else:
        found = _("before the layers") if stage.part == EMBEDDINGS else _("after the layers")
    return _("{first}, {then}", first=display_name(stage.side), then=found) if two else found


def format_terms(opened: Opened) -> str:
    """Write a number of a stage's result as an equation: a sum of terms, or a function of its arguments.

    >>> found = (Term(0.75, (Origin(1.5), Origin(0.5))), Term(0.25, (Origin(0.25),)))
    >>> format_terms(Opened(1.1, "products", "linear", found, 7, 0.1, 1.1))
    '1.1 = 1.5 · 0.5 + 0.25 + 0.1 (7 more)'
    """
    result = typeset_number(f"{opened.value:.4g}")
    if opened.how == "function":
        name = formula(opened.formula)
        values = [typeset_number(f"{one.value:.4g}") for one in opened.terms[0].origins]
        if opened.formula == "softmax":
            less = _number(opened.terms[0].origins[1].value)
            return f"{result} = e^({values[0]} − {less}) / {_number(opened.terms[0].origins[2].value)}"
        inside = ", ".join(values)
        return f"{result} = {name}({inside})"
    text = " + ".join(_term(term) for term in opened.terms)
    if opened.left:
        text = _("{sum} + {rest} ({left} more)", sum=text, rest=_number(opened.rest), left=opened.left)
    return f"{result} = {text}"


def _term(term: Term) -> str:
    return " · ".join(map(_origin, term.origins)) or _number(term.value)


def _origin(origin: Origin) -> str:
    return f"{_number(origin.value)} [{translate(origin.name)}]" if origin.name else _number(origin.value)


def _number(value: float) -> str:
    """Return a number with four significant digits, in brackets if it is negative or has a power of ten."""
    number = typeset_number(f"{value:.4g}")
    return f"({number})" if value < 0 or "×" in number else number


def describe_origin(origin: Origin, stages: dict[int, Stage], two: bool, tokens: Sequence[str]) -> str:
    """Return the place from which a number comes: a weight in the file, a constant, or a stage's result."""
    if origin.weight:
        return _("{weight}[{place}] of the file", weight=origin.weight, place=", ".join(map(str, origin.place)))
    if origin.stage is None:
        return translate(origin.name) or _("a constant")
    stage = stages[origin.stage]
    row = origin.place[-2] if len(origin.place) > 1 else 0
    where = {"place": place(stage, two), "stage": title(stage), "number": origin.place[-1]}
    if row >= len(tokens):
        return _("{place}, {stage}, number {number}", **where)
    return _("{place}, {stage}, token {row} “{token}”, number {number}", row=row, token=tokens[row], **where)
