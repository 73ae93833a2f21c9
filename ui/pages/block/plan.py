"""A model's architecture as a drawing of its parts, with the shapes of one text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inference.questions.anatomy import (
    HEAD,
    OUTER_NORMS,
    POOLER,
    POSITIONS,
    PROJECTION,
    SEGMENTS,
    TOKENS,
    Build,
    FeedForward,
    Part,
    Stack,
)
from viz.components.block.shapes import Box, Step, Tower

ADDED = (TOKENS, POSITIONS, SEGMENTS)
TITLES = {TOKENS: "Tokens", POSITIONS: "Positions", SEGMENTS: "Segments"}
# What a class of the library is for, by the end of its name.
HEADS = {
    "ForMaskedLM": "Masked-word head",
    "ForPreTraining": "Pre-training heads",
    "ForNextSentencePrediction": "Next-sentence head",
    "ForCausalLM": "Next-word head",
    "LMHeadModel": "Next-word head",
    "ForConditionalGeneration": "Next-word head",
    "ForSequenceClassification": "Head for whole texts",
    "ForTokenClassification": "Head for single tokens",
    "ForQuestionAnswering": "Head for answers",
}


def towers(build: Build, lengths: dict[str, int]) -> list[Tower]:
    """The encoder, the decoder, or both, for texts of these lengths by part."""
    return [_tower(build, stack, lengths) for stack in build.stacks]


def head_title(class_name: str) -> str:
    """A head's name on the drawing."""
    return next((title for end, title in HEADS.items() if class_name.endswith(end)), "Head")


def activation(forward: FeedForward) -> str:
    """The activation's name: what it computes, else what the configuration calls it."""
    name = forward.activation.name or forward.activation.stated
    if forward.gated and name:
        gated = {"SiLU": "SwiGLU", "silu": "SwiGLU", "ReLU": "ReGLU"}.get(name, "GeGLU" if "GELU" in name else "")
        return f"gated {name}" + (f" ({gated})" if gated else "")
    return name


def amount(number: int, what: str) -> str:
    """A number with its noun.

    >>> amount(1, "token"), amount(1200, "token")
    ('1 token', '1,200 tokens')
    """
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def find(build: Build, where: str, name: str) -> Part | None:
    """A part of one side of the model, or of both where these share it."""
    named = [part for part in build.parts if part.name == name]
    return next((part for part in named if part.where == where), next((p for p in named if not p.where), None))


def table_width(build: Build) -> int:
    """Numbers that the token embeddings have for each token; a projection may make more of them."""
    part = find(build, "", TOKENS) or find(build, build.stacks[0].part, TOKENS)
    return part.tensors[0].shape[1] if part else build.width


def _tower(build: Build, stack: Stack, lengths: dict[str, int]) -> Tower:
    tokens = lengths[stack.part]
    return Tower(
        name=f"{stack.part.capitalize()}",
        reads=amount(tokens, "token"),
        summed=tuple(_table(build, stack, name) for name in stack.before.parts if name in _summed(build)),
        before=tuple(
            _rim(build, stack, name, "before") for name in stack.before.parts if name in (OUTER_NORMS, PROJECTION)
        ),
        repeats=f"{stack.layers} ×" if stack.own > 1 or stack.layers == 1 else f"{stack.layers} × the same layer",
        steps=tuple(_steps(build, stack, lengths)),
        leaves=stack.flow.leaves,
        after=tuple(_rows(build, stack)),
        shape=f"{tokens} × {build.width:,}",
        heads=stack is build.stacks[-1] and (bool(build.tops) or bool({HEAD, POOLER} & set(stack.after.parts))),
    )


def _summed(build: Build) -> tuple[str, ...]:
    """Which tables are added up; a rotary model may keep a table of angles, which is not."""
    placed = "learned" in build.positions or "sinusoidal" in build.positions
    return ADDED if placed else (TOKENS, SEGMENTS)


