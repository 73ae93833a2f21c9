"""A fine-tuning run: freezing of layers, evaluation on dev rows, the best weights, and resuming."""

from __future__ import annotations

import hashlib
import json
import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import torch
from safetensors import safe_open
from safetensors.torch import load_model, save_model
from torch.nn import ModuleList

from i18n import gettext_lazy
from inference.errors import UserError, as_user_error
from inference.loaded_model import silence_transformers
from inference.settings import Settings as Machine
from probing.labelled.data_checks import fit
from probing.labelled.labeled_texts import OUTSIDE, HeadKind, LabeledDataset
from training import config, curves, loop
from training.corpus import check_origin
from training.curves import Metrics
from training.finetune import model_setup, snapshots
from training.finetune.data import Encoded, FinetuneBatches, encode_rows, sizes
from training.finetune.evaluation import (
    LabelShares,
    Scores,
    answers,
    classes,
    logits,
    loss,
    score_tags,
    score_texts,
    tags,
)
from training.finetune.model_setup import FinetuneStart, open_model
from training.finetune.settings import (
    CHARACTERS,
    DEV_ROWS,
    EVALUATIONS,
    FACTS,
    FinetuneSettings,
    batch,
    most_steps,
    plan_steps,
    rate,
    schedule,
)
from training.finetune.snapshots import Drift, SnapshotRecorder, Snapshots, sample_unseen
from training.loop import Precision, RunProgress, StepResult, precision
from training.schedule import optimiser


def freeze(model: Any, layers: int, name: str) -> None:
    """Freeze the embeddings and the lowest ``layers`` layers of a model; 0 freezes nothing.

    Every parameter that the model lists before the end of the last frozen layer is frozen. Raise UserError if the model
    has fewer layers or no list of layers.
    """
    if not layers:
        return
    stack = _stack(model)
    if stack is None or layers > len(stack):
        given = {"name": name, "layers": layers}
        raise UserError(
            gettext_lazy(
                "{name} has no separable layers, so {layers} cannot be frozen. Freeze none.",
                **given,
            )
            if stack is None
            else gettext_lazy(
                "{name} has {n} layers, so {layers} cannot be frozen. Freeze fewer.", n=len(stack), **given
            )
        )
    waiting = {id(parameter) for layer in list(stack)[:layers] for parameter in layer.parameters()}
    for parameter in model.base_model.parameters():
        if not waiting:
            return
        parameter.requires_grad_(False)
        waiting.discard(id(parameter))


def _stack(model: Any) -> ModuleList | None:
    """Return the list of a model's layers; None if no list has the configured number of entries."""
    count = model.config.get_text_config().num_hidden_layers
    lists = (part for part in model.base_model.modules() if isinstance(part, ModuleList) and len(part) == count)
    return next(lists, None)


NEAR_ZERO = 0.05  # scores below it are at chance level, so the loss is compared instead


@dataclass(frozen=True)
class Mark:
    """The dev score and the negative dev loss at a training step, by which the best weights are chosen."""

    score: float
    gain: float  # negative loss
    step: int

    @property
    def rank(self) -> tuple[bool, float, float]:
        """Return a sort key that is larger for better weights.

        Weights after at least a single step rank above the initial weights. Then the higher score wins, and between
        equal scores the lower loss. Scores below NEAR_ZERO count as equal.

        >>> Mark(0.0, -1.0, 10).rank > Mark(0.0016, -2.0, 0).rank
        True
        """
        return self.step > 0, self.score if self.score >= NEAR_ZERO else 0.0, self.gain


def best_weights_file(folder: Path) -> Path:
    """Return the path of the file with the best weights of the run in a folder."""
    return folder / "best.safetensors"


def read_mark(folder: Path) -> Mark | None:
    """Read the dev score of the best weights so far; return None if there are none."""
    if not best_weights_file(folder).is_file():
        return None
    with safe_open(best_weights_file(folder), framework="pt") as opened:
        said = opened.metadata()
    return Mark(float(said["score"]), float(said["gain"]), int(said["step"]))


def save_if_better(folder: Path, model: Any, reached: Mark) -> bool:
    """Save the model's weights if ``reached`` ranks above the saved best weights; return True if saved."""
    before = read_mark(folder)
    if before is not None and reached.rank <= before.rank:
        return False
    partial = best_weights_file(folder).with_suffix(".partial")
    save_model(model, str(partial), {name: repr(value) for name, value in vars(reached).items()})
    os.replace(partial, best_weights_file(folder))
    return True


