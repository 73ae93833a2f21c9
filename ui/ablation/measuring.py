"""A number of a model's under many sets of edits, asked about a part at a time, so that it can be stopped."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st

from attention.ablation import EditSet
from attention.mask import FloatArray
from ui.run.progress import stoppable_steps

AT_ONCE = 16384  # tokens of one question, all sets together
MOST_SETS = 1000  # in one question


def measure_changes(  # noqa: PLR0913  # what is asked, and what is said meanwhile
    mark: str,
    sets: Sequence[EditSet],
    tokens: int,
    doing: str,
    numbers: Callable[[Sequence[EditSet]], FloatArray],
    at_once: int = AT_ONCE,
) -> FloatArray:
    """By how much each set moves the number, (set,); fewer where the reader has stopped. Raises Refusal.

    ``numbers`` gives the number of every set of a text of so many tokens; ``mark`` tells what is asked, ``at_once``
    how many tokens one question may have.
    """
    step = min(MOST_SETS, max(1, at_once // tokens))
    starts = range(0, len(sets), step)
    found = [np.zeros(0, np.float32)]
    for at in stoppable_steps(f"{mark}:{hash(tuple(sets))}", len(starts), doing):
        with st.spinner(doing, show_time=True):
            told = numbers([(), *sets[starts[at] : starts[at] + step]])
        found.append(told[1:] - told[0])
    return np.concatenate(found)
