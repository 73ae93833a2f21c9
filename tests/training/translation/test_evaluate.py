"""Translation scores: agreement with sacrebleu over all references, and generated translations."""

from __future__ import annotations

from typing import Any

import pytest
import sacrebleu
import torch

from tests.support.translationtexts import phrases
from tests.training.translation.test_model import SHAPE, model, tokenizer  # noqa: F401  (fixtures)
from training.loop import precision
from training.translation.data import HeldOut, TranslationBatch, laid_out, split
from training.translation.evaluate import loss, read, score_translations, teacher_forcing_scores, translate

HELD = [
    HeldOut("The cat sleeps.", ("Le chat dort.", "Le chat sommeille ici.")),
    HeldOut("The dog eats at noon.", ("Le chien mange à midi.",)),
]


def test_a_perfect_translation_gets_everything_whichever_reference_it_is() -> None:
    score = score_translations(["Le chat sommeille ici.", "Le chien mange à midi."], HELD)
    assert (score.sentences, score.references) == (2, 3)
    assert round(score.bleu, 6) == round(score.chrf, 6) == 100
    assert "nrefs:var" in score.bleu_signature
    one = score_translations(["Le chat sommeille ici.", "Le chien mange à midi."], HELD, references=1)
    assert one.references == 2
    assert one.bleu < 80
    assert "nrefs:1" in one.bleu_signature


def test_with_one_reference_each_it_is_the_plain_score() -> None:
    found = ["Le chat mange à midi.", "Le chien dort à midi."]
    score = score_translations(found, HELD, references=1)
    references = [[one.references[0] for one in HELD]]
    assert score.bleu == sacrebleu.corpus_bleu(found, references).score
    assert score.chrf == sacrebleu.corpus_chrf(found, references).score


SOURCES = ["One old cow sings at night!", "My hen eats today.", "The cat isn't here at noon."]


def test_translations_keep_their_order(model: Any, tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    monkeypatch.setattr(model, "generate", lambda input_ids, **_: input_ids)  # The stub returns the source.
    # The sources need several batches.
    sources = [f"{source} {source}"[: 20 + at] for at in range(25) for source in SOURCES]
    assert translate(model, tokenizer, sources, beams=1) == [" ".join(source.split()) for source in sources]


@pytest.mark.slow
def test_translations_are_generates_own_whatever_is_read_beside_them(model: Any, tokenizer: Any) -> None:  # noqa: F811
    sources = SOURCES
    found = translate(model, tokenizer, sources, beams=1)
    for source, text in zip(sources, found, strict=True):
        encoded = tokenizer(source, return_tensors="pt")
        longest = 2 * max(len(row) for row in tokenizer(sources)["input_ids"]) + 20
        written = model.generate(**encoded, num_beams=1, max_length=longest)
        assert text == tokenizer.decode(written[0], skip_special_tokens=True)


def test_forced_counts_every_piece_once(model: Any, tokenizer: Any) -> None:  # noqa: F811
    held = split(phrases(), 1.0)[1]  # The pairs need several batches and have unequal lengths.
    assert len(held) > 64
    told = teacher_forcing_scores(model, tokenizer, held, precision("fp32"))
    sides = [tokenizer(side)["input_ids"] for side in ([h.source for h in held], [h.references[0] for h in held])]
    source, target = (laid_out(side, 0) for side in sides)
    with torch.no_grad():
        logits, labels = read(model.eval(), TranslationBatch(source, target, 0), torch.device("cpu"))
    assert told.pieces == len(labels)
    assert abs(told.loss - float(loss(logits, labels))) < 1e-4
    assert abs(told.accuracy - float((logits.argmax(dim=1) == labels).float().mean())) < 1e-9


def test_a_sentence_that_is_too_long_is_cut_and_still_scored(model: Any, tokenizer: Any) -> None:  # noqa: F811
    long = "The cat sleeps at night " * SHAPE.positions
    assert isinstance(translate(model, tokenizer, [long], beams=2)[0], str)
    told = teacher_forcing_scores(model, tokenizer, [HeldOut(long, (long,))], precision("fp32"))
    assert told.pieces == SHAPE.positions
