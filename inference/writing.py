"""The target side of encoder-decoder models: given by the user, or written by the model, then read once as a whole."""

from __future__ import annotations

from typing import Any

from inference.errors import Refusal, refusing
from inference.loading import Loaded
from inference.reading import Reading, shift

MOST_WRITTEN = 200  # tokens


def given(loaded: Loaded, target: str) -> tuple[Reading, str]:
    """What the decoder reads in order to write ``target``: its start token, then the target without its end.

    The query at each place is the step that writes the *next* token. Raises Refusal for a text that is too long.
    """
    reading = loaded.reader.read_target(target)
    ids = _decoder_ids(loaded.model, reading)
    if len(ids) > loaded.limit:
        raise Refusal(
            f"The target text has {len(ids):,} tokens; {loaded.id.name} writes at most {loaded.limit:,}. Shorten it.",
            way_out="text",
            details={"tokens": len(ids), "limit": loaded.limit},
        )
    start = loaded.reader.tokenizer.convert_ids_to_tokens(ids[0])
    with refusing(f"The target tokens of {loaded.id.name} cannot be lined up. Leave the target text empty."):
        return shift(reading, ids, start), target


def written(loaded: Loaded, source: Reading) -> tuple[Reading, str]:
    """The same for the text that the model writes itself, greedily; raises Refusal when it has no head for writing."""
    if not loaded.writes:
        raise Refusal(f"{loaded.id.name} has no head that writes text. Type the target text yourself.", way_out="text")
    import torch

    room = max(1, min(MOST_WRITTEN, 2 * len(source.ids) + 20, loaded.limit - 2))
    with torch.inference_mode(), refusing(f"{loaded.id.name} cannot write a text here. Type the target text yourself."):
        ids = torch.tensor([source.ids])
        answer = loaded.model.generate(
            input_ids=ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=room,
            max_length=None,
            num_beams=1,
            do_sample=False,
            early_stopping=False,
            length_penalty=1.0,
        )
    tokens = [int(token) for token in answer[0]]
    ends = _end_tokens(loaded.model)
    while len(tokens) > 1 and tokens[-1] in ends:
        tokens.pop()
    special = [at == 0 or loaded.reader.is_special(token) for at, token in enumerate(tokens)]
    return loaded.reader.from_ids(tokens, special)


def _end_tokens(model: Any) -> set[int]:
    """Tokens that end what a model writes."""
    stated = (model.generation_config.eos_token_id, model.generation_config.pad_token_id)
    return {token for entry in stated if entry is not None for token in (entry if isinstance(entry, list) else [entry])}


def _decoder_ids(model: Any, reading: Reading) -> list[int]:
    """The target moved one place on, as the model's own training code does it."""
    import torch

    moved = getattr(model, "prepare_decoder_input_ids_from_labels", None)
    if moved is not None:
        with torch.inference_mode(), refusing("This model's target text cannot be prepared."):
            return [int(token) for token in moved(torch.tensor([reading.ids]))[0]]
    config = model.config
    starts = (getattr(config, name, None) for name in ("decoder_start_token_id", "bos_token_id", "pad_token_id"))
    start = next((token for token in starts if isinstance(token, int)), reading.ids[0])
    return [start, *reading.ids[:-1]]
