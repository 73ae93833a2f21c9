"""Predictions of a fine-tuned model, their scores, and a TF-IDF baseline."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support
from sklearn.pipeline import Pipeline, make_pipeline
from torch import Tensor
from torch.nn import functional

from probing.labelled.evaluation import score
from probing.labelled.labeled_texts import OUTSIDE, LabeledText
from training.finetune.data import GOES_ON, NOTHING, UNREAD, Encoded, FinetuneBatch, batch
from training.loop import Precision
from training.translation.data import Texts

AT_ONCE = 64  # texts in a forward pass
TOKENS_AT_ONCE = 1024  # padded tokens in a forward pass; larger batches are not faster and need more memory

Told = tuple[tuple[str, ...], tuple[float | None, ...]]  # a text's tags, and the probability of each


@dataclass(frozen=True)
class LabelShares:
    """The predicted probabilities of all labels for every text, and the mean loss in nats.

    ``shares`` has an array (row, label) for each text, whose rows sum to 1. A text with a class has a single row. A
    tagged text has a row for each word that has its own token.
    """

    shares: list[NDArray[np.float32]]
    loss: float


def logits(model: Any, read: FinetuneBatch, device: torch.device) -> Tensor:
    """Compute the logits of a batch by a forward pass.

    The shape is (row, label) for classes and (row, position, label) for tags. For answers it is (row, [start, end],
    position), with -inf at padding.
    """
    given = {"input_ids": read.pieces, "attention_mask": read.real, "token_type_ids": read.kinds}
    output = model(**{name: _to_device(array, device) for name, array in given.items() if array is not None})
    if "start_logits" not in output:
        found: Tensor = output.logits
        return found
    both = torch.stack([output.start_logits, output.end_logits], dim=1)
    return both.masked_fill(_to_device(read.real, device)[:, None] == 0, -torch.inf)


def loss(found: Tensor, read: FinetuneBatch) -> Tensor:
    """Compute the mean cross-entropy of a batch in nats.

    ``found`` are the logits. The mean is over texts (classes), words (tags), or first and last tokens (answers).
    """
    labels = _to_device(read.labels, found.device)
    total = functional.cross_entropy(
        found.float().flatten(0, -2), labels.flatten(), ignore_index=NOTHING, reduction="sum"
    )
    return total / max(1, read.label_count)


@torch.no_grad()
def answers(model: Any, rows: Encoded, padding: int, where: Precision) -> LabelShares:
    """Return the probabilities of all labels for every text, as a fine-tuned model predicts them.

    Dropout is off; afterwards the model returns to its earlier mode (training or evaluation).
    """
    learning = model.training
    model.eval()
    shares: list[NDArray[np.float32]] = [np.zeros((0, 0), np.float32)] * len(rows)
    losses, asked = 0.0, 0
    for some in batch_by_length(rows.pieces.lengths):
        read = batch(rows, some, padding)
        with where.autocast():
            found = logits(model, read, where.device)
        losses += float(loss(found, read)) * read.label_count
        asked += read.label_count
        told = found.float().softmax(-1).cpu().numpy()
        for at, row in enumerate(some):
            shares[row] = told[at][None] if rows.places is None else told[at][_drop_padding(rows.places[row])]
    model.train(learning)
    return LabelShares(shares, losses / max(1, asked))


def batch_by_length(lengths: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Yield the indices of the texts in batches of similar length, short texts first.

    A batch has at most AT_ONCE texts and, with padding, at most TOKENS_AT_ONCE tokens; a longer text is a batch by
    itself.

    >>> [some.tolist() for some in batch_by_length(np.array([600, 3, 700, 500]))]
    [[1, 3], [0], [2]]
    """
    order = np.argsort(lengths, kind="stable")
    first = 0
    while first < len(order):
        longest = lengths[order[first : first + AT_ONCE]]  # ascending, so each is the maximum of those up to it
        many = max(1, int((longest * np.arange(1, len(longest) + 1) <= TOKENS_AT_ONCE).sum()))
        yield order[first : first + many]
        first += many


def classes(said: LabelShares, labels: Sequence[str]) -> list[str]:
    """Return the most probable class of each text."""
    return [labels[int(shares[0].argmax())] for shares in said.shares]


def tags(said: LabelShares, places: Texts, labels: Sequence[str]) -> list[Told]:
    """Return the most probable tag of every word of each text, with its probability (0 to 1).

    ``places`` is that of ``Encoded``. A word that begins inside a token of the preceding word continues the preceding
    word's tag. A word without tokens is inside a span if the words around it are, and otherwise "O". Its probability is
    None.
    """
    return [_tags(shares, places[at], labels) for at, shares in enumerate(said.shares)]


