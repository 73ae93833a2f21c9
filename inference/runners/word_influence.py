"""Attribution of a prediction, or of a word's vector in the last layer, to each word of the text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attention.agreement import shares, with_residual
from attention.edits import Edit, MaskKey
from attention.record import attending_records
from i18n import gettext_lazy
from inference.errors import UserError, as_user_error, too_many_tokens
from inference.loaded_model import LoadedModel
from inference.record import capture
from inference.record.batching import MOST_TOKENS as BATCH_TOKENS
from inference.record.edit_hooks import HEADS, attention_layers
from inference.record.patching import replacing_output
from inference.record.records import numpy
from inference.runners import influence
from inference.runners.blanks import hide, mask_of, prepare, read, tensors
from inference.runners.edit_batches import one_text, outputs
from inference.runners.influence import cosine_distance, from_vectors, path_from_zero, word_vectors
from inference.runners.labels import failure_message, logits_there, refuse_absent
from inference.runners.masked_words import explained_guess, word_runs
from inference.tasks.attribution import (
    MOST_TOKENS,
    AnyFocus,
    FlowToWord,
    GradientResult,
    Gradients,
    Run,
    WithoutWords,
    WordGradients,
    WordPath,
    WordScores,
    ZeroedValues,
)
from inference.tasks.labels import LabelGradients, LabelPath
from inference.text.encoding import Encoding

BATCH = 4096  # tokens of a pass with gradients, summed over its samples
SEED = 0


def answer(loaded: LoadedModel, question: AnyFocus) -> WordScores:
    """Return the attribution of a word's vector in the last layer to each token or word.

    Raise UserError if the text is too long, the word does not exist, or the model is an encoder-decoder.
    """
    reading = _read(loaded, question)
    if isinstance(question, WithoutWords):
        return WordScores(_ablation_effects(loaded, reading, question.focus, question.words))
    failed = gettext_lazy("{name} failed on this input. Change it or pick another model.", name=loaded.id.name)
    with as_user_error(failed, way_out=None):
        one = tensors(loaded, reading)
        if isinstance(question, FlowToWord):
            return WordScores(_flow(loaded, one, question.focus))
        if isinstance(question, ZeroedValues):
            return WordScores(numpy(influence.distances(loaded.model, one, question.layer)))
        if isinstance(question, WordGradients):
            return WordScores(gradients(loaded.model, one, question.focus, question.directions))
        return _path(loaded.model, one, question)


def _read(loaded: LoadedModel, question: AnyFocus) -> Encoding:
    if loaded.id.kind == "encoder-decoder":
        raise UserError(
            gettext_lazy("{name} reads one text and writes another. Pick an encoder or decoder.", name=loaded.id.name)
        )
    reading = read(loaded, question.text, question.pair, question.cut)
    refuse_long(reading)
    tokens, (start, stop) = len(reading.ids), question.focus
    if not 0 <= start < stop <= tokens:
        raise UserError(
            f"Tokens {start} to {stop} were asked about; the text has {tokens}.",
            way_out="text",
        )
    return reading


def refuse_long(reading: Encoding) -> None:
    """Raise UserError if a text has more than MOST_TOKENS tokens."""
    tokens = len(reading.ids)
    if tokens > MOST_TOKENS:
        raise too_many_tokens(tokens, MOST_TOKENS)


def _ablation_effects(loaded: LoadedModel, reading: Encoding, focus: Run, words: Sequence[Run]) -> Any:
    """Return 1 - cosine of the focus's vector with and without each word, shape (word,)."""
    model = loaded.model
    layers = attention_layers(model, next(iter(getattr(model, HEADS, None) or [""])))
    sets: list[Sequence[Edit]] = [()]
    sets += [[MaskKey(layer, key) for layer in layers for key in range(*word)] for word in words]
    passes = outputs(loaded, one_text(loaded, reading), sets)
    found = torch.cat([_vector(output, focus) for output in passes])  # (set, channel)
    return numpy(cosine_distance(found[1:], found[:1]))


def _flow(loaded: LoadedModel, one: dict[str, Tensor], focus: Run) -> Any:
    tokens = one["input_ids"].shape[1]
    if tokens > influence.MOST_TOKENS:
        raise too_many_tokens(tokens, influence.MOST_TOKENS, way_out="text")
    [parts] = capture.record_parts(loaded.model, one)
    records = attending_records(next(iter(parts.values())))
    maps = np.stack([sum(record.weights(head) for head in range(record.heads)) for record in records])
    mixed = with_residual(shares(maps))
    found = np.mean([influence.flow(mixed, query) for query in range(*focus)], axis=0).astype(np.float32)
    found.setflags(write=False)
    return found


