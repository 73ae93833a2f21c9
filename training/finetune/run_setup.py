"""A run made ready for its next step: model opened, texts read, the last checkpoint taken up if there is one."""

from __future__ import annotations

import hashlib
import json
import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from i18n import gettext_lazy
from inference.building import silence_transformers
from inference.errors import UserError, as_user_error
from inference.settings import Settings as Machine
from probing.labelled.data_checks import fit
from probing.labelled.labeled_texts import LabeledDataset
from training import checkpoint, config_tables
from training.checkpoint import RunProgress
from training.data_origin import check_origin
from training.finetune import best_weights, characters, snapshots
from training.finetune.batches import FinetuneBatches
from training.finetune.drift import Drift
from training.finetune.encoding import encode_rows, sizes
from training.finetune.frozen import freeze
from training.finetune.model_setup import FinetuneStart, open_model
from training.finetune.predictions import logits, loss
from training.finetune.run import FinetuneRun
from training.finetune.settings import (
    CHARACTERS,
    DEV_ROWS,
    EVALUATIONS,
    FinetuneSettings,
    batch,
    most_steps,
    plan_steps,
    rate,
    schedule,
)
from training.finetune.snapshot_recorder import SnapshotRecorder
from training.finetune.snapshots import Snapshots
from training.finetune.unseen_sentences import sample_unseen
from training.metrics import Metrics
from training.optimizer import optimiser
from training.precision import Precision, precision

LOOKED_AT = 500  # texts that are checked for unknown words
TRIED = 5  # steps that the pace is guessed by before the first
REST = 1.15  # what a step takes, by what its two passes take
FACTS = "task.json"  # in a run's folder: what it was begun with