def _table(build: Build, stack: Stack, name: str) -> Box:
    part = find(build, stack.part if len(build.stacks) > 1 else "", name)
    note = " × ".join(f"{size:,}" for size in part.tensors[0].shape) if part else "by formula"
    return Box(f"{stack.part}.{name}", "embedding", TITLES[name], (note,))


def _rim(build: Build, stack: Stack, name: str, where: str) -> Box:
    if name == PROJECTION:
        part = find(build, stack.part if len(build.stacks) > 1 else "", name)
        rows, columns = part.tensors[0].shape[:2] if part else (0, 0)
        return Box(f"{stack.part}.{name}", "embedding", "Projection", (f"{columns:,} → {rows:,}",))
    rim = stack.before if where == "before" else stack.after
    return Box(f"{stack.part}.norm {where}", "norm", rim.norm or "Norm")


def _rows(build: Build, stack: Stack) -> Iterator[tuple[Box, ...]]:
    """The last norm, then all that reads its vectors side by side."""
    if OUTER_NORMS in stack.after.parts:
        yield (_rim(build, stack, OUTER_NORMS, "after"),)
    heads = [Box(f"{stack.part}.{POOLER}", "head", "Pooler")] if POOLER in stack.after.parts else []
    if HEAD in stack.after.parts:
        title = head_title(build.architecture)
        heads.append(Box(f"{stack.part}.{HEAD}", "head", title, (f"{build.width:,} → {build.vocabulary:,}",)))
    if stack is build.stacks[-1]:
        for at, top in enumerate(build.tops):
            note = amount(top.count, "parameter") if top.count else "the token table again"
            heads.append(Box(f"top {at}", "head", head_title(top.class_name), (note,)))
    if heads:
        yield tuple(heads[:3])


def _steps(build: Build, stack: Stack, lengths: dict[str, int]) -> Iterator[Step]:
    for at, step in enumerate(stack.flow.steps):
        name = f"{stack.part}.{at}"
        if step.kind == "add":
            box = Box(name, "add", "Add")
        elif step.kind == "norm":
            box = Box(name, "norm", stack.norm or "Norm")
        elif step.kind == "attention":
            title = "Masked self-attention" if stack.causal else "Self-attention"
            box = Box(name, "attention", title, tuple(_attention(build, stack, lengths[stack.part])))
        elif step.kind == "cross-attention":
            box = Box(name, "cross-attention", "Cross-attention", tuple(_cross(stack, lengths)))
        elif step.kind == "feed-forward" and stack.feed_forward is not None:
            box = Box(name, "feed-forward", "Feed-forward", tuple(_forward(stack.feed_forward)))
        else:
            box = Box(name, "other", step.kind.capitalize())
        yield Step(box, step.sources)


def _attention(build: Build, stack: Stack, tokens: int) -> Iterator[str]:
    sizes = stack.attention
    yield f"{amount(sizes.heads, 'head')}, d_k = {sizes.width}"
    if sizes.kv_heads < sizes.heads:
        yield f"{amount(sizes.kv_heads, 'head')} of keys and values"
    yield f"{sizes.heads} × {tokens} × {tokens} weights"
    kinds: Sequence[tuple[str, str]] = (
        ("rotary", "q and k turned by position"),
        ("relative", "+ relative positions"),
        ("alibi", "less for each token of distance"),
    )
    yield from (note for kind, note in kinds if kind in build.positions)


def _cross(stack: Stack, lengths: dict[str, int]) -> Iterator[str]:
    if stack.cross is not None:
        yield f"{amount(stack.cross.heads, 'head')}, d_k = {stack.cross.width}"
        yield f"{stack.cross.heads} × {lengths['decoder']} × {lengths['encoder']} weights"


def _forward(forward: FeedForward) -> Iterator[str]:
    yield f"{forward.inputs:,} → {forward.hidden:,} → {forward.inputs:,}"
    if activation(forward):
        yield activation(forward)
    if forward.experts > 1:
        yield f"{forward.experts_used} of {forward.experts} experts a token"
