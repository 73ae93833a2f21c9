"""A given translation, read once as a whole under each set of edits; several sets a pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from attention.edits import Edit
from inference.answers.blanks import shown
from inference.answers.decoding import refuse_odd_tokens
from inference.answers.inputs import read
from inference.answers.many_sets import refuse_sets
from inference.errors import Refusal, refusing
from inference.loaded import Loaded
from inference.questions.forced import Forced, ForcedTarget
from inference.record import edits
from inference.record.batching import MOST_TOKENS
from inference.record.records import numpy
from inference.write import writing
from inference.write.decoding import Writing
from inference.write.samples import refuse_edits
from wording import sentence

MOST_NUMBERS = 2**25  # logits of one batch


def answer(loaded: Loaded, question: ForcedTarget) -> Forced:
    """Every token's log-probability under each set; raises Refusal for edits that do not fit the model."""
    refuse_sets(question.edits)
    if not question.written:
        raise Refusal(sentence("The translation is empty. Type one, or let the model write."), way_out="text")
    source = read(loaded, question.text, cut=question.cut)
    refuse_odd_tokens(loaded, Writing(source.ids, loaded.limit), question.written)
    target, _ = writing.target_of(loaded, question.written)
    for mine in question.edits:
        refuse_edits(loaded, mine, len(source.ids), None)
    written = torch.tensor(question.written)
    logs, likeliest = [], []
    with refusing(
        sentence("{name} failed while reading this translation. Change it or pick another model.", name=loaded.id.name)
    ):
        for found in passes(loaded.model, source.ids, target.ids[:-1], question.edits, loaded.reader.target_vocabulary):
            logs.append(found.gather(-1, written.expand(len(found), -1)[..., None])[..., 0])
            likeliest.append(found.argmax(-1).to(torch.int32))
    best = torch.cat(likeliest).numpy()
    best.setflags(write=False)
    return Forced(numpy(torch.cat(logs)), best, tuple(tuple(shown(loaded, row)) for row in best.tolist()))


def passes(
    model: Any, source: Sequence[int], read_so_far: Sequence[int], sets: Sequence[Sequence[Edit]], vocabulary: int
) -> Iterator[Tensor]:
    """Log-probabilities (set, step, token) of what follows each token that the decoder reads, some sets at a time."""
    width = max(len(source), len(read_so_far))
    step = max(1, min(MOST_TOKENS // width, MOST_NUMBERS // (len(read_so_far) * vocabulary)))
    for start in range(0, len(sets), step):
        some = sets[start : start + step]
        ids = torch.tensor([source]).expand(len(some), -1)
        with torch.inference_mode(), edits.editing(model, some):
            output = model(
                input_ids=ids,
                attention_mask=torch.ones_like(ids),
                decoder_input_ids=torch.tensor([read_so_far]).expand(len(some), -1),
                use_cache=False,
            )
            yield output.logits.float().log_softmax(-1)
