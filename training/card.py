"""The model card: what it is, what it was trained on, how, how well it does, and how to check the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from inference.files.checksums import sha256
from training import corpus
from training.config import PretrainingConfig
from training.prepare import held_out_text, training_text

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
    """The card of the model in a folder, in Markdown."""
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
    """More scores under a heading: a row each, of one value or of several that have names.

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
