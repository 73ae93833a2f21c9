"""Layout of a model's architecture as boxes, with the names and the options of its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from i18n import _, gettext_lazy, ngettext, translate
from inference.tasks.anatomy import (
    HEAD,
    INNER,
    INTO,
    ORDER,
    OUT,
    OUTER_NORMS,
    POOLER,
    POSITIONS,
    PROJECTION,
    RELATIVE,
    REST,
    SEGMENTS,
    TOKENS,
    Build,
    FeedForward,
    ParameterGroup,
    Stack,
    crossing,
)
from viz.components.block.block import LayerBox, LayerTower, PartBox
from viz.options import option

FOLDS = {
    "parameters": gettext_lazy("Parameters by part"),
    "kinds": gettext_lazy("Encoder or decoder"),
    "activation": gettext_lazy("Activation function"),
    "cost": gettext_lazy("Cost of n²"),
}


@dataclass(frozen=True)
class BlockOptions:
    """Options of the view Block.

    ``piece`` is the id of the part whose explanation is shown; "" selects the first self-attention.

    >>> BlockOptions(fold="kinds,cost").open_sections
    ('kinds', 'cost')
    """

    piece: str = ""
    # Open sections: names of FOLDS in their order, separated by commas.
    fold: str = option(
        "", choices=tuple(",".join(some) for many in range(len(FOLDS) + 1) for some in combinations(FOLDS, many))
    )

    @property
    def open_sections(self) -> tuple[str, ...]:
        """Return the names of the open sections, in their order on the page."""
        return tuple(name for name in FOLDS if name in self.fold.split(","))


SIDES = {"encoder": gettext_lazy("encoder"), "decoder": gettext_lazy("decoder")}
BRIEF = {"encoder": gettext_lazy("enc."), "decoder": gettext_lazy("dec.")}
TITLES = {"encoder": gettext_lazy("Encoder"), "decoder": gettext_lazy("Decoder")}
PARTS: dict[str, str] = {name: name for name in ORDER}  # translated messages by their English text
SHORT: dict[str, str] = {  # short names for the labels of bars
    TOKENS: gettext_lazy("tokens"),
    POSITIONS: gettext_lazy("positions"),
    SEGMENTS: gettext_lazy("segments"),
    PROJECTION: gettext_lazy("projection"),
    RELATIVE: gettext_lazy("rel. positions"),
    INTO: "W_Q, W_K, W_V",
    OUT: "W_O",
    INNER: gettext_lazy("q and k norms"),
    REST: gettext_lazy("attention, rest"),
    crossing(INTO): "× W_Q, W_K, W_V",
    crossing(OUT): "× W_O",
    OUTER_NORMS: gettext_lazy("outer norms"),
}
PLACEMENTS = {
    "post": gettext_lazy("post-norm"),
    "pre": gettext_lazy("pre-norm"),
    "both": gettext_lazy("norms around each part"),
    "branch": gettext_lazy("norms in several places"),
    "mixed": gettext_lazy("norms in several places"),
    "none": gettext_lazy("no layer norm"),
}
COUNTED: dict[str, Callable[[int], str]] = {
    "token": lambda n: ngettext("{n:,} token", "{n:,} tokens", n, n=n),
    "head": lambda n: ngettext("{n:,} head", "{n:,} heads", n, n=n),
    "layer": lambda n: ngettext("{n:,} layer", "{n:,} layers", n, n=n),
}


def amount(number: int, what: str) -> str:
    """Return a number with its noun in singular or plural; ``what`` is a key of COUNTED, like "token".

    >>> amount(1, "token"), amount(1200, "token")
    ('1 token', '1,200 tokens')
    """
    return COUNTED[what](number)


ADDED = (TOKENS, POSITIONS, SEGMENTS)
# Titles of heads, by the suffix of the transformers class name.
HEADS = {
    "ForMaskedLM": gettext_lazy("Masked-word head"),
    "ForPreTraining": gettext_lazy("Pre-training heads"),
    "ForNextSentencePrediction": gettext_lazy("Next-sentence head"),
    "ForCausalLM": gettext_lazy("Next-word head"),
    "LMHeadModel": gettext_lazy("Next-word head"),
    "ForConditionalGeneration": gettext_lazy("Next-word head"),
    "ForSequenceClassification": gettext_lazy("Text classifier"),
    "ForTokenClassification": gettext_lazy("Token classifier"),
    "ForQuestionAnswering": gettext_lazy("Question-answering head"),
}


def towers(build: Build, lengths: dict[str, int]) -> list[LayerTower]:
    """Return a diagram for each stack; ``lengths`` are the numbers of tokens of "encoder" and "decoder"."""
    return [_tower(build, stack, lengths) for stack in build.stacks]


def head_title(class_name: str) -> str:
    """Return the title of a task head, given its class name."""
    return next((translate(title) for end, title in HEADS.items() if class_name.endswith(end)), _("Task head"))


def activation(forward: FeedForward) -> str:
    """Return the name of the activation function; if it is not recognised, its name in the configuration.

    For a gated activation, the result also has its usual name: "gated SiLU (SwiGLU)".
    """
    name = forward.activation.name or forward.activation.stated
    if forward.gated and name:
        gated = {"SiLU": "SwiGLU", "silu": "SwiGLU", "ReLU": "ReGLU"}.get(name, "GeGLU" if "GELU" in name else "")
        return _("gated {name}", name=name) + (f" ({gated})" if gated else "")
    return name


def find(build: Build, where: str, name: str) -> ParameterGroup | None:
    """Return the parameters ``name`` of the stack ``where``, else those shared by both stacks, else None."""
    named = [part for part in build.parts if part.name == name]
    return next((part for part in named if part.where == where), next((p for p in named if not p.where), None))


def table_width(build: Build) -> int:
    """Return the width of the token embeddings, before any projection."""
    part = find(build, "", TOKENS) or find(build, build.stacks[0].part, TOKENS)
    return part.tensors[0].shape[1] if part else build.width


def _tower(build: Build, stack: Stack, lengths: dict[str, int]) -> LayerTower:
    tokens = lengths[stack.part]
    return LayerTower(
        name=translate(TITLES[stack.part]),
        reads=amount(tokens, "token"),
        summed=tuple(_table(build, stack, name) for name in stack.before.parts if name in _summed_tables(build)),
        before=tuple(
            _rim(build, stack, name, "before") for name in stack.before.parts if name in (OUTER_NORMS, PROJECTION)
        ),
        repeats=f"{stack.layers} ×",
        steps=tuple(_steps(build, stack, lengths)),
        leaves=stack.flow.leaves,
        after=tuple(_rows(build, stack)),
        shape=f"{tokens} × {build.width:,}",
        heads=stack is build.stacks[-1] and (bool(build.tops) or bool({HEAD, POOLER} & set(stack.after.parts))),
    )


def _summed_tables(build: Build) -> tuple[str, ...]:
    """Return the embedding tables that are summed; the angles of a rotary model are not."""
    placed = "learned" in build.positions or "sinusoidal" in build.positions
    return ADDED if placed else (TOKENS, SEGMENTS)


def _table(build: Build, stack: Stack, name: str) -> PartBox:
    part = find(build, stack.part if len(build.stacks) > 1 else "", name)
    note = " × ".join(f"{size:,}" for size in part.tensors[0].shape) if part else "sin, cos"
    return PartBox(f"{stack.part}.{name}", "embedding", translate(SHORT[name]).capitalize(), (note,))


def _rim(build: Build, stack: Stack, name: str, where: str) -> PartBox:
    if name == PROJECTION:
        part = find(build, stack.part if len(build.stacks) > 1 else "", name)
        rows, columns = part.tensors[0].shape[:2] if part else (0, 0)
        return PartBox(f"{stack.part}.{name}", "embedding", _("Projection"), (f"{columns:,} → {rows:,}",))
    rim = stack.before if where == "before" else stack.after
    return PartBox(f"{stack.part}.norm {where}", "norm", rim.norm or "Norm")


def _rows(build: Build, stack: Stack) -> Iterator[tuple[PartBox, ...]]:
    """Yield the final norm, then a row of at most three heads that read its output."""
    if OUTER_NORMS in stack.after.parts:
        yield (_rim(build, stack, OUTER_NORMS, "after"),)
    heads = [PartBox(f"{stack.part}.{POOLER}", "head", _("Pooler"))] if POOLER in stack.after.parts else []
    if HEAD in stack.after.parts:
        title = head_title(build.architecture)
        heads.append(PartBox(f"{stack.part}.{HEAD}", "head", title, (f"{build.width:,} → {build.vocabulary:,}",)))
    if stack is build.stacks[-1]:
        for at, top in enumerate(build.tops):
            note = _("{n} parameters", n=f"{top.count:,}") if top.count else _("the token table again")
            heads.append(PartBox(f"top {at}", "head", head_title(top.class_name), (note,)))
    if heads:
        yield tuple(heads[:3])


def _steps(build: Build, stack: Stack, lengths: dict[str, int]) -> Iterator[LayerBox]:
    for at, step in enumerate(stack.flow.steps):
        name = f"{stack.part}.{at}"
        if step.kind == "add":
            box = PartBox(name, "add", _("Addition"))
        elif step.kind == "norm":
            box = PartBox(name, "norm", stack.norm or "Norm")
        elif step.kind == "attention":
            title = _("Masked self-attention") if stack.causal else _("Self-attention")
            box = PartBox(name, "attention", title, tuple(_attention(build, stack, lengths[stack.part])))
        elif step.kind == "cross-attention":
            box = PartBox(name, "cross-attention", _("Cross-attention"), tuple(_cross_notes(stack, lengths)))
        elif step.kind == "feed-forward" and stack.feed_forward is not None:
            box = PartBox(name, "feed-forward", _("Feed-forward"), tuple(_forward(stack.feed_forward)))
        else:
            box = PartBox(name, "other", step.kind.capitalize())
        yield LayerBox(box, step.sources)


def _attention(build: Build, stack: Stack, tokens: int) -> Iterator[str]:
    sizes = stack.attention
    yield _("{heads}, d_k = {width}", heads=amount(sizes.heads, "head"), width=sizes.width)
    if sizes.kv_heads < sizes.heads:
        yield f"h_kv = {sizes.kv_heads}"
    yield f"{sizes.heads} × {tokens} × {tokens}"
    kinds: Sequence[tuple[str, str]] = (("rotary", "RoPE"), ("relative", _("relative positions")), ("alibi", "ALiBi"))
    yield from (note for kind, note in kinds if kind in build.positions)


def _cross_notes(stack: Stack, lengths: dict[str, int]) -> Iterator[str]:
    if stack.cross is not None:
        yield _("{heads}, d_k = {width}", heads=amount(stack.cross.heads, "head"), width=stack.cross.width)
        yield f"{stack.cross.heads} × {lengths['decoder']} × {lengths['encoder']}"


def _forward(forward: FeedForward) -> Iterator[str]:
    yield f"{forward.inputs:,} → {forward.hidden:,} → {forward.inputs:,}"
    if activation(forward):
        yield activation(forward)
    if forward.experts > 1:
        yield _("Each token uses {used} of {experts} experts.", used=forward.experts_used, experts=forward.experts)
