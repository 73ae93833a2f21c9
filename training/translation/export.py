"""Export of a translation run as a transformers folder with a model card."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from transformers import MarianMTModel, PreTrainedTokenizerFast
from transformers.models.whisper.tokenization_whisper import LANGUAGES  # English names of a hundred language codes

from inference.files.packages import sha256
from training import curves, loop
from training.curves import Panel, largest_value, line, svg
from training.export import SCORES, save_half, write_checksums
from training.loop import RunProgress, precision
from training.translation import data
from training.translation.config import TranslationConfig
from training.translation.data import HeldOut, Pair, TranslationBatches, load_tokenizer, pairs, split
from training.translation.evaluate import (
    BEAMS,
    alignment,
    build,
    sacrebleu,
    score_translations,
    teacher_forcing_scores,
    translate,
)
from training.translation.run import own_tokenizer, read_batches, sample_held_out


def draw_curves(file: Path) -> str:
    """Return an SVG plot of a metrics.jsonl over millions of tokens.

    It has the loss, the accuracy, the alignment and the translation scores.
    """
    scores = curves.lines(file, "evaluation")
    losses = [
        line("training, labels smoothed", curves.lines(file, "step"), "piece_loss"),
        line("held-out sentences", scores, "piece_loss"),
    ]
    shares = [
        line("next piece right", scores, "accuracy"),
        line("words aligned, best head", curves.lines(file, "alignment"), "share"),
    ]
    whole = [line("BLEU, greedy", scores, "bleu"), line("chrF, greedy", scores, "chrf")]
    return svg(
        [
            Panel("Loss, nats a piece", losses, largest_value(losses)),
            Panel("Shares", shares, 1.0),
            Panel("Translations of held-out sentences, 0 to 100", whole, 100.0),
        ]
    )


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
    """Return the model card of an exported folder as Markdown."""
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
    """Return the English name of a language, or its code if the name is unknown."""
    return LANGUAGES[code].title() if code in LANGUAGES else code


def _rows(groups: dict[str, dict[str, Any]]) -> list[str]:
    return [
        f"| {group} | {name} | {scores[way]['sentences']:,} | {scores[way]['references']:,}"
        f" | {scores[way]['bleu']:.1f} | {scores[way]['chrf']:.1f} |"
        for group, scores in groups.items()
        for way, name in WAYS.items()
    ]


SHORT, LONG = 7, 12  # sources of at most 7 words are short, of at least 12 words long
# Sentences that show strengths and weaknesses of the model; they are not from the corpus.
SHOWN = (
    "I am tired.",
    "The black cat sleeps under the table.",
    "Where did you put my red shoes?",
    "We will have to leave before it gets dark.",
    "My sister bought three books yesterday.",
    "If I had known, I would not have come.",
    "The animal didn't cross the street because it was too tired.",
    "The committee approved the annual budget despite strong opposition.",
)


def export(config: TranslationConfig, folder: Path, *, sentences: int | None = None) -> None:
    """Export the model of a run's last checkpoint, evaluate it, and write scores, curves and a model card.

    ``sentences`` is the number of held-out sentences to translate, evenly spaced in the list; None means all. Raise
    UserError if the run has no checkpoint.
    """
    sacrebleu()
    torch.set_num_threads(config.loop.threads)
    saved = loop.finished_checkpoint(config.run, "translate")
    train, held = split(pairs(config.pairs.path), config.data.held_out)
    tokenizer = own_tokenizer(config, train)
    model = build(config.shape, tokenizer, config.loop.seed)
    progress = loop.load(saved, model)
    save_half(model, folder)
    data.wrap_tokenizer(tokenizer.backend_tokenizer, config.shape.positions).save_pretrained(folder)
    scores = _run(config, progress, read_batches(config, tokenizer, train), held) | evaluate_folder(
        folder, train, sample_held_out(held, sentences)
    )
    (folder / SCORES).write_text(json.dumps(scores, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (folder / "curves.svg").write_text(draw_curves(config.run / "metrics.jsonl"), encoding="utf-8")
    (folder / "README.md").write_text(card(config, folder, scores), encoding="utf-8")
    write_checksums(folder)


def evaluate_folder(folder: Path, train: Sequence[Pair], held: Sequence[HeldOut]) -> dict[str, Any]:
    """Score an exported model in float32 on the held-out sentences ``held``.

    Three groups of sentences are also scored separately: short sentences, long sentences, and sentences without a
    reference that is also a target in the training pairs ``train``.
    """
    tokenizer = load_tokenizer(folder)
    where = precision("fp32")
    model = MarianMTModel.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").to(where.device)
    found = {
        "greedy": translate(model, tokenizer, [one.source for one in held], beams=1),
        "beams": translate(model, tokenizer, [one.source for one in held], beams=BEAMS),
        "copy": [one.source for one in held],
    }
    lengths = [len(one.source.split()) for one in held]
    written = {target for _, target in train}
    groups = {
        "all": range(len(held)),
        "short": [at for at, words in enumerate(lengths) if words <= SHORT],
        "long": [at for at, words in enumerate(lengths) if words >= LONG],
        "new": [at for at, one in enumerate(held) if written.isdisjoint(one.references)],
    }
    return {
        "scores": {name: _group(found, held, places) for name, places in groups.items() if places},
        "forced": asdict(teacher_forcing_scores(model, tokenizer, held, where)),
        "alignment": asdict(alignment(model, tokenizer)),
        "samples": samples(model, tokenizer),
    }


def samples(model: MarianMTModel, tokenizer: PreTrainedTokenizerFast) -> list[dict[str, str]]:
    """Translate the sentences ``SHOWN`` by beam search; return each source with its translation."""
    return [
        {"source": source, "translation": translation}
        for source, translation in zip(SHOWN, translate(model, tokenizer, SHOWN, beams=BEAMS), strict=True)
    ]


def _group(found: dict[str, list[str]], held: Sequence[HeldOut], places: Sequence[int]) -> dict[str, Any]:
    """Score every decoding method on some of the sentences.

    Beam search is also scored against the first reference only.
    """
    some = [held[at] for at in places]
    scores = {name: asdict(score_translations([texts[at] for at in places], some)) for name, texts in found.items()}
    scores["beams, one reference"] = asdict(
        score_translations([found["beams"][at] for at in places], some, references=1)
    )
    return scores


def _run(
    config: TranslationConfig, progress: RunProgress, batches: TranslationBatches, held: Sequence[HeldOut]
) -> dict[str, Any]:
    """Return the size of the data and the progress of the run."""
    return {
        "step": progress.step,
        "pieces": progress.pieces,
        "hours": progress.seconds / 3600,
        "pairs": len(batches.targets.lengths),
        "held_out": len(held),
        "share_held_out": config.data.held_out,
    }
