"""Checks of lessons on the parts of a model: its sizes, its parameters, and the labels of data sets.

A check is a function that computes the correct answer to a question of a lesson; a lesson file names it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from i18n import gettext_lazy
from inference.catalogue.listing import bert_base
from inference.tasks.anatomy import FORWARD, OUTER_NORMS, POSITIONS, SEGMENTS, TOKENS, Anatomy, Build
from inference.tasks.whole_pass import WholePass
from lessons.answer_key import CheckContext, CheckedAnswer, Unanswerable
from probing.labelled import ready_sets
from probing.labelled.labeled_texts import LabeledDataset, TaggedText

PARTS = {"embeddings": TOKENS, "attention": "attention", "feed-forward": FORWARD}
BELOW = (TOKENS, POSITIONS, SEGMENTS, OUTER_NORMS)  # parts of a BERT-like encoder that run before its layers


def size(asked: CheckContext, *, of: str) -> CheckedAnswer:
    """Return the size ``of`` of the model.

    ``of`` is "layers", "heads" (per layer), "width", "vocabulary", or "millions" (of parameters). The number of layers
    and of heads per layer are those of the stack that the input names, or of the first stack.
    """
    build, part = _build(asked), asked.reading.part
    stack = (build.stack(part) if part else None) or build.stacks[0]
    sizes = {
        "layers": stack.layers,
        "heads": stack.attention.heads,
        "width": build.width,
        "vocabulary": build.vocabulary,
        "millions": build.total / 1e6,
    }
    return CheckedAnswer(
        _size(sizes, of),
        gettext_lazy(
            "{layers} layers of {heads} heads, vectors of {width} numbers, {vocabulary:,} token embeddings, "
            "{millions:.1f} million weights.",
            **sizes,
        ),
        tolerance=0.5 if of == "millions" else 0,
    )


def bert_base_size(_asked: CheckContext, *, of: str) -> CheckedAnswer:
    """Return a size of BERT-base; ``of`` is "layers", "heads" (per layer) or "width"."""
    base = bert_base()
    sizes = {"layers": base.layers, "heads": base.heads, "width": base.width}
    return CheckedAnswer(
        _size(sizes, of),
        gettext_lazy(
            "BERT-base has {layers} layers of {heads} heads and vectors of {width} numbers (transformers).",
            **sizes,
        ),
        tolerance=0,
    )


def parameter_share(asked: CheckContext, *, of: str) -> CheckedAnswer:
    """Return the percentage of a model's parameters that belong to its part ``of`` (a key of PARTS)."""
    if of not in PARTS:
        raise Unanswerable(gettext_lazy("“{name}” is not one of {known}.", name=of, known=_names(PARTS)))
    build = _build(asked)
    counts = {kind: sum(part.count for part in build.parts if name in part.name) for kind, name in PARTS.items()}
    shares = {f"share_{kind.replace('-', '_')}": count / build.total for kind, count in counts.items()}
    return CheckedAnswer(
        100 * counts[of] / build.total,
        gettext_lazy(
            "Of {total:,} weights, {share_embeddings:.0%} are token embeddings, "
            "{share_feed_forward:.0%} feed-forward and {share_attention:.0%} attention.",
            total=build.total,
            **shares,
        ),
        tolerance=5,
        is_percentage=True,
    )


def numpy_stages(asked: CheckContext) -> CheckedAnswer:
    """Return the number of steps of a forward pass that NumPy recomputes, as the answer to a lesson's question.

    A step is a call of a torch function. The answer also has the largest difference between NumPy and torch.
    """
    one, trace = asked.reading, asked.trace()
    written = () if trace.target is None else trace.target.ids
    passed = asked.models.inspect(
        WholePass(model=one.model, revision=one.revision or None, text=one.text, target=written, cut=one.cut)
    )
    return CheckedAnswer(
        float(len(passed.stages)),
        gettext_lazy(
            "NumPy recomputes all {stages} stages; the largest difference is {away:.0e}.",
            stages=len(passed.stages),
            away=passed.largest.away,
        ),
        tolerance=0,
    )


def head_parameters(asked: CheckContext, *, data: str) -> CheckedAnswer:
    """Return the number of parameters of a new classification head for the classes of a bundled data set."""
    classes, build = len(_load(data).labels), _build(asked)
    new = classes * (build.width + 1)
    return CheckedAnswer(
        float(new),
        gettext_lazy(
            "{classes} classes × {width} weights and {classes} biases: {new:,} parameters, {share:.3%} of {total:,}.",
            classes=classes,
            width=build.width,
            new=new,
            share=new / build.total,
            total=build.total,
        ),
        tolerance=0,
    )


def trainable_share(asked: CheckContext, *, frozen: int) -> CheckedAnswer:
    """Return the percentage of a model's parameters that are trained if embeddings and ``frozen`` layers are not.

    The frozen layers are the lowest.
    """
    build = _build(asked)
    layers = build.stacks[0].layers
    if not 0 <= frozen <= layers:
        raise Unanswerable(gettext_lazy("The model has {layers} layers to freeze.", layers=layers))
    below = sum(part.count for part in build.parts if not part.layers and part.name in BELOW)
    each = sum(part.count for part in build.parts if part.layers) // layers
    train = build.total - below - frozen * each
    return CheckedAnswer(
        100 * train / build.total,
        gettext_lazy(
            "The embeddings have {below:,} weights and each layer {each:,}; {train:,} of {total:,} "
            "weights are trained ({share:.0%}).",
            below=below,
            each=each,
            train=train,
            total=build.total,
            share=train / build.total,
        ),
        tolerance=2,
        is_percentage=True,
    )


def commonest_label(_asked: CheckContext, *, data: str) -> CheckedAnswer:
    """Compute the accuracy, in percent, of always predicting the most frequent label of a bundled data set.

    It is measured on the test rows; in a set of tagged words, each word counts.
    """
    loaded = _load(data)
    counts = Counter(
        label for row in loaded.test for label in (row.tags if isinstance(row, TaggedText) else (row.label,))
    )
    label, count = counts.most_common(1)[0]
    return CheckedAnswer(
        100 * count / counts.total(),
        gettext_lazy(
            "The most frequent of {labels} labels, “{label}”, is correct for {share:.1%} of {count:,} test cases.",
            labels=len(counts),
            label=label,
            share=count / counts.total(),
            count=counts.total(),
        ),
        tolerance=2,
        is_percentage=True,
    )


def _build(asked: CheckContext) -> Build:
    return asked.models.inspect(Anatomy(model=asked.reading.model, revision=asked.reading.revision or None))


def _size(sizes: Mapping[str, float], of: str) -> float:
    if of not in sizes:
        raise Unanswerable(gettext_lazy("“{name}” is not one of {known}.", name=of, known=_names(sizes)))
    return float(sizes[of])


def _load(data: str) -> LabeledDataset:
    if data not in ready_sets.BY_ID:
        raise Unanswerable(gettext_lazy("“{name}” is not one of {known}.", name=data, known=_names(ready_sets.BY_ID)))
    return ready_sets.load(data)


def _names(known: Iterable[str]) -> str:
    return ", ".join(known)
