"""Effects of many ablations on a number that the model computes, such as a logit: a control and a table of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from attention.edits import Ablate, EditSet, MaskEdge, Uniform, as_head_map, places_of
from attention.mask import FloatArray
from i18n import _
from inference import TraceRequest
from inference.tasks.edit_effects import AnyEffects
from inference.tasks.similarity import SimilarityEffects
from probing.edit_answers import answers_under, sets_per_request
from ui.ablation.edits import Head
from ui.run.notices import show_notice
from ui.run.progress import stoppable_steps
from ui.show.chart import About, draw_chart
from ui.show.tables import csv_table
from ui.show.text import format_small
from viz.figures.theme import Figure, sentence_case
from viz.paper.notebook import Computation

RANDOM_SETS = 100
SEED = 0
AT_ONCE = 16384  # Maximum number of tokens in a request, over all edit sets.
FEWEST = 4  # Sets in a request, within AT_ONCE, because each request also computes the text without edits.


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
    batch of more than FEWEST sets. If the visitor stops the measurement, the array has only the edit sets measured so
    far. May raise UserError.
    """
    step = sets_per_request(tokens, max(at_once, min(AT_ONCE, FEWEST * tokens)))
    starts = range(0, len(sets), step)
    found = [np.zeros(0, np.float32)]
    for at in stoppable_steps(f"{mark}:{hash(tuple(sets))}", len(starts), doing):
        with st.spinner(doing, show_time=True):
            told = numbers([(), *sets[starts[at] : starts[at] + step]])
        found.append(told[1:] - told[0])
    return np.concatenate(found)


def answers_computation(request: AnyEffects, names: Sequence[str], at: int) -> Computation:
    """Return notebook code for the probabilities of the likeliest answers and of ``names``, under an edit set.

    ``at`` is the index of the edit set in ``request``. Each answer has a single number, the likeliest first.
    """
    code = (
        "effect = backend.predict(request)\n"
        f"top = dict(effect.top[{at}]) if effect.top else {{}}\n"
        f"watched = dict(zip(names, np.exp(effect.values[{at}]).tolist(), strict=True))\n"
        "numbers = [*top.values(), *(watched[name] for name in names if name not in top)]"
    )
    return Computation(code, request=request, names=tuple(names))


def head_effects_computation(
    reading: TraceRequest, request: AnyEffects | SimilarityEffects, tokens: int, number: str
) -> Computation:
    """Return notebook code for the change of a number by ablating each head of the trace of ``reading``.

    ``number`` is code that reads the number from ``values``, the answers to ``request`` under each edit set, shape
    (set, value). ``tokens`` is the length of the text, for batches of the usual size.
    """
    code = (
        "heads = places_of(backend.trace(reading))\n"
        "sets = [(), *((Ablate(*head),) for head in heads)]\n"
        "values = answers_under(backend, request, sets, tokens)\n"
        f"found = {number}\n"
        "numbers = as_head_map(heads, found[1:] - found[0])"
    )
    return Computation(code, reading=reading, request=request, tokens=tokens, places_of=places_of, Ablate=Ablate,
                       answers_under=answers_under, as_head_map=as_head_map)  # fmt: skip


@dataclass(frozen=True, eq=False)
class ComparedEdits:
    """Effects of other edit sets of the same kinds, a control for the effect of the chosen ``edits``.

    ``sets`` are the result of ``random_sets`` for at most ``most`` sets, which are fewer only if no others exist.
    ``found`` are their effects, shape (set,), fewer than ``sets`` if the visitor stopped; ``chosen`` is the effect of
    ``edits``.
    """

    edits: EditSet
    sets: Sequence[EditSet]
    found: FloatArray
    chosen: float
    most: int = RANDOM_SETS

    @property
    def is_random(self) -> bool:
        """Return True if the measured sets are a random sample, and False if they are all other sets."""
        return len(self.sets) >= self.most or len(self.found) < len(self.sets)

    @property
    def share_below(self) -> float:
        """Return the share of the measured sets whose effect is smaller in size, from 0 to 1."""
        return float((np.abs(self.found) < abs(self.chosen)).mean())

    @property
    def median(self) -> float:
        """Return the median size of the effects."""
        return float(np.median(np.abs(self.found)))

    def name(self) -> str:
        """Return a phrase for the measured sets.

        >>> heads = [(Ablate(0, 0),), (Ablate(1, 0),)]
        >>> ComparedEdits((Ablate(0, 1),), heads, np.array([0.1, 0.2]), 0.3).name()
        'all 2 other heads'
        >>> ComparedEdits((Ablate(0, 1),), heads, np.array([0.1]), 0.3).name()
        '1 random edits of equal kinds and size (seed 0)'
        """
        if self.is_random:
            return _("{n} random edits of equal kinds and size (seed {seed})", n=len(self.found), seed=SEED)
        if len(self.edits) == 1 and isinstance(self.edits[0], Ablate | Uniform | MaskEdge):
            return _("all {n} other heads", n=len(self.found))
        return _("all {n} other edits of equal kinds and size", n=len(self.found))

    def result(self) -> str:
        """Return a sentence with the share of smaller effects and their median."""
        return _(
            "Of {edits}, {less:.0f}% change the answer less (median: {median}).",
            edits=self.name(),
            less=100 * self.share_below,
            median=format_small(self.median),
        )

    def provenance(self) -> dict[str, Any]:
        """Return the number of the compared sets, with the seed if they are random."""
        return {"random_edits": len(self.found), "seed": SEED} if self.is_random else {"other_edits": len(self.found)}

    def draw(self, key: str, result: str, figure: Figure, about: About, computation: Computation | None) -> None:
        """Draw ``result`` and the histogram ``figure``; the notebook is left out if the visitor stopped."""
        show_notice(result, role="status")
        complete = computation if len(self.found) == len(self.sets) else None
        draw_chart(figure, key, about=about, computation=complete, test=result)
        if any(isinstance(edit, MaskEdge) for edit in self.edits):
            note = _("Bars: {edits}; edges keep their positions.", edits=self.name())
        else:
            note = _("Bars: {edits}.", edits=self.name())
        st.caption(note)


def heads_csv(places: Sequence[Head], found: FloatArray, unit: str) -> str:
    """Return a CSV table with a row for each head: its layer, its number and its value.

    ``found`` (head,) are the values of the heads ``places``; heads without a value are left out. ``unit`` is the
    heading of the values.
    """
    known = zip(places, found, strict=False)
    rows = [(layer, head, float(number)) for (layer, head), number in known]
    return csv_table([_("Layer"), _("Head"), sentence_case(unit)], rows)
