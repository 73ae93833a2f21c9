"""Judges two texts with the head that was trained for it."""

from __future__ import annotations

import torch

from inference.answers.inputs import read, tensors
from inference.errors import refusing
from inference.loading import Loaded
from inference.questions.sentence import NEXT, ORDER, Judged, NextSentence


def answer(loaded: Loaded, question: NextSentence) -> Judged:
    """The head's probability for "it follows"; raises Refusal for an empty text and a model that reads no pairs."""
    reading = read(loaded, question.text, question.pair, question.cut)
    sentence = f"{loaded.id.name} failed while reading these texts. Change them or pick another model."
    with refusing(sentence), torch.inference_mode():
        output = loaded.model(**tensors(loaded, reading))
        ordered = "sop_logits" in output
        scores = (output.sop_logits if ordered else output.logits)[0].float()
        yes, no = scores.tolist()
        probability = float(torch.softmax(scores, dim=-1)[0])
    return Judged(probability, (yes, no), ORDER if ordered else NEXT, len(reading.ids))
