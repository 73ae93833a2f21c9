"""Predicted class of a text, or tags of its words, from a model's classification head."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from attention.tokens import TokenRow, word_runs
from i18n import gettext_lazy
from inference.errors import UserError, as_user_error
from inference.loaded_model import LoadedModel
from inference.record.patching import replacing_output
from inference.record.records import numpy
from inference.runners.blanks import read, tensors
from inference.runners.edit_batches import one_text
from inference.runners.influence import from_vectors, word_vectors
from inference.tasks.attribution import Run
from inference.tasks.labels import CHOICE, EACH, NUMBER, LabelAnswer, LabelPlace, LabelRequest, TextLabel, WordTags
from inference.text.encoding import Encoding, check_text

LONGEST_NAME = 60


def answer(loaded: LoadedModel, question: TextLabel | WordTags) -> LabelAnswer:
    """Return the logit of every label for a text or for its words.

    Raise UserError if the text is empty or the model reads no pairs.
    """
    reading = read(loaded, question.text, question.pair, question.cut)
    with as_user_error(failure_message(loaded)), torch.inference_mode():
        logits: Tensor = loaded.model(**one_text(loaded, reading).inputs).logits[0].float()
    if isinstance(question, WordTags):
        texts = [check_text(text) for text in (question.text, question.pair) if text is not None]
        places = carriers(reading.row, texts)
        found = logits[[place.reads[0] for place in places]]
    else:
        with as_user_error(failure_message(loaded)):
            places = (LabelPlace((0, len(reading.ids)), reads(loaded.model, tensors(loaded, reading))),)
        found = logits[None]
    return LabelAnswer(reading.row, names(loaded.model.config), sort(loaded.model), places, numpy(found))


def failure_message(loaded: LoadedModel) -> str:
    """Return the message of the error that is raised if the model fails on a text."""
    return gettext_lazy("{name} failed on this input. Change it or pick another model.", name=loaded.id.name)


def sort(model: Any) -> str:
    """Return how the scores of a model's labels are read: CHOICE (softmax), EACH (sigmoid) or NUMBER (regression).

    A head with a single output is a regression head, unless its configuration states multi-label classification.
    """
    stated = getattr(model.config, "problem_type", None)
    if stated == "multi_label_classification":
        return EACH
    return NUMBER if stated == "regression" or model.config.num_labels == 1 else CHOICE


def names(config: Any) -> tuple[str, ...]:
    """Return the label names of a model's configuration, made short, printable and distinct.

    >>> from types import SimpleNamespace
    >>> names(SimpleNamespace(num_labels=4, id2label={0: "good", 1: "good", 2: "a" + chr(10) + "b"}))
    ('good', 'good (1)', 'a?b', 'label 3')
    """
    given = getattr(config, "id2label", None) or {}
    found: dict[str, None] = {}  # in the order of the labels
    for at in range(config.num_labels):
        name = _printable_name(str(given.get(at, ""))) or f"label {at}"
        while name in found:
            name += f" ({at})"
        found[name] = None
    return tuple(found)


def _printable_name(name: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in name.strip()[:LONGEST_NAME])


def carriers(row: TokenRow, texts: Sequence[str]) -> tuple[LabelPlace, ...]:
    """Return the words of the text, each with the token at which its tag is predicted.

    This is the word's first token with a character other than a space.

    >>> spans = (None, (0, 1), (2, 6), (6, 9))
    >>> row = TokenRow(("[CLS]", "I", "play", "ing"), (9, 7, 5, 6), (None, 0, 1, 1), (0,) * 4, spans)
    >>> [place.reads for place in carriers(row, ["I playing"])]
    [(1, 2), (2, 3)]
    """
    found = []
    for start, stop in word_runs(row.words, row.segments):
        if row.words[start] is None:
            continue
        at = next((at for at in range(start, stop) if _letters(row, at, texts)), start)
        found.append(LabelPlace((start, stop), (at, at + 1)))
    return tuple(found)


def _letters(row: TokenRow, at: int, texts: Sequence[str]) -> bool:
    """Return True if a token has any character other than a space."""
    span = row.spans[at]
    return span is not None and bool(texts[row.segments[at]][slice(*span)].strip())


def reads(model: Any, one: dict[str, Tensor]) -> Run:
    """Return the run of tokens (start, stop) from which a text classification head computes its logits.

    The run is found by gradients: the logits depend on the last hidden states of no other tokens.
    """
    tokens = one["input_ids"].shape[1]
    last: list[Tensor] = []

    def keep(_module: Any, output: Any) -> None:
        last.append(output[0])

    vectors = word_vectors(model, one).requires_grad_()
    with torch.enable_grad(), replacing_output(model.base_model, keep):
        logits = from_vectors(model, one, vectors).logits
    [gradient] = torch.autograd.grad(logits.square().sum(), last[:1], allow_unused=True)
    if gradient is None or gradient.shape[:2] != (1, tokens):
        return (0, tokens)
    read_there = gradient[0].abs().amax(dim=-1).nonzero().flatten().tolist() or [0, tokens - 1]
    return (read_there[0], read_there[-1] + 1)


def logits_there(output: Any, at: int | None) -> Tensor:
    """Return the logits of the text, or of the token ``at``, shape (sample, label) float32."""
    logits: Tensor = output.logits
    return (logits if at is None else logits[:, at]).float()


def log_probabilities(logits: Tensor, sort: str) -> Tensor | None:
    """Return log-probabilities from logits (…, label), or None if ``sort`` is NUMBER."""
    if sort == NUMBER:
        return None
    return logits.log_softmax(-1) if sort == CHOICE else torch.nn.functional.logsigmoid(logits)


def refuse_absent(question: LabelRequest[Any], reading: Encoding) -> None:
    """Raise UserError if the request names a token that the text does not have."""
    if question.at is not None and not 0 <= question.at < len(reading.ids):
        raise UserError(
            f"Token {question.at} was asked about; the text has {len(reading.ids)}.",
            way_out="text",
        )
