"""Options of the view Why attention, and sentences on recorded trainings of its three networks."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from attention.mask import FloatArray
from i18n import _, gettext_lazy, translate
from training.jobs.baseline_runs import (
    LAYERS,
    MODELS,
    PARTS,
    REACH,
    SEEDS,
    STEPS,
    TASKS,
    TRAINED,
    RecordedRuns,
    gradient_norms,
    mean_shares,
    shares,
)
from ui.show.text import format_and_list, format_comma_list, format_semicolon_list, join_sentences
from viz.options import option

NAMES: dict[str, str] = {"lstm": "LSTM", "convolution": gettext_lazy("convolutions"), "transformer": "Transformer"}
TITLES: dict[str, str] = {
    "copying": gettext_lazy("Copying"),
    "recall": gettext_lazy("Associative recall"),
    "order": gettext_lazy("Word order"),
    "parity": gettext_lazy("Odd or even"),
}
WITHOUT: dict[str, str] = {
    "": gettext_lazy("all parts"),
    "heads": gettext_lazy("one head, not four"),
    "positions": gettext_lazy("no positions"),
    "residuals": gettext_lazy("no residuals"),
    "scaling": gettext_lazy("no 1/√d_k"),
    "norm": gettext_lazy("no layer norm"),
}
MOMENTS = {"before": gettext_lazy("Before training"), "after": gettext_lazy("After training")}
SAME = 0.02  # accuracies that differ by less count as equal
WITHIN, BEYOND = (
    gettext_lazy("distances up to {trained}, as trained", trained=TRAINED),
    gettext_lazy("distances beyond {trained}", trained=TRAINED),
)


def name_of(model: str) -> str:
    """Return the display name of a network."""
    return translate(NAMES[model])


def title_of(task: str) -> str:
    """Return the display name of a task."""
    return translate(TITLES[task])


def accuracy(recorded: RecordedRuns, task: str) -> str:
    """Return a sentence with the mean accuracy of each network on a task, at trained and at longer distances."""
    means = {model: [float(part.mean()) for part in mean_shares(recorded.runs_of(task, model))] for model in MODELS}
    within, beyond = (
        format_comma_list([f"{name_of(model)} {parts[at]:.2f}" for model, parts in means.items()]) for at in range(2)
    )
    chance = recorded.runs_of(task, MODELS[0])[0].chance
    return _(
        "Answers right at distances up to {trained} (trained): {within}; beyond: {beyond}. Guessing: {chance:.3f}.",
        trained=TRAINED,
        within=within,
        beyond=beyond,
        chance=chance,
    )


def describe_reach(recorded: RecordedRuns, task: str) -> str:
    """Return a sentence on the convolutional network's accuracy beyond its receptive field."""
    runs = recorded.runs_of(task, "convolution")
    far = np.array([distance >= REACH for distance, _ in runs[0].accuracy])
    share = float(shares(runs)[:, far].mean())
    chance = runs[0].chance
    return _(
        "A convolution of this depth sees {reach} tokens; from there on it answers {share:.3f}, "
        "{more:.3f} above guessing.",
        reach=REACH,
        share=share,
        more=share - chance,
    )


def describe_winners(recorded: RecordedRuns) -> str:
    """Return sentences that list the tasks on which the LSTM or the Transformer is more accurate."""
    found: dict[str, list[str]] = {"lstm": [], "transformer": [], "": []}
    for task in TASKS:
        pairs = zip(
            mean_shares(recorded.runs_of(task, "lstm")), mean_shares(recorded.runs_of(task, "transformer")), strict=True
        )
        name = title_of(task).lower()
        wheres = (
            _("{task} up to {distance}", task=name, distance=TRAINED),
            _("{task} beyond {distance}", task=name, distance=TRAINED),
        )
        for (one, other), where in zip(pairs, wheres, strict=True):
            sign = clear_sign(one, other)
            better, worse = sorted((float(one.mean()), float(other.mean())), reverse=True)
            found[("", "lstm", "transformer")[sign]].append(
                _("{place} ({better:.2f} against {other:.2f})", place=where, better=better, other=worse)
            )
    said = [
        _("The {name} is better at {places}.", name=name_of(model), places=format_and_list(places))
        for model, places in found.items() if model and places
    ]  # fmt: skip
    return join_sentences(*said) if said else _("Neither is better at any task.")


def clear_sign(one: FloatArray, other: FloatArray) -> int:
    """Return 1 if the accuracies ``one`` (seed,) are clearly higher than ``other`` (seed,), -1 if lower, otherwise 0.

    Clearly: the means differ by at least SAME, and every seed of one network is beyond every seed of the other network.

    >>> clear_sign(np.array([0.9, 0.8]), np.array([0.7, 0.6])), clear_sign(np.array([0.9, 0.7]), np.array([0.8, 0.6]))
    (1, 0)
    """
    if abs(float(one.mean() - other.mean())) < SAME:
        return 0
    return int(one.min() > other.max()) - int(one.max() < other.min())


