"""A translator's model card: what it is, what it was trained on, how, how well it does, and where it fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from transformers.models.whisper.tokenization_whisper import LANGUAGES  # names of a hundred codes

from inference.files.checksums import sha256
from training.translation.config import TranslationConfig

TEMPLATE = """---
license: {licence}
language: [{source}, {target}]
pipeline_tag: translation
---

# {title}

{summary}

A `MarianMTModel`: {layers} encoder and {layers} decoder layers of {heads} heads, width {width}, one vocabulary of
{vocabulary:,} pieces for both languages. Weights in half precision, `model.safetensors`, SHA-256 `{digest}`.
Transformers opens them in float32, unless another `dtype` is passed.

## Scores

Held out are {share:.1%} of the {read} sentences, {held_out:,} of them, by the hash of the sentence without case and
punctuation: none is in the training text, in whatever spelling, with this or another translation. BLEU and chrF by
sacrebleu, from 0 to 100, against every translation that the collection has; the baseline hands the source back.
"Short" has at most 7 words, "long" at least 12; "new" are the sentences none of whose translations is in the training
text as the translation of another sentence.

| sentences | | count | references | BLEU | chrF |
|---|---|---|---|---|---|
{scores}

Signatures: `{bleu_signature}`, `{chrf_signature}`.

Told the right translation so far, {accuracy:.1%} of {pieces_scored:,} next pieces are right, loss {loss:.2f} nats a
piece.

Cross-attention head {head} (layer and head from 0) puts its largest weight on the right source word for {aligned:.0%}
of {words} word pairs in {aligned_sentences} sentences of our own, English and French, read at the step that writes the
word, the query before it, the end mark left out ({with_end:.0%} where the end mark may win too). It is the best of all
heads on these very pairs. At the word's own place it is {own_place:.0%}; a straight line from first piece to last gets
{diagonal:.0%}.

## Samples

English sentences of our own, with 4 beams, as they came:

| given | the model's {written} |
|---|---|
{samples}

## Limits

It has read {pairs:,} pairs, {read} and {written}, and nothing else; the table says how much worse long sentences do.
Words that these do not have are guessed, and what the source leaves open is settled at will, such as how polite a *you*
is. It is made to be looked at: do not rely on its translations.

## Text

| source | licence | from |
|---|---|---|
| {name} | {text_licence} | {attribution} |

Spaces and apostrophes are written in one way. {pieces:,} pieces of both languages were read in {hours:.1f} hours.

## Recipe

The Transformer (arXiv:1706.03762) from random numbers, `python -m training translate`, with these settings: label
smoothing, AdamW, warm-up, linear decay. {notes}

```json
{recipe}
```

![Loss, shares and scores by pieces read](curves.svg)
"""

WAYS = {
    "beams": "4 beams",
    "greedy": "greedy",
    "beams, one reference": "4 beams, first reference only",
    "copy": "copied source (baseline)",
}


def card(config: TranslationConfig, folder: Path, scores: dict[str, Any]) -> str:
    """The card of the model in a folder, in Markdown."""
    model = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    seen, told = scores["alignment"], scores["forced"]
    best = scores["scores"]["all"]["beams"]
    recipe = {name: vars(getattr(config, name)) for name in ("data", "shape", "optimiser", "loop")}
    shown = config.card
    return TEMPLATE.format(
        licence=shown.licence,
        source=config.languages.source,
        target=config.languages.target,
        read=_name(config.languages.source),
        written=_name(config.languages.target),
        title=shown.title,
        summary=shown.summary,
        notes=shown.notes,
        layers=config.shape.layers,
        heads=config.shape.heads,
        width=config.shape.width,
        vocabulary=model["vocab_size"],
        digest=sha256(folder / "model.safetensors"),
        share=config.data.held_out,
        held_out=scores["held_out"],
        scores="\n".join(_rows(scores["scores"])),
        bleu_signature=best["bleu_signature"],
        chrf_signature=best["chrf_signature"],
        accuracy=told["accuracy"],
        pieces_scored=told["pieces"],
        loss=told["loss"],
        head=f"{seen['layer']}-{seen['head']}",
        aligned=seen["share"],
        words=seen["words"],
        aligned_sentences=seen["sentences"],
        with_end=seen["with_end"],
        own_place=seen["own_place"],
        diagonal=seen["diagonal"],
        samples="\n".join(f"| {row['source']} | {row['translation']} |" for row in scores["samples"]),
        pairs=scores["pairs"],
        name=config.pairs.name,
        text_licence=config.pairs.licence,
        attribution=config.pairs.attribution,
        pieces=scores["pieces"],
        hours=scores["hours"],
        recipe=json.dumps({**recipe, "steps taken": scores["step"]}, indent=1),
    )


def _name(code: str) -> str:
    """A language's English name, or its code where that is not known."""
    return LANGUAGES[code].title() if code in LANGUAGES else code


def _rows(groups: dict[str, dict[str, Any]]) -> list[str]:
    return [
        f"| {group} | {name} | {scores[way]['sentences']:,} | {scores[way]['references']:,}"
        f" | {scores[way]['bleu']:.1f} | {scores[way]['chrf']:.1f} |"
        for group, scores in groups.items()
        for way, name in WAYS.items()
    ]
