"""The command `python -m training answer`, which fine-tunes a model on questions in SQuAD's JSON format."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from attention.answer_windows import LENGTH, SHORTEST, STRIDE, BestSpans
from inference.errors import UserError
from inference.settings import Settings as Machine
from probing.command import open_backend
from probing.labelled.answer_scores import baseline_scores, score_answer, score_answers
from probing.labelled.squad import QuestionSet, load_questions
from training import loop, schedule
from training.export import SCORES, write_checksums
from training.finetune.answering import (
    AnswerRun,
    QuestionWindows,
    answer_questions,
    answer_texts,
    encode_questions,
    prepare_answers,
)
from training.finetune.command import (
    RUN,
    add_run_options,
    check_places,
    refuse_finished,
    remove_checkpoints,
    run_to_end,
    time_budget,
)
from training.finetune.evaluation import Scores
from training.finetune.export import PREDICTIONS, count_scorings, describe_run, markdown_cell, recipe, save
from training.finetune.model_setup import reopen_model
from training.finetune.settings import FinetuneSettings
from training.finetune.trainer import load_best_weights, read_mark
from training.loop import precision

NAME: Final = "answer"
ABOUT = (
    "teach a model to mark the answer to a question in a passage: files in SQuAD's JSON format, version 1.1 or 2.0"
    " (with is_impossible)"
)
TEMPLATE = """---
license: other
pipeline_tag: question-answering
---

# {title}

Marks the answer to a question in a passage. It started from {start}, and whatever binds those weights binds these.
{no_answer}

```python
from transformers import AutoModelForQuestionAnswering, AutoTokenizer
model = AutoModelForQuestionAnswering.from_pretrained("{folder}")
tokenizer = AutoTokenizer.from_pretrained("{folder}")
```

Weights: `model.safetensors`, SHA-256 `{digest}`; opened in float32.

## Scores

On {test:,} test questions, on the model as it is saved here. They were scored {scorings} ×: at the end of the training,
and at each stop before. Exact match and F1 are SQuAD's (from 0 to 1); F1 counts each letter of Chinese, Japanese and
Thai as a word. The baseline answers with the sentence of the passage that shares the most words with the question.

{scores}

`{predictions}` has every test question with its answer, the probability of the answer, and both scores.

## Data

{data}: {train:,} questions to train on, {dev:,} to choose the checkpoint by, {test:,} to test. Licence: {licence}. By:
{attribution}. Passages are read in windows of {length} tokens that share {stride}.

## Training

{steps:,} steps in {minutes:.1f} minutes{stopped}, seed {seed}; the weights of step {best_step:,} were the best on the
dev questions (F1 {dev_score:.3f}).