def describe_clear() -> str:
    """Return a sentence on the criterion of ``clear_sign``, and on its chance level for two networks that are equal."""
    return _(
        "Better, worse: means differ by ≥ {least} and seeds' ranges are separate (chance: 1 in {of}, uncorrected).",
        least=SAME,
        of=comb(2 * len(SEEDS), len(SEEDS)) // 2,
    )


def describe_gradients(recorded: RecordedRuns, task: str, when: str) -> str:
    """Return sentences with the distance at which each network's gradient norm is largest.

    ``when`` is "before" or "after" training.
    """
    said = []
    for model in MODELS:
        mean = gradient_norms(recorded.runs_of(task, model), when).mean(axis=0)
        place, most = int(mean.argmax()), float(mean.max())
        share = float(mean[-1]) / most
        said.append(
            _(
                "{name}: largest at distance {place}; at the first token {share:.2g} of that",
                name=name_of(model),
                place=place,
                share=share,
            )
        )
    return _(
        "{moment}, effect of each token on the last answer: {networks}.",
        moment=translate(MOMENTS[when]),
        networks=format_semicolon_list(said),
    )


def describe_growth(recorded: RecordedRuns) -> str:
    """Return a sentence on how the time of a training step grows from the shortest to the longest texts."""
    said, lengths = [], [0, 0]
    for model in MODELS:
        (shortest, first), *_between, (longest, last) = recorded.times[model]
        lengths = [shortest, longest]
        said.append(f"{name_of(model)} × {last / first:.0f}")
    least, most = lengths
    return _(
        "From {least} to {most} tokens (× {factor}), the time grows: {networks}.",
        most=most,
        factor=most // least,
        least=least,
        networks=format_comma_list(said),
    )


def describe_ablation(recorded: RecordedRuns, task: str, layers: int = LAYERS) -> str:
    """Return sentences on the parts without which the Transformer's accuracy on a task changes clearly."""
    runs = {off: mean_shares(recorded.runs_of(task, "transformer", off, layers)) for off in ("", *PARTS)}
    whole = runs.pop("")
    said = []
    for at, where in enumerate((WITHIN, BEYOND)):
        shares_of = {off: float(parts[at].mean()) for off, parts in runs.items()}
        signs = {off: clear_sign(parts[at], whole[at]) for off, parts in runs.items()}
        worse = sorted((off for off in PARTS if signs[off] < 0), key=shares_of.__getitem__)
        better = [off for off in PARTS if signs[off] > 0]
        names = {off: f"{translate(WITHOUT[off])} {share:.2f}" for off, share in shares_of.items()}
        begin = _(
            "At {distances}, the whole Transformer answers {share:.2f}",
            distances=translate(where),
            share=float(whole[at].mean()),
        )
        clauses = [begin]
        if worse:
            clauses.append(_("worse with {parts}", parts=format_and_list([names[off] for off in worse])))
        if better:
            clauses.append(_("better with {parts}", parts=format_and_list([names[off] for off in better])))
        if worse or better:
            said.append(_("{text}.", text=format_semicolon_list(clauses)))
        else:
            said.append(_("{clause}; no ablation is better or worse.", clause=begin))
    return join_sentences(*said)


@dataclass(frozen=True)
class WhyAttentionOptions:
    """Options of the page Why attention; the sizes are symbols of arXiv:1706.03762.

    If ``d`` is None, it is the width of the model; if ``n`` is None, it is the length of the text.
    """

    d: int | None = None
    k: int = 3  # kernel width of the convolution; the paper gives no value
    r: int = 64  # neighbourhood of restricted self-attention, in tokens
    n: int | None = None
    # The task of the recorded runs and of a training here.
    task: str = option(
        "recall",
        label=gettext_lazy("Task"),
        choices=TITLES,
    )
    # Draw the gradient before or after training.
    when: str = option(
        "after",
        label=gettext_lazy("Gradient"),
        choices=MOMENTS,
    )
    network: str = option("transformer", label=gettext_lazy("Network"), choices=NAMES)  # the network to train here
    # The ablated part of the Transformer to train, or "".
    off: str = option(
        "",
        label=gettext_lazy("Parts"),
        choices=WITHOUT,
    )
    # The recorded runs have other seeds.
    seed: int = option(
        3,
        label=gettext_lazy("Seed"),
        help=gettext_lazy("Seed of weights and texts"),
    )
    steps: int = option(STEPS, label=gettext_lazy("Steps"))
