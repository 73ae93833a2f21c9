"""The target side of encoder-decoder models: given by the user, or written by the model, then read once as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attention.edits import Edit
from i18n import gettext_lazy
from inference.errors import UserError, as_user_error
from inference.loaded_model import LoadedModel
from inference.text.encoding import Encoding, shift
from inference.write.stop_tokens import end_tokens, start_token

MOST_WRITTEN = 200  # tokens


def read_target(loaded: LoadedModel, target: str) -> tuple[Encoding, str]:
    """What the decoder reads in order to write ``target``: its start token, then the target without its end.

    The query at each place is the step that writes the *next* token. Raises Refusal for a text that is too long.
    """
    reading = loaded.reader.read_target(target)
    ids = _decoder_ids(loaded.model, reading)
    if len(ids) > loaded.limit:
        raise UserError(
            gettext_lazy(
                "The target text has {tokens:,} tokens; {name} writes at most {limit:,}. Shorten it.",
                tokens=len(ids),
                name=loaded.id.name,
                limit=loaded.limit,
            ),
            way_out="text",
            details={"tokens": len(ids), "limit": loaded.limit},
        )
    [start] = loaded.reader.spell(ids[:1])
    with as_user_error(
        gettext_lazy("The target tokens of {name} cannot be lined up. Leave the target text out.", name=loaded.id.name)
    ):
        return shift(reading, ids, start), target


def write_target(loaded: LoadedModel, source: Encoding, edits: Sequence[Edit] = ()) -> tuple[Encoding, str]:
    """The same for the text that the model writes itself, greedily, with those edits in every pass.

    Raises Refusal when it has no head for writing.
    """
    if not loaded.writes:
        raise UserError(
            gettext_lazy("{name} has no head that writes text. Give the target text yourself.", name=loaded.id.name),
            way_out="text",
        )
    from inference.write.decoding import Writing, generate_greedy

    room = max(1, min(MOST_WRITTEN, 2 * len(source.ids) + 20, loaded.limit - 2))
    with as_user_error(
        gettext_lazy("{name} cannot write a text here. Give the target text yourself.", name=loaded.id.name)
    ):
        tokens = generate_greedy(loaded.model, Writing(source.ids, 1 + room, tuple(edits)))
    return target_of(loaded, _without_end(loaded.model, tokens))


def force_tokens(loaded: LoadedModel, tokens: Sequence[int]) -> tuple[Encoding, str]:
    """The same for exact tokens, start token not among them; raises Refusal for tokens that cannot be read."""
    tokens = _without_end(loaded.model, tokens)
    refuse_tokens(loaded, tokens, before=1)
    return target_of(loaded, tokens)


def refuse_tokens(loaded: LoadedModel, tokens: Sequence[int], before: int) -> None:
    """Raises Refusal for written tokens that the model does not have, or that are too many after those ``before``."""
    vocabulary = loaded.reader.target_vocabulary
    odd = [token for token in tokens if not 0 <= token < vocabulary]
    if odd:
        raise UserError(
            gettext_lazy(
                "Token {odd} was written; {name} has tokens 0 to {last}.",
                odd=odd[0],
                name=loaded.id.name,
                last=vocabulary - 1,
            )
        )
    many = before + len(tokens)
    if many > loaded.limit:
        raise UserError(
            gettext_lazy(
                "The text has {many:,} tokens with what was written; {name} reads at most {limit:,}. Go"
                " on from a shorter one.",
                many=many,
                name=loaded.id.name,
                limit=loaded.limit,
            ),
            way_out="text",
            details={"tokens": many, "limit": loaded.limit},
        )


def target_of(loaded: LoadedModel, tokens: Sequence[int]) -> tuple[Encoding, str]:
    """What the decoder reads when it has written those tokens: its start token, then they; and their text."""
    ids = [start_token(loaded.model), *tokens]
    special = [at == 0 or loaded.reader.is_special(token) for at, token in enumerate(ids)]
    return loaded.reader.from_ids(ids, special)


def _without_end(model: Any, tokens: Sequence[int]) -> Sequence[int]:
    return tokens[:-1] if tokens and tokens[-1] in end_tokens(model) else tokens


def _decoder_ids(model: Any, reading: Encoding) -> list[int]:
    """The target moved one place on, as the model's own training code does it."""
    import torch

    moved = getattr(model, "prepare_decoder_input_ids_from_labels", None)
    if moved is not None:
        with torch.inference_mode(), as_user_error(gettext_lazy("This model's target text cannot be prepared.")):
            return [int(token) for token in moved(torch.tensor([reading.ids]))[0]]
    config = model.config
    starts = (getattr(config, name, None) for name in ("decoder_start_token_id", "bos_token_id", "pad_token_id"))
    start = next((token for token in starts if isinstance(token, int)), reading.ids[0])
    return [start, *reading.ids[:-1]]
