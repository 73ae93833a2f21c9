"""Files that store how much fine-tuning changed each attention head (Jensen–Shannon divergence, in bits).

``changes.json`` describes the comparison and is written last. ``bits.safetensors`` contains the divergences for every
sentence, ``maps.safetensors`` the attention maps of a few sentences, and ``film.safetensors`` the training snapshots.
Two controls, called twins, were fine-tuned in the same way on shuffled labels (training/finetune/control.py). Earlier
versions wrote NumPy archives (``.npz``), which are still read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import pi, sqrt, tan
from pathlib import Path
from typing import Any

import numpy as np

from attention.codec import decode, encode
from attention.mask import FloatArray
from i18n import lazy
from probing.statistics import LEVEL
from probing.text_pairs import ControlledChange, compare_with_control

TWINS = ("twin", "other twin")
WHO = ("task", *TWINS)
ROWS = ("all", "telling")  # all query rows, or the rows from which the task head reads the label
SIDES = ("before", "task", "twin")  # models with stored attention maps
AHEAD = sqrt(3) / 2 * tan(pi * (0.5 - LEVEL))  # multiple (5.5) of the twins' largest difference, see lead_threshold
FACTS, BITS, MAPS, FILM = "changes.json", "bits.safetensors", "maps.safetensors", "film.safetensors"
EARLIER = ".npz"  # suffix of the files of earlier versions


@dataclass(frozen=True)
class ComparedSentence:
    """A compared sentence; ``pieces`` are its tokens if its maps are stored, else None."""

    text: str
    label: str  # the class, or the tags of the words
    pieces: tuple[str, ...] | None = None


@dataclass(frozen=True)
class ChangeFacts:
    """The metadata of a comparison of a model before and after fine-tuning."""

    start: str  # name of the pretrained model
    kind: str  # "classify" or "tag"
    step: int  # training step of the compared weights, the same for the task and the twins
    telling: str  # description of the rows from which the task head reads the label
    sentences: tuple[ComparedSentence, ...]

    @property
    def shown_sentences(self) -> tuple[int, ...]:
        """Return the indices of the sentences with stored maps."""
        return tuple(at for at, seen in enumerate(self.sentences) if seen.pieces is not None)


@dataclass(frozen=True, eq=False)
class RecordedSnapshots:
    """The attention of a model during its fine-tuning, recorded at each evaluation (a snapshot).

    ``steps`` are the training steps of the snapshots. ``bits`` has the divergence of each head from its pretrained maps
    in bits, (snapshot, layer, head), by the rows over which it is averaged (ROWS). ``maps`` has the maps of the first
    sentence.
    """

    steps: tuple[int, ...]
    bits: Mapping[str, FloatArray]  # by ROWS, (frame, layer, head): mean over the recorded sentences
    maps: FloatArray  # maps of the first sentence, (frame, layer, head, query, key) float16


def write(
    folder: Path,
    facts: ChangeFacts,
    bits: Mapping[tuple[str, str], FloatArray],
    maps: Mapping[tuple[str, int], FloatArray],
    film: Mapping[str, FloatArray] | None,
) -> None:
    """Write all files of a comparison.

    ``bits`` maps (model, rows) to divergences in bits, shape (sentence, layer, head). The model is a name in WHO, and
    the rows over which a divergence is averaged have a name in ROWS. ``maps`` maps (name in SIDES, index of the
    sentence) to attention maps, shape (layer, head, query, key). ``film`` has the arrays of the training snapshots.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FACTS).unlink(missing_ok=True)
    save_arrays(folder / BITS, {f"{who}_{rows}": array for (who, rows), array in bits.items()})
    save_arrays(folder / MAPS, {f"{side}_{at}": array.astype(np.float16) for (side, at), array in maps.items()})
    for name in (FILM, *(Path(name).with_suffix(EARLIER).name for name in (BITS, MAPS, FILM))):
        (folder / name).unlink(missing_ok=True)
    if film is not None:
        save_arrays(folder / FILM, film)
    said = {**asdict(facts), "telling_of": lazy.message_parts(facts.telling)}
    partial = folder / f"{FACTS}.partial"
    partial.write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    partial.replace(folder / FACTS)


