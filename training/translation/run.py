"""A translation run: it trains a tokenizer and a Marian model on sentence pairs."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import ClassVar

import torch
from transformers import MarianMTModel, PreTrainedTokenizerFast

from inference.errors import UserError
from inference.files.packages import sha256
from training import loop, schedule
from training.corpus import check_origin
from training.curves import Metrics
from training.loop import TO_THE_END, RunBudget, RunProgress, StepResult, precision
from training.schedule import optimiser
from training.translation.config import TranslationConfig
from training.translation.data import (
    HeldOut,
    Pair,
    TranslationBatches,
    learn_tokenizer,
    load_tokenizer,
    pairs,
    split,
    texts,
)
from training.translation.evaluate import (
    alignment,
    build,
    encode_sentences,
    loss,
    read,
    sacrebleu,
    score_translations,
    teacher_forcing_scores,
    translate,
)

EXAMPLE = "I am very tired today, but I will help you."


@dataclass(kw_only=True)
class TranslationRun(loop.Run):
    """A run that trains a Marian model to translate."""

    PARTS: ClassVar[tuple[str, ...]] = ("piece_loss",)

    config: TranslationConfig
    model: MarianMTModel
    batches: TranslationBatches
    held_out: list[HeldOut]
    tokenizer: PreTrainedTokenizerFast

    def learn(self) -> StepResult:
        """Return the loss of the next batch over its target tokens, from which the caller computes gradients."""
        batch = self.batches(self.progress.step)
        found = loss(*read(self.model, batch, self.precision.device), self.config.shape.smoothing)
        return StepResult(found, found[None], batch.count)

    def assess(self) -> None:
        """Score some held-out sentences, measure the alignment head, translate an example, and log all results."""
        progress = self.progress
        some = sample_held_out(self.held_out, self.loop.evaluate_pairs)
        told = teacher_forcing_scores(self.model, self.tokenizer, some, self.precision)
        sources = [one.source for one in some]
        score = score_translations(translate(self.model, self.tokenizer, sources, beams=1), some)
        seen = alignment(self.model, self.tokenizer)
        where = loop.log_position(progress)
        self.metrics.write("evaluation", **where, piece_loss=told.loss, accuracy=told.accuracy, **asdict(score))
        self.metrics.write("alignment", **where, **asdict(seen))
        spoken = translate(self.model, self.tokenizer, [EXAMPLE], beams=1)[0]
        self.metrics.note(
            f"step {progress.step}, pass {self.batches.place(progress.step)[0]}, {progress.pieces / 1e6:.2f} M pieces:"
            f" loss {told.loss:.2f}, accuracy {told.accuracy:.3f}, BLEU {score.bleu:.1f}, chrF {score.chrf:.1f} of"
            f" {score.sentences}; head {seen.layer}-{seen.head} aligns {seen.share:.2f} (own place"
            f" {seen.own_place:.2f}, diagonal {seen.diagonal:.2f}); {json.dumps(spoken, ensure_ascii=False)}"
        )


def sample_held_out(held: list[HeldOut], count: int | None) -> list[HeldOut]:
    """Return ``count`` evenly spaced held-out sentences; all if ``count`` is None or larger than their number.

    Files of pairs are often sorted by length, so the first sentences would not be representative.
    """
    count = len(held) if count is None else count
    return held[:: max(1, len(held) // count)][:count]


def train(config: TranslationConfig, stint: RunBudget = TO_THE_END) -> None:
    """Start or resume a translation run until its last step, or until the budget ``stint`` is used up.

    May raise UserError.
    """
    torch.set_num_threads(config.loop.threads)
    loop.train(prepare_run(config), stint)


def prepare_run(config: TranslationConfig) -> TranslationRun:
    """Prepare a new translation run, or resume its checkpoint.

    The tokenizer is trained if the run has none. Raise UserError if no pair is left to train on or no source is held
    out.
    """
    sacrebleu()
    train_pairs, held = split(pairs(config.pairs.path), config.data.held_out)
    if not train_pairs or not held:
        raise UserError(
            f"{config.pairs.path.name} leaves {len(train_pairs)} pairs to train on and {len(held)} sources held out;"
            " both are needed. Bring more pairs or change [data] held_out."
        )
    tokenizer = own_tokenizer(config, train_pairs)
    where = precision(config.loop.precision)
    model = build(config.shape, tokenizer, config.loop.seed).to(where.device).train()
    descent = optimiser(model, config.optimiser)
    progress = RunProgress(schedule.start(config.optimiser.warm_up, config.optimiser.steps))
    saved = config.run / "checkpoint.pt"
    if saved.exists():
        progress = loop.load(saved, model, descent)
    metrics = Metrics(config.run, progress.metrics_bytes)
    batches = read_batches(config, tokenizer, train_pairs)
    pieces = len(batches.sources.pieces) + len(batches.targets.pieces)
    metrics.note(
        f"{'resumed' if saved.exists() else 'started'} at step {progress.step}; {len(batches.sources.lengths):,} pairs"
        f" of {pieces:,} pieces; {len(held):,} sentences held out; bf16: {where.bf16}"
    )
    return TranslationRun(
        folder=config.run,
        loop=config.loop,
        learning=config.optimiser,
        config=config,
        model=model,
        optimiser=descent,
        batches=batches,
        held_out=held,
        tokenizer=tokenizer,
        precision=where,
        progress=progress,
        metrics=metrics,
    )


def own_tokenizer(config: TranslationConfig, train_pairs: list[Pair]) -> PreTrainedTokenizerFast:
    """Load the run's tokenizer, or train it on the training pairs if the run has none.

    The settings of the training are stored in text.json. Raise UserError if the configuration now differs from them.
    """
    folder, beside = config.run / "tokenizer", config.run / "text.json"
    data = config.data
    made_of = {"held_out": data.held_out, "vocabulary": data.vocabulary, "pairs": sha256(config.pairs.path)}
    if not (folder / "tokenizer.json").is_file():
        config.run.mkdir(parents=True, exist_ok=True)
        beside.write_text(json.dumps(made_of, indent=1) + "\n", encoding="utf-8")
        both = (text for pair in train_pairs for text in pair)
        learn_tokenizer(both, data.vocabulary, config.shape.positions).save_pretrained(folder)
    elif beside.is_file():
        check_origin(json.loads(beside.read_text(encoding="utf-8")), made_of, config.run)
    return load_tokenizer(folder)


def read_batches(
    config: TranslationConfig, tokenizer: PreTrainedTokenizerFast, train_pairs: list[Pair]
) -> TranslationBatches:
    """Return the batches of all training pairs whose texts are short enough.

    Raise UserError if every pair has a longer text.
    """
    rows = [encode_sentences(tokenizer, side) for side in zip(*train_pairs, strict=True)]
    fit = [pair for pair in zip(*rows, strict=True) if max(map(len, pair)) <= config.data.longest]
    if not fit:
        raise UserError(f"No pair has texts of at most {config.data.longest} pieces. Raise [data] longest.")
    sources, targets = zip(*fit, strict=True)
    return TranslationBatches(
        texts(sources), texts(targets), tokenizer.pad_token_id, config.optimiser.batch, config.loop.seed
    )
