"""Export of a fine-tuned model as a transformers folder with a model card."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from inference.files.checkpoint import WEIGHTS
from inference.files.packages import sha256
from probing.labelled.data_checks import LengthFit
from probing.labelled.labeled_texts import LabeledDataset, LabeledText, TaggedText
from training import schedule
from training.export import SCORES, save_half, write_checksums
from training.finetune.data import Encoded, LabeledTask, encode_rows
from training.finetune.evaluation import LabelShares, Scores, answers, classes, tags
from training.finetune.model_setup import reopen_model
from training.finetune.settings import FinetuneSettings
from training.finetune.trainer import MEASURE, FinetuneRun, load_best_weights, read_mark, scores
from training.loop import precision

TEMPLATE = """---
license: other
pipeline_tag: {pipeline}
---

# {title}

{what} It started from {start}, and whatever binds those weights binds these.

```python
from transformers import pipeline
print(pipeline("{pipeline}", "{folder}")("A text of your own."))
```

Weights: `model.safetensors`, SHA-256 `{digest}`; opened in float32.

## Scores

On {test:,} test rows, on the model as it is saved here. They were scored {scorings} ×: at the end of the training, and
at each stop before.

{scores}

| {of} | precision | recall | F1 | support |
|---|--:|--:|--:|--:|
{classes}

{columns}: rows are what is true, columns what was said.

| |{heads}
|---|{rules}
{confusion}

`predictions.jsonl` has every test row with what was said and how sure.

## Data

{data}: {train:,} rows to train on, {dev:,} to choose the checkpoint by, {test:,} to tell. Licence: {licence}. By:
{attribution}. Of {measured:,} texts that were measured, {cut:,} are longer than {length} pieces and were cut there.

## Training

{steps:,} steps in {minutes:.1f} minutes{stopped}, seed {seed}; the weights of step {best_step:,} were the best on the
dev rows ({measure} {dev_score:.3f}).

