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

from inference.building import quiet
from inference.errors import Refusal, refusing
from inference.settings import Settings as Machine
from probing.labelled.checks import fit
from probing.labelled.rows import Labels
from training import checkpoint, tables
from training.checkpoint import Progress
from training.finetune import best, characters, film
from training.finetune.answers import logits, loss
from training.finetune.batches import Batches
from training.finetune.camera import Camera
from training.finetune.drift import Drift
from training.finetune.encoding import encoded, sizes
from training.finetune.film import Film
from training.finetune.frozen import freeze
from training.finetune.opening import Start, opened
from training.finetune.run import Run
from training.finetune.settings import (
    CHARACTERS,
    DEV_ROWS,
    EVALUATIONS,
    Settings,
    batch,
    fitting,
    most_steps,
    rate,
    schedule,
)
from training.finetune.untaught import untaught
from training.metrics import Metrics
from training.optimiser import optimiser
from training.origin import same
from training.precision import Precision, precision
from wording import sentence

LOOKED_AT = 500  # texts that are checked for unknown words
TRIED = 5  # steps that the pace is guessed by before the first
REST = 1.15  # what a step takes, by what its two passes take
FACTS = "task.json"  # in a run's folder: what it was begun with


def ready(  # noqa: PLR0913  # what a run is made of, and which kind of run
    labels: Labels, model: str, settings: Settings, folder: Path, machine: Machine, made: type[Run] = Run
) -> Run:
    """The run of these texts in a folder, new or where it stopped; raises Refusal."""
    _refuse_nothing(labels)
    quiet()
    start = begun(labels, model, settings, machine)
    if model != CHARACTERS:
        _refuse_unknown(labels, start)
    torch.set_num_threads(settings.threads)  # opening a model sets the app's own number
    freeze(start.model, settings.frozen, start.name)
    filming = _film(labels, start, settings, folder)
    where = precision(settings.precision)
    start.model.to(where.device).train()
    highest = settings.rate or rate(start.model.config, labels.kind, start.fresh)
    learning = tables.Optimiser(rate=highest, betas=(0.9, 0.999))
    length = min(settings.length, start.longest or settings.length)
    batches = Batches(
        encoded(labels.train, labels.labels, start.tokenizer, length),
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
    metrics.note(_began(start, labels, batches, progress, where))
    return made(
        folder=folder,
        loop=tables.Loop(checkpoint_minutes=1.0, evaluate_steps=every, log_steps=max(1, every // 5)),
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
        dev=encoded(some, labels.labels, start.tokenizer, length),
        film=filming,
    )


def _refuse_nothing(labels: Labels) -> None:
    """Raises Refusal where there is nothing to learn, to choose by, or to tell the result on."""
    for part, rows in (("train", labels.train), ("dev", labels.dev), ("test", labels.test)):
        if not rows:
            raise Refusal(sentence("There are no {part} rows. Bring more rows, or a file of them.", part=part))
    if len(labels.labels) < 2:
        raise Refusal(
            sentence(
                "All rows have the label {label}, so there is nothing to learn. Bring others.", label=labels.labels[0]
            )
        )


def _refuse_unknown(labels: Labels, start: Start) -> None:
    """Raise Refusal if the model does not know the words of the texts, before anything is written."""
    found = fit(labels, lambda texts: sizes(start.tokenizer, texts), 0, LOOKED_AT)
    if found.unreadable:
        raise Refusal(found.unreadable)


def begun(labels: Labels, model: str, settings: Settings, machine: Machine) -> Start:
    """What the weights of a run start from; raises Refusal."""
    if model == CHARACTERS:
        return characters.start((row.text for row in labels.train), labels.kind, labels.labels, settings.seed)
    return opened(model, labels.kind, labels.labels, settings.seed, machine, settings.revision)


def _film(labels: Labels, start: Start, settings: Settings, folder: Path) -> Film | None:
    """The film of a run that begins there; None where none is wanted or can be made."""
    seen = untaught(labels, start, settings) if settings.filmed else None
    if seen is None:
        return None
    try:
        camera = Camera(start, seen)
    except Refusal:
        return None
    return Film(Drift(camera, seen.shown), folder / film.FOLDER)


def _facts(labels: Labels, model: str, settings: Settings) -> dict[str, Any]:
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

    settings: Settings
    dev: int  # rows
    folder: Path
    facts: dict[str, Any]


def _progress(
    model: Any, descent: torch.optim.AdamW, batches: Batches, where: Precision, plan: _Plan
) -> tuple[Progress, int, int]:
    """How far the run has come, after how many steps each it is assessed, and on how many dev rows."""
    settings, folder, facts = plan.settings, plan.folder, plan.facts
    saved, stated = folder / "checkpoint.pt", folder / FACTS
    if saved.exists():
        before = json.loads(stated.read_text(encoding="utf-8"))
        same(before, facts, folder)
        return checkpoint.load(saved, model, descent), before["every"], before["dev_rows"]
    torch.manual_seed(settings.seed)
    last, asked = most_steps(settings, batches.in_a_pass), min(plan.dev, DEV_ROWS)
    if settings.minutes is not None and last:
        fit, asked = fitting(settings.minutes * 60, _pace(model, batches, where), batches.size, plan.dev)
        last = min(last, fit)
    every = max(1, round(last / EVALUATIONS))
    with refusing(sentence("Nothing can be written in {folder}. Name another folder.", folder=folder), way_out=None):
        folder.mkdir(parents=True, exist_ok=True)
    best.file(folder).unlink(missing_ok=True)  # of a run that was cut off before its first checkpoint
    said = facts | {"every": every, "dev_rows": asked}
    stated.write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return Progress(schedule(last)), every, asked


def _pace(model: Any, batches: Batches, where: Precision) -> float:
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


def _began(start: Start, labels: Labels, batches: Batches, progress: Progress, where: Precision) -> str:
    rows = f"{len(labels.train):,} rows to train on, {len(labels.dev):,} dev, {len(labels.test):,} test"
    what = f"{start.name}, {sum(p.numel() for p in start.model.parameters()) / 1e6:.1f} M numbers"
    numbers = "bf16" if where.bf16 else "fp32"
    goes = "goes on" if progress.step else "begins"
    return (
        f"{goes} at step {progress.step} of {progress.schedule.last}, {batches.size} rows each: {what}, {numbers};"
        f" {rows}, {len(labels.labels)} labels"
    )
