"""Formulas and sentences for the Step by step page, adapted to the parameters of the layer."""

from __future__ import annotations

from attention.mask import Mask
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


def describe_input(wiring: LayerParameters, layer: int, part: str) -> str:
    """Return sentences on the origin of the input vectors and the norm before the projections."""
    if part == "cross":
        origin = _("Queries use the decoder's vector after self-attention, keys and values the encoder's output.")
    elif layer == 0:
        origin = _("Each token enters as one vector, made by the embeddings.")
    else:
        origin = _("Each token enters as one vector, written by the previous layer.")
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
    size = {"width": width, "channels": channels}
    said = [
        _(
            "Each head has {width} × {channels} matrices for queries, keys and values.",
            **size,
        )
        if wiring.kv_heads == heads
        else _(
            "Each head has its own W_Q, {width} × {channels}.",
            **size,
        )
    ]
    if wiring.kv_heads < heads:
        said.append(
            _(
                "{heads} query heads share {sets} key–value heads ({paper}).",
                heads=heads,
                sets=wiring.kv_heads,
                paper=paper("2305.13245"),
            )
        )
    if wiring.query.norm is not None:
        said.append(
            _("Queries and keys are normalised over all heads ({paper}).", paper=paper("2010.04245"))
            if wiring.query.norm.wide
            else _("Queries and keys are normalised per head ({paper}).", paper=paper("2010.04245"))
        )
    if wiring.query.rotary is not None:
        said.append(_describe_rotary(2 * len(wiring.query.rotary.frequencies), channels))
    return join_sentences(*said)


def _describe_rotary(turned: int, channels: int) -> str:
    """Return a sentence on rotary position embeddings; ``turned`` of ``channels`` channels are rotated."""
    return _(
        "{turned} of {channels} channels rotate by position, so q · k depends on distance ({paper}).",
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
    """Return sentences on scale, soft cap, bias, mask and sinks between dot products and softmax."""
    channels = int(record.query.shape[2])
    if _has_usual_scale(weighing, channels):
        scale = _(
            "Dot products are divided by √{channels}, so that large scores leave the softmax a gradient "
            "({paper}, section 3.2.1).",
            channels=channels,
            paper=paper("1706.03762"),
        )
    elif weighing.scale == 1:
        scale = _("The dot products are not divided.")
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
                "A bias is added that depends only on the two positions ({paper}).",
                paper=paper("1910.10683"),
            )
        )
    said.append(mask(record))
    if record.sinks is not None:
        said.append(_("A learned extra score t takes its share of the softmax and is dropped."))
    return join_sentences(*said)


def mask(record: Record) -> str:
    """Return a sentence on the mask."""
    rule = record.mask
    if rule.left is None and rule.right is None and rule.allowed is None:
        if rule.causal:
            return _("Scores of later tokens become −∞ (causal mask).")
        return _("No mask: every token is visible.")
    if rule.allowed is None:
        return _("Only a window: {reach}; other scores become −∞.", reach=_reach(rule))
    return _("Masked pairs get the score −∞.")


def _reach(rule: Mask) -> str:
    """Return a phrase on the extent of the attention window in both directions."""
    sides = {"back": rule.left, "ahead": rule.right}
    if rule.left is None:
        reach = "" if rule.right is None else _("{ahead} ahead", **sides)
    else:
        reach = _("{back} back", **sides) if rule.right is None else _("{back} back and {ahead} ahead", **sides)
    return _("{reach}, never ahead", reach=reach) if rule.causal else reach


def describe_output(wiring: LayerParameters) -> str:
    """Return sentences on the residual connection and the norms after the output projection."""
    if wiring.ends == "output":
        return _("This architecture's next step is unknown; the steps end here.")
    if wiring.ends == "beside":
        return _describe_parallel(wiring)
    said = [
        _("The input vector is added (residual connection).")
        if wiring.after is None
        else _("It is normalised, then the input vector is added (residual connection).")
    ]
    if wiring.closing is not None:
        said.append(_("The sum is normalised (post-norm, as in {paper}).", paper=paper("1706.03762")))
    else:
        said.append(_("The sum is not normalised."))
    return join_sentences(*said)


def _describe_parallel(wiring: LayerParameters) -> str:
    """Return a sentence on layers that add attention and feed-forward output in a single sum."""
    if wiring.after is None:
        return _(
            "It is added to x together with the parallel feed-forward output ({paper}).",
            paper=paper("2204.02311"),
        )
    return _(
        "It is normalised, then added to x together with the parallel feed-forward output ({paper}).",
        paper=paper("2204.02311"),
    )


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
