"""What the model has at some stages of a pass."""

from __future__ import annotations

from typing import Any

import numpy as np
from torch import Tensor

from inference.anatomy.calls import Array, Call
from inference.anatomy.computed_pass import numpy_of
from inference.answers.whole_pass import followed, names_of, prepared
from inference.errors import Refusal, refusing
from inference.loaded import Loaded
from inference.questions.whole_pass import Numbers, StageNumbers
from wording import sentence

TOP = 16  # pieces of each row that are named


def answer(loaded: Loaded, question: StageNumbers) -> Numbers:
    """The results of these stages; raises Refusal for one that there is not."""
    _, given = prepared(loaded, question)
    found: dict[int, Array] = {}

    def seen(call: Call, _args: Any, _named: Any, result: Tensor) -> None:
        if call.number in question.stages:
            kept = numpy_of(result).copy()
            kept.setflags(write=False)
            found[call.number] = kept

    with refusing(
        sentence("{name} failed while its pass was taken apart. Change the text or the model.", name=loaded.id.name)
    ):
        followed(loaded.model, given, seen)
    missing = sorted(set(question.stages) - set(found))
    if missing:
        raise Refusal(sentence("Stage {stage} was asked for; this pass has none of that number.", stage=missing[0]))
    return Numbers(found, {token: piece for array in found.values() for token, piece in _largest(loaded, array)})


def _largest(loaded: Loaded, array: Array) -> list[tuple[int, str]]:
    """What has the largest numbers in each row of a result that has one for each piece, or for each class."""
    count = array.shape[-1]
    if names_of(loaded, [], count) is None:
        return []
    rows = array.reshape(-1, count)
    top = np.unique(np.argpartition(-rows, min(TOP, count) - 1, axis=1)[:, :TOP]).tolist()  # no need to sort them all
    return list(zip(top, names_of(loaded, top, count) or (), strict=True))
