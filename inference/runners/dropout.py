"""Passes over a text with dropout, and a pass without dropout."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from attention.vectors import cosine
from i18n import gettext_lazy
from inference.anatomy.positions import shared_copy
from inference.errors import UserError, as_user_error
from inference.loaded_model import LoadedModel
from inference.record.records import numpy
from inference.runners.blanks import display_pieces, prepare, tensors
from inference.runners.masked_words import guess
from inference.tasks.anatomy import Dropout, DropoutResult

MOST_SHARE, MOST_PASSES = 90, 32  # the share in percent; with nearly everything dropped, a pass shows nothing


class DropoutMode(TorchFunctionMode):
    """A context in which all dropout of this thread drops ``share`` of the values, 0 to 1, from a seed.

    torch draws from a generator that all threads share, so its own dropout would not be reproducible.
    """

    def __init__(self, share: float, seed: int) -> None:
        super().__init__()
        self.share, self.dice = share, torch.Generator().manual_seed(seed)

    def __torch_function__(self, func: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Apply dropout from the seeded generator; call every other function unchanged."""
        if func is not torch.nn.functional.dropout:
            return func(*args, **(kwargs or {}))
        given = args[0]
        return given * (torch.rand(given.shape, generator=self.dice) >= self.share) / (1 - self.share)


def answer(loaded: LoadedModel, question: Dropout) -> DropoutResult:
    """Return the passes; raise UserError if the text has no blank, or if an option is out of range."""
    if not (0 <= question.share <= MOST_SHARE and 1 <= question.passes <= MOST_PASSES):
        raise UserError(
            gettext_lazy(
                "{passes} passes with {share} % dropped were asked for; 1 to {most_passes} passes with"
                " 0 to {most_share} % can be made.",
                passes=question.passes,
                share=question.share,
                most_passes=MOST_PASSES,
                most_share=MOST_SHARE,
            )
        )
    blanked = prepare(loaded, question)
    at = blanked.positions[0]
    inputs = tensors(loaded, blanked.reading)
    learning = shared_copy(loaded.model)
    learning.set_attn_implementation("eager")  # other implementations do not drop attention weights
    learning.train()
    with as_user_error(
        gettext_lazy(
            "{name} failed while reading this text. Change the text or pick another model.", name=loaded.id.name
        )
    ):
        log, vector = _pass(loaded.model, inputs, at)
        with DropoutMode(question.share / 100, question.seed):
            passes = [_pass(learning, inputs, at) for _ in range(question.passes)]
    best = guess(loaded, log, int(log.argmax()))
    logs, vectors = (torch.stack(found) for found in zip(*passes, strict=True))
    return DropoutResult(
        undropped=best,
        probabilities=numpy(logs[:, best.token].exp()),
        likeliest=tuple(display_pieces(loaded, logs.argmax(-1).tolist())),
        cosines=cosine(numpy(vectors), numpy(vector)[None])[:, 0],
    )


def _pass(model: Any, inputs: dict[str, Tensor], at: int) -> tuple[Tensor, Tensor]:
    """Return the log-probabilities (token,) at a position, and its last hidden state (channel,)."""
    with torch.inference_mode():
        output = model(**inputs, output_hidden_states=True)
    return torch.log_softmax(output.logits[0, at].float(), dim=-1), output.hidden_states[-1][0, at].float()