def prepare_run(  # noqa: PLR0913  # what a run is made of, and which kind of run
    labels: LabeledDataset,
    model: str,
    settings: FinetuneSettings,
    folder: Path,
    machine: Machine,
    made: type[FinetuneRun] = FinetuneRun,
) -> FinetuneRun:
    """The run of these texts in a folder, new or where it stopped; raises Refusal."""
    _refuse_nothing(labels)
    silence_transformers()
    start = open_start(labels, model, settings, machine)
    if model != CHARACTERS:
        _refuse_unknown(labels, start)
    torch.set_num_threads(settings.threads)  # opening a model sets the app's own number
    freeze(start.model, settings.frozen, start.name)
    filming = _film(labels, start, settings, folder)
    where = precision(settings.precision)
    start.model.to(where.device).train()
    highest = settings.rate or rate(start.model.config, labels.kind, start.fresh)
    learning = config_tables.OptimizerTable(rate=highest, betas=(0.9, 0.999))
    length = min(settings.length, start.longest or settings.length)
    batches = FinetuneBatches(
        encode_rows(labels.train, labels.labels, start.tokenizer, length),
        start.tokenizer.pad_token_id,
        settings.batch or batch(start.fresh),
        settings.seed,
    )
    descent = optimiser(start.model, learning)
    facts = _facts(labels, start.name, settings) | {"length": length, "batch": batches.size, "rate": learning.rate}
    plan = _Plan(settings, len(labels.dev), folder, facts)
    progress, every, asked = _progress(start.model, descent, batches, where, plan)
    some = labels.dev[:: max(1, len(labels.dev) // asked)][:asked]
    metrics = Metrics(folder, progress.metrics_bytes)
    if filming is not None:
        filming.cut(progress.step)
    metrics.note(_describe_start(start, labels, batches, progress, where))
    return made(
        folder=folder,
        loop=config_tables.Loop(checkpoint_minutes=1.0, evaluate_steps=every, log_steps=max(1, every // 5)),
        learning=learning,
        model=start.model,
        optimiser=descent,
        precision=where,
        progress=progress,
        metrics=metrics,
        kind=labels.kind,
        labels=labels.labels,
        start=start.name,
        tokenizer=start.tokenizer,
        length=length,
        batches=batches,
        dev=encode_rows(some, labels.labels, start.tokenizer, length),
        film=filming,
    )


def _refuse_nothing(labels: LabeledDataset) -> None:
    """Raises Refusal where there is nothing to learn, to choose by, or to tell the result on."""
    for part, rows in (("train", labels.train), ("dev", labels.dev), ("test", labels.test)):
        if not rows:
            raise UserError(gettext_lazy("There are no {part} rows. Bring more rows, or a file of them.", part=part))
    if len(labels.labels) < 2:
        raise UserError(
            gettext_lazy(
                "All rows have the label {label}, so there is nothing to learn. Bring others.", label=labels.labels[0]
            )
        )


def _refuse_unknown(labels: LabeledDataset, start: FinetuneStart) -> None:
    """Raise Refusal if the model does not know the words of the texts, before anything is written."""
    found = fit(labels, lambda texts: sizes(start.tokenizer, texts), 0, LOOKED_AT)
    if found.unreadable:
        raise UserError(found.unreadable)


def open_start(labels: LabeledDataset, model: str, settings: FinetuneSettings, machine: Machine) -> FinetuneStart:
    """What the weights of a run start from; raises Refusal."""
    if model == CHARACTERS:
        return characters.start((row.text for row in labels.train), labels.kind, labels.labels, settings.seed)
    return open_model(model, labels.kind, labels.labels, settings.seed, machine, settings.revision)


def _film(labels: LabeledDataset, start: FinetuneStart, settings: FinetuneSettings, folder: Path) -> Snapshots | None:
    """The film of a run that begins there; None where none is wanted or can be made."""
    seen = sample_unseen(labels, start, settings) if settings.filmed else None
    if seen is None:
        return None
    try:
        camera = SnapshotRecorder(start, seen)
    except UserError:
        return None
    return Snapshots(Drift(camera, seen.shown), folder / snapshots.FOLDER)


def _facts(labels: LabeledDataset, model: str, settings: FinetuneSettings) -> dict[str, Any]:
    """What a run stays with from its first step to its last."""
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
    """What the first plan of a run hangs on."""

    settings: FinetuneSettings
    dev: int  # rows
    folder: Path
    facts: dict[str, Any]


def _progress(
    model: Any, descent: torch.optim.AdamW, batches: FinetuneBatches, where: Precision, plan: _Plan
) -> tuple[RunProgress, int, int]:
    """How far the run has come, after how many steps each it is assessed, and on how many dev rows."""
    settings, folder, facts = plan.settings, plan.folder, plan.facts
    saved, stated = folder / "checkpoint.pt", folder / FACTS
    if saved.exists():
        before = json.loads(stated.read_text(encoding="utf-8"))
        check_origin(before, facts, folder)
        return checkpoint.load(saved, model, descent), before["every"], before["dev_rows"]
    torch.manual_seed(settings.seed)
    last, asked = most_steps(settings, batches.in_a_pass), min(plan.dev, DEV_ROWS)
    if settings.minutes is not None and last:
        fit, asked = plan_steps(settings.minutes * 60, _pace(model, batches, where), batches.size, plan.dev)
        last = min(last, fit)
    every = max(1, round(last / EVALUATIONS))
    with as_user_error(
        gettext_lazy("Nothing can be written in {folder}. Name another folder.", folder=folder), way_out=None
    ):
        folder.mkdir(parents=True, exist_ok=True)
    best_weights.file(folder).unlink(missing_ok=True)  # of a run that was cut off before its first checkpoint
    said = facts | {"every": every, "dev_rows": asked}
    stated.write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return RunProgress(schedule(last)), every, asked


def _pace(model: Any, batches: FinetuneBatches, where: Precision) -> float:
    """Seconds that a step takes, guessed; nothing is learned, and no random number of the run is used up.

    The fastest is what counts: the first one is slow, and a machine may be busy for a moment. A plan that is too long
    is shortened on the way; what is looked at how often stays.
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


def _describe_start(
    start: FinetuneStart, labels: LabeledDataset, batches: FinetuneBatches, progress: RunProgress, where: Precision
) -> str:
    rows = f"{len(labels.train):,} rows to train on, {len(labels.dev):,} dev, {len(labels.test):,} test"
    what = f"{start.name}, {sum(p.numel() for p in start.model.parameters()) / 1e6:.1f} M numbers"
    numbers = "bf16" if where.bf16 else "fp32"
    goes = "goes on" if progress.step else "begins"
    return (
        f"{goes} at step {progress.step} of {progress.schedule.last}, {batches.size} rows each: {what}, {numbers};"
        f" {rows}, {len(labels.labels)} labels"
    )
