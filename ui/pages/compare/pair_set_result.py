"""Results of a set of text pairs: the change of each head over all pairs, with tests, sentences and files."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import streamlit as st

from attention.comparison import AlignedViews, changes, same_heads
from attention.mask import FloatArray
from attention.trace import Trace
from attention.view import View
from i18n import _, error_message, gettext_lazy, translate
from i18n.lists import format_comma_list, join_sentences
from inference import TraceRequest, UserError
from inference.byte_cache import ByteLru
from probing.statistics import LEAST_P, LEVEL
from probing.text_pairs import ControlledChange, Mean, Numbers, TextPair, compare_with_control, groups
from ui.input.unknown_words import require_readable
from ui.pages.compare.result import SCALED_ROWS
from ui.pages.compare.sides import aligned_code, view_arguments
from ui.run.downloading import offer_or_show
from ui.run.notices import show_notice
from ui.run.progress import stoppable_steps
from ui.run.services import ViewOptions, get_backend, get_trace_store
from ui.run.traces import request_of
from ui.show.tables import csv_table, model_fields
from ui.show.text import TOO_FEW, format_small
from ui.state.session import FRESH
from ui.state.view_state import ViewState
from viz.paper.notebook import Computation

FEWEST_TEXTS = 10  # for an interval; with fewer, the bootstrap of long-tailed divergences gives almost any number
KEPT = 2**24  # bytes of cached changes
KEPT_SETS = 2**22
OF_THE_TEXT = ("cut", "text", "reads")  # ways out of a UserError that concerns a single pair
Place = tuple[int, int]
Verdicts = tuple[ControlledChange, ControlledChange | None]


@dataclass(frozen=True, eq=False)
class PairSet:
    """The change of each head's attention between the two texts of many pairs, for a model.

    ``pairs`` are the pairs that the model could read, and ``bits`` the divergences of each head. ``across`` compares
    pairs that differ in meaning with control pairs, which differ only in wording; ``one_word`` does so for pairs that
    differ in a single word. ``left_out`` has a reason for each pair that could not be read.
    """

    pairs: tuple[TextPair, ...]
    bits: FloatArray  # Jensen–Shannon divergence, (pair, layer, head)
    across: ControlledChange  # statistics by head; heads are numbered layer by layer
    one_word: (
        ControlledChange | None
    )  # of the pairs that differ in one word; None where both kinds differ in as many on the mean
    left_out: tuple[str, ...]  # why, for each pair that was not read
    digest: str  # of the pairs that were asked for
    shared: bool = False  # whether replaced words are left out of the divergence

    @property
    def shape(self) -> tuple[int, int]:
        """Return the numbers of layers and heads."""
        return self.bits.shape[1], self.bits.shape[2]

    @property
    def meaning_excess(self) -> Numbers:
        """Return the mean divergence of each head in pairs minus that in control pairs, (head,) in bits.

        The meaning differs between the texts of a pair; in a control pair only the wording differs. If one kind of pair
        is missing, return the mean divergence of the other kind.
        """
        told = self.across
        if told.has_test:
            return told.apart
        return told.change.mean if told.change.n else told.control.mean

    def as_map(self, values: Numbers) -> FloatArray:
        """Return ``values``, a number for each head, in the shape (layer, head)."""
        found: FloatArray = np.asarray(values, np.float32).reshape(self.shape)
        return found

    def place(self, head: int) -> Place:
        """Return (layer, head) of a head number."""
        return head // self.shape[1], head % self.shape[1]

    def name(self, head: int) -> str:
        """Return the label of a head, such as "3-7"."""
        layer, number = self.place(head)
        return f"{layer}-{number}"


def first_of(choice: ViewState, pairs: Sequence[TextPair]) -> Trace | None:
    """Return the trace of the first text of a pair, for the first pair whose text the model can read.

    If the model can read none, show a notice and return None.
    """
    reason = ""
    for pair in pairs:
        try:
            with st.spinner(_("Running the model"), show_time=True):
                return require_readable(get_backend().trace(_request(choice, pair.a)))
        except UserError as refusal:
            if refusal.way_out not in OF_THE_TEXT:
                offer_or_show(refusal, choice)
                return None
            reason = refusal.message
    show_notice(_describe_skipped(len(pairs), len(pairs), reason))
    return None


def _describe_skipped(many: int, size: int, reason: str) -> str:
    """Return the sentence that too few pairs could be compared, with the reason of the last skipped pair."""
    return _(
        "{many:,} of {of:,} pairs were skipped, too many for a result. {reason}", many=many, of=size, reason=reason
    )


def measure_set(choice: ViewState, pairs: tuple[TextPair, ...], look: ViewOptions, shared: bool) -> PairSet | None:
    """Compare the attention of every head on both texts of each pair, until the reader stops.

    If ``shared`` is True, only words that both texts have are compared. Pairs that the model cannot read are left out.
    Return None if no pair was compared, or if most pairs cannot be read. Raise UserError for errors that concern every
    pair.
    """
    digest = hashlib.sha256(repr([(pair.a, pair.b, pair.control) for pair in pairs]).encode()).hexdigest()
    mark = f"{digest}:{choice.model}:{choice.revision}:{look.query()}:{shared}"
    read, bits, left_out = [], [], []
    for at in stoppable_steps(mark, len(pairs), _("Computing the comparison")):
        found = _map_cache().get_or_make(
            (choice.model, choice.revision, look, shared, pairs[at].a, pairs[at].b),
            lambda pair=pairs[at]: _head_changes(choice, pair, look, shared),  # type: ignore[misc]
            lambda made: 500 if isinstance(made, str) else made.nbytes + 500,
        )
        if isinstance(found, str):
            left_out.append(found)
        else:
            read.append(pairs[at])
            bits.append(found)
    if not read:
        if left_out:
            show_notice(_describe_skipped(len(left_out), len(left_out), left_out[-1]))
        return None
    if len(left_out) > len(read):
        show_notice(_describe_skipped(len(left_out), len(left_out) + len(read), left_out[-1]))
        return None
    values = np.stack(bits)
    told, one_word = _verdict_cache().get_or_make(
        (mark, len(read) + len(left_out)), lambda: _summarize(read, values), lambda made: 24 * made[0].p.nbytes
    )
    return PairSet(tuple(read), values, told, one_word, tuple(left_out), digest, shared)


def _summarize(pairs: Sequence[TextPair], bits: FloatArray) -> Verdicts:
    """Compute the statistics of all pairs, and those of the one-word pairs if word counts are a confound.

    Word counts are a confound if changes and controls differ in different numbers of words on average.
    """
    words = {kind: [pair.words for pair in pairs if pair.control == kind] for kind in (False, True)}
    unlike = all(words.values()) and np.mean(words[False]) != np.mean(words[True])
    one = [at for at, pair in enumerate(pairs) if pair.words == 1]
    return _test_pairs(pairs, bits), _test_pairs([pairs[at] for at in one], bits[one]) if unlike else None


def _test_pairs(pairs: Sequence[TextPair], bits: FloatArray) -> ControlledChange:
    values = bits.reshape(len(pairs), bits.shape[1] * bits.shape[2]).astype(np.float64)
    return compare_with_control(
        values, np.array([pair.control for pair in pairs], bool), np.array(groups(pairs), np.intp), FEWEST_TEXTS
    )


@cache
def _map_cache() -> ByteLru[FloatArray | str]:
    return ByteLru(KEPT)


@cache
def _verdict_cache() -> ByteLru[Verdicts]:
    return ByteLru(KEPT_SETS)


def _request(choice: ViewState, text: str) -> TraceRequest:
    return request_of(replace(choice, **FRESH, text=text, pair="", target=""))


def _head_changes(choice: ViewState, pair: TextPair, look: ViewOptions, shared: bool) -> FloatArray | str:
    """Return the change of each head, (layer, head), or the reason if the pair cannot be compared."""
    try:
        left, right = map(require_readable, get_backend().traces([_request(choice, text) for text in (pair.a, pair.b)]))
        views = [get_trace_store().view(trace, look) for trace in (left, right)]
        heads = same_heads(*views)
        assert heads is not None  # both texts are read by the same model
        if not all(view.queries and view.keys for view in views):
            return gettext_lazy("Only hidden special tokens are left.")
        aligned = AlignedViews.align(*views)
        bits = changes(aligned.shared_words() if shared else aligned, heads).bits
    except UserError as refusal:
        if refusal.way_out not in OF_THE_TEXT:
            raise
        return refusal.message
    except ValueError as error:  # the texts have no words in common
        return error_message(error)
    return gettext_lazy("No row can be compared.") if np.isnan(bits).any() else bits


def mean_change(found: PairSet, choice: ViewState, look: ViewOptions, kind: str) -> Computation:
    """Return notebook code for each head's mean change over the pairs of a kind, "change" or "control"."""
    code = (
        "bits = []\n"
        "for pair in readings:\n"
        f"    views = {aligned_code('pair', found.shared)}\n"
        "    bits.append(changes(views, same_heads(views.left, views.right)).bits)\n"
        "values = np.reshape(bits, (len(bits), -1)).astype(np.float64)\n"
        "tested = compare_with_control(values, np.array(controls), np.array(numbered))\n"
        f"numbers = tested.{kind}.mean.reshape(bits[0].shape)"
    )
    used = (AlignedViews, View, changes, same_heads, compare_with_control)
    return Computation(
        code,
        look=view_arguments(look),
        readings=[tuple(_request(choice, text) for text in (pair.a, pair.b)) for pair in found.pairs],
        controls=[pair.control for pair in found.pairs],
        numbered=list(groups(found.pairs)),
        **{one.__name__: one for one in used},
    )