```json
{recipe}
```
"""
TASKS = {
    "classify": ("text-classification", "Tells the class of a text", "class", "Classes of texts"),
    "tag": ("token-classification", "Tags the words of a text", "kind", "Kinds of words"),
}
NAMES = {
    "accuracy": "accuracy",
    "macro_f1": "macro F1",
    "precision": "precision of names",
    "recall": "recall of names",
    "f1": "F1 of names",
    "baseline_accuracy": "accuracy of counting words (TF-IDF and logistic regression)",
    "baseline_macro_f1": "macro F1 of the same",
}


def card(task: LabeledTask, run: FinetuneRun, found: Scores, settings: FinetuneSettings, folder: Path) -> str:
    """Return the model card of an exported folder as Markdown."""
    test, labels = found["test"], [markdown_cell(label) for label in found["test"]["labels"]]
    pipeline, what, of, columns = TASKS[run.kind]
    measure, score = next(iter(found["dev"].items()))
    return TEMPLATE.format(
        pipeline=pipeline,
        title=markdown_cell(task.called or folder.name),
        what=f"{what}: {', '.join(markdown_cell(name) for name in test['classes'])}.",
        start=markdown_cell(found["model"]),
        folder=task.called or folder.name,
        digest=found["weights_sha256"],
        scores="\n".join(f"- {name}: {test[key]:.3f}" for key, name in NAMES.items() if key in test),
        of=of,
        classes="\n".join(_score_row(name, one) for name, one in test["classes"].items()),
        columns=columns,
        heads="".join(f" {label} |" for label in labels),
        rules="--:|" * len(labels),
        confusion="\n".join(
            f"| {label} | {' | '.join(map(str, row))} |" for label, row in zip(labels, test["confusion"], strict=True)
        ),
        data=markdown_cell(task.name),
        licence=markdown_cell(task.licence),
        attribution=markdown_cell(task.attribution),
        length=run.length,
        measured=found["cut"]["of"],
        cut=found["cut"]["texts"],
        scorings=found["scorings"],
        **found["rows"],
        steps=found["steps"],
        minutes=found["seconds"] / 60,
        stopped="" if found["finished"] else ", stopped before the last",
        seed=settings.seed,
        best_step=found["dev"]["step"],
        measure=measure,
        dev_score=score,
        recipe=json.dumps(recipe(run, settings), indent=1),
    )


def recipe(run: FinetuneRun, settings: FinetuneSettings) -> dict[str, Any]:
    """Return the settings of a run as JSON-compatible values, with which the run can be repeated."""
    return {
        **({"revision": settings.revision} if settings.revision else {}),
        "rate": run.learning.rate,
        "batch": run.batches.size,
        "frozen layers": settings.frozen,
        "weight decay": run.learning.weight_decay,
        "clip": run.learning.clip,
        "length": run.length,
        "warm-up": run.progress.schedule.warm_up,
        "last step": run.progress.schedule.last,
        "bf16": run.precision.bf16,
    }


def describe_run(run: FinetuneRun, settings: FinetuneSettings, folder: Path, data: str) -> dict[str, Any]:
    """Return the entries of the scores that identify a saved model: its data, epochs, settings and weights."""
    return {
        "data": data,
        "epochs": round(run.progress.step / run.batches.in_a_pass, 2),
        "recipe": recipe(run, settings),
        "weights_sha256": sha256(folder / WEIGHTS),
    }


def _score_row(name: str, one: dict[str, float]) -> str:
    scores = " | ".join(f"{one[score]:.3f}" for score in ("precision", "recall", "f1"))
    return f"| {markdown_cell(name)} | {scores} | {one['support']:,} |"


def markdown_cell(text: str) -> str:
    """Escape a name for a Markdown table: no line breaks, no markup.

    >>> markdown_cell("a|b <i>")
    'a\\\\|b &lt;i>'
    """
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def count_scorings(folder: Path) -> int:
    """Return how often the test rows were scored before: at each stop of a run that went on later."""
    try:
        return int(json.loads((folder / SCORES).read_text(encoding="utf-8")).get("scorings", 1))
    except FileNotFoundError:
        return 0


PREDICTIONS = "predictions.jsonl"  # predictions for the test rows, a JSON object per line


def export(  # noqa: PLR0913  # the run, and the measurements before it
    task: LabeledTask, run: FinetuneRun, settings: FinetuneSettings, folder: Path, counted: Scores, measured: LengthFit
) -> Scores:
    """Save the best model of a run, score it on the test rows, and write scores, predictions and model card.

    The model is scored in float32, as it is saved. ``counted`` has the TF-IDF baseline's scores on the same rows; it is
    empty for tags. ``measured`` has the number of truncated texts. Return the scores.
    """
    load_best_weights(run.folder, run.model)
    save(run.model, run.tokenizer, folder)
    labels, where = task.labels, precision("fp32")
    rows = encode_rows(labels.test, labels.labels, run.tokenizer, run.length)
    said = answers(reopen_model(folder, labels.kind).to(where.device), rows, run.batches.padding, where)
    test = scores(labels.kind, rows, said, labels.labels) | _paired_scores(labels, said, counted)
    reached = read_mark(run.folder)
    found: Scores = {
        "task": labels.kind,
        "model": run.start,
        "seed": settings.seed,
        "test": test,
        "dev": None if reached is None else {MEASURE[labels.kind]: reached.score, "step": reached.step},
        "rows": {"train": len(labels.train), "dev": len(labels.dev), "test": len(labels.test)},
        "cut": {"texts": measured.cut, "of": measured.texts, "length": measured.length},
        "steps": run.progress.step,
        "finished": run.progress.step >= run.progress.schedule.last,
        "seconds": round(run.progress.seconds, 1),
        "rates": schedule.to_json(run.progress.schedule),
        "scorings": 1 + count_scorings(folder),
        **describe_run(run, settings, folder, task.name),
    }
    lines = (json.dumps(row, ensure_ascii=False) for row in _predictions(labels, rows, said))
    (folder / PREDICTIONS).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (folder / SCORES).write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (folder / "README.md").write_text(card(task, run, found, settings, folder), encoding="utf-8")
    write_checksums(folder)
    run.metrics.note(f"saved in {folder.name}: test {MEASURE[labels.kind]} {test[MEASURE[labels.kind]]:.3f}")
    return found


def _paired_scores(labels: LabeledDataset, said: LabelShares, counted: Scores) -> Scores:
    """Return the baseline's scores, and the numbers of rows that only the model, or only the baseline, gets right.

    ``counted["baseline_right"]`` lists the baseline's right rows; without it, return ``counted``.
    """
    if "baseline_right" not in counted:
        return counted
    rows = zip(labels.test, classes(said, labels.labels), counted["baseline_right"], strict=True)
    pairs = [(isinstance(row, LabeledText) and row.label == label, right) for row, label, right in rows]
    known = {name: value for name, value in counted.items() if name != "baseline_right"}
    return known | {"only_model_right": pairs.count((True, False)), "only_baseline_right": pairs.count((False, True))}


def save(model: Any, tokenizer: Any, folder: Path) -> None:
    """Save a model's configuration, tokenizer and weights in a folder.

    Weights are saved in float16 unless a value exceeds its range.
    """
    if all(bool(value.half().isfinite().all()) for value in model.state_dict().values() if value.is_floating_point()):
        save_half(model, folder)
    else:
        model.save_pretrained(folder)
    if tokenizer.is_fast:  # a saved fast tokenizer would keep its truncation and padding
        tokenizer.backend_tokenizer.no_truncation()
        tokenizer.backend_tokenizer.no_padding()
    tokenizer.save_pretrained(folder)


def _predictions(labels: LabeledDataset, rows: Encoded, said: LabelShares) -> Iterator[dict[str, Any]]:
    """Yield the prediction for every test row with its probabilities.

    A classified text has the probabilities of all classes; a tagged text has the probability of each word's
    predicted tag.
    """
    if rows.places is None:
        for row, label, shares in zip(labels.test, classes(said, labels.labels), said.shares, strict=True):
            if isinstance(row, LabeledText):
                each = [round(float(share), 6) for share in shares[0]]
                yield {"text": row.text, "label": row.label, "said": label, "shares": each}
        return
    for row, (told, sure) in zip(labels.test, tags(said, rows.places, labels.labels), strict=True):
        if isinstance(row, TaggedText):
            known = [None if share is None else round(share, 6) for share in sure]
            yield {"text": row.text, "words": row.words, "tags": row.tags, "said": told, "shares": known}
