"""What is said beside each step: formulas and sentences that are true for this layer's wiring, and nothing else."""

from __future__ import annotations

from attention.record import Record
from attention.steps import Weighing
from attention.wiring import Norm, Wiring
from attention.worked import aligned

PAPER = "[arXiv:{0}](https://arxiv.org/abs/{0})"
NORMS = {
    "layer": r"\mathrm{LayerNorm}(x) = \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} \odot \gamma + \beta",
    "rms": r"\mathrm{RMSNorm}(x) = \frac{x}{\sqrt{\overline{x^2} + \epsilon}} \odot \gamma",
}
NORM_PAPERS = {"layer": "1607.06450", "rms": "1910.07467"}


def paper(number: str) -> str:
    """A paper by its id, as a link.

    >>> paper("1706.03762")
    '[arXiv:1706.03762](https://arxiv.org/abs/1706.03762)'
    """
    return PAPER.format(number)


def norm_formula(norm: Norm) -> str:
    """The norm in LaTeX, without the β that it may not have."""
    formula = NORMS[norm.kind]
    if norm.bias is None:
        formula = formula.removesuffix(r" + \beta")
    return formula if norm.weight is not None else formula.split(r" \odot")[0]


def incoming(wiring: Wiring, layer: int, part: str) -> str:
    """Where the vectors come from, and whether they are normalised first."""
    origin = {
        "cross": "The token that looks brings the decoder's vector, as it is after the attention to its own text; "
        "the keys and values will come from the encoder's output.",
    }.get(part, "The embeddings made them." if layer == 0 else "The layer before wrote them.")
    said = f"Each token comes in as one vector. {origin}"
    if wiring.before is None:
        return said
    which = "the decoder's vector" if part == "cross" else "each vector"
    return (
        f"{said} This layer normalises {which} before anything else (pre-norm, {paper('2002.04745')}; the norm: "
        f"{paper(NORM_PAPERS[wiring.before.kind])})."
    )


def projections(wiring: Wiring) -> str:
    """How queries, keys and values are made."""
    width, heads, channels = wiring.query.weight.shape
    said = [
        f"Every head has {'matrices' if wiring.kv_heads == heads else 'a W_Q'} of its own, {width} × {channels}: a "
        "query asks, a key answers, a value is what is handed on."
    ]
    if wiring.kv_heads < heads:
        said.append(
            f"This layer has {heads} heads of queries but {wiring.kv_heads} of keys and values, each shared by "
            f"{heads // wiring.kv_heads} heads ({paper('2305.13245')})."
        )
    if wiring.query.norm is not None:
        wide = "all heads together" if wiring.query.norm.wide else "each head by itself"
        said.append(f"Queries and keys are normalised, {wide} ({paper('2010.04245')}).")
    if wiring.query.rotary is not None:
        turned = 2 * len(wiring.query.rotary.frequencies)
        said.append(
            f"Then {'all' if turned == channels else turned} channels turn in pairs by the token's position, so that "
            f"q · k depends on how far apart the two are ({paper('2104.09864')})."
        )
    return " ".join(said)


def projection_formula(wiring: Wiring, part: str) -> str:
    """q, k and v in LaTeX; a hat is the norm before, m the encoder's output."""
    vector = "x" if wiring.before is None else r"\hat{x}"
    source = "m" if part == "cross" else vector
    branches = (
        ("Q", f"{vector}_i", wiring.query),
        ("K", f"{source}_j", wiring.key),
        ("V", f"{source}_j", wiring.value),
    )
    return aligned(
        rf"{name.lower()}_{given[-1]} &= {given} W_{name}{'' if branch.bias is None else f' + b_{name}'}"
        for name, given, branch in branches
    )


def score_formula(record: Record, weighing: Weighing) -> str:
    """A score and its weight in LaTeX, with this layer's own scale."""
    channels = int(record.query.shape[2])
    score = r"q_i \cdot k_j"
    if _usual(weighing, channels):
        score = rf"\frac{{{score}}}{{\sqrt{{{channels}}}}}"
    elif weighing.scale != 1:
        score = rf"{weighing.scale:.4g}\; {score}"
    if record.softcap is not None:
        score = rf"{record.softcap:g} \tanh\frac{{{score}}}{{{record.softcap:g}}}"
    if record.bias is not None and record.bias.any():
        score += " + b_{ij}"
    total = r"\textstyle\sum_{j'} e^{s_{ij'}}"
    if record.sinks is not None:
        total = rf"\left(e^{{t}} + {total}\right)"
    return aligned([f"s_{{ij}} &= {score}", rf"a_{{ij}} &= e^{{s_{{ij}}}} / {total}"])