MOST_NAMED = 6  # heads that are listed by name


def describe_pair_set(found: PairSet) -> list[str]:
    """Describe the heads that change more with the meaning than with the wording, and the pairs left out."""
    sentences = [_describe_tested(found) if found.across.has_test else _describe_untested(found)]
    if found.one_word is not None:
        sentences += filter(None, [_fair(found, found.one_word)])
    if found.left_out:
        many, reason = len(found.left_out), found.left_out[-1]
        sentences.append(_("Pairs skipped: {many:,}. {reason}", many=many, reason=reason))
    return sentences


def _describe_tested(found: PairSet) -> str:
    across = found.across
    more = across.more_heads
    controls = sum(pair.control for pair in found.pairs)
    most = int(max(more, key=lambda at: found.meaning_excess[at])) if len(more) else int(found.meaning_excess.argmax())
    said = [
        _(
            "{heads} ({changes:,} changes, {controls:,} controls; two-sided permutation, n = {n:,} independent texts, "
            "p: twice the smaller tail, Holm-corrected).",
            heads=_more_heads(found, across),
            changes=len(found.pairs) - controls,
            controls=controls,
            n=across.n,
        ),
        _describe_most(found, most),
        "" if _can_be_significant(across) else translate(TOO_FEW),
    ]
    return join_sentences(*said)


