"""A run that teaches a model a task: what a batch teaches, how the dev rows are told, and what is kept of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from probing.labelled.labeled_texts import OUTSIDE, Kind
from training import loop, metrics
from training.finetune import best_weights
from training.finetune.batches import FinetuneBatches
from training.finetune.encoding import Encoded
from training.finetune.predictions import LabelShares, answers, classes, logits, loss, tags
from training.finetune.scores import Scores, score_tags, score_texts
from training.finetune.snapshots import Snapshots
from training.loop import StepResult

MEASURE = {"classify": "accuracy", "tag": "f1"}  # what a checkpoint is chosen by
NAMED = {"classify": "accuracy", "tag": "F1 of names"}


@dataclass(kw_only=True)
class FinetuneRun(loop.Run):
    """A run that teaches a task."""

    PARTS: ClassVar[tuple[str, ...]] = ("loss",)

    kind: Kind
    labels: tuple[str, ...]
    start: str  # what the weights start from
    tokenizer: Any
    length: int  # pieces that are read of a text
    batches: FinetuneBatches
    dev: Encoded
    film: Snapshots | None = None

    def learn(self) -> StepResult:
        """Loss of the labels of the next batch."""
        batch = self.batches(self.progress.step)
        found = loss(logits(self.model, batch, self.precision.device), batch)
        return StepResult(found, found[None], batch.count)

    def assess(self) -> None:
        """Scores the dev rows, keeps the weights if they are the best so far, films, and says how it goes."""
        said = answers(self.model, self.dev, self.batches.padding, self.precision)
        found = scores(self.kind, self.dev, said, self.labels)
        reached = best_weights.Mark(found[MEASURE[self.kind]], -said.loss, self.progress.step)
        kept = best_weights.save_if_better(self.folder, self.model, reached)
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
        """The one label that was said of everything, where there is more than one to say."""
        columns = zip(*found["confusion"], strict=True)
        said = [label for label, column in zip(found["labels"], columns, strict=True) if any(column)]
        true = sum(any(row) for row in found["confusion"])
        return said[0] if len(said) == 1 and true > 1 else None

    def _notice(self, only: str | None) -> None:
        """Says so, once, where one label is said of everything, now and at the evaluation before."""
        before = [row["only"] for row in metrics.lines(self.metrics.file, "evaluation") if row["step"]]
        if only is None or before[-1:] != [only] or before[-2:-1] == [only]:
            return
        self.metrics.write("collapse", step=self.progress.step, only=only)
        what = "nothing is tagged" if only == OUTSIDE and self.kind == "tag" else f"every text is called {only}"
        self.metrics.note(f"twice running {what}: try a smaller rate, more minutes or more rows")

    def _line(self, reached: best_weights.Mark, kept: bool) -> str:
        """Where the run is, for people."""
        progress = self.progress
        learned = metrics.lines(self.metrics.file, "step")
        parts = [f"step {progress.step} of {progress.schedule.last}"]
        if learned:
            parts.append(f"loss {learned[-1]['loss']:.3f}")
        parts.append(f"dev {NAMED[self.kind]} {reached.score:.3f}{' (best so far)' if kept else ''}")
        if progress.step:
            left = (progress.schedule.last - progress.step) * progress.seconds / progress.step
            parts.append(f"{left / 60:.1f} minutes left")
        return ", ".join(parts)


def scores(kind: Kind, rows: Encoded, said: LabelShares, labels: tuple[str, ...]) -> Scores:
    """How well a model's answers tell the rows' labels."""
    true = [tuple(labels[number] for number in rows.labels[row]) for row in range(len(rows))]
    if kind == "classify" or rows.places is None:
        return score_texts([label for (label,) in true], classes(said, labels), labels)
    return score_tags(true, [told for told, _ in tags(said, rows.places, labels)])
