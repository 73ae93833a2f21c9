"""Results of activation patching, and the sentences that describe them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import groupby, product
from typing import Any

import numpy as np
import streamlit as st

from attention.comparison import align
from attention.edits import Pairs, Patch, head_patches, paired_tokens, patching_effect, random_patches, residual_patches
from attention.mask import FloatArray
from attention.view import View
from i18n import _, gettext_lazy, typeset_number
from i18n.lists import join_sentences
from inference.tasks.edit_effects import Effect
from probing.edit_answers import answers_under, sets_per_request, tokens_per_step
from probing.statistics import COMPARED, RandomChanges, compare_with_random, count_by_chance
from ui.input.controls import head_name
from ui.pages.patching.metric import PatchingMetric, run_metric
from ui.run.notices import show_notice
from ui.run.progress import stoppable_steps
from ui.show.text import format_comma_list, format_small, likelihood, times
from viz.paper.notebook import Computation

LEAST = 0.05  # nats; smaller differences between the two answers are not analysed
Place = tuple[int, int]  # (layer, word) or (layer, head)


@dataclass(frozen=True, eq=False)
class PatchingResult:
    """The effects of single patches: the share of the way from the first text's answer (0) to the second's (1).

    ``states`` (layer + 1, word) has patches of a word's vector at the input of a single layer; in the last row, the
    vector is patched in all layers at once. ``heads`` (layer, head) has patches of a head's output. ``state_changes``
    and ``head_changes`` are the random changes of the same sites. An effect is NaN if the user stopped the computation
    before it was measured. No site has random changes if ``shift`` is set because words have other positions in the
    second text.
    """

    metric: PatchingMetric
    views: tuple[View, View]
    words: tuple[str, ...]  # words of the first text, with the differing words of the second
    pairs: tuple[Pairs, ...]
    before: Effect
    after: Effect
    states: FloatArray
    heads: FloatArray
    state_changes: RandomChanges
    head_changes: RandomChanges
    part: str
    shift: str = ""  # a sentence if corresponding words have other positions; nothing is then compared with chance

    @property
    def layers(self) -> int:
        """Return the number of layers."""
        return len(self.heads)

    def computation(self, kind: str) -> Computation:
        """Return notebook code for a map of effects: of heads if ``kind`` is "h", else of residual vectors."""
        stack = self.part or None
        sets = (
            f"head_patches(list(np.ndindex(first.layers, first.heads)), pairs, {self.part!r})"
            if kind == "h"
            else f"residual_patches(first.layers, pairs, {_residual_part(self.part)!r})"
        )
        compared = "[:, :1] - {0}[:, 1:]" if self.metric.names else ""
        here, there, patched = (f"{name}{compared.format(name)}" for name in ("here", "there", "patched"))
        code = (
            f"first, second = (View(backend.trace(reading), {stack!r}, words=True) for reading in readings)\n"
            "pairs = paired_tokens(first, second, align(first, second)[0])\n"
            f"sets = {sets}\n"
            "here, there = (answers_under(backend, one, [()], 1) for one in (recipient, donor))\n"
            "patched = answers_under(backend, replace(recipient, other=donor), sets, len(first.trace.source))\n"
            f"effects = patching_effect({patched}, ({here})[0], ({there})[0])\n"
            f"numbers = effects.reshape({'first.layers' if kind == 'h' else 'first.layers + 1'}, -1)"
        )
        made: dict[str, Any] = {"head_patches": head_patches} if kind == "h" else {"residual_patches": residual_patches}
        return Computation(
            code, readings=self.metric.requests, recipient=self.metric.here, donor=self.metric.there, View=View,
            align=align, paired_tokens=paired_tokens, answers_under=answers_under, replace=replace,
            patching_effect=patching_effect, **made)  # fmt: skip

    def set_of(self, kind: str, place: Place) -> tuple[Patch, ...]:
        """Return the patches that are applied together for a cell of a map.

        ``kind`` is "h" for the map of heads, or "s" for the map of residual vectors. ``place`` is the cell's (row,
        column).
        """
        if kind == "h":
            return head_patches([place], self.pairs, self.part)[0]
        return residual_patches(self.layers, self.pairs, _residual_part(self.part))[
            place[0] * len(self.pairs) + place[1]
        ]


def measure_patching(followed: PatchingMetric, views: tuple[View, View], part: str) -> PatchingResult | None:
    """Measure the effect of patching each vector and each head of the first text.

    The donor is the second text of ``views``; ``part`` is the stack of the heads. If both texts have the same answer,
    show a notice and return None. Raise UserError if the model cannot answer.
    """
    aligned = align(*views)[0]
    pairs = paired_tokens(*views, aligned)
    with st.spinner(_("Running the model"), show_time=True):
        before, after = run_metric(followed.here), run_metric(followed.there)
    ends = [followed.numbers(effect)[0] for effect in (before, after)]
    if (followed.names and float(np.abs(ends[0] - ends[1]).max()) < LEAST) or np.array_equal(*ends):
        show_notice(_("Both texts have the same answer. Change a word."), role="status")  # fmt: skip
        return None
    layers, every = views[0].layers, [*product(range(views[0].layers), range(views[0].heads))]
    kinds = [residual_patches(layers, pairs, _residual_part(part)), head_patches(every, pairs, part)]
    sets = [taken for kind in kinds for taken in kind]
    step = sets_per_request(len(views[0].trace.source), tokens_per_step(views[0].trace, views[0].part))
    found = _ask_all(followed, sets, step, _("Patching each activation"))
    effects = np.full(len(sets), np.nan, np.float32)
    effects[: len(found)] = patching_effect(found, *ends) if len(found) else []
    shift = describe_shift(views, pairs)

    def random_effects(asked: Sequence[tuple[int, int]]) -> FloatArray:
        drawn = [random_patches(sets[site], (site * COMPARED + number) * layers) for site, number in asked]
        values = _ask_all(followed, drawn, step, _("Comparing with random changes"))
        return patching_effect(values, *ends) if len(values) else np.zeros(0, np.float32)

    tested = effects if not shift and len(found) == len(sets) else np.full_like(effects, np.nan)
    random, split = compare_with_random(tested, random_effects), len(kinds[0])
    states, heads = (layers + 1, len(pairs)), (layers, views[0].heads)
    return PatchingResult(
        followed, views, _names(views, aligned.pairs, followed.blank), pairs, before, after,
        effects[:split].reshape(states), effects[split:].reshape(heads),
        random.part(slice(0, split), states), random.part(slice(split, None), heads), part, shift)  # fmt: skip


def describe_shift(views: tuple[View, View], pairs: Sequence[Pairs]) -> str:
    """Return a sentence if aligned words have different positions in the two texts, else "".

    A patch then also moves the position, so no effect is compared with random changes. The sentence names the words
    without a counterpart.
    """
    if all(here == there for tokens in pairs for here, there in tokens):
        return ""
    names: list[str] = []
    for side, view in enumerate(views):
        known = {token[side] for tokens in pairs for token in tokens}
        words = [cell for cell in view.queries if not cell.special]
        names += [f"“{cell.text}”" for cell in words if not known & set(range(*cell.pieces))]
    return _(
        "Some words have other positions in the second text, so patches also change positions, and no effect is "
        "compared with random changes. Without a counterpart: {words}.",
        words=format_comma_list(names) or "–",
    )


def _residual_part(part: str) -> str:
    """Return the stack with the residual stream that the heads of ``part`` write to."""
    return "decoder" if part == "cross" else part


def _ask_all(followed: PatchingMetric, sets: Sequence[tuple[Patch, ...]], step: int, doing: str) -> FloatArray:
    """Return the metric of each set, (set, number), ``step`` sets at a time, with fewer sets if the reader stops."""
    starts = range(0, len(sets), step)
    mark = f"carry:{followed.here.key}:{followed.there.key}:{hash(tuple(sets))}"
    found: list[FloatArray] = []
    for at in stoppable_steps(mark, len(starts), doing):
        some = tuple(sets[starts[at] : starts[at] + step])
        with nullcontext() if at else st.spinner(doing, show_time=True):  # later steps have a progress bar
            effect = run_metric(replace(followed.here, edits=some, other=followed.there))  # type: ignore[arg-type]
        found.append(followed.numbers(effect))
    return np.concatenate(found) if found else np.zeros((0, 1), np.float32)


def _names(
    views: tuple[View, View], pairs: Sequence[tuple[tuple[int, int], tuple[int, int]]], blank: str
) -> tuple[str, ...]:
    """Return the first text's words, each with its differing counterpart; the masked word is marked."""

    def text(view: View, run: tuple[int, int]) -> str:
        return "".join(cell.text for cell in view.queries[slice(*run)])

    both = [(text(views[0], one), text(views[1], two)) for one, two in pairs]
    names = [one if one.casefold() == two.casefold() else f"{one} → {two}" for one, two in both]
    if blank in names:
        names[names.index(blank)] = f"[MASK] {blank}"
    return tuple(names)