def _describe_most(found: PairSet, most: int) -> str:
    """Describe the compared means of the head ``most``, with the sample size and the corrected p-value."""
    across = found.across
    return _(
        "{head}: {change} bits against {control} (n = {n:,}, corrected p = {p:.2g}).",
        head=found.name(most),
        change=format_small(float(across.compared[0][most])),
        control=format_small(float(across.compared[1][most])),
        n=across.n,
        p=across.p[most],
    )


def _fair(found: PairSet, one: ControlledChange) -> str:
    """Describe that the kinds of pairs differ in numbers of words, and the result without that confound.

    ``one`` is the result for the pairs that differ in a single word. Return "" if the numbers of words cannot explain
    the result, because no head changes more in the pairs that differ in more words.
    """
    change, control = (np.mean([pair.words for pair in found.pairs if pair.control == kind]) for kind in (False, True))
    across = found.across
    if across.has_test and not len(across.more_heads if change > control else across.less_heads):
        return ""
    said = _(
        "Changes differ in {change:.1f} words on average, controls in {control:.1f}, which may explain the difference.",
        change=change,
        control=control,
    )
    if not one.has_test:
        return said
    fair = _(
        "{said} Pairs that differ by one word (n = {texts:,} texts): {heads}.",
        said=said,
        texts=one.n,
        heads=_more_heads(found, one),
    )
    return fair if _can_be_significant(one) else join_sentences(fair, translate(TOO_FEW))


def _can_be_significant(across: ControlledChange) -> bool:
    """Return False if there are too few texts for any head to be significant."""
    return across.least_p <= LEVEL


def _more_heads(found: PairSet, across: ControlledChange) -> str:
    """Return the numbers of heads that change more or less with the meaning, and the names of those that change more.

    At most MOST_NAMED are named.
    """
    heads = sorted((int(at) for at in across.more_heads), key=lambda at: -found.meaning_excess[at])
    names, rest = format_comma_list([found.name(at) for at in heads[:MOST_NAMED]]), len(heads) - MOST_NAMED
    shown = _("{words} and {n:,} more", words=names, n=rest) if rest > 0 else names
    return _(
        "{many} of {size} heads change more with meaning than wording{names}, {less} less",
        many=len(heads),
        size=len(across.p),
        names=f" ({shown})" if heads else "",
        less=len(across.less_heads),
    )


