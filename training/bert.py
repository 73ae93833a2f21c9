"""BERT's pre-training: guess masked pieces, judge pairs, and hold the attention to what it was where that is asked."""

from __future__ import annotations

import copy
from dataclasses import asdict, dataclass
from typing import ClassVar

import torch
from transformers import BertForPreTraining, BertModel, BertTokenizerFast

from training import checkpoint, loop, schedule
from training.attention_distillation import divergence, teach
from training.batches import PretrainingBatches
from training.checkpoint import RunProgress
from training.config import PretrainingConfig
from training.evaluate import evaluate
from training.head_initialization import warm_start
from training.loop import TO_THE_END, RunBudget, StepResult
from training.metrics import Metrics
from training.model import build, fits, losses, read, start_folder, vocabulary
from training.optimizer import optimiser
from training.precision import precision
from training.prepare import held_out_batches, prepare, training_batches
from training.pronoun_score import pronoun_score

WARM_START_PAIRS = 1_024
EVALUATION_SEED = 2_024


@dataclass(kw_only=True)
class PretrainingRun(loop.Run):
    """A run of BERT's pre-training."""

    PARTS: ClassVar[tuple[str, ...]] = ("piece_loss", "pair_loss", "hold_loss")

    config: PretrainingConfig
    model: BertForPreTraining
    batches: PretrainingBatches
    held_out: dict[str, PretrainingBatches]  # by source
    tokenizer: BertTokenizerFast
    teacher: BertModel | None  # the first encoder, where attention is held to its maps

    def learn(self) -> StepResult:
        """Loss of the masked pieces, of the pairs, and of attention that moved."""
        device, hold = self.precision.device, self.config.hold
        batch = self.batches(self.progress.step, self.masking_rate())
        reading = read(self.model, batch, device, attentions=self.teacher is not None)
        parts = torch.stack([*losses(reading, batch), torch.zeros((), device=device)])
        if self.teacher is not None:
            parts[2] = divergence(teach(self.teacher, batch, device, hold.rows), reading.attentions)
        return StepResult(parts[0] + parts[1] + hold.weight * parts[2], parts, batch.count)

    def settings(self) -> dict[str, float]:
        """The masking rate, which may change on the way."""
        return {"masking": round(self.masking_rate(), 4)}

    def masking_rate(self) -> float:
        """The share of pieces to be guessed at this step, on a straight line from first to last."""
        first, last = self.config.masking.rate
        return first + (last - first) * min(1.0, self.progress.step / self.progress.schedule.last)

    def assess(self) -> None:
        """Evaluates on held-out text and on the slide's sentence, and writes both down."""
        progress, counts = self.progress, self.batches.corpus.counts
        seen = pronoun_score(self.model, self.tokenizer)
        said = [f"step {progress.step}, {progress.pieces / 1e6:.2f} M pieces"]
        for name, batches in self.held_out.items():
            score = evaluate(self.model, batches, self.loop.evaluate_pairs, counts, self.precision)
            self.metrics.write("evaluation", **loop.log_position(progress), source=name, **asdict(score))
            said.append(
                f"{name}: loss {score.piece_loss:.2f}, top-1 {score.top1:.3f}, top-5 {score.top5:.3f} of"
                f" {score.masked}, next sentence {score.next_sentence:.3f} of {score.pairs}"
            )
        self.metrics.write("slide", **loop.log_position(progress), **asdict(seen))
        said.append(f"slide: best {seen.layer}-{seen.head} {seen.weight:.2f}, watched {seen.watched}")
        self.metrics.note("; ".join(said))


def pretrain(config: PretrainingConfig, stint: RunBudget = TO_THE_END) -> None:
    """Starts the run or goes on with it, until its last step or as the stint says; raises Refusal."""
    torch.set_num_threads(config.loop.threads)
    loop.train(prepare_run(config), stint)


def prepare_run(config: PretrainingConfig) -> PretrainingRun:
    """Prepares the text, builds the model, and takes up the last checkpoint if there is one."""
    folder = start_folder(config.start)
    fits(folder, config.data.length)
    prepare(config, folder / "tokenizer.json")
    known, seed = vocabulary(folder), config.loop.seed
    batches = training_batches(config, known, seed)
    where = precision(config.loop.precision)
    model, trained = build(folder, seed)
    model.to(where.device).train()
    teacher = copy.deepcopy(model.bert).eval() if config.hold.weight else None
    descent = optimiser(model, config.optimiser, config.optimiser.layer_decay)
    progress = RunProgress(schedule.start(config.optimiser.warm_up, config.optimiser.steps))
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
    return PretrainingRun(
        folder=config.run,
        loop=config.loop,
        learning=config.optimiser,
        config=config,
        model=model,
        optimiser=descent,
        batches=batches,
        held_out=held_out_batches(config, known, EVALUATION_SEED),
        tokenizer=BertTokenizerFast.from_pretrained(folder),
        precision=where,
        progress=progress,
        metrics=metrics,
        teacher=teacher,
    )
