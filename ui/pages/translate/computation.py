"""The computations of the figures of the view Translate, for notebooks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from attention.alignment import CrossRowConvention, alignment
from attention.edits import Ablate, random_sets
from inference.tasks.decoding import ForcedTarget
from probing.alignments import AlignmentRun, AlignmentState, advance, load
from ui.pages.translate.options import CrossHead
from ui.pages.translate.translation import Translation, trace_of
from viz.paper.notebook import Computation

HEADS = """\
trace = backend.trace(reading)
heads = [(layer, head) for layer, record in enumerate(trace.records(part)) for head in range(record.heads)]
"""
CANDIDATES = """\
chances = [found.probability for found in backend.predict(request).candidates]
numbers = [*chances, max(0, 1 - sum(chances))]
"""
CHANGES = """\
logs = backend.predict(replace(request, edits=((), *sets))).logs.sum(axis=1)
numbers = logs[1:] - logs[0]
"""
ABLATIONS = "sets = [(Ablate(*head, part),) for head in heads]\n"
RANDOM = "sets = random_sets(edits, heads, keys, many, seed)\n"
MATRICES = "alignment(trace, *head, words, CrossRowConvention(read_at), special).weights"
SCORES = """\
run, state = AlignmentRun(load(), model, revision), AlignmentState()
for _chunk in run.chunks():
    state = advance(backend, run, state)
numbers = 100 * state.all().share[convention]
"""


def changes_computation(
    sets: str, translation: Translation, request: ForcedTarget, part: str, **names: Any
) -> Computation:
    """Return the computation of the changes of a translation's log-probability by edit sets.

    ``sets`` is ABLATIONS or RANDOM, with the values that it uses in ``names``. ``part`` is the stack of the heads.
    """
    return Computation(
        f"{HEADS}{sets}{CHANGES}", reading=trace_of(translation.asked, translation.tokens), request=request, part=part,
        replace=replace, Ablate=Ablate, random_sets=random_sets, **names)  # fmt: skip


def matrix_computation(
    translation: Translation, head: CrossHead, words: bool, special: bool, read_at: CrossRowConvention
) -> Computation:
    """Return the computation of the alignment matrix of a head, or of the mean over all cross-attention heads."""
    kept = "" if head.mean else f"heads = [{(head.layer, head.head)}]\n"
    return Computation(
        f"{HEADS}{kept}numbers = np.mean([{MATRICES} for head in heads], axis=0)",
        reading=trace_of(translation.asked, translation.tokens), part="cross", words=words, special=special,
        read_at=read_at.value, alignment=alignment, CrossRowConvention=CrossRowConvention)  # fmt: skip


def scores_computation(run: AlignmentRun, state: AlignmentState, convention: int) -> Computation | None:
    """Return the computation of the % found of each head; None for own sentences and a stopped run.

    ``convention`` is an index of READINGS.
    """
    if run.alignments.digest != load().digest or state.done < len(run.chunks()):
        return None
    return Computation(
        SCORES, model=run.model, revision=run.revision, convention=convention,
        AlignmentRun=AlignmentRun, AlignmentState=AlignmentState, advance=advance, load=load)  # fmt: skip
