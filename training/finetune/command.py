"""The commands `python -m training classify` and `python -m training tag`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from inference.backend import LocalBackend
from inference.errors import UserError
from inference.files.checkpoint import WEIGHTS
from inference.request import EMBEDDED
from inference.settings import Settings as Machine
from inference.settings import cores
from probing.command import ensure_downloaded, open_backend, print_code_notes
from probing.labelled.columns import Columns
from probing.labelled.data_checks import fit
from probing.labelled.labeled_texts import LabeledText
from training import curves, loop
from training.config import Amount, Count, Positive, Range, Whole
from training.finetune import evaluation
from training.finetune.data import LabeledTask, sizes
from training.finetune.evaluation import Scores, score_texts
from training.finetune.export import export
from training.finetune.settings import CHARACTERS, FinetuneSettings, most_steps
from training.finetune.trainer import FinetuneRun, best_weights_file, prepare_run
from training.loop import RunBudget

if TYPE_CHECKING:
    from training.finetune.evaluation import Scores

RUN = "run"  # subfolder of the model's folder with checkpoint, best weights and metrics


def fine_tune(task: LabeledTask, model: str, settings: FinetuneSettings, folder: Path, machine: Machine) -> Scores:
    """Start or resume a fine-tuning run in ``folder``, save the best model, and return its scores.

    If Ctrl-C or SIGTERM stops the training, the best model so far is saved, and the same call resumes it later. May
    raise UserError.
    """
    refuse_finished(folder)
    run = prepare_run(task.labels, model, settings, folder / RUN, machine)
    measured = fit(task.labels, lambda texts: sizes(run.tokenizer, texts), run.length)
    if not run.progress.step:
        run.metrics.write("plan", step=0, last=run.progress.schedule.last)
        if measured.cut or measured.unknown:
            run.metrics.note(measured.sentence)
    counted = _baseline_scores(task, run)
    if run.progress.step < run.progress.schedule.last or not run.progress.schedule.last:
        loop.train(run, time_budget(run, settings))
    run.optimiser.state.clear()  # the checkpoint contains this state; free it before opening the saved model
    run.film = None
    found = export(task, run, settings, folder, counted, measured)
    remove_checkpoints(run)
    return found


def remove_checkpoints(run: FinetuneRun) -> None:
    """Delete the checkpoint and the best weights in a run's folder if the run has reached its last step.

    An unfinished run keeps both, so that it can be resumed.
    """
    if run.progress.step >= run.progress.schedule.last:
        for needless in (run.folder / "checkpoint.pt", best_weights_file(run.folder)):
            needless.unlink()


def refuse_finished(folder: Path) -> None:
    """Raise UserError unless ``folder`` is missing, empty, or contains an unfinished run."""
    begun = (folder / RUN / "checkpoint.pt").exists()
    if (folder / WEIGHTS).exists() and not begun:
        raise UserError(f"{folder} holds a finished model. Name another folder, or remove it.")
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file. Name a folder.")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / RUN).is_dir():
        raise UserError(f"{folder} holds other things. Name an empty folder, or a new one.")


def _baseline_scores(task: LabeledTask, run: FinetuneRun) -> Scores:
    """Return the baseline's scores on the test rows, and log its accuracy on the dev rows once.

    ``baseline_right`` lists, for each test row, whether the baseline's label is right. The baseline is fitted on the
    train rows and is not saved. There is no baseline for tags: the result is empty.
    """
    if task.labels.kind != "classify":
        return {}
    rows, dev, test = (
        [row for row in part if isinstance(row, LabeledText)]
        for part in (task.labels.train, task.labels.dev, task.labels.test)
    )
    counted = evaluation.fit_baseline(rows)
    if not curves.lines(run.metrics.file, "baseline"):
        right = counted.predict([row.text for row in dev]) == [row.label for row in dev]
        run.metrics.write("baseline", accuracy=float(right.mean()))
        run.metrics.note(f"counting words (TF-IDF and logistic regression): dev accuracy {right.mean():.3f}")
    said = [str(label) for label in counted.predict([row.text for row in test])]
    found = score_texts([row.label for row in test], said, task.labels.labels)
    right = [label == row.label for label, row in zip(said, test, strict=True)]
    return {f"baseline_{name}": found[name] for name in ("accuracy", "macro_f1")} | {"baseline_right": right}


def time_budget(run: FinetuneRun, settings: FinetuneSettings) -> RunBudget:
    """Return the limits of a run: its remaining minutes, and its maximum number of steps.

    There are no limits if ``settings.minutes`` is None, or if the run is planned with no steps.
    """
    if settings.minutes is None or not run.progress.schedule.last:
        return RunBudget()
    left = max(0.0, settings.minutes - run.progress.seconds / 60)
    return RunBudget(finish_in=left, at_most=most_steps(settings, run.batches.in_a_pass))


KINDS = {
    "classify": "teach a model the classes of texts: CSV, TSV, JSON Lines or Parquet with the columns text and label",
    "tag": "teach a model to tag words: CoNLL columns, the word first and its tag last, an empty line after each text;"
    " or a table with the columns Word and Tag; or lists of tokens and tags in JSON Lines or Parquet",
}
# Allowed ranges of numeric options.
NUMBERS = {
    "minutes": Positive,
    "seed": Whole,
    "stride": Whole,
    "length": Annotated[int, Range("at least 8", lambda number: number >= 8)],
    "rate": Positive,
    "epochs": Amount,
    "frozen": Whole,
    "threads": Count,
}


def add(commands: Any) -> None:
    """Add the commands `classify` and `tag` to the argument parser."""
    for name, what in KINDS.items():
        command = commands.add_parser(name, help=what, description=what)
        command.add_argument("train", metavar="TRAIN", help="a file, or the name of a set that comes along")
        for part in ("text", "label"):
            command.add_argument(
                f"--{part}-column",
                metavar="NAME",
                help=f"that holds the {part}s, or its number from 1; found if left out",
            )
        command.add_argument("--encoding", default="", metavar="NAME", help="of the files; found if left out")
        add_run_options(command, length=64)


def add_run_options(command: argparse.ArgumentParser, length: int) -> None:
    """Add the options that all fine-tuning commands share; ``length`` is the default number of tokens."""
    for part, use in (("dev", "the checkpoint is chosen by"), ("test", "the result is told on, once")):
        command.add_argument(
            f"--{part}", type=Path, metavar="FILE", help=f"rows that {use}; divided from TRAIN if left out"
        )
    command.add_argument(
        "--model", default=EMBEDDED, metavar="ID",
        help="a model by its name, a folder, or characters: a small one from nothing (%(default)s)",
    )  # fmt: skip
    command.add_argument("--download", action="store_true", help="fetch a hub model that is not on this machine")
    command.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where the model is saved")
    command.add_argument("--minutes", type=float, default=3.0, help="of training at most (%(default)s)")
    command.add_argument("--epochs", type=float, default=3.0, help="passes over TRAIN at most (%(default)s)")
    command.add_argument("--seed", type=int, default=0, help="of the split, the head and the order (%(default)s)")
    command.add_argument("--length", type=int, default=length, help="pieces of a text that are read (%(default)s)")
    command.add_argument("--rate", type=float, help="the highest rate; found from the model if left out")
    command.add_argument("--frozen", type=int, default=0, metavar="LAYERS", help="that stay as they are, from below")
    command.add_argument("--threads", type=int, default=cores(), help="of the processor (%(default)s)")
    command.add_argument("--json", type=Path, metavar="FILE", help="where the scores are written, too")


def run(asked: argparse.Namespace) -> None:
    """Run `classify` or `tag` with parsed arguments; may raise UserError."""
    from training.finetune.data import task

    check_places(asked)
    backend, model = open_backend(asked.model)
    given = {field.name: getattr(asked, field.name) for field in fields(FinetuneSettings) if hasattr(asked, field.name)}
    columns = Columns(asked.text_column, asked.label_column)
    labelled = task(asked.command, asked.train, asked.dev, asked.test, asked.seed, columns, asked.encoding)
    for sentence in labelled.notes:
        print(sentence)
    settings = FinetuneSettings(**given)
    run_to_end(
        asked, backend, model, lambda: fine_tune(labelled, model, settings, asked.out, backend.settings), summary
    )


def run_to_end(
    asked: argparse.Namespace,
    backend: LocalBackend,
    model: str,
    train: Callable[[], Scores],
    summarize: Callable[[Scores], str],
) -> None:
    """Fine-tune a model, print a summary of its scores, and write them to the file that --json names.

    ``train`` trains the model and returns its scores; ``summarize`` formats them. A hub model is downloaded first if it
    is missing. May raise UserError.
    """
    if model != CHARACTERS:
        ensure_downloaded(backend, model, None, asked.download)
        print_code_notes(backend, model, None)
    try:
        found = train()
    except KeyboardInterrupt as stopped:  # the loop handles signals itself; this one came before or after it
        raise UserError("Stopped. The same command goes on from the last checkpoint, if there is one.") from stopped
    if asked.json is not None:
        asked.json.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(summarize(found))


def check_places(asked: argparse.Namespace) -> None:
    """Raise UserError if the scores cannot be written to the file that --json names."""
    if asked.json is not None and (asked.json.is_dir() or not asked.json.absolute().parent.is_dir()):
        raise UserError(f"{asked.json} cannot be written. Give a file in a folder that exists.")


def summary(found: Scores) -> str:
    """Format the scores of a run as lines for a terminal."""
    test = found["test"]
    wide = max(map(len, (*test["classes"], "")))
    names = ("precision", "recall", "f1", "support")
    lines = [f"{'':{wide}}  {'  '.join(f'{name:>9}' for name in names)}"]
    for label, one in test["classes"].items():
        lines.append(f"{label:{wide}}  {'  '.join(f'{one[n]:9.3f}' for n in names[:3])}  {one['support']:9,}")
    whole = ("accuracy", "precision", "recall", "f1", "macro_f1", "baseline_accuracy")
    lines.append("test: " + ", ".join(f"{name} {test[name]:.3f}" for name in whole if name in test))
    if test.get("baseline_accuracy", -1.0) >= test["accuracy"]:
        lines.append("Counting words (TF-IDF and logistic regression) tells these classes as well or better.")
    if (cut := found.get("cut", {})).get("texts"):
        lines.append(f"{cut['texts']:,} of {cut['of']:,} texts are longer than {cut['length']} tokens and were cut.")
    if not found["finished"]:
        lines.append("Stopped before the last step; the same command goes on.")
    return "\n".join(lines)