def describe_patching(found: PatchingResult) -> list[str]:
    """Describe both answers, the word vectors with the largest effects by layer, and the heads."""
    return [sentence for sentence in (_answers(found), _describe_path(found), _heads(found)) if sentence]


def describe_answer(found: PatchingResult, effect: Effect, at: int = 0) -> str:
    """Describe the answer under patch set number ``at`` by the odds of the two words; "" for a vector."""
    if not found.metric.names:
        return ""
    return times(float(found.metric.numbers(effect)[at, 0]), *found.metric.names)


def _answers(found: PatchingResult) -> str:
    if not found.metric.names:
        return _("The answer is the sentence vector.")
    first, second = (describe_answer(found, effect) for effect in (found.before, found.after))
    if found.metric.blank:
        return _(
            "“{word}” is masked in both texts. In the first, {first}; in the second, {second}.",
            word=found.metric.blank,
            first=first,
            second=second,
        )
    return _("In the first text, {first}; in the second, {second}.", first=first, second=second)


def _describe_path(found: PatchingResult) -> str:
    """Describe, by layer, the word vector with the largest effect."""
    known = found.states[: found.layers]
    if not np.isfinite(known).all() or not known.size:
        return ""
    best = known.argmax(axis=1)
    runs = [[layer for layer, _word in group] for _word, group in groupby(enumerate(best), key=lambda one: one[1])]
    stages = []
    for run in runs:
        shares = _shares([float(known[layer, best[layer]]) for layer in run])
        word, first, last = found.words[best[run[0]]], run[0], run[-1]
        layers = f"{first}" if first == last else f"{first}–{last}"
        stages.append(_("“{word}” into layer {layers} ({shares})", word=word, layers=layers, shares=shares))
    return _("Word vectors with the largest effect (first → last layer): {words}.", words=format_comma_list(stages))


