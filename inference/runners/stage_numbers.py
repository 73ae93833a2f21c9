"""The results of some stages of a pass."""

from __future__ import annotations

from typing import Any

import numpy as np
from torch import Tensor

from i18n import gettext_lazy
from inference.anatomy.numpy_pass import numpy_of
from inference.anatomy.program import Array, FunctionCall
from inference.errors import UserError, as_user_error
from inference.loaded_model import LoadedModel
from inference.runners.whole_pass import names_of, prepare_inputs, run_calls
from inference.tasks.whole_pass import StageNumbers, StageResults

TOP = 16  # tokens named for each row


def answer(loaded: LoadedModel, question: StageNumbers) -> StageResults:
    """Return the results of the stages; raise UserError if a stage does not exist."""
    _, given = prepare_inputs(loaded, question)
    found: dict[int, Array] = {}

    def observe(call: FunctionCall, _args: Any, _named: Any, result: Tensor) -> None:
        if call.number in question.stages:
            kept = numpy_of(result).copy()
            kept.setflags(write=False)
            found[call.number] = kept

    with as_user_error(
        gettext_lazy("{name} failed while its pass was taken apart. Change the text or the model.", name=loaded.id.name)
    ):
        run_calls(loaded.model, given, observe)
    missing = sorted(set(question.stages) - set(found))
    if missing:
        raise UserError(
            gettext_lazy("Stage {stage} was asked for; this pass has none of that number.", stage=missing[0])
        )
    return StageResults(
        found, {token: piece for array in found.values() for token, piece in _largest_entries(loaded, array)}
    )


def _largest_entries(loaded: LoadedModel, array: Array) -> list[tuple[int, str]]:
    """Return index and name of the largest entries of each row, if the rows are over tokens or classes."""
    count = array.shape[-1]
    if names_of(loaded, [], count) is None:
        return []
    rows = array.reshape(-1, count)
    top = np.unique(np.argpartition(-rows, min(TOP, count) - 1, axis=1)[:, :TOP]).tolist()  # no full sort
    return list(zip(top, names_of(loaded, top, count) or (), strict=True))