def _usual(weighing: Weighing, channels: int) -> bool:
    """Whether the layer divides by √channels, as the paper does."""
    usual: bool = abs(weighing.scale - channels**-0.5) < 1e-6
    return usual


def rules(record: Record, weighing: Weighing, part: str) -> str:
    """What happens between the dot products and the softmax."""
    channels = int(record.query.shape[2])
    if _usual(weighing, channels):
        scale = (
            f"The dot products are divided by √{channels}: a sum of {channels} independent products spreads "
            f"√{channels} times as wide as one, and where scores are far apart a softmax has hardly any gradient "
            f"({paper('1706.03762')}, section 3.2.1)."
        )
    elif weighing.scale == 1:
        scale = "The dot products of these queries and keys are not divided."
    else:
        scale = (
            f"This model multiplies the dot products by {weighing.scale:.4g}; 1/√{channels} is {channels**-0.5:.4g}."
        )
    said = [scale]
    if record.softcap is not None:
        said.append(
            f"A soft cap, {record.softcap:g} · tanh(s / {record.softcap:g}), bounds them ({paper('2408.00118')})."
        )
    if record.bias is not None and record.bias.any():
        said.append(
            "To each score a bias is added that depends on the two places and not on what stands there, as T5's "
            f"relative positions are ({paper('1910.10683')})."
        )
    said.append(mask(record, part))
    if record.sinks is not None:
        said.append("One more score t, learned for the head, takes its share of the softmax and is dropped.")
    return " ".join(said)


def mask(record: Record, part: str) -> str:
    """Who may look at whom, in a sentence."""
    rule = record.mask
    if rule.left is None and rule.right is None and rule.allowed is None:
        if rule.causal:
            return "A decoder's token sees itself and what came before; the scores of later ones become −∞."
        sides = {
            "cross": "each token of the target sees every token of the source",
            "encoder": "in an encoder a token sees every token, before and after it",
        }
        return f"Nothing is masked: {sides.get(part, 'a token sees every token')}."
    if rule.allowed is None:
        reach = " and ".join(
            [f"{side} back" for side in ([] if rule.left is None else [str(rule.left)])]
            + [f"{side} ahead" for side in ([] if rule.right is None else [str(rule.right)])]
        )
        ahead = ", never ahead" if rule.causal else ""
        return f"This layer sees a window only: {reach}{ahead}; other scores become −∞."
    return "Some pairs are masked: their scores become −∞."


def leaving(wiring: Wiring) -> str:
    """What becomes of W_O's output."""
    if wiring.ends == "output":
        return "What this architecture does next could not be told from its modules; the way ends here."
    after = "" if wiring.after is None else "It is normalised, and then "
    if wiring.ends == "beside":
        return (
            f"{after}{'the' if after else 'The'} model adds it to x in one sum with the feed-forward layer, which runs "
            f"beside the attention ({paper('2204.02311')}); the sum without that part does not exist in it."
        )
    residual = f"{after}{'the' if after else 'The'} vector that came in is added (the residual connection)."
    if wiring.closing is None:
        return (
            f"{residual} The sum goes on as it is: this model normalises before its parts, not after the sum."
            if (wiring.before is not None)
            else f"{residual} The sum goes on as it is."
        )
    return f"{residual} The sum is normalised (post-norm, as in {paper('1706.03762')})."


def leaving_formula(wiring: Wiring) -> str:
    """The end of the way in LaTeX."""
    attention = r"\mathrm{Concat}(z^{(1)}, \dots, z^{(h)})\, W_O" + ("" if wiring.output_bias is None else " + b_O")
    lines = [f"a &= {attention}"]
    added = "a"
    if wiring.after is not None:
        added = r"\mathrm{Norm}(a)"
    if wiring.ends == "sum":
        lines.append(f"y &= x + {added}")
    if wiring.ends == "norm":
        lines.append(rf"y &= \mathrm{{Norm}}(x + {added})")
    return aligned(lines)