def gradients(model: Any, one: dict[str, Tensor], focus: Run, directions: int) -> Any:
    """Estimate the sensitivity of a word's vector to each token's embedding, (token,).

    The word is at tokens ``focus``. The sensitivity is the Frobenius norm of a Jacobian. The estimate is the root mean
    square of the derivatives along ``directions`` random directions, times the square root of the number of channels.
    """
    embeddings = word_vectors(model, one)
    tokens = embeddings.shape[1]
    with torch.inference_mode():
        width = _vector(model(**one), focus).shape[-1]
    basis = _directions(width, min(directions, width))
    total = torch.zeros(tokens)
    for some in basis.split(max(1, BATCH // tokens)):
        vectors = embeddings.expand(len(some), -1, -1).clone().requires_grad_()
        found = _vector(from_vectors(model, one, vectors), focus)
        [gradient] = torch.autograd.grad((found * some).sum(), vectors)
        total += gradient.float().square().sum(dim=(0, 2))
    return numpy((total * width / len(basis)).sqrt())


def _directions(width: int, many: int) -> Tensor:
    """Return orthonormal directions, shape (direction, channel), the same in every run."""
    generator = torch.Generator().manual_seed(SEED)
    basis, _ = torch.linalg.qr(torch.randn(width, many, generator=generator))
    rows: Tensor = basis.T.contiguous()
    return rows


def _path(model: Any, one: dict[str, Tensor], question: WordPath) -> WordScores:
    embeddings = word_vectors(model, one)
    with torch.no_grad():
        goal = _vector(model(**one), question.focus)

    def alike(vectors: Tensor) -> Tensor:
        found = _vector(from_vectors(model, one, vectors), question.focus)
        return torch.cosine_similarity(found, goal, dim=-1)

    return path_from_zero(alike, embeddings, question.steps, BATCH)


def _vector(output: Any, focus: Run) -> Tensor:
    """Return the focus's mean vector in the last layer, shape (sample, channel)."""
    vectors: Tensor = output.last_hidden_state[:, slice(*focus)].float().mean(dim=1)
    return vectors


def attribute_label(loaded: LoadedModel, question: LabelGradients | LabelPath) -> WordScores:
    """Return the attribution of a label's logit to each token.

    Raise UserError if the text is too long or the label missing.
    """
    reading = read(loaded, question.text, question.pair, question.cut)
    refuse_long(reading)
    refuse_absent(question, reading)
    one = tensors(loaded, reading)
    label = _label_index(loaded, question, one)

    def logit(vectors: Tensor) -> Tensor:
        return logits_there(from_vectors(loaded.model, one, vectors), question.at)[:, label]

    with as_user_error(failure_message(loaded), way_out=None):
        vectors = word_vectors(loaded.model, one)
        if isinstance(question, LabelPath):
            return path_from_zero(logit, vectors, question.steps, BATCH)
        [gradient] = torch.autograd.grad(logit(vectors.requires_grad_()).sum(), vectors)
        return WordScores(numpy(gradient[0].norm(dim=-1)))


def _label_index(loaded: LoadedModel, question: LabelGradients | LabelPath, one: dict[str, Tensor]) -> int:
    """Return the label's number, or the most probable label if the request names none.

    Raise UserError if the model lacks the label.
    """
    with as_user_error(failure_message(loaded)), torch.inference_mode():
        logits = logits_there(loaded.model(**one), question.at)[0]
    if question.label >= len(logits):
        raise UserError(
            gettext_lazy(
                "There is no label {label}; {name} has {labels}, counted from 0.",
                label=question.label,
                name=loaded.id.name,
                labels=len(logits),
            )
        )
    return question.label if question.label >= 0 else int(logits.argmax())


MOST_STEPS = 200


def integrate_gradients(loaded: LoadedModel, question: Gradients) -> GradientResult:
    """Return integrated gradients of the prediction for a blank, for the requested part of the path.

    The path goes from the text with every word hidden to the text itself. Raise UserError if the text has no blanks.
    """
    if not (0 <= question.part < question.parts and 0 < question.steps <= MOST_STEPS):
        raise UserError(
            gettext_lazy(
                "Part {part} of {parts} does not fit {steps} steps.",
                part=question.part,
                parts=question.parts,
                steps=question.steps,
            )
        )
    blanked = prepare(loaded, question)
    explained, at = explained_guess(loaded, blanked, question.blank, question.token)
    words = {place for run in word_runs(loaded, blanked) for place in range(*run)}
    ends = [hide(blanked.reading, words, mask_of(loaded)[1]), blanked.reading]  # baseline and input
    cannot = gettext_lazy("{name} failed on this input. Change it or pick another model.", name=loaded.id.name)
    with as_user_error(cannot, way_out=None):
        given = tensors(loaded, ends[1])
        none, all_ = (_vectors(loaded.model, tensors(loaded, end)["input_ids"]) for end in ends)
        first, last = (torch.lerp(none, all_, (question.part + end) / question.parts) for end in (0, 1))
        values, delta, told = _attribute(loaded.model, given, first, last, at, explained.token, question.steps)
    kept = values.sum(-1)[0].float().numpy().astype(np.float32)
    kept.setflags(write=False)
    return GradientResult(blanked.row, kept, told[0], told[1], delta)


def _vectors(model: Any, ids: Tensor) -> Tensor:
    """Return the word embeddings of a text, shape (text, token, channel), before positions are added."""
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
    size = max(1, BATCH_TOKENS // (2 * last.shape[1]))  # the gradients keep the activations of every layer
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
    """Return the token's log-probability in the blank, shape (text,), for embeddings (text, token, channel)."""

    with replacing_output(model.get_input_embeddings(), lambda _module, _output: vectors):
        many = {name: tensor.expand(len(vectors), -1) for name, tensor in given.items()}
        logits: Tensor = model(**many).logits[:, at].float()
    return logits.log_softmax(-1)[:, piece]
