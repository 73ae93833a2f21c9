"""Where the real tokens of each text of a padded batch stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Spans:
    """One side of a batch: how wide it is, and where each sample's real tokens stand."""

    width: int
    places: tuple[slice, ...]

    def cut(self, sample: int, length: int) -> slice:
        """What to keep of an axis; all of it when it does not count tokens of this side, such as a picture's patches.

        >>> Spans(7, (slice(2, 7),)).cut(0, 7), Spans(7, (slice(2, 7),)).cut(0, 10)
        (slice(2, 7, None), slice(0, 10, None))
        """
        return self.places[sample] if length == self.width else slice(0, length)


Pair = tuple[Spans | None, Spans | None]  # of the source and of the target; None where nothing is padded


def with_mask(inputs: dict[str, Tensor], lengths: Sequence[int] | None) -> dict[str, Tensor]:
    """The inputs with an attention mask when only lengths say what is padding: else tokens would look at it."""
    ids = inputs.get("input_ids")
    if lengths is None or ids is None or "attention_mask" in inputs or all(n == ids.shape[1] for n in lengths):
        return inputs
    places = torch.arange(ids.shape[1], device=ids.device)
    return inputs | {"attention_mask": (places < torch.tensor(lengths, device=ids.device)[:, None]).long()}


def both_spans(inputs: dict[str, Tensor], lengths: Sequence[int] | None, target_lengths: Sequence[int] | None) -> Pair:
    """The source's and the target's spans; the same twice for a model that reads one text.

    Raises ValueError for an empty text and for lengths that do not fit the inputs.
    """
    one = _spans(inputs, "input_ids", "attention_mask", lengths)
    if "encoder_hidden_states" in inputs:  # a decoder of its own, which reads what another model encoded
        return _spans(inputs, "encoder_hidden_states", "encoder_attention_mask", None), one
    if any(name.startswith("decoder_") for name in inputs):
        return one, _spans(inputs, "decoder_input_ids", "decoder_attention_mask", target_lengths)
    return one, one


def _spans(inputs: dict[str, Tensor], tokens_name: str, mask_name: str, lengths: Sequence[int] | None) -> Spans | None:
    mask, tokens = inputs.get(mask_name), inputs.get(tokens_name)
    if mask is not None:
        found = _spans_from_mask(mask, mask_name)
        if lengths is not None and [place.stop - place.start for place in found.places] != list(lengths):
            real = [place.stop - place.start for place in found.places]
            raise ValueError(f"The lengths {list(lengths)} came, but {mask_name} has {real} real tokens.")
        return found
    if lengths is None:
        return None
    if tokens is None:
        raise ValueError(f"The lengths {list(lengths)} came, but there are no {tokens_name} whose tokens they count.")
    batch, width = tokens.shape[:2]
    if len(lengths) != batch or not all(0 < length <= width for length in lengths):
        raise ValueError(
            f"The lengths {list(lengths)} came for {tokens_name} of shape {batch} x {width}; "
            f"{batch} numbers from 1 to {width} were expected."
        )
    return Spans(width, tuple(slice(0, length) for length in lengths))


def _spans_from_mask(mask: Tensor, name: str) -> Spans:
    if mask.ndim != 2:
        raise ValueError(f"{name} of shape {tuple(mask.shape)} came; (text, token) was expected.")
    real = [row.nonzero().flatten().tolist() for row in mask]
    empty = [sample for sample, places in enumerate(real) if not places]
    if empty:
        raise ValueError(f"Text {empty[0]} of the batch is empty: {name} is 0 for all of its tokens. Leave it out.")
    return Spans(mask.shape[1], tuple(slice(places[0], places[-1] + 1) for places in real))
