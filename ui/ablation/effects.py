"""Effects of many ablations on a number that the model computes, such as a logit, and a table of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st

from attention.edits import EditSet
from attention.mask import FloatArray
from i18n import _
from probing.edit_answers import sets_per_request
from ui.ablation.edits import Head
from ui.run.progress import stoppable_steps
from ui.show.tables import csv_table
from viz.figures.theme import sentence_case

RANDOM_SETS = 100
SEED = 0
AT_ONCE = 16384  # Maximum number of tokens in a request, over all edit sets.


def measure_changes(  # noqa: PLR0913  # independent values of a request and its progress bar
    mark: str,
    sets: Sequence[EditSet],
    tokens: int,
    doing: str,
    numbers: Callable[[Sequence[EditSet]], FloatArray],
    at_once: int = AT_ONCE,
) -> FloatArray:
    """Return the change of a number by each edit set, compared with no edits, shape (set,).

    ``numbers`` computes the number under each edit set, for a text of ``tokens`` tokens. ``mark`` identifies the
    measurement if the page is drawn again, and ``doing`` describes it on the page. ``at_once`` limits the tokens in a
    batch. If the visitor stops the measurement, the array has only the edit sets measured so far. May raise UserError.
    """
    step = sets_per_request(tokens, at_once)
    starts = range(0, len(sets), step)
    found = [np.zeros(0, np.float32)]
    for at in stoppable_steps(f"{mark}:{hash(tuple(sets))}", len(starts), doing):
        with st.spinner(doing, show_time=True):
            told = numbers([(), *sets[starts[at] : starts[at] + step]])
        found.append(told[1:] - told[0])
    return np.concatenate(found)


def heads_csv(places: Sequence[Head], found: FloatArray, unit: str) -> str:
    """Return a CSV table with a row for each head: its layer, its number and its value.

    ``found`` (head,) are the values of the heads ``places``; heads without a value are left out. ``unit`` is the
    heading of the values.
    """
    known = zip(places, found, strict=False)
    rows = [(layer, head, float(number)) for (layer, head), number in known]
    return csv_table([_("Layer"), _("Head"), sentence_case(unit)], rows)
