"""Judgement of two texts by a next-sentence head."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from i18n import gettext_lazy
from inference.errors import as_user_error
from inference.loaded_model import LoadedModel
from inference.runners.blanks import read, tensors
from inference.tasks.predictions import NEXT, ORDER, NextSentence, NextSentenceAnswer


def answer(loaded: LoadedModel, question: NextSentence) -> NextSentenceAnswer:
    """Return the head's probability for "it follows".

    Raise UserError if a text is empty or the model reads no pairs.
    """
    reading = read(loaded, question.text, question.pair, question.cut)
    failed = gettext_lazy(
        "{name} failed while reading these texts. Change them or pick another model.", name=loaded.id.name
    )
    with as_user_error(failed), torch.inference_mode():
        output = loaded.model(**tensors(loaded, reading))
        scores = judgements(output)[0]
        yes, no = scores.tolist()
        probability = float(torch.softmax(scores, dim=-1)[0])
    return NextSentenceAnswer(probability, (yes, no), ORDER if "sop_logits" in output else NEXT, reading.row)


def judgements(output: Any) -> Tensor:
    """Return the head's scores for yes and no, (text, 2) float32.

    The output's name differs between model classes.
    """
    found: Tensor = output.sop_logits if "sop_logits" in output else output.logits
    return found.float()