def refuse(folder: Path, why: str) -> None:
    """Write to ``changes.json`` that a comparison is impossible, with the reason ``why``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FACTS).write_text(
        json.dumps({"refused": why, "of": lazy.message_parts(why)}, ensure_ascii=False) + "\n",
        encoding="utf-8",
    )


def failure_reason(folder: Path) -> str:
    """Return the reason why a comparison was impossible; "" if it succeeded."""
    said = json.loads((folder / FACTS).read_text(encoding="utf-8"))
    return lazy.restore_message(said.get("refused", ""), said.get("of"))


def is_complete(folder: Path) -> bool:
    """Return True if the result of a comparison, or the reason for its failure, has been written."""
    return (folder / FACTS).is_file()


def facts(folder: Path) -> ChangeFacts:
    """Load the metadata of a comparison."""
    said = json.loads((folder / FACTS).read_text(encoding="utf-8"))
    sentences = tuple(
        ComparedSentence(one["text"], one["label"], None if one["pieces"] is None else tuple(one["pieces"]))
        for one in said.pop("sentences")
    )
    telling = lazy.restore_message(said.pop("telling"), said.pop("telling_of", None))
    return ChangeFacts(**said, telling=telling, sentences=sentences)


def bits(folder: Path, who: str, rows: str) -> FloatArray:
    """Load the divergence of each head's maps from its pretrained maps, in bits, shape (sentence, layer, head).

    ``who`` is the fine-tuned model or a control, a name in WHO. The divergence is 0 if the maps are equal, and at most
    1. It is averaged over the rows that ``rows`` names, and NaN if a sentence has none.
    """
    return load_arrays(folder / BITS)[f"{who}_{rows}"]


def maps(folder: Path, side: str, sentence: int) -> FloatArray:
    """Load a model's attention maps of a sentence, shape (layer, head, query, key).

    ``side`` is the name of the model in SIDES, and ``sentence`` an index into ``ChangeFacts.sentences``.
    """
    return load_arrays(folder / MAPS)[f"{side}_{sentence}"].astype(np.float32)


def film(folder: Path) -> RecordedSnapshots | None:
    """Load the training snapshots; None if there are none."""
    if not any((folder / FILM).with_suffix(suffix).is_file() for suffix in (Path(FILM).suffix, EARLIER)):
        return None
    opened = load_arrays(folder / FILM)
    found = {rows: mean(opened[rows], axis=1) for rows in ROWS}
    return RecordedSnapshots(tuple(int(step) for step in opened["step"]), found, opened["maps"])


def load_by_model(folder: Path, rows: str) -> dict[str, FloatArray]:
    """Load the divergences of the fine-tuned model and of its controls, as ``bits`` does.

    The keys of the result are the names in ``WHO``. ``rows`` names the rows of the maps over which a divergence is
    averaged. Sentences without such rows are left out.
    """
    found = {who: bits(folder, who, rows) for who in WHO}
    kept = np.isfinite(found["task"]).all(axis=(1, 2))
    return {who: array[kept] for who, array in found.items()}


def compare_drift(task: FloatArray, twin: FloatArray) -> ControlledChange:
    """Test for each head if fine-tuning changed it more than training on shuffled labels did.

    ``task`` and ``twin`` are the divergences of the fine-tuned model and of the control from the pretrained model,
    (sentence, layer, head). A sign-flip test compares the two values of each sentence, and its p-values are corrected
    for all heads (probing/text_pairs.py). In the result, heads are numbered layer by layer. The result generalises to
    other sentences, but not to other training runs.

    >>> found = compare_drift(np.full((8, 1, 2), [0.5, 0.1]), np.full((8, 1, 2), [0.1, 0.1]))
    >>> found.more.mean.round(3).tolist(), [found.verdict(head) for head in range(2)]
    ([0.4, 0.0], ['more', 'not clearly more'])
    """
    many, heads = len(task), int(np.prod(task.shape[1:]))
    values = np.concatenate([one.reshape(many, heads) for one in (task, twin)]).astype(np.float64)
    return compare_with_control(values, np.repeat([False, True], many), np.tile(np.arange(many), 2))


def lead_threshold(twins: Sequence[FloatArray]) -> float:
    """Return the lead that no head exceeds by chance, except in a share ``LEVEL`` of training runs.

    The lead of a head is ``mean_lead``: its change in the fine-tuned model minus its mean change in the two controls.
    ``twins`` are the divergences of the controls from the pretrained model, (layer, head), in bits. Lead and threshold
    are Jensen–Shannon distances, the square roots of divergences, which are a metric (doi:10.1109/TIT.2003.813506).

    In a run, all heads may move further together, so differences of heads are not independent. Only the largest
    difference between the two controls is used, and the threshold is ``AHEAD`` times this difference. If runs vary
    normally, the ratio of lead and difference has a Cauchy distribution, which exceeds ``AHEAD`` with probability
    ``LEVEL``. The threshold holds for all heads jointly; `bench/simulations.py` simulates such runs.
    """
    one, other = (np.sqrt(twin.astype(np.float64)) for twin in twins)
    return AHEAD * float(np.abs(one - other).max())


def mean_lead(task: FloatArray, twins: Sequence[FloatArray]) -> FloatArray:
    """Return each head's change in the fine-tuned model minus its mean change in the controls, (layer, head).

    A change is the Jensen–Shannon distance from the pretrained maps, the square root of a divergence in ``task`` or
    ``twins``. The value is positive if the head changed more than in the controls.

    >>> twins = np.full((1, 4), 0.04), np.full((1, 4), 0.09)
    >>> round(lead_threshold(twins) / AHEAD, 2), mean_lead(np.full((1, 4), 0.25), twins).round(2).tolist()
    (0.1, [[0.25, 0.25, 0.25, 0.25]])
    """
    found: FloatArray = np.sqrt(task) - np.mean([np.sqrt(twin) for twin in twins], axis=0)
    return found


def mean(values: FloatArray, axis: int) -> FloatArray:
    """Return the mean of the finite values along an axis; NaN if there are none."""
    known = np.isfinite(values)
    count = known.sum(axis=axis)
    total = np.where(known, values, 0).sum(axis=axis)
    found: FloatArray = np.where(count > 0, total / np.maximum(count, 1), np.nan).astype(np.float32)
    return found


def save_arrays(file: Path, arrays: Mapping[str, Any]) -> None:
    """Write named arrays to a file, which is replaced atomically."""
    partial = file.with_suffix(".partial")
    with partial.open("wb") as stream:
        stream.writelines(encode({}, arrays))
    partial.replace(file)


def load_arrays(file: Path) -> Mapping[str, FloatArray]:
    """Load the arrays of a file, or of the NumPy archive (.npz) that an earlier version wrote."""
    if file.is_file():
        return decode(file.read_bytes())[1]
    with np.load(file.with_suffix(EARLIER)) as opened:
        return dict(opened)
