"""The run: read, guess, learn; look at held-out text now and then; keep enough to go on after any interruption."""

from __future__ import annotations

import copy
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from types import FrameType

import torch
from transformers import BertForPreTraining, BertModel, BertTokenizerFast

from training import checkpoint, schedule
from training.batches import Batches
from training.checkpoint import Progress
from training.config import Config
from training.evaluate import evaluate
from training.hold import divergence, teach
from training.metrics import Metrics
from training.model import build, losses, read, start_folder, vocabulary
from training.optimiser import optimiser, set_rate
from training.precision import Precision, precision
from training.prepare import held_out_batches, prepare, training_batches
from training.slide import slide
from training.warmstart import warm_start

WARM_START_PAIRS = 1_024
EVALUATION_SEED = 2_024
PACE_STEPS = 50  # steps measured before the first plan by the clock


@dataclass
class Run:
    """A run that is ready to take its next step."""

    config: Config
    model: BertForPreTraining
    optimiser: torch.optim.AdamW
    batches: Batches
    held_out: dict[str, Batches]  # by source
    tokenizer: BertTokenizerFast
    precision: Precision
    progress: Progress
    metrics: Metrics
    teacher: BertModel | None  # the first encoder, where attention is held to its maps
    sums: torch.Tensor = field(default_factory=lambda: torch.zeros(3))  # of the losses since the last line
    summed: int = 0  # steps that they are of


def pretrain(config: Config, *, stop_after: float | None = None, finish_in: float | None = None) -> None:
    """Starts the run or goes on with it, until its last step.

    ``stop_after`` minutes it stops, to be resumed. ``finish_in`` plans by the clock instead of by steps: the rate
    reaches 0, and the run ends, about that many minutes from now, planned anew at every checkpoint.
    """
    torch.set_num_threads(config.loop.threads)
    run = ready(config)
    with _stop_signals() as stopped:
        _steps(run, stopped, stop_after, finish_in)


