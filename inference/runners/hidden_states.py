"""Hidden states of a text after every layer, pooled vectors of texts, and token counts of texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch

from attention.mask import FloatArray
from attention.vectors import mix, pool
from i18n import error_message, gettext_lazy
from inference.errors import UserError, as_user_error, too_many_tokens
from inference.loaded_model import LoadedModel
from inference.record.batching import MOST_TEXTS, MOST_TOKENS
from inference.runners.blanks import read, tensors
from inference.tasks.hidden_states import HiddenStates, Pooled, States, TextSizes, TextVectors, TokenCounts
from inference.text.encoding import Encoding, check_text

MOST_BYTES = 2**26  # for the hidden states of a pass


def answer(loaded: LoadedModel, question: HiddenStates | Pooled) -> States | TextVectors:
    """Return the hidden states of a text after every layer, or a vector for each of several texts."""
    if isinstance(question, Pooled):
        return _pool_vectors(loaded, question)
    reading = read(loaded, question.text, question.pair, question.cut)
    most = _most_tokens(loaded)
    if len(reading.row) > most:
        raise too_many_tokens(len(reading.row), most)
    levels = hidden_states(loaded, [reading])[0]
    levels.setflags(write=False)
    return States(levels, reading.row)


def hidden_states(loaded: LoadedModel, readings: Sequence[Encoding]) -> list[FloatArray]:
    """Return the hidden states of each encoding, shape (level, token, channel) float32, from a padded batch.

    Level 0 is the embeddings, and level n the output of layer n. Raise UserError if the pass fails.
    """
    inputs = tensors(loaded, *readings)
    two_sided = loaded.id.kind == "encoder-decoder"
    model = loaded.model.get_encoder() if two_sided else loaded.model
    failed = gettext_lazy("{name} failed on this input. Change it or pick another model.", name=loaded.id.name)
    with as_user_error(failed), torch.inference_mode():
        states = model(**inputs, output_hidden_states=True).hidden_states
    if not states or len({tuple(state.shape) for state in states}) != 1:
        raise UserError(
            gettext_lazy("{name} has no vector per token after each layer. Pick another model.", name=loaded.id.name),
            way_out="embedded",
        )
    stacked = torch.stack([state.float() for state in states])  # (level, text, token, channel)
    return [stacked[:, at, : len(reading.row)].numpy().copy() for at, reading in enumerate(readings)]


def _pool_vectors(loaded: LoadedModel, question: Pooled) -> TextVectors:
    readings: list[Encoding] = []
    found, refused, cut = [], [], []
    for text in question.texts:
        reading, reason, shortened = _encode_or_reason(loaded, text)
        refused.append(reason)
        cut.append(shortened)
        found.append(None if reading is None else len(readings))
        readings += [] if reading is None else [reading]
    rows: dict[int, FloatArray] = {}
    for batch in _batches(readings, _most_tokens(loaded)):
        for at, levels in zip(batch, hidden_states(loaded, [readings[at] for at in batch]), strict=True):
            try:
                mixed = mix(levels, question.mix, question.level)
                rows[at] = pool(mixed, readings[at].row.special, question.pooling)
            except ValueError as error:
                raise UserError(error_message(error)) from error
    width = len(rows[0]) if rows else 0
    vectors = np.stack([np.zeros(width, np.float32) if at is None else rows[at] for at in found])
    vectors.setflags(write=False)
    tokens = tuple(0 if at is None else len(readings[at].row) for at in found)
    return TextVectors(vectors, tokens, tuple(cut), tuple(refused))


def _encode_or_reason(loaded: LoadedModel, text: str) -> tuple[Encoding | None, str, bool]:
    """Return the encoding of a text or None, the reason for None, and True if the text was truncated."""
    try:
        text = check_text(text)
        whole = loaded.reader.read(text, None, None)
        most = min(loaded.limit, _most_tokens(loaded))
        if len(whole.row) <= most:
            return whole, "", False
        return loaded.reader.read(text, None, loaded.limit, most), "", True
    except UserError as refusal:
        if refusal.way_out == "text":
            return None, refusal.message, False
        raise


def _batches(readings: Sequence[Encoding], most: int) -> Iterator[list[int]]:
    """Yield indices of encodings of similar length, in batches that stay within the limits with padding."""
    batch: list[int] = []
    for at in sorted(range(len(readings)), key=lambda at: len(readings[at].row)):
        padded = (len(batch) + 1) * len(readings[at].row)
        if batch and (len(batch) >= MOST_TEXTS or padded > min(most, MOST_TOKENS)):
            yield batch
            batch = []
        batch.append(at)
    if batch:
        yield batch


def _most_tokens(loaded: LoadedModel) -> int:
    """Return the number of tokens that keep the vectors of all levels within MOST_BYTES."""
    config = loaded.model.config.get_text_config()
    levels = 1 + (getattr(config, "num_hidden_layers", None) or 12)
    channels = getattr(config, "hidden_size", None) or 768
    return max(1, int(MOST_BYTES // (4 * levels * channels)))


CHUNK = 1_000  # texts that are tokenised at a time


def count_tokens(loaded: LoadedModel, question: TextSizes) -> TokenCounts:
    """Return the number of tokens and of unknown tokens of each text.

    Raise UserError if the tokenizer cannot read a text.
    """
    tokenizer = loaded.reader.tokenizer
    texts = list(question.texts)
    tokens: list[int] = []
    unknown: list[int] = []
    for first in range(0, len(texts), CHUNK):
        with as_user_error(
            gettext_lazy("The tokenizer cannot read one of these texts. Pick another model."), way_out=None
        ):
            rows = tokenizer(texts[first : first + CHUNK], verbose=False)["input_ids"]
        tokens += map(len, rows)
        unknown += (row.count(tokenizer.unk_token_id) for row in rows)
    return TokenCounts(np.array(tokens, np.int32), np.array(unknown, np.int32))
