"""Export of a pre-training run as a transformers folder with a model card."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from transformers import BertConfig, BertForPreTraining, BertTokenizerFast

from inference.errors import UserError, format_os_error
from inference.files import packages
from inference.files.packages import sha256
from training import corpus, loop
from training.bert import (
    EVALUATION_SEED,
    evaluate,
    held_out_batches,
    held_out_text,
    prepare,
    pronoun_score,
    training_text,
)
from training.config import PretrainingConfig
from training.curves import curves
from training.loop import precision
from training.model import build, fits, start_folder, vocabulary

SCORES = "evaluation.json"


def save_half(model: Any, folder: Path) -> None:
    """Save the weights in float16, with a configuration that makes transformers load them as float32.

    Without this configuration, transformers would also compute in float16. Float32 represents every float16 exactly.
    """
    model.half().save_pretrained(folder)
    model.config.dtype = torch.float32
    model.config.save_pretrained(folder)


def write_checksums(folder: Path) -> None:
    """Make the files of a folder readable for all users, and write a file with their checksums."""
    files = [file for file in folder.iterdir() if file.is_file() and file.name != packages.SUMS]
    for file in files:
        file.chmod(0o644)  # safetensors makes files readable for their owner only
    packages.write(folder, [file.name for file in files])


TEMPLATE = """---
license: {licence}
language: {language}
pipeline_tag: fill-mask
---

# {title}

{summary}

A `BertForPreTraining`: an encoder with a masked-LM head, whose decoder is tied to the word embeddings, and a
next-sentence head. Weights in half precision, `model.safetensors`, SHA-256 `{digest}`.
Transformers opens them in float32, unless another `dtype` is passed.

## Scores

On documents that were never trained on ({held_out:.1%} of each source, by the hash of their names). 15 % of the pieces
are chosen; top-1 and top-5 count those that were replaced by [MASK]. The baseline always answers the most frequent
pieces of the training text. Half of the pairs go on with their own text, half with text of another document, which is
easier to tell than another place of the same one.

| held-out text | masked pieces | top-1 | baseline | top-5 | baseline | pairs | next sentence |
|---|---|---|---|---|---|---|---|
{scores}

In "The animal didn't cross the street because it was too tired." head {slide} gives *animal* {weight:.2f} of the
attention of *it*, the most of all heads (layers and heads from 0).
{further}
## Text

Trained on {pieces:,} word pieces in {hours:.1f} hours; the {documents:,} training documents hold {available:,}.

| source | licence | from | held out |
|---|---|---|---|
{sources}

The weights start from: {start}.

## Recipe

BERT's pre-training (arXiv:1810.04805), `python -m training pretrain`, with these settings; losses of masked pieces and
next sentence summed, AdamW, warm-up, linear decay. A masking rate that falls: arXiv:2202.08005, arXiv:2305.15096.
`hold` is the weight of a further term, the divergence of each head's attention from the first encoder's. {notes}

```json
{recipe}
```

