"""Integrated gradients of a blank's answer over the word embeddings, computed by captum."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from i18n import gettext_lazy
from inference.errors import UserError, as_user_error
from inference.loaded_model import LoadedModel
from inference.record.batching import MOST_TOKENS
from inference.record.patching import replacing_output
from inference.runners.blanks import hide, mask_of, prepare, tensors
from inference.runners.occlusion import runs, target
from inference.tasks.attribution import GradientResult, Gradients

MOST_STEPS = 200


def answer(loaded: LoadedModel, question: Gradients) -> GradientResult:
    """Return each token's attribution along a part of the path; raise UserError if the text has no blanks."""
    if not (0 <= question.part < question.parts and 0 < question.steps <= MOST_STEPS):
        raise UserError(
            gettext_lazy(
                "Part {part} of {parts} in {steps} steps is no part of a path.",
                part=question.part,
                parts=question.parts,
                steps=question.steps,
            )
        )
    blanked = prepare(loaded, question)
    explained, at = target(loaded, blanked, question.blank, question.token)
    words = {place for run in runs(loaded, blanked) for place in range(*run)}
    ends = [hide(blanked.reading, words, mask_of(loaded)[1]), blanked.reading]  # baseline and input
    cannot = gettext_lazy(
        "{name} failed on gradients of this text. Change the text or pick another model.", name=loaded.id.name
    )
    with as_user_error(cannot, way_out=None):
        given = tensors(loaded, ends[1])
        none, all_ = (_vectors(loaded.model, tensors(loaded, end)["input_ids"]) for end in ends)
        first, last = (torch.lerp(none, all_, (question.part + end) / question.parts) for end in (0, 1))
        values, delta, told = _attribute(loaded.model, given, first, last, at, explained.token, question.steps)
    kept = values.sum(-1)[0].float().numpy().astype(np.float32)
    kept.setflags(write=False)
    return GradientResult(blanked.row, kept, told[0], told[1], delta)


def _vectors(model: Any, ids: Tensor) -> Tensor:
    """Return the word embeddings of a text, (text, token, channel), before positions are added."""
    with torch.no_grad():
        vectors: Tensor = model.get_input_embeddings()(ids)
    return vectors.clone()


def _attribute(  # noqa: PLR0913  # all that the integral depends on
    model: Any, given: dict[str, Tensor], first: Tensor, last: Tensor, at: int, piece: int, steps: int
) -> tuple[Tensor, float, list[float]]:
    """Return captum's attributions (text, token, channel), its delta, and log-probabilities at both ends."""
    from captum.attr import IntegratedGradients

    def target_log_probability(vectors: Tensor) -> Tensor:
        return _log_probability(model, given, vectors, at, piece)

    method = IntegratedGradients(target_log_probability, multiply_by_inputs=True)
    size = max(1, MOST_TOKENS // (2 * last.shape[1]))  # the gradients keep the activations of every layer
    values, delta = method.attribute(
        last,
        baselines=first,
        n_steps=steps,
        method="gausslegendre",
        internal_batch_size=size,
        return_convergence_delta=True,
    )
    with torch.no_grad():
        ends = target_log_probability(torch.cat([first, last])).tolist()
    return values.detach(), float(delta.sum()), ends


def _log_probability(model: Any, given: dict[str, Tensor], vectors: Tensor, at: int, piece: int) -> Tensor:
    """Return the token's log-probability in the blank, (text,), for embeddings (text, token, channel)."""

    with replacing_output(model.get_input_embeddings(), lambda _module, _output: vectors):
        many = {name: tensor.expand(len(vectors), -1) for name, tensor in given.items()}
        logits: Tensor = model(**many).logits[:, at].float()
    return logits.log_softmax(-1)[:, piece]
