"""Teacher forcing: a given translation in a single pass under each of several sets of edits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from attention.edits import Edit
from i18n import gettext_lazy
from inference.errors import UserError, as_user_error
from inference.loaded_model import LoadedModel
from inference.record import edit_hooks
from inference.record.batching import MOST_TOKENS
from inference.record.records import numpy
from inference.runners.blanks import display_pieces, read
from inference.runners.decoding import refuse_odd_tokens
from inference.runners.edit_batches import refuse_sets
from inference.tasks.decoding import ForcedSteps, ForcedTarget
from inference.write import target_text
from inference.write.decoding import Writing
from inference.write.target_text import refuse_edits

MOST_NUMBERS = 2**25  # logits of a batch


def answer(loaded: LoadedModel, question: ForcedTarget) -> ForcedSteps:
    """Return every token's log-probability under each set; raise UserError if edits do not fit the model."""
    refuse_sets(question.edits)
    if not question.written:
        raise UserError(gettext_lazy("The translation is empty. Type one, or let the model write."), way_out="text")
    source = read(loaded, question.text, cut=question.cut)
    refuse_odd_tokens(loaded, Writing(source.ids, loaded.limit), question.written)
    target, _ = target_text.target_of(loaded, question.written)
    for mine in question.edits:
        refuse_edits(loaded, mine, len(source.ids), None)
    written = torch.tensor(question.written)
    logs, likeliest = [], []
    with as_user_error(
        gettext_lazy(
            "{name} failed while reading this translation. Change it or pick another model.", name=loaded.id.name
        )
    ):
        for found in step_log_probabilities(
            loaded.model, source.ids, target.ids[:-1], question.edits, loaded.reader.target_vocabulary
        ):
            logs.append(found.gather(-1, written.expand(len(found), -1)[..., None])[..., 0])
            likeliest.append(found.argmax(-1).to(torch.int32))
    best = torch.cat(likeliest).numpy()
    best.setflags(write=False)
    return ForcedSteps(numpy(torch.cat(logs)), best, tuple(tuple(display_pieces(loaded, row)) for row in best.tolist()))


def step_log_probabilities(
    model: Any, source: Sequence[int], read_so_far: Sequence[int], sets: Sequence[Sequence[Edit]], vocabulary: int
) -> Iterator[Tensor]:
    """Yield the next-token log-probabilities (set, step, token) of the decoder, some sets at a time."""
    width = max(len(source), len(read_so_far))
    step = max(1, min(MOST_TOKENS // width, MOST_NUMBERS // (len(read_so_far) * vocabulary)))
    for start in range(0, len(sets), step):
        some = sets[start : start + step]
        ids = torch.tensor([source]).expand(len(some), -1)
        with torch.inference_mode(), edit_hooks.apply_edits(model, some):
            output = model(
                input_ids=ids,
                attention_mask=torch.ones_like(ids),
                decoder_input_ids=torch.tensor([read_so_far]).expand(len(some), -1),
                use_cache=False,
            )
            yield output.logits.float().log_softmax(-1)