def _describe_untested(found: PairSet) -> str:
    across = found.across
    if not across.change.n:
        return _("All pairs are controls. Add pairs of kind “change”.")
    most = int(across.change.mean.argmax())
    return _(
        "Head {head} changes most of {heads} heads: {bits} bits{interval} ({pairs:,} pairs). "
        "Without controls, wording may explain it.",
        pairs=len(found.pairs),
        heads=len(across.change.mean),
        head=found.name(most),
        bits=format_small(float(across.change.mean[most])),
        interval=_interval(across.change, most),
    )


def describe_head(found: PairSet, head: Place) -> str:
    """Describe a head's mean change in pairs that differ in meaning and in pairs that differ in wording only.

    Means have 95 % intervals, and a test compares them.
    """
    across, at = found.across, head[0] * found.shape[1] + head[1]
    numbers = format_comma_list(
        [
            _(
                "{kind} {bits} bits{interval}",
                kind=kind,
                bits=format_small(float(mean.mean[at])),
                interval=_interval(mean, at),
            )
            for kind, mean in ((_("change"), across.change), (_("control"), across.control))
            if mean.n
        ]
    )
    name = found.name(at)
    if not across.has_test:
        return _("Head {head}: {numbers}.", head=name, numbers=numbers)
    verdict = translate(across.verdict(at))
    return _("Head {head}: {numbers}. Test: {verdict} with the meaning.", head=name, numbers=numbers, verdict=verdict)


def _interval(mean: Mean, at: int) -> str:
    if np.isnan(mean.low[at]):
        return ""
    return _(
        " (95% interval {low} to {high})",
        low=format_small(float(mean.low[at])),
        high=format_small(float(mean.high[at])),
    )


HEADS = ["layer", "head", "change in bits", "change, low", "change, high", "control in bits", "control, low",
         "control, high", "change less control", "less control, low", "less control, high", "verdict",
         "p, two-sided, corrected"]  # fmt: skip


COLUMNS = {  # definitions of columns of the file, in addition to those of their names
    "change, control": "means over all texts with pairs of this kind",
    "change less control, verdict, p": "over the texts with pairs of both kinds, if there are any",
    "low, high": f"95% bootstrap-t interval over texts, from {FEWEST_TEXTS} texts on",
}


def heads_csv(found: PairSet) -> str:
    """Return a CSV row per head, with empty cells for unknown numbers."""
    told = found.across
    means = (told.change, told.control, told.more)
    lines = (
        [*found.place(at), *(_none_if_nan(values[at]) for mean in means for values in (mean.mean, mean.low, mean.high)),
         told.verdict(at), _none_if_nan(told.p[at]) if told.has_test else None]
        for at in range(len(told.p))
    )  # fmt: skip
    return csv_table(HEADS, lines)


def pairs_of_head_csv(found: PairSet, head: Place) -> str:
    """Return a CSV row per pair, with the divergence of ``head`` in bits."""
    lines = (
        [*head, pair.a, pair.b, "control" if pair.control else "change", pair.words, float(bits)]
        for pair, bits in zip(found.pairs, found.bits[:, head[0], head[1]], strict=True)
    )
    return csv_table(["layer", "head", "a", "b", "kind", "words that differ", "divergence in bits"], lines)


def set_provenance(found: PairSet, choice: ViewState) -> dict[str, Any]:
    """Return the provenance of the results: the model, the view options and the set of pairs."""
    return {
        **model_fields(get_backend().identity(choice.model, choice.revision or None)),
        "data": f"{len(found.pairs)} pairs of texts (SHA-256 {found.digest})",
        "part": choice.part,
        "words_merged": choice.words,
        "special_tokens_shown": choice.special,
        "rows_renormalised": choice.renormalise,
        "pairs_sha256": found.digest,
        "pairs": len(found.pairs),
        "left_out": len(found.left_out),
        **(_test_fields(found.across.within) if found.across.has_test else {}),
        **({"replaced_words": "left out"} if found.shared else {}),
        **SCALED_ROWS,
    }


def _test_fields(within: bool) -> dict[str, Any]:
    """Return the provenance of the test: where kinds of pairs are exchanged, and the floor of p."""
    return {"permuted": "within groups" if within else "between groups", "p_floor_uncorrected": LEAST_P}


def _none_if_nan(value: float) -> float | None:
    number = float(value)
    return None if number != number else number
