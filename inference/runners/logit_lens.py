"""The logit lens: predictions that the model's task head computes from the hidden states of a layer.

The prediction from the last layer is compared with the model's own output.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from attention.edits import Edit
from i18n import gettext_lazy
from inference.errors import as_user_error
from inference.loaded_model import LoadedModel
from inference.record.edit_hooks import apply_edits
from inference.record.patching import replacing_output
from inference.runners import decoding
from inference.runners.blanks import display_pieces, prepare, tensors
from inference.tasks.predictions import Guess, Layers, Lens, NextLens
from inference.text.encoding import Encoding
from inference.text.tokenizer import extend_reading, mark_pieces

NEAR = 1e-3  # allowed difference between the lens at the last state and the model's output, in log-probability


@dataclass(frozen=True)
class LensTarget:
    """The input of the logit lens: an encoded text, the index ``at`` of the token to read, and edits.

    ``named`` returns the texts of predicted token ids.
    """

    reading: Encoding
    at: int
    named: Callable[[Sequence[int]], Sequence[str]]
    edits: tuple[Edit, ...] = ()


def answer(loaded: LoadedModel, question: Lens | NextLens) -> Layers:
    """Return the predictions of the task head for a blank, or for the next token, after each layer.

    Raise UserError if the model's hidden states cannot be passed to its head.
    """
    asked = _next(loaded, question) if isinstance(question, NextLens) else _blank(loaded, question)
    cannot = gettext_lazy(
        "The output head of {architecture} cannot read its hidden states.",
        architecture=loaded.id.architecture,
    )
    with as_user_error(cannot, way_out=None), torch.inference_mode(), apply_edits(loaded.model, [asked.edits]):
        found, normed = states(loaded, asked.reading, asked.at)
    top = min(question.top, found.shape[1])
    guesses = [_guesses(asked, log, torch.topk(log, top).indices.tolist()) for log in found]
    tokens = [token for token in question.tokens if 0 <= token < found.shape[1]] or [guesses[-1][0].token]
    followed = found[:, tokens]  # (row, followed)
    ranks = torch.stack([1 + (found > found[:, token : token + 1]).sum(-1) for token in tokens], dim=1)
    return Layers(
        guesses=tuple(guesses),
        followed=_guesses(asked, found[-1], tokens),
        probabilities=_make_read_only(followed.exp().numpy().astype(np.float32)),
        ranks=_make_read_only(ranks.numpy()),
        normed=normed,
    )


def _blank(loaded: LoadedModel, question: Lens) -> LensTarget:
    blanked = prepare(loaded, question)
    blanked.check_blank(question.blank)
    return LensTarget(
        blanked.reading, blanked.positions[question.blank], lambda tokens: display_pieces(loaded, tokens, False)
    )


def _next(loaded: LoadedModel, question: NextLens) -> LensTarget:
    reading, writing = decoding.prepare(loaded, question)
    decoding.refuse_odd_tokens(loaded, writing, question.written)
    longer, _ = extend_reading(loaded.reader, reading, question.text, question.written)
    return LensTarget(longer, len(longer.ids) - 1, lambda tokens: mark_pieces(loaded.reader, tokens), question.edits)


def _guesses(asked: LensTarget, log: Tensor, tokens: Sequence[int]) -> tuple[Guess, ...]:
    """Return the predictions for some tokens of a distribution of log-probabilities (token,)."""
    return tuple(
        Guess(token, piece, float(log[token].exp()), 1 + int((log > log[token]).sum()))
        for token, piece in zip(tokens, asked.named(tokens), strict=True)
    )


def states(loaded: LoadedModel, reading: Encoding, at: int) -> tuple[Tensor, bool]:
    """Return the log-probabilities that the task head computes from each hidden state of token ``at``.

    The shape is (level, vocabulary); level 0 is the embedding, and level n the output of layer n. The second value is
    True if the model's final norm was applied to the levels before the last. Raise ValueError if the last level does
    not give the model's own output.
    """
    model, given = loaded.model, tensors(loaded, reading)
    own, hidden, norm = _run_model(model, given)
    before = hidden[:-1, at] if norm is None else norm(hidden[:-1, at])
    column = torch.cat([before, hidden[-1:, at]])  # (state, channel)
    found = through_head(model, given, column)
    if not torch.allclose(found[-1], own[0, at].float().log_softmax(-1), atol=NEAR):
        raise ValueError("The last hidden state, read with the head, is not the model's answer.")
    return found, norm is not None


def _run_model(model: Any, given: dict[str, Tensor]) -> tuple[Tensor, Tensor, Any]:
    """Return logits (text, token, vocabulary), hidden states (state, token, channel), and the final norm.

    The final norm runs last and is outside all layers; hidden states before the last have not passed through it.
    It is None if the model has no such norm.
    """
    called: list[Any] = []
    with ExitStack() as watched:
        for module in model.base_model.modules():
            if "Norm" in type(module).__name__:
                watched.enter_context(replacing_output(module, lambda module, _output: called.append(module)))
        output = model(**given, output_hidden_states=True)
    hidden = torch.stack([state[0] for state in output.hidden_states])
    last = called[-1] if called else None
    name = next((name for name, module in model.base_model.named_modules() if module is last), "")
    in_a_layer = any(part.isdigit() for part in name.split("."))
    return output.logits, hidden, None if in_a_layer or "embeddings" in name else last


def through_head(model: Any, given: dict[str, Tensor], column: Tensor) -> Tensor:
    """Return the log-probabilities (state, vocabulary) that the task head computes from hidden states.

    The hidden states ``column`` are (state, channel); each is read as if it were a text of a single token.
    """

    first = column[:, None]  # each state is a text of a single token

    def swap(_module: Any, output: Any) -> Any:
        return (first, *output[1:]) if isinstance(output, tuple) else _with_first(output, first)

    with ExitStack() as swapped:
        for part in {model.base_model, _read_by_head(model)}:
            swapped.enter_context(replacing_output(part, swap))
        logits: Tensor = model(**given).logits
        return logits[:, 0].float().log_softmax(-1)


def _read_by_head(model: Any) -> Any:
    """Return the module that feeds the head: the base model, or the decoder inside it, as in OPT."""
    inner = model.get_decoder()
    return inner if isinstance(inner, PreTrainedModel) else model.base_model


def _with_first(output: Any, states: Tensor) -> Any:
    changed = replace(output)
    changed[next(iter(output.keys()))] = states
    return changed


def _make_read_only(values: Any) -> Any:
    values.setflags(write=False)
    return values