def _shares(shares: list[float]) -> str:
    low, high = format_small(min(shares)), format_small(max(shares))
    return low if low == high else f"{format_small(shares[0])} → {format_small(shares[-1])}"


def _heads(found: PatchingResult) -> str:
    """Describe the head with the largest effect, and the number of heads beyond random changes."""
    if not np.isfinite(found.heads).all():
        return ""
    layer, head = (int(at) for at in np.unravel_index(int(found.heads.argmax()), found.heads.shape))
    compared = not found.shift and found.head_changes.complete
    beyond = found.head_changes.exceeded_by(found.heads)
    said = _(
        gettext_lazy("Head with the largest effect: {layer}-{head}, {share} (not beyond random changes).")
        if compared and not beyond[layer, head]
        else gettext_lazy("Head with the largest effect: {layer}-{head}, {share}."),
        layer=layer,
        head=head,
        share=format_small(float(found.heads[layer, head])),
    )
    if not compared:
        return said
    mean, low, high = count_by_chance(found.heads.size)
    return _(
        "{said} {many} of {heads} heads exceed all {n} random changes of their output; chance: {mean:.0f} (95% range "
        "{low} to {high}).",
        said=said,
        many=int(beyond.sum()),
        heads=found.heads.size,
        n=COMPARED,
        mean=mean,
        low=low,
        high=high,
    )


def describe_site(found: PatchingResult, kind: str, place: Place, effect: Effect) -> str:
    """Describe the effect of the selected patch, next to its random changes, and the answer after it.

    ``kind`` is "h" for a head or "s" for a vector, and ``place`` the (row, column) in its map. ``effect`` is the
    model's answer with the patch.
    """
    layer, at = place
    if kind == "h":
        what = head_name(layer, at)
        share, random = found.heads[place], found.head_changes
    else:
        word = found.words[at]
        what = (
            _("the vector of “{word}” in every layer", word=word)
            if layer == found.layers
            else _("the vector of “{word}” entering layer {layer}", word=word, layer=layer)
        )
        share, random = found.states[place], found.state_changes
    made, largest = int(random.made[place]), float(random.largest[place])
    goes = (
        gettext_lazy("Patching {what} has an effect of {share}.")
        if not made or (made < COMPARED and largest < share)  # not compared, or stopped before a larger one
        else gettext_lazy(
            "Patching {what} has an effect of {share}; random changes of the same size (n = {n}) reach {band}."
        )
    )
    shown, band = _format_apart(float(share), largest)
    said = _(goes, what=what, share=shown, **({"band": band, "n": made} if made else {}))
    answer = describe_answer(found, effect)
    return join_sentences(said, _("Then {answer}.", answer=answer), _probabilities(found, effect)) if answer else said


def _format_apart(one: float, other: float) -> tuple[str, str]:
    """Return two numbers with so many digits that different numbers look different.

    >>> _format_apart(0.2791, 0.2845), _format_apart(0.28, 0.17)
    (('0.279', '0.284'), ('0.28', '0.17'))
    """
    if format_small(one) != format_small(other):
        return format_small(one), format_small(other)
    digits = next((digits for digits in range(3, 8) if f"{one:.{digits}g}" != f"{other:.{digits}g}"), 3)
    return typeset_number(f"{one:.{digits}g}"), typeset_number(f"{other:.{digits}g}")


def _probabilities(found: PatchingResult, effect: Effect) -> str:
    """State the probabilities of both words in the first text, under the patch ``effect``, and in the second text."""
    columns = zip(*(one.values[0] for one in (found.before, effect, found.after)), strict=True)
    words = [
        f"“{name}” {' → '.join(likelihood(float(log)) for log in logs)}"
        for name, logs in zip(found.metric.names, columns, strict=True)
    ]
    return _("Probability (first text → patched → second text): {words}.", words=format_comma_list(words))
