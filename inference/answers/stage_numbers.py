"""What the model has at some stages of a pass."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from inference.anatomy.calls import Array, Call
from inference.anatomy.computed_pass import numpy_of
from inference.answers.whole_pass import followed, prepared
from inference.errors import Refusal, refusing
from inference.loaded import Loaded
from inference.questions.whole_pass import Numbers, StageNumbers


def answer(loaded: Loaded, question: StageNumbers) -> Numbers:
    """The results of these stages; raises Refusal for one that there is not."""
    _, given = prepared(loaded, question)
    found: dict[int, Array] = {}

    def seen(call: Call, _args: Any, _named: Any, result: Tensor) -> None:
        if call.number in question.stages:
            kept = numpy_of(result).copy()
            kept.setflags(write=False)
            found[call.number] = kept

    with refusing(f"{loaded.id.name} failed while its pass was taken apart. Change the text or the model."):
        followed(loaded.model, given, seen)
    missing = sorted(set(question.stages) - set(found))
    if missing:
        raise Refusal(f"Stage {missing[0]} was asked for; this pass has none of that number.")
    return Numbers(found)
