"""Explanations of each part of a model, such as its token embeddings, in a few sentences with papers."""

from __future__ import annotations

from collections.abc import Iterator

from i18n import _
from inference.tasks.anatomy import (
    HEAD,
    INNER,
    INTO,
    OUT,
    POOLER,
    POSITIONS,
    PROJECTION,
    REST,
    SEGMENTS,
    TOKENS,
    Build,
    FeedForward,
    Stack,
    crossing,
)
from ui.pages.block.plan import activation, amount, find, head_title, table_width
from ui.show.text import format_comma_list, join_sentences
from viz.components.block.block import PaperLink, PartExplanation

ARXIV = "https://arxiv.org/abs/"
TRANSFORMER = "1706.03762"
GATED = "2002.05202"
ACTIVATIONS = {"GELU": "1606.08415", "SiLU": "1710.05941", "SwiGLU": GATED, "GeGLU": GATED, "ReGLU": GATED}
BY_POSITION = {"rotary": "2104.09864", "relative": "1803.02155", "alibi": "2108.12409"}


def paper(number: str, where: str = "") -> PaperLink:
    """Return the link to a paper by its arXiv id; ``where`` names a place in the paper."""
    name = f"arXiv:{number}"
    return PaperLink(_("{first}, {then}", first=name, then=where) if where else name, f"{ARXIV}{number}")


def section(number: str) -> str:
    """Return the translated name of a section of a paper."""
    return _("section {number}", number=number)


def share_of(build: Build, count: int) -> str:
    """Return a phrase with a number of parameters and its share of the model's total."""
    return _("{n:,} parameters, {share:.1%} of the model", n=count, share=count / build.total)


def count_of(build: Build, where: str, *names: str) -> int:
    """Return the total number of parameters in the named groups; ``where`` is "encoder", "decoder" or ""."""
    parts = (find(build, where, name) for name in names)
    return sum(part.count for part in parts if part is not None)


def tokens(build: Build, where: str) -> PartExplanation:
    """Explain the token embeddings."""
    part = find(build, where, TOKENS)
    rows, width = part.tensors[0].shape if part else (0, 0)
    again = [name for first, name in build.tied if part and first == part.tensors[0].name]
    tied = any(top.tied for top in build.tops) or any("head" in name or "decoder.weight" in name for name in again)
    text = [
        _(
            "Each token selects one of {rows:,} rows of {width:,} numbers ({share}).",
            rows=rows,
            width=width,
            share=share_of(build, rows * width),
        )
    ]
    if tied:
        text.append(_("The task head reuses this table, counted once."))
    source = paper("1608.05859") if tied else paper(TRANSFORMER, section("3.4"))
    return PartExplanation(_("Token embeddings"), join_sentences(*text), (source,))


def positions(build: Build, where: str) -> PartExplanation:
    """Explain the position embeddings that are added before the first layer."""
    part = find(build, where, POSITIONS)
    share = share_of(build, part.count if part else 0)
    if "sinusoidal" in build.positions:
        return PartExplanation(
            _("Position embeddings"),
            _(
                "Fixed sines and cosines encode the position ({share}).",
                share=share,
            ),
            (paper(TRANSFORMER, section("3.5")),),
        )
    return PartExplanation(
        _("Position embeddings"),
        _(
            "Adds a learned vector for each of {rows:,} positions ({share}).",
            rows=part.tensors[0].shape[0] if part else 0,
            share=share,
        ),
        (paper("1705.03122"), paper(TRANSFORMER, section("3.5"))),
    )


def segments(build: Build, where: str) -> PartExplanation:
    """Explain the segment embeddings."""
    part = find(build, where, SEGMENTS)
    rows = part.tensors[0].shape[0] if part else 0
    text = _("Adds learned vectors, one per segment ({rows}).", rows=rows)
    return PartExplanation(_("Segment embeddings"), text, (paper("1810.04805"),))


def projection(build: Build, where: str) -> PartExplanation:
    """Explain the projection from the embedding width to the model width."""
    part = find(build, where, PROJECTION)
    rows, columns = part.tensors[0].shape[:2] if part else (0, 0)
    text = _(
        "Maps {columns:,} embedding dimensions to the layers' {rows:,}.",
        columns=columns,
        rows=rows,
    )
    return PartExplanation(_("Projection"), text, (paper("1909.11942"),))