![Loss and right answers by pieces read](curves.svg)
"""


def card(config: PretrainingConfig, folder: Path, scores: dict[str, Any]) -> str:
    """Return the model card of an exported folder as Markdown."""
    facts = corpus.facts(training_text(config))
    seen = scores["slide"]
    recipe = {name: vars(getattr(config, name)) for name in ("data", "masking", "optimiser", "hold", "loop")}
    return TEMPLATE.format(
        **vars(config.card),
        digest=sha256(folder / "model.safetensors"),
        held_out=config.data.held_out,
        scores="\n".join(_score(name, score) for name, score in scores["sources"].items()),
        slide=f"{seen['layer']}-{seen['head']}",
        weight=seen["weight"],
        further="".join(_table(title, rows) for title, rows in scores.get("further", {}).items()),
        pieces=scores["pieces"],
        hours=scores["hours"],
        available=facts["pieces"],
        documents=facts["documents"],
        sources="\n".join(
            f"| {source.name} | {source.licence} | {source.attribution}"
            f" | {corpus.facts(held_out_text(config, source))['documents']:,} documents |"
            for source in config.sources
        ),
        recipe=json.dumps({**recipe, "steps taken": scores["step"]}, indent=1),
    )


def _table(title: str, rows: dict[str, Any]) -> str:
    """Return further scores as a Markdown heading with a table.

    Each row has a single value or named values.

    >>> print(_table("GAP", {"ours": 73, "nearest": 57}) + _table("UD", {"obj": {"ours": 74, "n": 9}}))
    <BLANKLINE>
    ### GAP
    <BLANKLINE>
    |  |  |
    |---|---|
    | ours | 73 |
    | nearest | 57 |
    <BLANKLINE>
    ### UD
    <BLANKLINE>
    |  | ours | n |
    |---|---|---|
    | obj | 74 | 9 |
    <BLANKLINE>
    """
    values = {name: row if isinstance(row, dict) else {"": row} for name, row in rows.items()}
    columns = list(dict.fromkeys(column for row in values.values() for column in row))
    cells = [
        ["", *columns],
        *([name, *(str(row.get(column, "")) for column in columns)] for name, row in values.items()),
    ]
    first, *others = (f"| {' | '.join(line)} |" for line in cells)
    return "\n".join(["", f"### {title}", "", first, "|" + "---|" * len(cells[0]), *others, ""])


def _score(name: str, score: dict[str, Any]) -> str:
    return (
        f"| {name} | {score['masked']:,} | {score['top1']:.1%} | {score['baseline_top1']:.1%} | {score['top5']:.1%}"
        f" | {score['baseline_top5']:.1%} | {score['pairs']:,} | {score['next_sentence']:.1%} |"
    )


# The final evaluation has its own order of pairs, other than that of the evaluations during training.
FINAL_SEED = EVALUATION_SEED + 1


def export(config: PretrainingConfig, folder: Path, *, pairs: int, further: Path | None = None) -> None:
    """Export the model of a run's last checkpoint, evaluate it, and write scores, curves and a model card.

    ``pairs`` is the number of evaluated sentence pairs. ``further`` is a JSON file of additional scores, for example of
    a probe, which are added to the scores and the card. Raise UserError if the run has no checkpoint or the file is
    invalid.
    """
    torch.set_num_threads(config.loop.threads)
    more = {} if further is None else {"further": _load_more_scores(further)}
    saved = loop.finished_checkpoint(config.run, "pretrain")
    start = start_folder(config.start)
    fits(start, config.data.length)
    prepare(config, start / "tokenizer.json")
    model, _ = build(start, config.loop.seed)
    progress = loop.load(saved, model)
    dropout = BertConfig.from_pretrained(start)
    model.config.hidden_dropout_prob = dropout.hidden_dropout_prob
    model.config.attention_probs_dropout_prob = dropout.attention_probs_dropout_prob
    save_half(model, folder)
    _write_tokenizer(start, folder, model.config.max_position_embeddings)
    scores: dict[str, Any] = {"step": progress.step, "pieces": progress.pieces, "hours": progress.seconds / 3600}
    scores |= evaluate_folder(config, folder, pairs) | more
    (folder / SCORES).write_text(json.dumps(scores, indent=1) + "\n", encoding="utf-8")
    (folder / "curves.svg").write_text(curves(config.run / "metrics.jsonl"), encoding="utf-8")
    (folder / "README.md").write_text(card(config, folder, scores), encoding="utf-8")
    write_checksums(folder)


def _load_more_scores(file: Path) -> dict[str, dict[str, Any]]:
    """Load titled tables of scores from a JSON file; raise UserError if it contains something else."""
    try:
        tables = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"--further {format_os_error(error)}") from error
    except ValueError as error:
        raise UserError(f"--further {file} is not JSON. Give a file of tables of scores.") from error
    if not isinstance(tables, dict) or not all(isinstance(rows, dict) for rows in tables.values()):
        raise UserError(f'--further {file} must hold tables: {{"title": {{"row": 73, ...}}, ...}}')
    return tables


def _write_tokenizer(start: Path, folder: Path, longest: int) -> None:
    """Save the run's tokenizer without the truncation and padding settings of the initial folder."""
    backend = corpus.tokenizer(start / "tokenizer.json")
    lower_case = bool(getattr(backend.normalizer, "lowercase", True))
    BertTokenizerFast(tokenizer_object=backend, do_lower_case=lower_case, model_max_length=longest).save_pretrained(
        folder
    )


def evaluate_folder(config: PretrainingConfig, folder: Path, pairs: int) -> dict[str, Any]:
    """Score an exported model in float32 on the held-out texts and on the pronoun sentence.

    ``pairs`` is the number of sentence pairs per text source.
    """
    where = precision("fp32")
    model = BertForPreTraining.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").to(
        where.device
    )
    counts = corpus.read(training_text(config)).counts
    held_out = held_out_batches(config, vocabulary(folder), FINAL_SEED)
    sources = {name: asdict(evaluate(model, batches, pairs, counts, where)) for name, batches in held_out.items()}
    return {"sources": sources, "slide": asdict(pronoun_score(model, BertTokenizerFast.from_pretrained(folder)))}
