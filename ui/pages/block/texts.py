"""What is said about each part of a drawn model: one or two sentences that are true for this one, and a paper."""

from __future__ import annotations

from collections.abc import Iterator

from inference.questions.anatomy import (
    HEAD,
    INNER,
    INTO,
    NORMS,
    OUT,
    OUTER_NORMS,
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
from viz.components.block.block import Paper, Told

ARXIV = "https://arxiv.org/abs/"
CROSSED = "cross-attention"


def paper(number: str, where: str = "") -> Paper:
    """A paper by its arXiv id."""
    return Paper(f"arXiv:{number}" + (f", {where}" if where else ""), f"{ARXIV}{number}")


TRANSFORMER = "1706.03762"
GATED = "2002.05202"
ACTIVATIONS = {"GELU": "1606.08415", "SiLU": "1710.05941", "SwiGLU": GATED, "GeGLU": GATED, "ReGLU": GATED}
BY_POSITION = {
    "rotary": (" Queries and keys are turned by their position first.", "2104.09864"),
    "relative": (" What depends on the distance of two tokens is added to their score.", "1803.02155"),
    "alibi": (" Each token of distance takes a fixed amount off the score.", "2108.12409"),
}


def told(build: Build, lengths: dict[str, int]) -> dict[str, Told]:
    """By id of the drawing's parts; the attention, which is explained first, comes first."""
    said = {name: one for stack in build.stacks for name, one in _stack(build, stack, lengths)}
    said |= {f"top {at}": _top(build, at) for at in range(len(build.tops))}
    said["sum"] = Told(
        "Sum",
        f"The vectors are added: each token is {table_width(build):,} numbers that hold all of this at once.",
        (paper(TRANSFORMER, "section 3.5"),),
    )
    first = next(name for name in said if said[name].title.endswith("elf-attention"))
    return {first: said[first], **said}


def _stack(build: Build, stack: Stack, lengths: dict[str, int]) -> Iterator[tuple[str, Told]]:
    side = stack.part
    where = side if len(build.stacks) > 1 else ""
    embeddings = {TOKENS: _tokens, POSITIONS: _positions, SEGMENTS: _segments, PROJECTION: _projection}
    for name in stack.before.parts:
        if name in embeddings:
            yield f"{side}.{name}", embeddings[name](build, where)
    before, after = (stack.before.norm, table_width(build)), (stack.after.norm, build.width)
    yield f"{side}.norm before", _norm(build, stack, *before, "It stands once, before the first layer.")
    yield f"{side}.norm after", _norm(build, stack, *after, "It stands once, after the last layer.")
    for at, step in enumerate(stack.flow.steps):
        if step.kind == "norm":
            yield f"{side}.{at}", _norm(build, stack, stack.norm, build.width, _place(stack, at))
        elif step.kind == "add":
            yield f"{side}.{at}", _addition(len(step.sources))
        elif step.kind == "attention":
            yield f"{side}.{at}", _attention(build, stack, lengths[side], where)
        elif step.kind == CROSSED:
            yield f"{side}.{at}", _cross(build, lengths, where)
        elif step.kind == "feed-forward" and stack.feed_forward is not None:
            yield f"{side}.{at}", _forward(build, stack, stack.feed_forward, where)
    yield f"{side}.{POOLER}", _pooler(build)
    yield f"{side}.{HEAD}", _head(build, where)


def _share(build: Build, count: int) -> str:
    return f"{count:,} parameters, {count / build.total:.1%} of the model" if count else "no parameters"


def _count(build: Build, where: str, *names: str) -> int:
    parts = (find(build, where, name) for name in names)
    return sum(part.count for part in parts if part is not None)


def _tokens(build: Build, where: str) -> Told:
    part = find(build, where, TOKENS)
    rows, width = part.tensors[0].shape if part else (0, 0)
    again = [name for first, name in build.tied if part and first == part.tensors[0].name]
    tied = any(top.tied for top in build.tops) or any("head" in name or "decoder.weight" in name for name in again)
    more = " The head uses the same table again, as a matrix: its parameters count once." if tied else ""
    text = f"Each token picks its row of a table: {rows:,} rows of {width:,} numbers, {_share(build, rows * width)}."
    return Told("Token embeddings", text + more, (paper("1608.05859") if tied else paper(TRANSFORMER, "section 3.4"),))


def _positions(build: Build, where: str) -> Told:
    part = find(build, where, POSITIONS)
    if "sinusoidal" in build.positions:
        return Told(
            "Position embeddings",
            "A fixed pattern of sines and cosines, another one for each place, is added, so that order is known; "
            f"it was not learned ({_share(build, part.count if part else 0)}).",
            (paper(TRANSFORMER, "section 3.5"),),
        )
    rows = part.tensors[0].shape[0] if part else 0
    return Told(
        "Position embeddings",
        f"A learned vector for each place is added, so that order is known: {rows:,} rows, "
        f"{_share(build, part.count if part else 0)}. The original Transformer added sines and cosines.",
        (paper("1705.03122"), paper(TRANSFORMER, "section 3.5")),
    )


def _segments(build: Build, where: str) -> Told:
    part = find(build, where, SEGMENTS)
    rows = part.tensors[0].shape[0] if part else 0
    text = f"A learned vector is added that says which text a token is from: {rows} rows, so that a second text is "
    text += "told from a first."
    if rows == 1:
        text = "One learned vector is added to every token: this model has a single row and tells no texts apart."
    return Told("Segment embeddings", text, (paper("1810.04805"),))


def _projection(build: Build, where: str) -> Told:
    part = find(build, where, PROJECTION)
    rows, columns = part.tensors[0].shape[:2] if part else (0, 0)
    text = f"The tables have {columns:,} numbers a row; this matrix makes the layers' {rows:,} of them. A small table "
    return Told("Projection", text + "saves parameters.", (paper("1909.11942"),))


def _norm(build: Build, stack: Stack, kind: str, width: int, place: str) -> Told:
    weighed = any(part.name in (NORMS, OUTER_NORMS) for part in build.parts)
    rms = kind == "RMSNorm"
    what = "divided by their root mean square" if rms else "shifted and scaled to mean 0 and variance 1"
    tensors = [one.name for part in build.parts if part.name in (NORMS, OUTER_NORMS) for one in part.tensors]
    learned = ", then multiplied by learned weights" if weighed else ""
    learned += ", and learned biases are added" if any(name.endswith("bias") for name in tensors) else ""
    text = f"Each token's {width:,} numbers are {what}{learned}. {place}"
    if rms and "LayerNorm" in stack.norm_class:
        text += f" Its class is called {stack.norm_class}, yet it does not take the mean away: it is an RMSNorm."
    return Told(kind or "Norm", text, (paper("1910.07467" if rms else "1607.06450"),))


def _place(stack: Stack, at: int) -> str:
    source = stack.flow.steps[at].sources[0]
    if source >= 0 and stack.flow.steps[source].kind not in ("add", "norm"):
        return "It stands on what a part made, before that is added."
    if stack.flow.placement == "post":
        return "It stands after the addition (post-norm), as in the original Transformer."
    return "It stands before the part (pre-norm): the sum that goes round the part is never normalised."


def _addition(summed: int) -> Told:
    text = "What went into the part is added to what came out of it, number by number: the residual connection."
    if summed > 2:
        text = "What entered the layer, the attention's result and the feed-forward part's are added at once: "
        text += "the two parts work side by side on the same vectors."
        return Told("Addition", text, (paper("1512.03385"), paper("2204.02311")))
    return Told("Addition", text, (paper("1512.03385"), paper(TRANSFORMER, "section 3.1")))


def _attention(build: Build, stack: Stack, tokens: int, where: str) -> Told:
    sizes = stack.attention
    seen = "its own key and those before it" if stack.causal else f"the keys of all {amount(tokens, 'token')}"
    per_head = f"{sizes.heads} × {tokens} × {tokens} weights for this text"
    text = (
        f"Each token's query is compared with {seen}; the weights mix the values. There are "
        f"{amount(sizes.heads, 'head')}, each with queries of {sizes.width} numbers: {per_head}. "
        f"W_Q, W_K, W_V and W_O of all {stack.layers} layers: "
        f"{_share(build, _count(build, where, INTO, OUT, INNER, REST))}."
    )
    papers = [paper(TRANSFORMER, "section 3.2")]
    if sizes.kv_heads < sizes.heads:
        text += f" The heads share {amount(sizes.kv_heads, 'set')} of keys and values."
        papers.append(paper("1911.02150" if sizes.kv_heads == 1 else "2305.13245"))
    for kind in build.positions:
        if kind in BY_POSITION:
            text += BY_POSITION[kind][0]
            papers.append(paper(BY_POSITION[kind][1]))
    if stack.inner_norms:
        text += " Queries and keys are normalised before they meet."
        papers.append(paper("2010.04245"))
    if stack.window:
        text += f" {stack.windowed} of {stack.layers} layers look at a window of {stack.window:,} tokens only."
        papers.append(paper("2004.05150"))
    return Told("Masked self-attention" if stack.causal else "Self-attention", text, tuple(papers))


def _cross(build: Build, lengths: dict[str, int], where: str) -> Told:
    names = [crossing(name) for name in (INTO, OUT, INNER, REST)]
    text = (
        f"Queries come from the decoder's {amount(lengths['decoder'], 'token')}, keys and values from what the "
        f"encoder made of the text's {lengths['encoder']}: here one text looks at the other, with "
        f"{_share(build, _count(build, where, *names))}."
    )
    return Told("Cross-attention", text, (paper(TRANSFORMER, "section 3.2.3"),))


def _forward(build: Build, stack: Stack, forward: FeedForward, where: str) -> Told:
    name = activation(forward)
    through = f"go through {name}" if name else "go through a function"
    gate = " Two matrices lead there, and their results are multiplied." if forward.gated else ""
    text = (
        f"Each token by itself: {forward.inputs:,} numbers become {forward.hidden:,}, {through}, and become "
        f"{forward.inputs:,} again.{gate} In all {stack.layers} layers: "
        f"{_share(build, _count(build, where, 'feed-forward'))}."
    )
    papers = [paper(TRANSFORMER, "equation 2")]
    if not forward.gated and forward.activation.name.startswith("GELU"):
        text += " Many drawings say ReLU here, which was the original Transformer's; this model computes GELU."
    papers += [paper(number) for word, number in ACTIVATIONS.items() if word in name][-1:]
    if forward.experts > 1:
        text += f" There are {forward.experts} such parts; a token passes through {forward.experts_used} of them."
        papers.append(paper("1701.06538"))
    return Told("Feed-forward", text, tuple(papers))


def _pooler(build: Build) -> Told:
    text = f"One more matrix on top, for tasks about whole texts: {_share(build, _count(build, '', POOLER))}. "
    return Told("Pooler", text + "Nothing below it depends on it, so no attention map does.", (paper("1810.04805"),))


def _head(build: Build, where: str) -> Told:
    count = _count(build, where, HEAD)
    which = "the one at each place" if build.kind == "encoder" else "the next one"
    size = _share(build, count) if count else "the table of the token embeddings, used a second time as a matrix"
    text = f"Scores each of {build.vocabulary:,} tokens as {which}: {size}."
    return Told(head_title(build.architecture), text, (paper(TRANSFORMER, "section 3.4"),))


def _top(build: Build, at: int) -> Told:
    top = build.tops[at]
    size = f"{top.count:,} parameters of its own" if top.count else "no parameters of its own"
    shared = ", besides the table of the token embeddings, used a second time as a matrix" if top.tied else ""
    text = f"The checkpoint has this head ({top.class_name}) too: {size}{shared}. The attention does not depend on it."
    return Told(head_title(top.class_name), text, (paper("1608.05859"),) if top.tied else ())
