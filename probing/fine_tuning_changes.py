"""What teaching a model a task changed in its heads, as files in a folder: written once, read part by part.

``changes.json`` says what was compared, and is written last; ``bits.npz`` has every sentence's divergences,
``maps.npz`` the maps of a few sentences and ``film.npz`` those of one on the way.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import pi, sqrt, tan
from pathlib import Path
from typing import Any

import numpy as np

from attention.mask import FloatArray
from i18n import serialization
from probing.statistics import LEVEL
from probing.text_pairs import ControlledChange, compare_with_control

TWINS = ("twin", "other twin")
WHO = ("task", *TWINS)
ROWS = ("all", "telling")  # of all pieces; of those that the label is read from
SIDES = ("before", "task", "twin")  # whose maps are kept
AHEAD = sqrt(3) / 2 * tan(pi * (0.5 - LEVEL))  # times the twins' largest difference: 5.5
FACTS, BITS, MAPS, FILM = "changes.json", "bits.npz", "maps.npz", "film.npz"


@dataclass(frozen=True)
class ComparedSentence:
    """A sentence that was compared; ``pieces`` name the rows of its maps where these are kept."""

    text: str
    label: str  # its class, or its words' tags
    pieces: tuple[str, ...] | None = None


@dataclass(frozen=True)
class ChangeFacts:
    """What was compared."""

    start: str  # the model that was taught, by its name
    kind: str  # "classify" or "tag"
    step: int  # whose weights were kept, in the task and in the twins
    telling: str  # the rows that a label is read from, in words
    sentences: tuple[ComparedSentence, ...]

    @property
    def shown_sentences(self) -> tuple[int, ...]:
        """The sentences whose maps are kept."""
        return tuple(at for at, seen in enumerate(self.sentences) if seen.pieces is not None)


@dataclass(frozen=True, eq=False)
class RecordedSnapshots:
    """What was filmed on the way, a frame an evaluation."""

    steps: tuple[int, ...]
    bits: Mapping[str, FloatArray]  # by ROWS, (frame, layer, head): mean over the shown sentences
    maps: FloatArray  # of the first shown sentence, (frame, layer, head, query, key) float16


def write(
    folder: Path,
    facts: ChangeFacts,
    bits: Mapping[tuple[str, str], FloatArray],
    maps: Mapping[tuple[str, int], FloatArray],
    film: Mapping[str, FloatArray] | None,
) -> None:
    """Writes all of it: ``bits`` by who and rows, (sentence, layer, head); ``maps`` by side and sentence."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FACTS).unlink(missing_ok=True)
    save_arrays(folder / BITS, {f"{who}_{rows}": array for (who, rows), array in bits.items()})
    save_arrays(folder / MAPS, {f"{side}_{at}": array.astype(np.float16) for (side, at), array in maps.items()})
    (folder / FILM).unlink(missing_ok=True)
    if film is not None:
        save_arrays(folder / FILM, film)
    said = {**asdict(facts), "telling_of": serialization.message_parts(facts.telling)}
    partial = folder / f"{FACTS}.partial"
    partial.write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    partial.replace(folder / FACTS)


def refuse(folder: Path, why: str) -> None:
    """Says in place of it why nothing can be compared."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FACTS).write_text(
        json.dumps({"refused": why, "of": serialization.message_parts(why)}, ensure_ascii=False) + "\n",
        encoding="utf-8",
    )


def failure_reason(folder: Path) -> str:
    """Why nothing can be compared; "" where it was."""
    said = json.loads((folder / FACTS).read_text(encoding="utf-8"))
    return serialization.restore_message(said.get("refused", ""), said.get("of"))


def is_complete(folder: Path) -> bool:
    """Whether all of it was written, or why there is nothing."""
    return (folder / FACTS).is_file()


def facts(folder: Path) -> ChangeFacts:
    """What was compared."""
    said = json.loads((folder / FACTS).read_text(encoding="utf-8"))
    sentences = tuple(
        ComparedSentence(one["text"], one["label"], None if one["pieces"] is None else tuple(one["pieces"]))
        for one in said.pop("sentences")
    )
    telling = serialization.restore_message(said.pop("telling"), said.pop("telling_of", None))
    return ChangeFacts(**said, telling=telling, sentences=sentences)


def bits(folder: Path, who: str, rows: str) -> FloatArray:
    """How far every head has come in each sentence, (sentence, layer, head) bits; NaN where a sentence has no row."""
    return _array(folder / BITS, f"{who}_{rows}")


def maps(folder: Path, side: str, sentence: int) -> FloatArray:
    """Every head's map of a sentence that is shown, (layer, head, query, key)."""
    return _array(folder / MAPS, f"{side}_{sentence}").astype(np.float32)