CROSSED = "cross-attention"


def explain_parts(build: Build, lengths: dict[str, int]) -> dict[str, PartExplanation]:
    """Return the explanation of each part of the model by the part's id, the default selection first."""
    said = {name: one for stack in build.stacks for name, one in _stack(build, stack, lengths)}
    said |= {f"top {at}": _top(build, at) for at in range(len(build.tops))}
    said["sum"] = PartExplanation(
        _("Sum"),
        _("Embeddings are added: {n:,} numbers per token.", n=table_width(build)),
        (paper(TRANSFORMER, section("3.5")),),
    )
    steps = ((stack.part, at, step) for stack in build.stacks for at, step in enumerate(stack.flow.steps))
    first = next(f"{part}.{at}" for part, at, step in steps if step.kind == "attention")
    return {first: said[first], **said}


def _stack(build: Build, stack: Stack, lengths: dict[str, int]) -> Iterator[tuple[str, PartExplanation]]:
    side = stack.part
    where = side if len(build.stacks) > 1 else ""
    embeddings = {TOKENS: tokens, POSITIONS: positions, SEGMENTS: segments, PROJECTION: projection}
    for name in stack.before.parts:
        if name in embeddings:
            yield f"{side}.{name}", embeddings[name](build, where)
    before, after = (stack.before.norm, table_width(build)), (stack.after.norm, build.width)
    yield f"{side}.norm before", _norm(stack, *before)
    yield f"{side}.norm after", _norm(stack, *after)
    for at, step in enumerate(stack.flow.steps):
        if step.kind == "norm":
            yield f"{side}.{at}", _norm(stack, stack.norm, build.width, _place(stack, at))
        elif step.kind == "add":
            yield f"{side}.{at}", _addition(len(step.sources))
        elif step.kind == "attention":
            yield f"{side}.{at}", _attention(build, stack, lengths[side], where)
        elif step.kind == CROSSED:
            yield f"{side}.{at}", _explain_cross(build, lengths, where)
        elif step.kind == "feed-forward" and stack.feed_forward is not None:
            yield f"{side}.{at}", _forward(build, stack, stack.feed_forward, where)
    yield f"{side}.{POOLER}", _pooler(build)
    yield f"{side}.{HEAD}", _head(build, where)


def _norm(stack: Stack, kind: str, width: int, place: str = "") -> PartExplanation:
    rms = kind == "RMSNorm"
    text = [
        _("Divides a token's {width:,} numbers by their root mean square.", width=width)
        if rms
        else _(
            "Scales a token's {width:,} numbers to mean 0 and variance 1, then applies any learned gain and bias.",
            width=width,
        )
    ]
    text.append(place)
    if rms and "LayerNorm" in stack.norm_class:
        text.append(
            _(
                "Despite the name {norm_class}, an RMSNorm.",
                norm_class=stack.norm_class,
            )
        )
    return PartExplanation(kind or "Norm", join_sentences(*text), (paper("1910.07467" if rms else "1607.06450"),))


def _place(stack: Stack, at: int) -> str:
    source = stack.flow.steps[at].sources[0]
    if source >= 0 and stack.flow.steps[source].kind not in ("add", "norm"):
        return _("After a part, before the addition.")
    if stack.flow.placement == "post":
        return _("After the addition (post-norm), as in the original.")
    return _("Before the part (pre-norm); the sum is not normalised.")


def _addition(summed: int) -> PartExplanation:
    if summed > 2:
        text = _("Adds the layer's input and the outputs of attention and feed-forward, computed in parallel.")
        return PartExplanation(_("Addition"), text, (paper("1512.03385"), paper("2204.02311")))
    text = _("Adds the part's input to its output (residual connection).")
    return PartExplanation(_("Addition"), text, (paper("1512.03385"), paper(TRANSFORMER, section("3.1"))))


