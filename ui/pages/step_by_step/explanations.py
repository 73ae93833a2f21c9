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
    said = [_("Each token comes in as one vector.")]
    if part == "cross":
        said.append(
            _(
                "The token that looks brings the decoder's vector, as it is after the attention to its own text; the "
                "keys and values will come from the encoder's output."
            )
        )
    else:
        said.append(_("The embeddings made them.") if layer == 0 else _("The layer before wrote them."))
    if wiring.before is not None:
        papers = {"early": paper("2002.04745"), "norm": paper(NORM_PAPERS[wiring.before.kind])}
        said.append(
            _(
                "This layer normalises the decoder's vector before anything else (pre-norm, {early}; the norm: "
                "{norm}).",
                **papers,
            )
            if part == "cross"
            else _(
                "This layer normalises each vector before anything else (pre-norm, {early}; the norm: {norm}).",
                **papers,
            )
        )
    return join_sentences(*said)


def projections(wiring: LayerParameters) -> str:
    """Return sentences on the query, key and value projections: sizes, shared heads, norms and rotation."""
    width, heads, channels = wiring.query.weight.shape
    size = {"width": width, "channels": channels}
    said = [
        _(
            "Every head has matrices of its own, {width} × {channels}: a query asks, a key answers, a value is what is "
            "handed on.",
            **size,
        )
        if wiring.kv_heads == heads
        else _(
            "Every head has a W_Q of its own, {width} × {channels}: a query asks, a key answers, a value is what is "
            "handed on.",
            **size,
        )
    ]
    if wiring.kv_heads < heads:
        said.append(
            _(
                "This layer has {heads} heads of queries but {sets} of keys and values, each shared by {sharing} heads "
                "({paper}).",
                heads=heads,
                sets=wiring.kv_heads,
                sharing=heads // wiring.kv_heads,
                paper=paper("2305.13245"),
            )
        )
    if wiring.query.norm is not None:
        said.append(
            _("Queries and keys are normalised, all heads together ({paper}).", paper=paper("2010.04245"))
            if wiring.query.norm.wide
            else _("Queries and keys are normalised, each head by itself ({paper}).", paper=paper("2010.04245"))
        )
    if wiring.query.rotary is not None:
        said.append(_describe_rotary(2 * len(wiring.query.rotary.frequencies), channels))
    return join_sentences(*said)


def _describe_rotary(turned: int, channels: int) -> str:
    """Return a sentence on rotary position embeddings; ``turned`` of ``channels`` channels are rotated."""
    if turned == channels:
        return _(
            "Then all channels turn in pairs by the token's position, so that q · k depends on how far apart the two "
            "are ({paper}).",
            paper=paper("2104.09864"),
        )
    return _(
        "Then {turned} channels turn in pairs by the token's position, so that q · k depends on how far apart the two "
        "are ({paper}).",
        turned=turned,
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


def rules(record: Record, weighing: WeightSteps, part: str) -> str:
    """Return sentences on scale, soft cap, bias, mask and sinks between dot products and softmax."""
    channels = int(record.query.shape[2])
    if _has_usual_scale(weighing, channels):
        scale = _(
            "The dot products are divided by √{channels}: a sum of {channels} independent products spreads √{channels} "
            "times as wide as one, and where scores are far apart a softmax has hardly any gradient ({paper}, section "
            "3.2.1).",
            channels=channels,
            paper=paper("1706.03762"),
        )
    elif weighing.scale == 1:
        scale = _("The dot products of these queries and keys are not divided.")
    else:
        scale = _(
            "This model multiplies the dot products by {scale:.4g}; 1/√{channels} is {usual:.4g}.",
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
                "To each score a bias is added that depends on the two places and not on what stands there, as T5's "
                "relative positions are ({paper}).",
                paper=paper("1910.10683"),
            )
        )
    said.append(mask(record, part))
    if record.sinks is not None:
        said.append(_("One more score t, learned for the head, takes its share of the softmax and is dropped."))
    return join_sentences(*said)


def mask(record: Record, part: str) -> str:
    """Return a sentence on the mask."""
    rule = record.mask
    if rule.left is None and rule.right is None and rule.allowed is None:
        if rule.causal:
            return _("A decoder's token sees itself and what came before; the scores of later ones become −∞.")
        if part == "cross":
            return _("Nothing is masked: each token of the target sees every token of the source.")
        if part == "encoder":
            return _("Nothing is masked: in an encoder a token sees every token, before and after it.")
        return _("Nothing is masked: a token sees every token.")
    if rule.allowed is None:
        return _("This layer sees a window only: {reach}; other scores become −∞.", reach=_reach(rule))
    return _("Some pairs are masked: their scores become −∞.")


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
        return _("What this architecture does next could not be told from its modules; the way ends here.")
    if wiring.ends == "beside":
        return _describe_parallel(wiring)
    said = [
        _("The vector that came in is added (the residual connection).")
        if wiring.after is None
        else _("It is normalised, and then the vector that came in is added (the residual connection).")
    ]
    if wiring.closing is not None:
        said.append(_("The sum is normalised (post-norm, as in {paper}).", paper=paper("1706.03762")))
    elif wiring.before is not None:
        said.append(_("The sum goes on as it is: this model normalises before its parts, not after the sum."))
    else:
        said.append(_("The sum goes on as it is."))
    return join_sentences(*said)


def _describe_parallel(wiring: LayerParameters) -> str:
    """Return a sentence on layers that add attention and feed-forward output in a single sum."""
    if wiring.after is None:
        return _(
            "The model adds it to x in one sum with the feed-forward layer, which runs beside the attention ({paper}); "
            "the sum without that part does not exist in it.",
            paper=paper("2204.02311"),
        )
    return _(
        "It is normalised, and then the model adds it to x in one sum with the feed-forward layer, which runs beside "
        "the attention ({paper}); the sum without that part does not exist in it.",
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
