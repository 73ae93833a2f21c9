"""How well labels were told: per class or kind, all together, and what was taken for what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

from probing.labelled.labeled_texts import OUTSIDE
from probing.labelled.spans import score

Scores = dict[str, Any]  # plain values, as a JSON file holds them


def score_texts(true: Sequence[str], said: Sequence[str], labels: Sequence[str]) -> Scores:
    """Of texts: accuracy, macro F1 over the classes that occur, each class, and the confusion matrix (true, said).

    >>> found = score_texts(["a", "a", "b"], ["a", "b", "b"], ["a", "b", "c"])
    >>> found["confusion"], round(found["accuracy"], 3), round(found["macro_f1"], 3)
    ([[1, 1, 0], [0, 1, 0], [0, 0, 0]], 0.667, 0.667)
    >>> found["classes"]["b"]
    {'precision': 0.5, 'recall': 1.0, 'f1': 0.6666666666666666, 'support': 1}
    """
    columns = precision_recall_fscore_support(true, said, labels=list(labels), zero_division=0.0)
    each = {
        label: {"precision": float(p), "recall": float(r), "f1": float(f), "support": int(n)}
        for label, p, r, f, n in zip(labels, *columns, strict=True)
    }
    occur = {*true, *said}
    return {
        "accuracy": _mean(one == other for one, other in zip(true, said, strict=True)),
        "macro_f1": _mean(scored["f1"] for label, scored in each.items() if label in occur),
        "classes": each,
        "labels": list(labels),
        "confusion": confusion_matrix(true, said, labels=list(labels)).tolist(),
    }


def score_tags(true: Sequence[Sequence[str]], said: Sequence[Sequence[str]]) -> Scores:
    """Of words: spans that match exactly, all kinds together and each, and the confusion of words' kinds (true, said).

    >>> found = score_tags([["B-PER", "I-PER", "O"]], [["B-PER", "O", "O"]])
    >>> found["f1"], found["labels"], found["confusion"]
    (0.0, ['O', 'PER'], [[1, 0], [1, 1]])
    """
    whole, kinds = score(true, said)
    each = {
        kind: {"precision": one.precision, "recall": one.recall, "f1": one.f1, "support": one.true}
        for kind, one in kinds.items()
    }
    names = [OUTSIDE, *kinds]
    words = [[_span_kind(tag) for tags in texts for tag in tags] for texts in (true, said)]
    return {
        "precision": whole.precision,
        "recall": whole.recall,
        "f1": whole.f1,
        "macro_f1": _mean(one["f1"] for one in each.values()),
        "accuracy": _mean(
            one == other for a, b in zip(true, said, strict=True) for one, other in zip(a, b, strict=True)
        ),
        "classes": each,
        "labels": names,
        "confusion": confusion_matrix(*words, labels=names).tolist(),
    }


def _span_kind(tag: str) -> str:
    return tag if tag == OUTSIDE else tag[2:]


def _mean(values: Iterable[float]) -> float:
    listed = [float(value) for value in values]
    return sum(listed) / max(1, len(listed))
