"""What the runs say, in sentences that follow from their numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attention.mask import Array
from training.jobs.rivals import LAYERS, MODELS, PARTS, REACH, TASKS, TRAINED, Recorded, Run

NAMES = {"lstm": "LSTM", "convolution": "convolutions", "transformer": "Transformer"}
TITLES = {"copying": "Copying", "recall": "Recall", "order": "Word order", "parity": "Odd or even"}
WITHOUT = {
    "": "all parts",
    "heads": "one head, not four",
    "positions": "no positions",
    "residuals": "no residuals",
    "scaling": "no 1/√d_k",
    "norm": "no norm",
}
SAME = 0.02  # shares that differ by less are called the same
WITHIN, BEYOND = f"distances up to {TRAINED}, as trained", f"distances beyond {TRAINED}"


def shares(runs: Sequence[Run]) -> Array:
    """What is answered rightly, (seed, distance)."""
    return np.array([[share for _, share in run.accuracy] for run in runs])


def parted(runs: Sequence[Run]) -> tuple[Array, Array]:
    """The mean share of each seed, (seed,): at the distances that were trained on, and beyond them."""
    trained = np.array([distance <= TRAINED for distance, _ in runs[0].accuracy])
    values = shares(runs)
    return values[:, trained].mean(axis=1), values[:, ~trained].mean(axis=1)


def accuracy(recorded: Recorded, task: str) -> str:
    """How well each network does within the distances trained on, and beyond them."""
    means = {model: [float(part.mean()) for part in parted(recorded.of(task, model))] for model in MODELS}
    within, beyond = (", ".join(f"{NAMES[model]} {parts[at]:.2f}" for model, parts in means.items()) for at in range(2))
    chance = recorded.of(task, MODELS[0])[0].chance
    return (
        f"Answered rightly at distances up to {TRAINED}, which were trained on: {within}; beyond them: {beyond}. "
        f"Guessing gets {chance:.2f}."
    )


def reach(recorded: Recorded, task: str) -> str:
    """What the convolutional network does with what lies beyond its reach."""
    runs = recorded.of(task, "convolution")
    far = np.array([distance >= REACH for distance, _ in runs[0].accuracy])
    share = float(shares(runs)[:, far].mean())
    chance = runs[0].chance
    verdict = "no better than guessing" if share < chance + SAME else f"{share - chance:.2f} more than guessing"
    return (
        f"A convolution of this depth sees {REACH} tokens; from distance {REACH} on it answers {share:.2f}, {verdict}."
    )


def better(recorded: Recorded) -> str:
    """On which tasks the recurrent network does better than the Transformer, and where the Transformer does."""
    found: dict[str, list[str]] = {"lstm": [], "transformer": [], "": []}
    for task in TASKS:
        pairs = zip(parted(recorded.of(task, "lstm")), parted(recorded.of(task, "transformer")), strict=True)
        for (one, other), where in zip(pairs, (f"up to {TRAINED}", f"beyond {TRAINED}"), strict=True):
            lstm, transformer = float(one.mean()), float(other.mean())
            best = "" if abs(lstm - transformer) < SAME else "lstm" if lstm > transformer else "transformer"
            numbers = (transformer, lstm) if best == "transformer" else (lstm, transformer)
            sure = best and min(one if best == "lstm" else other) > max(other if best == "lstm" else one)
            every = "" if sure or not best else ", not with every seed"
            found[best].append(f"{TITLES[task].lower()} {where} ({numbers[0]:.2f} against {numbers[1]:.2f}{every})")
    said = [
        f"The {NAMES[model]} does better at {_listed(places)}."
        for model, places in found.items() if model and places
    ]  # fmt: skip
    return " ".join(said) or "On none of them does either do better than the other."


def gradients(recorded: Recorded, task: str, when: str) -> str:
    """Where the last answer's gradient is, for each network."""
    said = []
    for model in MODELS:
        mean = rows(recorded.of(task, model), when).mean(axis=0)
        place, most = int(mean.argmax()), float(mean.max())
        share = float(mean[-1]) / most
        first = "none" if share == 0 else f"{share:.2g} of that"
        said.append(f"{NAMES[model]}: the largest {_back(place)}, at the text's first token {first}")
    begin = "Before the first step" if when == "before" else "After training"
    return f"{begin}, how much the last answer hangs on each token: {'; '.join(said)}."


def rows(runs: Sequence[Run], when: str) -> Array:
    """The gradient's norm, (seed, places back)."""
    return np.array([run.before if when == "before" else run.after for run in runs])


def growth(recorded: Recorded) -> str:
    """How much longer the longest texts take than the shortest."""
    said, lengths = [], [0, 0]
    for model in MODELS:
        (shortest, first), *_, (longest, last) = recorded.times[model]
        lengths = [shortest, longest]
        said.append(f"{NAMES[model]} {last / first:.0f} times")
    least, most = lengths
    return f"{most} tokens, {most // least} times as many as {least}, take so much longer: {', '.join(said)}."


def ablated(recorded: Recorded, task: str, layers: int = LAYERS) -> str:
    """Which part the Transformer misses most on a task, and which it does without."""
    runs = {off: recorded.of(task, "transformer", off, layers) for off in ("", *PARTS)}
    others = {off: [float(part.mean()) for part in parted(some)] for off, some in runs.items()}
    whole = others.pop("")
    said = []
    for at, where in enumerate((f"At distances up to {TRAINED}", f"Beyond {TRAINED}")):
        shown = {off: f"{WITHOUT[off]} {share[at]:.2f}" for off, share in others.items()}
        worse = sorted((off for off in PARTS if others[off][at] <= whole[at] - SAME), key=lambda off: others[off][at])
        better = [shown[off] for off in PARTS if others[off][at] >= whole[at] + SAME]
        sentence = f"{where} the whole Transformer answers {whole[at]:.2f}"
        sentence += f"; worse with {_listed([shown[off] for off in worse])}" if worse else ""
        sentence += f"; better with {_listed(better)}" if better else ""
        sentence += "" if worse or better else ", and no part that is switched off changes that"
        said.append(f"{sentence}.")
    return " ".join(said)


def _back(place: int) -> str:
    return "at the last token itself" if place == 0 else "1 token back" if place == 1 else f"{place} tokens back"


def _listed(parts: Sequence[str]) -> str:
    """
    >>> _listed(["a"]), _listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