def load_best_weights(folder: Path, model: Any) -> None:
    """Load the run's best weights, which ``save_if_better`` stored, into the model."""
    load_model(model, str(best_weights_file(folder)))


MEASURE = {"classify": "accuracy", "tag": "f1", "answer": "f1"}  # the score by which the best weights are chosen
NAMED = {"classify": "accuracy", "tag": "F1 of names", "answer": "F1"}


@dataclass(kw_only=True)
class FinetuneRun(loop.Run):
    """A run that fine-tunes a model on labelled texts."""

    PARTS: ClassVar[tuple[str, ...]] = ("loss",)

    kind: HeadKind
    labels: tuple[str, ...]
    start: str  # name of the initial model
    tokenizer: Any
    length: int  # maximum tokens of a text
    batches: FinetuneBatches
    dev: Encoded
    film: Snapshots | None = None

    def learn(self) -> StepResult:
        """Return the loss of the next batch, from which the caller computes gradients."""
        batch = self.batches(self.progress.step)
        found = loss(logits(self.model, batch, self.precision.device), batch)
        return StepResult(found, found[None], batch.count)

    def assess(self) -> None:
        """Score the dev rows, save the weights if they are the best, record a snapshot, and log the result."""
        said = answers(self.model, self.dev, self.batches.padding, self.precision)
        found = scores(self.kind, self.dev, said, self.labels)
        reached = Mark(found[MEASURE[self.kind]], -said.loss, self.progress.step)
        kept = save_if_better(self.folder, self.model, reached)
        if self.film is not None:
            self.film.frame(self.model, self.progress.step)
        only = self._only(found)
        self._notice(only)
        told = {name: found[name] for name in ("accuracy", "precision", "recall", "f1", "macro_f1") if name in found}
        self.metrics.write(
            "evaluation", **loop.log_position(self.progress), loss=said.loss, **told, best=kept, only=only
        )
        self.metrics.note(self._line(reached, kept))

    def _only(self, found: Scores) -> str | None:
        """Return the single label of all predictions, or None if they vary or all true labels are the same."""
        columns = zip(*found["confusion"], strict=True)
        said = [label for label, column in zip(found["labels"], columns, strict=True) if any(column)]
        true = sum(any(row) for row in found["confusion"])
        return said[0] if len(said) == 1 and true > 1 else None

    def _notice(self, only: str | None) -> None:
        """Log a warning, once, if two evaluations in a row predict only this label."""
        before = [row["only"] for row in curves.lines(self.metrics.file, "evaluation") if row["step"]]
        if only is None or before[-1:] != [only] or before[-2:-1] == [only]:
            return
        self.metrics.write("collapse", step=self.progress.step, only=only)
        what = "nothing is tagged" if only == OUTSIDE and self.kind == "tag" else f"every text is called {only}"
        self.metrics.note(f"twice running {what}: try a smaller rate, more minutes or more rows")

    def _line(self, reached: Mark, kept: bool) -> str:
        """Format the progress of the run for the log."""
        progress = self.progress
        learned = curves.lines(self.metrics.file, "step")
        parts = [f"step {progress.step} of {progress.schedule.last}"]
        if learned:
            parts.append(f"loss {learned[-1]['loss']:.3f}")
        parts.append(f"dev {NAMED[self.kind]} {reached.score:.3f}{' (best so far)' if kept else ''}")
        if progress.step:
            left = (progress.schedule.last - progress.step) * progress.seconds / progress.step
            parts.append(f"{left / 60:.1f} minutes left")
        return ", ".join(parts)


def scores(kind: HeadKind, rows: Encoded, said: LabelShares, labels: tuple[str, ...]) -> Scores:
    """Score the predicted probabilities against the true labels of the rows.

    The result is that of ``score_texts`` for classes, and that of ``score_tags`` for tags.
    """
    true = [tuple(labels[number] for number in rows.labels[row]) for row in range(len(rows))]
    if kind == "classify" or rows.places is None:
        return score_texts([label for (label,) in true], classes(said, labels), labels)
    return score_tags(true, [told for told, _ in tags(said, rows.places, labels)])


LOOKED_AT = 500  # texts that are checked for unknown tokens
TRIED = 5  # trial steps by which the time per step is estimated
REST = 1.15  # ratio of a step's time to that of its forward and backward pass