```json
{recipe}
```
"""
KNOWS = "It was trained on questions without an answer, too, and may say that there is none."
KNOWS_NOT = "All its training questions had an answer, so it always gives one."


def add(commands: Any) -> None:
    """Add the command `answer` to the argument parser."""
    command = commands.add_parser(NAME, help=ABOUT, description=ABOUT)
    command.add_argument("train", type=Path, metavar="TRAIN", help="a JSON file in SQuAD's format")
    command.add_argument(
        "--stride", type=int, default=STRIDE, help="pieces that two windows of a passage share (%(default)s)"
    )
    add_run_options(command, LENGTH)


def run(asked: argparse.Namespace) -> None:
    """Run `answer` with parsed arguments; may raise UserError."""
    check_places(asked)
    if asked.length < SHORTEST:
        raise UserError(f"--length must be at least {SHORTEST} for questions with their passages, not {asked.length}.")
    backend, model = open_backend(asked.model)
    given = {field.name: getattr(asked, field.name) for field in fields(FinetuneSettings) if hasattr(asked, field.name)}
    settings = FinetuneSettings(**given, filmed=False)
    questions = load_questions(asked.train, asked.dev, asked.test, asked.seed)
    for sentence in questions.notes:
        print(sentence)
    run_to_end(
        asked, backend, model, lambda: teach_answers(questions, model, settings, asked.out, backend.settings), summary
    )


def teach_answers(
    questions: QuestionSet, model: str, settings: FinetuneSettings, folder: Path, machine: Machine
) -> Scores:
    """Start or resume fine-tuning on questions in ``folder``, save the best model, and return its scores.

    If Ctrl-C or SIGTERM stops the training, the best model so far is saved, and the same call resumes it later. May
    raise UserError.
    """
    refuse_finished(folder)
    run = prepare_answers(questions, model, settings, folder / RUN, machine)
    if not run.progress.step:
        run.metrics.write("plan", step=0, last=run.progress.schedule.last)
        run.metrics.write("baseline", f1=baseline_scores(questions.dev, run.no_answer)["baseline_f1"])
    if run.progress.step < run.progress.schedule.last or not run.progress.schedule.last:
        loop.train(run, time_budget(run, settings))
    run.optimiser.state.clear()  # the checkpoint contains this state; free it before opening the saved model
    found = _export(questions, run, settings, folder)
    remove_checkpoints(run)
    return found


def _export(questions: QuestionSet, run: AnswerRun, settings: FinetuneSettings, folder: Path) -> Scores:
    """Save the best model of a run, score it in float32 on the test questions, and write its model card."""
    load_best_weights(run.folder, run.model)
    save(run.model, run.tokenizer, folder)
    where = precision("fp32")
    asked = encode_questions(questions.test, run.tokenizer, run.length, settings.stride)
    model = reopen_model(folder, NAME).to(where.device)
    best, _ = answer_questions(model, asked, run.batches.padding, where, run.no_answer)
    said = answer_texts(asked, best)
    test = score_answers(said, questions.test, run.no_answer) | baseline_scores(questions.test, run.no_answer)
    reached = read_mark(run.folder)
    found = {
        "task": NAME,
        "model": run.start,
        "seed": settings.seed,
        "test": test,
        "dev": None if reached is None else {"f1": reached.score, "step": reached.step},
        "rows": {"train": len(questions.train), "dev": len(questions.dev), "test": len(questions.test)},
        "windows": {"test": len(asked.windows), "length": run.length, "stride": settings.stride},
        "no_answer": run.no_answer,
        "steps": run.progress.step,
        "finished": run.progress.step >= run.progress.schedule.last,
        "seconds": round(run.progress.seconds, 1),
        "rates": schedule.to_json(run.progress.schedule),
        "scorings": 1 + count_scorings(folder),
        **describe_run(run, settings, folder, questions.name),
    }
    (folder / PREDICTIONS).write_text(_predictions(asked, best, said, run.no_answer), encoding="utf-8")
    (folder / SCORES).write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (folder / "README.md").write_text(_card(questions, run, found, settings, folder), encoding="utf-8")
    write_checksums(folder)
    run.metrics.note(f"saved in {folder.name}: test exact match {test['exact_match']:.3f}, F1 {test['f1']:.3f}")
    return found


def _predictions(asked: QuestionWindows, best: Sequence[BestSpans], said: Sequence[str], no_answer: bool) -> str:
    """Return a line of JSON per test question, with the answer, its probability and its scores."""
    lines = []
    for question, one, text in zip(asked.questions, best, said, strict=True):
        exact, f1 = score_answer(text, question, no_answer)
        share = one.null_probability if one.says_no_answer else one.spans[0].probability
        row = {
            "id": question.id,
            "question": question.question,
            "passage": question.passage,
            "answers": [answer.text for answer in question.answers],
            "answer_starts": [answer.start for answer in question.answers],
            "said": text,
            "answer_start": None if one.says_no_answer else one.spans[0].letters[0],
            "probability": None if share is None else round(share, 6),
            "exact_match": exact,
            "f1": f1,
        }
        lines.append(json.dumps(row, ensure_ascii=False) + "\n")
    return "".join(lines)


def _card(questions: QuestionSet, run: AnswerRun, found: Scores, settings: FinetuneSettings, folder: Path) -> str:
    """Return the model card of an exported folder as Markdown."""
    return TEMPLATE.format(
        title=markdown_cell(questions.called or folder.name),
        start=markdown_cell(run.start),
        no_answer=KNOWS if run.no_answer else KNOWS_NOT,
        folder=questions.called or folder.name,
        digest=found["weights_sha256"],
        scores="\n".join(f"- {name.replace('_', ' ')}: {value:.3f}" for name, value in found["test"].items()),
        predictions=PREDICTIONS,
        data=markdown_cell(questions.name),
        licence=markdown_cell(questions.licence),
        attribution=markdown_cell(questions.attribution),
        scorings=found["scorings"],
        **found["rows"],
        length=run.length,
        stride=settings.stride,
        steps=found["steps"],
        minutes=found["seconds"] / 60,
        stopped="" if found["finished"] else ", stopped before the last",
        seed=settings.seed,
        best_step=found["dev"]["step"],
        dev_score=found["dev"]["f1"],
        recipe=json.dumps(recipe(run, settings), indent=1),
    )


def summary(found: Scores) -> str:
    """Format the scores of a run as lines for a terminal."""
    test = found["test"]
    lines = ["test: " + ", ".join(f"{name} {value:.3f}" for name, value in test.items())]
    if test["baseline_f1"] >= test["f1"]:
        lines.append("The sentence with the most words of the question has the same or a higher F1.")
    if not found["finished"]:
        lines.append("Stopped before the last step; the same command goes on.")
    return "\n".join(lines)
