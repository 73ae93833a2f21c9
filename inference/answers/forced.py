"""A given translation, read once as a whole under each set of edits; several sets a pass."""

from __future__ import annotations

import numpy as np
import torch

from inference import edits, writing
from inference.answers.decoding import refuse_odd_tokens
from inference.answers.inputs import read
from inference.batching import ENDLESS
from inference.blanks import shown
from inference.decoding import Writing
from inference.errors import Refusal, refusing
from inference.loading import Loaded
from inference.questions.forced import Forced, ForcedTarget

MOST_TOKENS = 4096  # of one batch, all sets together
MOST_NUMBERS = 2**25  # logits of one batch
MOST_SETS = 2048  # in one question


def answer(loaded: Loaded, question: ForcedTarget) -> Forced:
    """Every token's log-probability under each set; raises Refusal for edits that do not fit the model."""
    if len(question.edits) > MOST_SETS:
        raise Refusal(f"{len(question.edits)} sets of edits were asked for; at most {MOST_SETS} fit one question.")
    if not question.written:
        raise Refusal("The translation is empty. Type one, or let the model write.", way_out="text")
    source = read(loaded, question.text, cut=question.cut)
    refuse_odd_tokens(loaded, Writing(source.ids, loaded.limit), question.written)
    target, _ = writing.target_of(loaded, question.written)
    ids = target.ids[: len(question.written)]
    looking = {"encoder": len(source.ids), "decoder": ENDLESS, "cross": ENDLESS}
    for mine in question.edits:
        edits.check(loaded.model, mine, looking, {**looking, "cross": len(source.ids)})
    width = max(len(source.ids), len(ids))
    step = max(1, min(MOST_TOKENS // width, MOST_NUMBERS // (len(ids) * loaded.reader.vocabulary)))
    logs, likeliest = [], []
    tokens = torch.tensor(question.written)
    failed = f"{loaded.id.name} failed while reading this translation. Change it or pick another model."
    for start in range(0, len(question.edits), step):
        some = question.edits[start : start + step]
        with refusing(failed), torch.inference_mode(), edits.editing(loaded.model, some):
            output = loaded.model(
                input_ids=torch.tensor([source.ids]).expand(len(some), -1),
                attention_mask=torch.ones(len(some), len(source.ids), dtype=torch.long),
                decoder_input_ids=torch.tensor([ids]).expand(len(some), -1),
                use_cache=False,
            )
            found = output.logits.float().log_softmax(-1)  # (set, step, token)
            logs.append(found.gather(-1, tokens.expand(len(some), -1)[..., None])[..., 0].numpy())
            likeliest.append(found.argmax(-1).to(torch.int32).numpy())
    all_logs, all_likeliest = np.concatenate(logs), np.concatenate(likeliest)
    for array in (all_logs, all_likeliest):
        array.setflags(write=False)
    pieces = tuple(tuple(shown(loaded, row)) for row in all_likeliest.tolist())
    return Forced(all_logs, all_likeliest, pieces)
