"""Attribution of a label's logit to the tokens of the text: gradients, and integrated gradients."""

from __future__ import annotations

import torch
from torch import Tensor

from i18n import gettext_lazy
from inference.errors import UserError, as_user_error
from inference.loaded_model import LoadedModel
from inference.record.records import numpy
from inference.runners.blanks import read, tensors
from inference.runners.influence import from_vectors, path_from_zero, word_vectors
from inference.runners.labels import failure_message, logits_there, refuse_absent
from inference.runners.word_influence import BATCH, refuse_long
from inference.tasks.attribution import WordScores
from inference.tasks.labels import LabelGradients, LabelPath


def answer(loaded: LoadedModel, question: LabelGradients | LabelPath) -> WordScores:
    """Return the attribution of each token; raise UserError if the text is too long or the label missing."""
    reading = read(loaded, question.text, question.pair, question.cut)
    refuse_long(reading)
    refuse_absent(question, reading)
    one = tensors(loaded, reading)
    label = _label(loaded, question, one)

    def logit(vectors: Tensor) -> Tensor:
        return logits_there(from_vectors(loaded.model, one, vectors), question.at)[:, label]

    with as_user_error(failure_message(loaded), way_out=None):
        vectors = word_vectors(loaded.model, one)
        if isinstance(question, LabelPath):
            return path_from_zero(logit, vectors, question.steps, BATCH)
        [gradient] = torch.autograd.grad(logit(vectors.requires_grad_()).sum(), vectors)
        return WordScores(numpy(gradient[0].norm(dim=-1)))


def _label(loaded: LoadedModel, question: LabelGradients | LabelPath, one: dict[str, Tensor]) -> int:
    """Return the label's number, or the most probable label if the request names none.

    Raise UserError if the model lacks the label.
    """
    with as_user_error(failure_message(loaded)), torch.inference_mode():
        logits = logits_there(loaded.model(**one), question.at)[0]
    if question.label >= len(logits):
        raise UserError(
            gettext_lazy(
                "Label {label} was asked about; {name} has {labels}, counted from 0.",
                label=question.label,
                name=loaded.id.name,
                labels=len(logits),
            )
        )
    return question.label if question.label >= 0 else int(logits.argmax())
