"""Synthetic predictions of a fine-tuned model for its test rows: the two files that the results page reads."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.support.labelledtexts import spaced
from training.finetune.evaluation import score_tags, score_texts

HOSTILE = "<b>shout</b> [l](x) \u202e"  # This string serves as a label and as a text.


def texts(folder: Path, labels: Sequence[str], rows: Sequence[tuple[str, int, Sequence[float]]], **more: Any) -> Path:
    """Write predictions for texts.

    Each row has a text, the index of its class and every class's probability. The predicted class is the most
    probable class.
    """
    said = [int(np.argmax(shares)) for _, _, shares in rows]
    found = score_texts([labels[true] for _, true, _ in rows], [labels[at] for at in said], labels)
    lines = [
        {"text": text, "label": labels[true], "said": labels[at], "shares": list(shares)}
        for (text, true, shares), at in zip(rows, said, strict=True)
    ]
    return _written(folder, "classify", found | more, lines)


def words(folder: Path, rows: Sequence[tuple[str, str, str, Sequence[float | None]]]) -> Path:
    """Write predictions for words: each row has words, true tags, predicted tags (joined by spaces) and
    probabilities.
    """
    split = [(text, tags.split(), said.split(), list(shares)) for text, tags, said, shares in rows]
    found = score_tags([tags for _, tags, _, _ in split], [said for _, _, said, _ in split])
    lines = [
        {"text": text, "words": spaced(text.split()), "tags": tags, "said": said, "shares": shares}
        for text, tags, said, shares in split
    ]
    return _written(folder, "tag", found, lines)


def drawn(folder: Path, classes: int, rows: int, right: float, seed: int = 0) -> Path:
    """Write random predictions of an overconfident classifier; the first label looks like markup."""
    chance = np.random.default_rng(seed)
    labels = [HOSTILE, *(f"class_with_a_long_name_{at}" for at in range(1, classes))]
    made = []
    for at in range(rows):
        true = int(chance.integers(classes))
        said = true if chance.random() < right else int(chance.integers(classes))
        sure = 1 - 0.5 * chance.beta(1, 6)
        shares = np.full(classes, (1 - sure) / max(1, classes - 1))
        shares[said] = sure
        made.append((f"{HOSTILE} number {at} of class {true}", true, shares.round(6).tolist()))
    return texts(folder, labels, made, baseline_accuracy=0.8, baseline_macro_f1=0.79)


def _written(folder: Path, task: str, test: Mapping[str, Any], lines: Sequence[Mapping[str, Any]]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    scores = {
        "task": task,
        "model": "tiny",
        "seed": 3,
        "test": test,
        "dev": {"accuracy": 0.9, "step": 40},
        "rows": {"train": 1200, "dev": 90, "test": len(lines)},
        "steps": 50,
        "finished": True,
        "seconds": 90.0,
    }
    (folder / "evaluation.json").write_text(json.dumps(scores, ensure_ascii=False), encoding="utf-8")
    written = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (folder / "predictions.jsonl").write_text(written, encoding="utf-8")
    return folder
