"""Formulas and sentences for the Step by step page, adapted to the parameters of the layer."""

from __future__ import annotations

from attention.record import Record
from attention.walkthrough import LayerParameters, Norm, WeightSteps, align_rows
from i18n import _
from ui.show.text import join_sentences

PAPER = "[arXiv:{0}](https://arxiv.org/abs/{0})"
NORMS = {
    "layer": r"\mathrm{LayerNorm}(x) = \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} \odot \gamma + \beta",
    "rms": r"\mathrm{RMSNorm}(x) = \frac{x}{\sqrt{\overline{x^2} + \epsilon}} \odot \gamma",
}
NORM_PAPERS = {"layer": "1607.06450", "rms": "1910.07467"}


def paper(number: str) -> str:
    """Return a Markdown link to a paper by its arXiv id.

    >>> paper("1706.03762")
    '[arXiv:1706.03762](https://arxiv.org/abs/1706.03762)'
    """
    return PAPER.format(number)


def norm_formula(norm: Norm) -> str:
    """Return the formula of a norm in LaTeX, without γ and β if the norm has none."""
    formula = NORMS[norm.kind]
    if norm.bias is None:
        formula = formula.removesuffix(r" + \beta")
    return formula if norm.weight is not None else formula.split(r" \odot")[0]


def describe_input(wiring: LayerParameters, part: str) -> str:
    """Return sentences on the origin of the input vectors and the norm before the projections."""
    if part == "cross":
        origin = _("Queries: the decoder's vector after self-attention; keys and values: the encoder's output.")
    else:
        origin = _("Each token enters as a vector, from the embeddings or the previous layer.")
    said = [origin]
    if wiring.before is not None:
        said.append(
            _(
                "Each vector is normalised first (pre-norm, {early}; {norm}).",
                early=paper("2002.04745"),
                norm=paper(NORM_PAPERS[wiring.before.kind]),
            )
        )
    return join_sentences(*said)


def projections(wiring: LayerParameters) -> str:
    """Return sentences on the query, key and value projections: sizes, shared heads, norms and rotation."""
    width, heads, channels = wiring.query.weight.shape
    said = [_("Each projection matrix of a head has the shape {width} × {channels}.", width=width, channels=channels)]
    if wiring.kv_heads < heads:
        said.append(shared_heads(wiring))
    if wiring.query.norm is not None:
        said.append(_("Queries and keys are normalised ({paper}).", paper=paper("2010.04245")))
    if wiring.query.rotary is not None:
        said.append(_describe_rotary(2 * len(wiring.query.rotary.frequencies), channels))
    return join_sentences(*said)


def shared_heads(wiring: LayerParameters) -> str:
    """Return a sentence on the key–value heads that several query heads share."""
    return _(
        "{heads} query heads share {sets} key–value heads ({paper}).",
        heads=wiring.heads,
        sets=wiring.kv_heads,
        paper=paper("2305.13245"),
    )


def _describe_rotary(turned: int, channels: int) -> str:
    """Return a sentence on rotary position embeddings; ``turned`` of ``channels`` channels are rotated."""
    return _(
        "{turned} of {channels} channels are rotated, so q · k depends on distance ({paper}).",
        turned=turned,
        channels=channels,
        paper=paper("2104.09864"),
    )


def projection_formula(wiring: LayerParameters, part: str) -> str:
    """Return the formulas of q, k and v in LaTeX.

    A hat marks the norm before the projections; m is the encoder's output.
    """
    vector = "x" if wiring.before is None else r"\hat{x}"
    source = "m" if part == "cross" else vector
    branches = (
        ("Q", f"{vector}_i", wiring.query),
        ("K", f"{source}_j", wiring.key),
        ("V", f"{source}_j", wiring.value),
    )
    return align_rows(
        rf"{name.lower()}_{given[-1]} &= {given} W_{name}{'' if branch.bias is None else f' + b_{name}'}"
        for name, given, branch in branches
    )