def prepare_run(  # noqa: PLR0913  # the parts of a run, and its class
    labels: LabeledDataset,
    model: str,
    settings: FinetuneSettings,
    folder: Path,
    machine: Machine,
    made: type[FinetuneRun] = FinetuneRun,
) -> FinetuneRun:
    """Prepare a fine-tuning run of the class ``made`` in a folder, or resume its checkpoint; may raise UserError."""
    _refuse_nothing(labels)
    silence_transformers()
    start = open_start(labels, model, settings, machine)
    if model != CHARACTERS:
        _refuse_unknown(labels, start)
    length = min(settings.length, start.longest or settings.length)

    def dev(asked: int) -> dict[str, Any]:
        some = labels.dev[:: max(1, len(labels.dev) // asked)][:asked]
        return {"dev": encode_rows(some, labels.labels, start.tokenizer, length)}

    given = RunInput(
        start,
        labels.kind,
        labels.labels,
        length,
        encode_rows(labels.train, labels.labels, start.tokenizer, length),
        (len(labels.train), len(labels.dev), len(labels.test)),
        _facts(labels, start.name, settings),
    )
    return begin_run(given, settings, folder, dev, made, lambda: _film(labels, start, settings, folder))


@dataclass(frozen=True)
class RunInput:
    """The data of a new run: the initial model, its labels, and the encoded train rows.

    ``facts`` are the settings that must be the same if the run is resumed.
    """

    start: FinetuneStart
    kind: HeadKind
    labels: tuple[str, ...]
    length: int  # most tokens of a text
    train: Encoded
    rows: tuple[int, int, int]  # numbers of train, dev and test rows
    facts: dict[str, Any]


Made = TypeVar("Made", bound=FinetuneRun)


def begin_run(  # noqa: PLR0913  # the data of a run, its settings, and its class
    given: RunInput,
    settings: FinetuneSettings,
    folder: Path,
    dev: Callable[[int], dict[str, Any]],
    made: type[Made],
    film: Callable[[], Snapshots | None] = lambda: None,
) -> Made:
    """Create a run of the class ``made`` in a folder, or resume it from the folder's checkpoint.

    ``dev`` takes the number of dev rows to evaluate and returns them as keyword arguments of ``made``. ``film`` returns
    the recorder of snapshots, or None. May raise UserError.
    """
    start = given.start
    torch.set_num_threads(settings.threads)  # loading a model sets the app's number of threads
    freeze(start.model, settings.frozen, start.name)
    filming = film()
    where = precision(settings.precision)
    start.model.to(where.device).train()
    highest = settings.rate or rate(start.model.config, given.kind, start.fresh)
    learning = config.OptimizerTable(rate=highest, betas=(0.9, 0.999))
    batches = FinetuneBatches(
        given.train, start.tokenizer.pad_token_id, settings.batch or batch(start.fresh), settings.seed
    )
    descent = optimiser(start.model, learning)
    facts = given.facts | {"length": given.length, "batch": batches.size, "rate": learning.rate,
                           "train_rows": given.rows[0], "steps_per_epoch": batches.in_a_pass}  # fmt: skip
    plan = _Plan(settings, given.rows[1], folder, facts)
    progress, every, asked = _progress(start.model, descent, batches, where, plan)
    metrics = Metrics(folder, progress.metrics_bytes)
    if filming is not None:
        filming.cut(progress.step)
    metrics.note(_describe_start(given, batches, progress, where))
    return made(
        folder=folder,
        loop=config.Loop(checkpoint_minutes=1.0, evaluate_steps=every, log_steps=max(1, every // 5)),
        learning=learning,
        model=start.model,
        optimiser=descent,
        precision=where,
        progress=progress,
        metrics=metrics,
        kind=given.kind,
        labels=given.labels,
        start=start.name,
        tokenizer=start.tokenizer,
        length=given.length,
        batches=batches,
        film=filming,
        **dev(asked),
    )


def _refuse_nothing(labels: LabeledDataset) -> None:
    """Raise UserError if there are no train, dev or test rows, or fewer than two labels."""
    for part, rows in (("train", labels.train), ("dev", labels.dev), ("test", labels.test)):
        if not rows:
            raise UserError(gettext_lazy("There are no {part} rows. Add some.", part=part))
    if len(labels.labels) < 2:
        raise UserError(gettext_lazy("All rows have the label {label}. Add others.", label=labels.labels[0]))


def _refuse_unknown(labels: LabeledDataset, start: FinetuneStart) -> None:
    """Raise UserError if too many tokens of the texts are unknown to the model."""
    found = fit(labels, lambda texts: sizes(start.tokenizer, texts), 0, LOOKED_AT)
    if found.unreadable:
        raise UserError(found.unreadable)


def open_start(labels: LabeledDataset, model: str, settings: FinetuneSettings, machine: Machine) -> FinetuneStart:
    """Load the initial model of a run, or build a character model; may raise UserError."""
    if model == CHARACTERS:
        return model_setup.start((row.text for row in labels.train), labels.kind, labels.labels, settings.seed)
    return open_model(model, labels.kind, labels.labels, settings.seed, machine, settings.revision)


def _film(labels: LabeledDataset, start: FinetuneStart, settings: FinetuneSettings, folder: Path) -> Snapshots | None:
    """Return the snapshots of a run; None if they are switched off or cannot be recorded."""
    seen = sample_unseen(labels, start, settings) if settings.filmed else None
    if seen is None:
        return None
    try:
        camera = SnapshotRecorder(start, seen)
    except UserError:
        return None
    return Snapshots(Drift(camera, seen.shown), folder / snapshots.FOLDER)


def _facts(labels: LabeledDataset, model: str, settings: FinetuneSettings) -> dict[str, Any]:
    """Return the settings that must not change when a run is resumed."""
    rows = hashlib.sha256()
    for row in (*labels.train, *labels.dev, *labels.test):
        rows.update(repr(row).encode("utf-8", "surrogatepass"))
    return {
        "model": model,
        "labels": list(labels.labels),
        "rows": rows.hexdigest(),
        "seed": settings.seed,
        "revision": settings.revision,
        "frozen": settings.frozen,
    }


@dataclass(frozen=True)
class _Plan:
    """The settings from which a new run's first plan is made."""

    settings: FinetuneSettings
    dev: int  # number of dev rows
    folder: Path
    facts: dict[str, Any]


def _progress(
    model: Any, descent: torch.optim.AdamW, batches: FinetuneBatches, where: Precision, plan: _Plan
) -> tuple[RunProgress, int, int]:
    """Return the progress of a new or resumed run, the steps between evaluations, and their dev rows."""
    settings, folder, facts = plan.settings, plan.folder, plan.facts
    saved, stated = folder / "checkpoint.pt", folder / FACTS
    if saved.exists():
        before = json.loads(stated.read_text(encoding="utf-8"))
        check_origin(before, facts, folder)
        return loop.load(saved, model, descent), before["every"], before["dev_rows"]
    torch.manual_seed(settings.seed)
    last, asked = most_steps(settings, batches.in_a_pass), min(plan.dev, DEV_ROWS)
    if settings.minutes is not None and last:
        fit, asked = plan_steps(settings.minutes * 60, _pace(model, batches, where), batches.size, plan.dev)
        last = min(last, fit)
    every = max(1, round(last / EVALUATIONS))
    with as_user_error(gettext_lazy("{folder} cannot be written. Name another folder.", folder=folder), way_out=None):
        folder.mkdir(parents=True, exist_ok=True)
    best_weights_file(folder).unlink(missing_ok=True)  # left by a run that was interrupted before its first checkpoint
    said = facts | {"every": every, "dev_rows": asked}
    stated.write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return RunProgress(schedule(last)), every, asked


def _pace(model: Any, batches: FinetuneBatches, where: Precision) -> float:
    """Estimate the seconds per step, without learning and without using the run's random state.

    The fastest of several steps counts, because the first step is slow and the machine may be briefly busy. A plan
    that is too long is shortened during training, but the interval of evaluations is fixed.
    """
    fastest = math.inf
    with torch.random.fork_rng(devices=[]):
        for step in range(TRIED):
            began = time.monotonic()
            batch = batches(step)
            with where.autocast():
                found = loss(logits(model, batch, where.device), batch)
            found.backward()
            model.zero_grad(set_to_none=True)
            fastest = min(fastest, time.monotonic() - began)
    return REST * fastest


def _describe_start(given: RunInput, batches: FinetuneBatches, progress: RunProgress, where: Precision) -> str:
    train, dev, test = given.rows
    rows = f"{train:,} rows to train on, {dev:,} dev, {test:,} test"
    what = f"{given.start.name}, {sum(p.numel() for p in given.start.model.parameters()) / 1e6:.1f} M numbers"
    numbers = "bf16" if where.bf16 else "fp32"
    goes = "goes on" if progress.step else "begins"
    return (
        f"{goes} at step {progress.step} of {progress.schedule.last}, {batches.size} rows each: {what}, {numbers};"
        f" {rows}, {len(given.labels)} labels"
    )
