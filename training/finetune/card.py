"""The card of a taught model: what it says of a text, what it learned from, how well it does, how to open it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from inference.files.checksums import sha256
from training.finetune.labeled_task import LabeledTask
from training.finetune.run import FinetuneRun
from training.finetune.scores import Scores
from training.finetune.settings import FinetuneSettings

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

On {test:,} test rows, scored once, after the training, on the model as it is saved here.

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
    """The card of the model in a folder, in Markdown."""
    test, labels = found["test"], [_cell(label) for label in found["test"]["labels"]]
    pipeline, what, of, columns = TASKS[run.kind]
    measure, score = next(iter(found["dev"].items()))
    return TEMPLATE.format(
        pipeline=pipeline,
        title=_cell(task.called or folder.name),
        what=f"{what}: {', '.join(_cell(name) for name in test['classes'])}.",
        start=_cell(found["model"]),
        folder=task.called or folder.name,
        digest=sha256(folder / "model.safetensors"),
        scores="\n".join(f"- {name}: {test[key]:.3f}" for key, name in NAMES.items() if key in test),
        of=of,
        classes="\n".join(_score_row(name, one) for name, one in test["classes"].items()),
        columns=columns,
        heads="".join(f" {label} |" for label in labels),
        rules="--:|" * len(labels),
        confusion="\n".join(
            f"| {label} | {' | '.join(map(str, row))} |" for label, row in zip(labels, test["confusion"], strict=True)
        ),
        data=_cell(task.name),
        licence=_cell(task.licence),
        attribution=_cell(task.attribution),
        length=run.length,
        measured=found["cut"]["of"],
        cut=found["cut"]["texts"],
        **found["rows"],
        steps=found["steps"],
        minutes=found["seconds"] / 60,
        stopped="" if found["finished"] else ", stopped before the last",
        seed=settings.seed,
        best_step=found["dev"]["step"],
        measure=measure,
        dev_score=score,
        recipe=json.dumps(_recipe(run, settings), indent=1),
    )


def _recipe(run: FinetuneRun, settings: FinetuneSettings) -> dict[str, Any]:
    """What another would need to do the same."""
    return {
        **({"revision": settings.revision} if settings.revision else {}),
        "rate": run.learning.rate,
        "batch": run.batches.size,
        "frozen layers": settings.frozen,
        "weight decay": run.learning.weight_decay,
        "clip": run.learning.clip,
        "warm-up": run.progress.schedule.warm_up,
        "last step": run.progress.schedule.last,
        "bf16": run.precision.bf16,
    }


def _score_row(name: str, one: dict[str, float]) -> str:
    return f"| {_cell(name)} | {one['precision']:.3f} | {one['recall']:.3f} | {one['f1']:.3f} | {one['support']:,} |"


def _cell(text: str) -> str:
    """A name as text in a table: no line end, no markup.

    >>> _cell("a|b <i>")
    'a\\\\|b &lt;i>'
    """
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