def _tags(shares: NDArray[np.float32], places: NDArray[np.int32], labels: Sequence[str]) -> Told:
    """Return the most probable tags of a text's words, with their probabilities.

    >>> shares = np.array([[0.25, 0.75], [1.0, 0.0]], np.float32)
    >>> _tags(shares, np.array([1, GOES_ON, 2, -2]), ("O", "B-PER"))
    (('B-PER', 'I-PER', 'O', 'O'), (0.75, 0.75, 1.0, None))
    >>> shares = np.array([[0.25, 0.75, 0.0], [0.0, 0.0, 1.0]], np.float32)
    >>> _tags(shares, np.array([1, -2, 2]), ("O", "B-PER", "I-PER"))[0]
    ('B-PER', 'I-PER', 'I-PER')
    """
    own = iter(zip(shares.argmax(axis=-1), shares.max(axis=-1, initial=0.0), strict=True))
    said: list[str] = []
    sure: list[float | None] = []
    for place in places:
        if place >= 0:
            chosen, share = next(own)
            said.append(labels[int(chosen)])
            sure.append(float(share))
        elif place == GOES_ON and said and said[-1] != OUTSIDE:
            said.append("I-" + said[-1][2:])
            sure.append(sure[-1])
        else:
            said.append(OUTSIDE)
            sure.append(None)
    _bridge(said, places)
    return tuple(said), tuple(sure)


def _bridge(said: list[str], places: NDArray[np.int32]) -> None:
    """Give words without tokens the tag of a span that continues across them, in place."""
    for at in range(len(said) - 2, 0, -1):
        after = said[at + 1]
        if places[at] == UNREAD and after.startswith("I-"):
            before = next((said[left] for left in range(at - 1, -1, -1) if places[left] != UNREAD), OUTSIDE)
            if before != OUTSIDE and before[2:] == after[2:]:
                said[at] = after


def _drop_padding(places: NDArray[np.int32]) -> NDArray[np.int32]:
    return places[places >= 0]


def _to_device(array: NDArray[np.int64], device: torch.device) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(array)).to(device)


Scores = dict[str, Any]  # JSON-compatible values


def score_texts(true: Sequence[str], said: Sequence[str], labels: Sequence[str]) -> Scores:
    """Score predicted classes against the true ones: accuracy, macro F1, scores per class, confusion matrix.

    Macro F1 averages over the classes that occur among the true or predicted labels. The matrix has the axes (true,
    predicted).

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
    """Score predicted word tags against the true ones, overall and for each entity type.

    Precision, recall and F1 count spans: a span is right only if its type and both ends match. Accuracy and the
    confusion matrix (true, predicted) count words; the classes of the matrix are "O" and the entity types.

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


# Letters of scripts without spaces between words: Thai to Khmer, kana, Han.
UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
LETTER = re.compile(r"\w")
SAMPLE = 1_000  # texts from which the script is detected
MOST = 200_000  # most features, chosen by frequency


def fit_baseline(rows: Sequence[LabeledText]) -> Pipeline:
    """Fit a baseline to labelled texts: logistic regression on TF-IDF features.

    Its method ``predict`` returns the classes of a list of texts.

    >>> rows = [LabeledText("good film", "+"), LabeledText("bad film", "-")] * 3
    >>> fit_baseline(rows).predict(["a good one"]).tolist()
    ['+']
    """
    found = make_pipeline(features([row.text for row in rows[:SAMPLE]]), LogisticRegression(C=10.0, max_iter=1_000))
    found.fit([row.text for row in rows], [row.label for row in rows])
    return found


def features(texts: Sequence[str]) -> Any:
    """Return a TF-IDF vectoriser that suits the script of the texts.

    It counts single words and pairs of words. If at least half of the letters belong to scripts without spaces, such as
    Chinese, it counts n-grams of 1 to 3 characters instead.

    >>> features(["一只猫"]).analyzer, features(["a cat"]).analyzer
    ('char', 'word')
    """
    letters = sum(len(LETTER.findall(text)) for text in texts)
    characters = 2 * sum(len(UNSPACED.findall(text)) for text in texts) >= letters
    by: dict[str, Any] = (
        {"analyzer": "char", "ngram_range": (1, 3)}
        if characters
        else {"analyzer": "word", "ngram_range": (1, 2), "token_pattern": r"(?u)\w+|[^\w\s]"}
    )
    return TfidfVectorizer(sublinear_tf=True, max_features=MOST, **by)