def film(folder: Path) -> RecordedSnapshots | None:
    """What was filmed; None where nothing was."""
    if not (folder / FILM).is_file():
        return None
    with np.load(folder / FILM) as opened:
        found = {rows: mean(opened[rows], axis=1) for rows in ROWS}
        return RecordedSnapshots(tuple(int(step) for step in opened["step"]), found, opened["maps"])


def load_by_model(folder: Path, rows: str) -> dict[str, FloatArray]:
    """The same of everyone in WHO, of the sentences that have such rows."""
    found = {who: bits(folder, who, rows) for who in WHO}
    kept = np.isfinite(found["task"]).all(axis=(1, 2))
    return {who: array[kept] for who, array in found.items()}


def compare_drift(task: FloatArray, twin: FloatArray) -> ControlledChange:
    """What all sentences say of each head, numbered layer by layer: the task as the change, the twin as the control.

    From how far both have come in each sentence, (sentence, layer, head). A sentence is a group of two, and whether a
    head goes beyond the twin is asked by swapping them: the sign flips of a paired test, corrected for all heads
    (probing/text_pairs.py). It tells what other sentences would show, and nothing of what another training
    would.

    >>> found = compare_drift(np.full((8, 1, 2), [0.5, 0.1]), np.full((8, 1, 2), [0.1, 0.1]))
    >>> found.more.mean.round(3).tolist(), [found.verdict(head) for head in range(2)]
    ([0.4, 0.0], ['more', 'not clearly more'])
    """
    many, heads = len(task), int(np.prod(task.shape[1:]))
    values = np.concatenate([one.reshape(many, heads) for one in (task, twin)]).astype(np.float64)
    return compare_with_control(values, np.repeat([False, True], many), np.tile(np.arange(many), 2))


def lead_threshold(twins: Sequence[FloatArray]) -> float:
    """Return how far ahead of two twins a head must be, so that luck takes any head there in LEVEL of trainings.

    Twins are (layer, head) in bits; distances are Jensen–Shannon distances, the roots of divergences, a metric
    (doi:10.1109/TIT.2003.813506). All heads of a training may go further together, so two twins have a single
    difference, and their largest in any head is what a third is compared with: the ratio of two normal numbers is a
    Cauchy number, of which LEVEL are beyond AHEAD. It holds for all heads together; `bench/luck_claims.py` draws such
    trainings.
    """
    one, other = (np.sqrt(twin.astype(np.float64)) for twin in twins)
    return AHEAD * float(np.abs(one - other).max())


def mean_lead(task: FloatArray, twins: Sequence[FloatArray]) -> FloatArray:
    """Return by how much further the task has come than its twins on the mean, (layer, head), in the same distances.

    >>> twins = np.full((1, 4), 0.04), np.full((1, 4), 0.09)
    >>> round(lead_threshold(twins) / AHEAD, 2), mean_lead(np.full((1, 4), 0.25), twins).round(2).tolist()
    (0.1, [[0.25, 0.25, 0.25, 0.25]])
    """
    found: FloatArray = np.sqrt(task) - np.mean([np.sqrt(twin) for twin in twins], axis=0)
    return found


def mean(values: FloatArray, axis: int) -> FloatArray:
    """The mean over what there is, NaN where there is nothing."""
    known = np.isfinite(values)
    count = known.sum(axis=axis)
    total = np.where(known, values, 0).sum(axis=axis)
    found: FloatArray = np.where(count > 0, total / np.maximum(count, 1), np.nan).astype(np.float32)
    return found


def save_arrays(file: Path, arrays: Mapping[str, Any]) -> None:
    """Writes arrays by name, all of them or none."""
    partial = file.with_suffix(".partial")
    with partial.open("wb") as stream:
        np.savez_compressed(stream, **arrays)
    partial.replace(file)


def _array(file: Path, name: str) -> FloatArray:
    with np.load(file) as opened:
        found: FloatArray = opened[name]
    return found
