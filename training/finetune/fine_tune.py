"""From labelled texts to a saved model and its scores."""

from __future__ import annotations

from pathlib import Path

from inference.errors import UserError
from inference.files.checkpoint import WEIGHTS
from inference.settings import Settings as Machine
from probing.labelled.data_checks import fit
from probing.labelled.labeled_texts import LabeledText
from training import loop, metrics
from training.finetune import baseline, best_weights
from training.finetune.encoding import sizes
from training.finetune.export import export
from training.finetune.labeled_task import LabeledTask
from training.finetune.run import FinetuneRun
from training.finetune.run_setup import prepare_run
from training.finetune.scores import Scores, score_texts
from training.finetune.settings import FinetuneSettings, most_steps
from training.loop import RunBudget

RUN = "run"  # the folder inside the model's own where a run has its checkpoint, its best weights and its curves


def fine_tune(task: LabeledTask, model: str, settings: FinetuneSettings, folder: Path, machine: Machine) -> Scores:
    """Trains in ``folder``, or goes on there, and saves the best model with its scores; raises Refusal.

    A run that is stopped (Ctrl-C, SIGTERM) is saved too, and the same call goes on with it later.
    """
    _refuse_finished(folder)
    run = prepare_run(task.labels, model, settings, folder / RUN, machine)
    measured = fit(task.labels, lambda texts: sizes(run.tokenizer, texts), run.length)
    if not run.progress.step:
        run.metrics.write("plan", step=0, last=run.progress.schedule.last)
        if measured.cut or measured.unknown:
            run.metrics.note(measured.sentence)
    counted = _baseline_scores(task, run)
    if run.progress.step < run.progress.schedule.last or not run.progress.schedule.last:
        loop.train(run, _stint(run, settings))
    run.optimiser.state.clear()  # the checkpoint has it; the saved model is read beside what is left
    run.film = None
    found = export(task, run, settings, folder, counted, measured)
    if run.progress.step >= run.progress.schedule.last:
        for needless in (run.folder / "checkpoint.pt", best_weights.file(run.folder)):
            needless.unlink()
    return found


def _refuse_finished(folder: Path) -> None:
    """Raises Refusal for a folder that holds something else than a run to go on with."""
    begun = (folder / RUN / "checkpoint.pt").exists()
    if (folder / WEIGHTS).exists() and not begun:
        raise UserError(f"{folder} holds a finished model. Name another folder, or remove it.")
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file. Name a folder.")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / RUN).is_dir():
        raise UserError(f"{folder} holds other things. Name an empty folder, or a new one.")


def _baseline_scores(task: LabeledTask, run: FinetuneRun) -> Scores:
    """Return the baseline's scores on the test rows, and log its accuracy on the dev rows once; empty for tags.

    The baseline learns from the train rows and is not kept.
    """
    if task.labels.kind != "classify":
        return {}
    rows, dev, test = (
        [row for row in part if isinstance(row, LabeledText)]
        for part in (task.labels.train, task.labels.dev, task.labels.test)
    )
    counted = baseline.fit_baseline(rows)
    if not metrics.lines(run.metrics.file, "baseline"):
        right = counted.predict([row.text for row in dev]) == [row.label for row in dev]
        run.metrics.write("baseline", accuracy=float(right.mean()))
        run.metrics.note(f"counting words (TF-IDF and logistic regression): dev accuracy {right.mean():.3f}")
    said = [str(label) for label in counted.predict([row.text for row in test])]
    found = score_texts([row.label for row in test], said, task.labels.labels)
    return {f"baseline_{name}": found[name] for name in ("accuracy", "macro_f1")}


def _stint(run: FinetuneRun, settings: FinetuneSettings) -> RunBudget:
    """By the clock where minutes are given: those that are left, and no more steps than are wanted."""
    if settings.minutes is None or not run.progress.schedule.last:
        return RunBudget()
    left = max(0.0, settings.minutes - run.progress.seconds / 60)
    return RunBudget(finish_in=left, at_most=most_steps(settings, run.batches.in_a_pass))
