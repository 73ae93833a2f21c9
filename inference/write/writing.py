"""The target side of encoder-decoder models: given by the user, or written by the model, then read once as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attention.edits import Edit
from inference.errors import Refusal, refusing
from inference.loaded import Loaded
from inference.text.reading import Reading, shift
from inference.write.bounds import end_tokens, start_token
from wording import sentence

MOST_WRITTEN = 200  # tokens


def given(loaded: Loaded, target: str) -> tuple[Reading, str]:
    """What the decoder reads in order to write ``target``: its start token, then the target without its end.

    The query at each place is the step that writes the *next* token. Raises Refusal for a text that is too long.
    """
    reading = loaded.reader.read_target(target)
    ids = _decoder_ids(loaded.model, reading)
    if len(ids) > loaded.limit:
        raise Refusal(
            sentence(
                "The target text has {tokens:,} tokens; {name} writes at most {limit:,}. Shorten it.",
                tokens=len(ids),
                name=loaded.id.name,
                limit=loaded.limit,
            ),
            way_out="text",
            details={"tokens": len(ids), "limit": loaded.limit},
        )
    [start] = loaded.reader.spelled(ids[:1])
    with refusing(
        sentence("The target tokens of {name} cannot be lined up. Leave the target text out.", name=loaded.id.name)
    ):
        return shift(reading, ids, start), target


def written(loaded: Loaded, source: Reading, edits: Sequence[Edit] = ()) -> tuple[Reading, str]:
    """The same for the text that the model writes itself, greedily, with those edits in every pass.

    Raises Refusal when it has no head for writing.
    """
    if not loaded.writes:
        raise Refusal(
            sentence("{name} has no head that writes text. Give the target text yourself.", name=loaded.id.name),
            way_out="text",
        )
    from inference.write.decoding import Writing, greedy

    room = max(1, min(MOST_WRITTEN, 2 * len(source.ids) + 20, loaded.limit - 2))
    with refusing(sentence("{name} cannot write a text here. Give the target text yourself.", name=loaded.id.name)):
        tokens = greedy(loaded.model, Writing(source.ids, 1 + room, tuple(edits)))
    return target_of(loaded, _without_end(loaded.model, tokens))


def forced(loaded: Loaded, tokens: Sequence[int]) -> tuple[Reading, str]:
    """The same for exact tokens, start token not among them; raises Refusal for tokens that cannot be read."""
    tokens = _without_end(loaded.model, tokens)
    refuse_tokens(loaded, tokens, before=1)
    return target_of(loaded, tokens)


def refuse_tokens(loaded: Loaded, tokens: Sequence[int], before: int) -> None:
    """Raises Refusal for written tokens that the model does not have, or that are too many after those ``before``."""
    vocabulary = loaded.reader.target_vocabulary
    odd = [token for token in tokens if not 0 <= token < vocabulary]
    if odd:
        raise Refusal(
            sentence(
                "Token {odd} was written; {name} has tokens 0 to {last}.",
                odd=odd[0],
                name=loaded.id.name,
                last=vocabulary - 1,
            )
        )
    many = before + len(tokens)
    if many > loaded.limit:
        raise Refusal(
            sentence(
                "The text has {many:,} tokens with what was written; {name} reads at most {limit:,}. Go"
                " on from a shorter one.",
                many=many,
                name=loaded.id.name,
                limit=loaded.limit,
            ),
            way_out="text",
            details={"tokens": many, "limit": loaded.limit},
        )


def target_of(loaded: Loaded, tokens: Sequence[int]) -> tuple[Reading, str]:
    """What the decoder reads when it has written those tokens: its start token, then they; and their text."""
    ids = [start_token(loaded.model), *tokens]
    special = [at == 0 or loaded.reader.is_special(token) for at, token in enumerate(ids)]
    return loaded.reader.from_ids(ids, special)


def _without_end(model: Any, tokens: Sequence[int]) -> Sequence[int]:
    return tokens[:-1] if tokens and tokens[-1] in end_tokens(model) else tokens


def _decoder_ids(model: Any, reading: Reading) -> list[int]:
    """The target moved one place on, as the model's own training code does it."""
    import torch

    moved = getattr(model, "prepare_decoder_input_ids_from_labels", None)
    if moved is not None:
        with torch.inference_mode(), refusing(sentence("This model's target text cannot be prepared.")):
            return [int(token) for token in moved(torch.tensor([reading.ids]))[0]]
    config = model.config
    starts = (getattr(config, name, None) for name in ("decoder_start_token_id", "bos_token_id", "pad_token_id"))
    start = next((token for token in starts if isinstance(token, int)), reading.ids[0])
    return [start, *reading.ids[:-1]]