def score_formula(record: Record, weighing: WeightSteps) -> str:
    """Return the formulas of a score and its weight in LaTeX, with this layer's scale."""
    channels = int(record.query.shape[2])
    score = r"q_i \cdot k_j"
    if _has_usual_scale(weighing, channels):
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
    return align_rows([f"s_{{ij}} &= {score}", rf"a_{{ij}} &= e^{{s_{{ij}}}} / {total}"])


def _has_usual_scale(weighing: WeightSteps, channels: int) -> bool:
    """Return whether the layer divides the dot products by √channels, as in arXiv:1706.03762."""
    usual: bool = abs(weighing.scale - channels**-0.5) < 1e-6
    return usual


def rules(record: Record, weighing: WeightSteps) -> str:
    """Return sentences on the changes between dot products and softmax: scale, soft cap, bias, mask and sinks."""
    channels = int(record.query.shape[2])
    if _has_usual_scale(weighing, channels):
        scale = _(
            "Dot products are divided by √{channels}; otherwise the softmax would have almost no "
            "gradient ({paper}, section 3.2.1).",
            channels=channels,
            paper=paper("1706.03762"),
        )
    else:
        scale = _(
            "Dot products are multiplied by {scale:.4g}; 1/√{channels} is {usual:.4g}.",
            scale=weighing.scale,
            channels=channels,
            usual=channels**-0.5,
        )
    said = [scale]
    if record.softcap is not None:
        said.append(
            _(
                "A soft cap, {cap:g} · tanh(s / {cap:g}), bounds them ({paper}).",
                cap=record.softcap,
                paper=paper("2408.00118"),
            )
        )
    if record.bias is not None and record.bias.any():
        said.append(
            _(
                "A bias that depends only on the two positions is added ({paper}).",
                paper=paper("1910.10683"),
            )
        )
    said.append(mask(record))
    if record.sinks is not None:
        said.append(_("A learned score t takes its share of the softmax and is dropped."))
    return join_sentences(*said)


def mask(record: Record) -> str:
    """Return a sentence on the keys that the attention mask hides."""
    rule = record.mask
    if rule.left is None and rule.right is None and rule.allowed is None:
        if rule.causal:
            return _("Scores of later tokens become −∞ (causal mask).")
        return _("No mask: every token is visible.")
    if rule.allowed is None:
        back, ahead = ("∞" if side is None else side for side in (rule.left, 0 if rule.causal else rule.right))
        return _(
            "Only keys up to {back} tokens back and {ahead} ahead are visible; other scores become −∞.",
            back=back,
            ahead=ahead,
        )
    return _("Masked pairs get the score −∞.")


def describe_output(wiring: LayerParameters) -> str:
    """Return sentences on the residual connection and the norms after the output projection."""
    if wiring.ends == "output":
        return _("This architecture's next step is unknown.")
    said = [] if wiring.after is None else [_("The output is normalised.")]
    said.append(_("The input vector is added (residual connection)."))
    if wiring.ends == "beside":
        said.append(_("The parallel feed-forward output is added ({paper}).", paper=paper("2204.02311")))
    elif wiring.closing is not None:
        said.append(_("The sum is normalised (post-norm, as in {paper}).", paper=paper("1706.03762")))
    return join_sentences(*said)


def leaving_formula(wiring: LayerParameters) -> str:
    """Return the formulas of the output projection and the residual connection in LaTeX."""
    attention = r"\mathrm{Concat}(z^{(1)}, \dots, z^{(h)})\, W_O" + ("" if wiring.output_bias is None else " + b_O")
    lines = [f"a &= {attention}"]
    added = "a"
    if wiring.after is not None:
        added = r"\mathrm{Norm}(a)"
    if wiring.ends == "sum":
        lines.append(f"y &= x + {added}")
    if wiring.ends == "norm":
        lines.append(rf"y &= \mathrm{{Norm}}(x + {added})")
    return align_rows(lines)