def _attention(build: Build, stack: Stack, tokens: int, where: str) -> PartExplanation:
    sizes = stack.attention
    text = [
        _("Queries are compared with keys (if masked: no later ones); the weights mix the values."),
        _(
            "{heads}, queries of {width} numbers: {n} × {tokens} × {tokens} weights here.",
            heads=amount(sizes.heads, "head"),
            width=sizes.width,
            n=sizes.heads,
            tokens=tokens,
        ),
        _(
            "In all {layers} layers: {share}.",
            layers=stack.layers,
            share=share_of(build, count_of(build, where, INTO, OUT, INNER, REST)),
        ),
    ]
    papers = [paper(TRANSFORMER, section("3.2"))]
    if sizes.kv_heads < sizes.heads:
        text.append(_("Key–value heads: {sets}, shared by query heads.", sets=sizes.kv_heads))
        papers.append(paper("1911.02150" if sizes.kv_heads == 1 else "2305.13245"))
    for kind in build.positions:
        if kind in BY_POSITION:
            text.append(_by_position(kind))
            papers.append(paper(BY_POSITION[kind]))
    if stack.inner_norms:
        text.append(_("Queries and keys are normalised first."))
        papers.append(paper("2010.04245"))
    if stack.window:
        text.append(
            _(
                "{windowed} of {layers} layers attend within {window:,} tokens only.",
                windowed=stack.windowed,
                layers=stack.layers,
                window=stack.window,
            )
        )
        papers.append(paper("2004.05150"))
    title = _("Masked self-attention") if stack.causal else _("Self-attention")
    return PartExplanation(title, join_sentences(*text), tuple(papers))


def _by_position(kind: str) -> str:
    """Explain how the attention uses positions of this kind."""
    if kind == "rotary":
        return _("Queries and keys are rotated by position.")
    if kind == "relative":
        return _("Each score gets a term for the distance.")
    return _("Each token of distance lowers the score by a constant.")


def _explain_cross(build: Build, lengths: dict[str, int], where: str) -> PartExplanation:
    names = [crossing(name) for name in (INTO, OUT, INNER, REST)]
    text = _(
        "Queries: the decoder's {tokens}; keys and values: the encoder's {read} ({share}).",
        tokens=amount(lengths["decoder"], "token"),
        read=lengths["encoder"],
        share=share_of(build, count_of(build, where, *names)),
    )
    return PartExplanation(_("Cross-attention"), text, (paper(TRANSFORMER, section("3.2.3")),))


def _forward(build: Build, stack: Stack, forward: FeedForward, where: str) -> PartExplanation:
    name = activation(forward)
    text = [
        _(
            "Each token alone: {inputs:,} → {hidden:,} ({name}) → {inputs:,}.",
            inputs=forward.inputs,
            hidden=forward.hidden,
            name=name or "–",
        ),
        _(
            "In all {layers} layers: {share}.",
            layers=stack.layers,
            share=share_of(build, count_of(build, where, "feed-forward")),
        ),
    ]
    papers = [paper(TRANSFORMER, section("3.3"))]
    papers += [paper(number) for word, number in ACTIVATIONS.items() if word in name][-1:]
    if forward.experts > 1:
        text.append(
            _(
                "Each token uses {used} of {experts} experts.",
                experts=forward.experts,
                used=forward.experts_used,
            )
        )
        papers.append(paper("1701.06538"))
    return PartExplanation(_("Feed-forward"), join_sentences(*text), tuple(papers))


def _pooler(build: Build) -> PartExplanation:
    text = _(
        "A matrix for tasks on whole texts ({share}); attention does not depend on it.",
        share=share_of(build, count_of(build, "", POOLER)),
    )
    return PartExplanation(_("Pooler"), text, (paper("1810.04805"),))


def _head(build: Build, where: str) -> PartExplanation:
    count = count_of(build, where, HEAD)
    size = share_of(build, count) if count else _("the token table again")
    text = _("Scores {pieces:,} tokens at each position: {size}.", pieces=build.vocabulary, size=size)
    return PartExplanation(head_title(build.architecture), text, (paper(TRANSFORMER, section("3.4")),))


def _top(build: Build, at: int) -> PartExplanation:
    top = build.tops[at]
    sizes = [share_of(build, top.count), *([_("the token table again")] if top.tied else [])]
    text = _(
        "The checkpoint also has {class_name}: {size}.",
        class_name=top.class_name,
        size=format_comma_list(sizes),
    )
    return PartExplanation(head_title(top.class_name), text, (paper("1608.05859"),) if top.tied else ())
