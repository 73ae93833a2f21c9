"""The heads that a local model seems to have, by its files alone: for lists of models, where none is built."""

from __future__ import annotations

from collections.abc import Collection

from inference.task_heads import CAUSAL, MASKED, NEXT_SENTENCE, TRAINED_AS, WRITES

# How the tensors of these heads are called. What decides is ``lacking`` in inference/load/head_weights.py.
_MARKS = {
    MASKED: (
        "cls.predictions.",
        "lm_head.",
        "vocab_transform.",
        "generator_predictions.",
        "predictions.",
        "lm_predictions.",
        "head.dense.",
        "pred_layer.",
        "mlm_head.",
    ),
    NEXT_SENTENCE: ("cls.seq_relationship.", "sop_classifier."),
}


def declared_heads(names: Collection[str], kind: str, architecture: str = "") -> tuple[str, ...]:
    """The heads that a model's tensors look like; for lists of models, where nothing can be built to compare.

    ``architecture`` is the class that it was trained as: two heads for labels have tensors of the same names.

    >>> declared_heads(["bert.pooler.dense.weight", "cls.predictions.bias"], "encoder")
    ('masked',)
    >>> declared_heads(["bert.pooler.dense.weight", "classifier.bias"], "encoder", "BertForSequenceClassification")
    ('label',)
    """
    labels = tuple(head for head, ending in TRAINED_AS.items() if architecture.endswith(ending))
    if labels:
        return () if kind == "encoder-decoder" else labels
    if kind in ("decoder", "encoder-decoder"):
        return (CAUSAL,) if kind == "decoder" else (WRITES,)
    if kind != "encoder":
        return ()
    return tuple(head for head, marks in _MARKS.items() if any(name.startswith(marks) for name in names))