def ready(config: Config) -> Run:
    """Prepares the text, builds the model, and takes up the last checkpoint if there is one."""
    folder = start_folder(config.start)
    prepare(config, folder / "tokenizer.json")
    known, seed = vocabulary(folder), config.loop.seed
    batches = training_batches(config, known, seed)
    where = precision(config.loop.precision)
    model, trained = build(folder, seed)
    model.to(where.device).train()
    teacher = copy.deepcopy(model.bert).eval() if config.hold.weight else None
    descent = optimiser(model, config.optimiser)
    progress = Progress(schedule.start(config.optimiser.warm_up, config.optimiser.steps))
    saved = config.run / "checkpoint.pt"
    if saved.exists():
        progress = checkpoint.load(saved, model, descent)
    elif trained:
        first, rate = training_batches(config, known, seed + 1), config.masking.rate[0]
        with where.autocast():
            warm_start(
                model, (first(step, rate) for step in range(WARM_START_PAIRS // first.size)), first.corpus.counts
            )
    metrics = Metrics(config.run, progress.metrics_bytes)
    metrics.note(f"{'resumed' if saved.exists() else 'started'} at step {progress.step}; bf16: {where.bf16}")
    held_out = held_out_batches(config, known, EVALUATION_SEED)
    tokenizer = BertTokenizerFast.from_pretrained(folder)
    return Run(config, model, descent, batches, held_out, tokenizer, where, progress, metrics, teacher)


def _steps(run: Run, stopped: list[bool], stop_after: float | None, finish_in: float | None) -> None:
    """Takes steps until the last, or until the run is stopped."""
    settings, progress = run.config.loop, run.progress
    began = saved = time.monotonic()
    before, first, planned = progress.seconds, progress.step, False
    if progress.step == 0:
        assess(run)
    while progress.step < progress.schedule.last:
        step(run)
        now = time.monotonic()
        progress.seconds = before + now - began
        if progress.step % settings.log_steps == 0:
            _log(run)
        if progress.step % settings.evaluate_steps == 0:
            assess(run)
        due = now - saved > settings.checkpoint_minutes * 60
        if finish_in is not None and (due or (not planned and progress.step - first >= PACE_STEPS)):
            left = finish_in * 60 - (now - began)
            _plan(run, left, (now - began) / (progress.step - first))
            planned = True
        over = stop_after is not None and now - began > stop_after * 60
        if due or over or stopped:
            _save(run)
            saved = now
        if over or stopped:
            run.metrics.note(f"stopped at step {progress.step} of {progress.schedule.last}")
            return
    _save(run)
    assess(run)
    run.metrics.note(f"finished at step {progress.step}")


def step(run: Run) -> None:
    """Reads one batch and learns from it."""
    settings, progress = run.config.optimiser, run.progress
    batch = run.batches(progress.step, masking_rate(run.config, progress))
    hold = run.config.hold
    with run.precision.autocast():
        reading = read(run.model, batch, run.precision.device, attentions=run.teacher is not None)
        parts = torch.stack([*losses(reading, batch), torch.zeros((), device=run.precision.device)])
        if run.teacher is not None:
            parts[2] = divergence(teach(run.teacher, batch, run.precision.device, hold.rows), reading.attentions)
    (parts[0] + parts[1] + hold.weight * parts[2]).backward()
    torch.nn.utils.clip_grad_norm_(run.model.parameters(), settings.clip, foreach=True)
    set_rate(run.optimiser, progress.schedule.share(progress.step))
    run.optimiser.step()
    run.optimiser.zero_grad(set_to_none=True)
    run.sums += parts.detach().cpu()
    run.summed += 1
    progress.step += 1
    progress.pieces += batch.count


def masking_rate(config: Config, progress: Progress) -> float:
    """The share of pieces to be guessed at this step, on a straight line from first to last."""
    first, last = config.masking.rate
    return first + (last - first) * min(1.0, progress.step / progress.schedule.last)


def assess(run: Run) -> None:
    """Evaluates on held-out text and on the slide's sentence, and writes both down."""
    progress = run.progress
    at = {"step": progress.step, "pieces": progress.pieces, "seconds": round(progress.seconds, 1)}
    seen = slide(run.model, run.tokenizer)
    said = [f"step {progress.step}, {progress.pieces / 1e6:.2f} M pieces"]
    for name, batches in run.held_out.items():
        score = evaluate(run.model, batches, run.config.loop.evaluate_pairs, run.batches.corpus.counts, run.precision)
        run.metrics.write("evaluation", **at, source=name, **asdict(score))
        said.append(
            f"{name}: loss {score.piece_loss:.2f}, top-1 {score.top1:.3f}, top-5 {score.top5:.3f} of {score.masked},"
            f" next sentence {score.next_sentence:.3f} of {score.pairs}"
        )
    run.metrics.write("slide", **at, **asdict(seen))
    said.append(f"slide: best {seen.layer}-{seen.head} {seen.weight:.2f}, watched {seen.watched}")
    run.metrics.note("; ".join(said))


def _log(run: Run) -> None:
    progress = run.progress
    piece_loss, pair_loss, hold_loss = (run.sums / run.summed).tolist()
    run.sums.zero_()
    run.summed = 0
    run.metrics.write(
        "step",
        step=progress.step,
        pieces=progress.pieces,
        seconds=round(progress.seconds, 1),
        piece_loss=round(piece_loss, 4),
        pair_loss=round(pair_loss, 4),
        hold_loss=round(hold_loss, 6),
        share=round(progress.schedule.share(progress.step - 1), 4),
        masking=round(masking_rate(run.config, progress), 4),
    )


def _plan(run: Run, seconds: float, pace: float) -> None:
    """Plans the last step for the seconds that are left, at the pace measured, in seconds a step."""
    progress = run.progress
    last = progress.step + max(1, round(seconds / pace))
    progress.schedule = progress.schedule.planned(progress.step, last)
    run.metrics.write("plan", step=progress.step, last=progress.schedule.last, seconds_a_step=round(pace, 3))
    run.metrics.note(f"planned at step {progress.step}: last step {progress.schedule.last}, {pace:.2f} s a step")


def _save(run: Run) -> None:
    run.progress.metrics_bytes = run.metrics.size
    checkpoint.save(run.config.run / "checkpoint.pt", run.model, run.optimiser, run.progress)


@contextmanager
def _stop_signals() -> Iterator[list[bool]]:
    """A list that is no longer empty once the process was asked to stop; the step under way is finished first."""
    asked: list[bool] = []

    def note(_number: int, _frame: FrameType | None) -> None:
        asked.append(True)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
