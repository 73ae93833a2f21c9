"""BERT pre-training: its corpora, its loss, the evaluation on held-out text, and the pronoun score."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import BertForPreTraining, BertModel, BertTokenizerFast

from inference.files.packages import sha256
from training import corpus, loop, schedule
from training.batches import PretrainingBatches, Vocabulary
from training.config import PretrainingConfig, TextSource
from training.corpus import check_origin, documents, held_out
from training.curves import Metrics
from training.loop import TO_THE_END, Precision, RunBudget, RunProgress, StepResult, precision
from training.model import build, divergence, fits, losses, read, start_folder, teach, vocabulary, warm_start
from training.schedule import optimiser

TEXT = "The animal didn't cross the street because it was too tired."
QUERY, KEY = "it", "animal"
WATCHED = ((3, 1), (5, 11))  # (layer, head) of the embedded encoder's coreference heads, counted from 0


@dataclass(frozen=True)
class PronounScore:
    """The head that gives the largest attention weight from "it" to "animal" in a test sentence, and the weight.

    ``watched`` has the weights of two known coreference heads by name, such as "3-1". Layers and heads count from 0.
    """

    layer: int
    head: int
    weight: float  # the largest weight of all heads
    watched: dict[str, float]


@torch.no_grad()
def pronoun_score(model: BertForPreTraining, tokenizer: BertTokenizerFast) -> PronounScore:
    """Find the head with the largest attention weight from "it" to "animal" in the sentence ``TEXT``."""
    encoded = tokenizer(TEXT, return_tensors="pt").to(model.device)
    tokens = tokenizer.convert_ids_to_tokens(encoded["input_ids"][0])
    model.eval()
    maps = model.bert(**encoded, output_attentions=True).attentions
    model.train()
    weights = torch.stack(maps)[:, 0, :, tokens.index(QUERY), tokens.index(KEY)]  # (layer, head)
    layer, head = divmod(int(weights.argmax()), weights.shape[1])
    watched = {
        f"{at}-{of}": float(weights[at, of]) for at, of in WATCHED if at < len(weights) and of < weights.shape[1]
    }
    return PronounScore(layer, head, float(weights.max()), watched)


RATE = 0.15  # masking rate of the evaluation, independent of the training's


@dataclass(frozen=True)
class PretrainingScore:
    """Scores of a model on a held-out source; accuracies are between 0 and 1.

    ``masked`` is the number of tokens that were replaced by [MASK]; ``chosen`` also counts the 10 % that were
    replaced by a random token and the 10 % that stayed unchanged. The baseline always predicts the most frequent
    tokens of the training text.
    """

    masked: int
    top1: float
    top5: float
    baseline_top1: float
    baseline_top5: float
    chosen: int
    chosen_top1: float
    chosen_top5: float
    pairs: int
    next_sentence: float  # accuracy over the pairs
    piece_loss: float  # nats, over all chosen tokens
    pair_loss: float  # nats


@torch.no_grad()
def evaluate(
    model: BertForPreTraining, batches: PretrainingBatches, pairs: int, counts: NDArray[np.int64], precision: Precision
) -> PretrainingScore:
    """Score a model on the first ``pairs`` held-out sentence pairs, rounded down to whole batches.

    If there are fewer pairs, all are used. ``counts`` contains the frequency of each token id in the training text.
    """
    steps = max(1, min(pairs, len(batches.spans)) // batches.size)
    frequent = torch.from_numpy(np.argsort(-counts, kind="stable")[:5].copy())
    model.eval()
    rows, sums = [], np.zeros(3)
    for step in range(steps):
        batch = batches(step, RATE)
        with precision.autocast():
            reading = read(model, batch, precision.device)
        labels = torch.from_numpy(batch.masked.labels)
        best = reading.logits.float().topk(5, dim=1).indices.cpu()
        rows.append(
            torch.stack(
                [
                    torch.from_numpy(batch.masked.shown) == 0,
                    best[:, 0] == labels,
                    (best == labels[:, None]).any(dim=1),
                    labels == frequent[0],
                    torch.isin(labels, frequent),
                ],
                dim=1,
            ).numpy()
        )
        right = (reading.follows.argmax(dim=1).cpu().numpy() == batch.random).sum()
        piece_loss, pair_loss = losses(reading, batch)
        sums += [right, float(piece_loss), float(pair_loss)]
    model.train()
    answers = np.concatenate(rows)  # (chosen, 5)
    shown = answers[answers[:, 0]].mean(axis=0)
    return PretrainingScore(
        masked=int(answers[:, 0].sum()),
        top1=float(shown[1]),
        top5=float(shown[2]),
        baseline_top1=float(shown[3]),
        baseline_top5=float(shown[4]),
        chosen=len(answers),
        chosen_top1=float(answers[:, 1].mean()),
        chosen_top5=float(answers[:, 2].mean()),
        pairs=steps * batches.size,
        next_sentence=float(sums[0] / (steps * batches.size)),
        piece_loss=float(sums[1] / steps),
        pair_loss=float(sums[2] / steps),
    )


WARM_START_PAIRS = 1_024
EVALUATION_SEED = 2_024


@dataclass(kw_only=True)
class PretrainingRun(loop.Run):
    """A run of BERT pre-training."""

    PARTS: ClassVar[tuple[str, ...]] = ("piece_loss", "pair_loss", "hold_loss")

    config: PretrainingConfig
    model: BertForPreTraining
    batches: PretrainingBatches
    held_out: dict[str, PretrainingBatches]  # by source
    tokenizer: BertTokenizerFast
    teacher: (
        BertModel | None
    )  # a frozen copy of the initial encoder for attention distillation; None without distillation

    def learn(self) -> StepResult:
        """Return the loss of the next batch, from which the caller computes gradients.

        It is the sum of the masked-LM loss, the next-sentence loss and, with a weight, the loss of attention
        distillation.
        """
        device, hold = self.precision.device, self.config.hold
        batch = self.batches(self.progress.step, self.masking_rate())
        reading = read(self.model, batch, device, attentions=self.teacher is not None)
        parts = torch.stack([*losses(reading, batch), torch.zeros((), device=device)])
        if self.teacher is not None:
            parts[2] = divergence(teach(self.teacher, batch, device, hold.rows), reading.attentions)
        return StepResult(parts[0] + parts[1] + hold.weight * parts[2], parts, batch.count)

    def settings(self) -> dict[str, float]:
        """Return the current masking rate, which can change during the run."""
        return {"masking": round(self.masking_rate(), 4)}

    def masking_rate(self) -> float:
        """Return the fraction of tokens to predict at the current step.

        It changes linearly from the first to the last configured rate.
        """
        first, last = self.config.masking.rate
        return first + (last - first) * min(1.0, self.progress.step / self.progress.schedule.last)

    def assess(self) -> None:
        """Evaluate on held-out text and on the pronoun sentence, and log the results."""
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
    """Start or resume BERT pre-training until the last step, or until the budget ``stint`` is used up.

    May raise UserError.
    """
    torch.set_num_threads(config.loop.threads)
    loop.train(prepare_run(config), stint)


def prepare_run(config: PretrainingConfig) -> PretrainingRun:
    """Tokenise the texts of a run, build its model, and load its latest checkpoint if there is one."""
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
        progress = loop.load(saved, model, descent)
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


def training_text(config: PretrainingConfig) -> Path:
    """Return the path of the folder with the tokenised training texts of a run."""
    return config.run / "corpus" / "train"


def held_out_text(config: PretrainingConfig, source: TextSource) -> Path:
    """Return the path of the folder with the tokenised held-out texts of a source."""
    return config.run / "corpus" / f"held-out-{source.name}"


def prepare(config: PretrainingConfig, tokenizer_file: Path) -> None:
    """Tokenise every corpus of the configuration that does not exist yet.

    A document is held out by a hash of its name, so every call holds out the same documents. Raise UserError if an
    existing corpus was made of other sources, another held-out share or with another tokenizer.
    """
    share, every = config.data.held_out, {source.name: source.path.name for source in config.sources}
    made_of = {"held_out": share, "sources": every}
    wanted: list[tuple[Path, tuple[TextSource, ...], bool]] = [
        (held_out_text(config, source), (source,), True) for source in config.sources
    ]
    wanted.append((training_text(config), config.sources, False))
    for folder, _, _ in wanted:
        if folder.exists():
            check_origin(corpus.facts(folder), {**made_of, "tokenizer": sha256(tokenizer_file)}, folder)
    for folder, sources, held in wanted:
        if not folder.exists():
            corpus.write(_select_documents(sources, share, held=held), tokenizer_file, folder, made_of)


def training_batches(config: PretrainingConfig, vocabulary: Vocabulary, seed: int) -> PretrainingBatches:
    """Return the training batches of a run, in an order drawn from the seed."""
    return PretrainingBatches(
        corpus.read(training_text(config)),
        vocabulary,
        config.data.length,
        config.optimiser.batch,
        seed,
        config.data.short,
        config.masking.whole_words,
    )


def held_out_batches(config: PretrainingConfig, vocabulary: Vocabulary, seed: int) -> dict[str, PretrainingBatches]:
    """Return the evaluation batches by name of the source: full-length pairs with single tokens masked."""
    length, size = config.data.length, config.optimiser.batch
    return {
        source.name: PretrainingBatches(corpus.read(held_out_text(config, source)), vocabulary, length, size, seed)
        for source in config.sources
    }


def _select_documents(sources: tuple[TextSource, ...], share: float, *, held: bool) -> Iterator[tuple[str, str]]:
    for source in sources:
        for name, text in documents(source.path):
            if held_out(full := f"{source.name}/{name}", share) is held:
                yield full, text
