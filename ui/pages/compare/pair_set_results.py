"""Change of each head in each pair of a set, and the statistics over the set."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import streamlit as st

from attention.comparison import AlignedViews, changes, same_heads
from attention.mask import FloatArray
from attention.trace import Trace
from i18n import _, error_message, gettext_lazy
from inference import TraceRequest, UserError
from inference.byte_cache import ByteLru
from probing.text_pairs import ControlledChange, Numbers, TextPair, compare_with_control, groups
from ui.input.unknown_words import require_readable
from ui.run.downloading import offer_or_show
from ui.run.notices import show_notice
from ui.run.progress import stoppable_steps
from ui.run.services import ViewOptions, get_backend, get_trace_store
from ui.run.traces import request_of
from ui.state.session import FRESH
from ui.state.view_state import ViewState

KEPT = 2**24  # bytes of cached changes
KEPT_SETS = 2**22
OF_THE_TEXT = ("cut", "text", "reads")  # ways out of a UserError that concerns a single pair
Place = tuple[int, int]
Verdicts = tuple[ControlledChange, ControlledChange | None]


@dataclass(frozen=True, eq=False)
class PairSet:
    """Results of a set of pairs on a model, without the pairs that could not be read."""

    pairs: tuple[TextPair, ...]
    bits: FloatArray  # Jensen–Shannon divergence, (pair, layer, head)
    across: ControlledChange  # statistics by head; heads are numbered layer by layer
    one_word: (
        ControlledChange | None
    )  # of the pairs that differ in one word; None where both kinds differ in as many on the mean
    left_out: tuple[str, ...]  # why, for each pair that was not read
    digest: str  # of the pairs that were asked for

    @property
    def shape(self) -> tuple[int, int]:
        """Return the numbers of layers and heads."""
        return self.bits.shape[1], self.bits.shape[2]

    @property
    def meaning_excess(self) -> Numbers:
        """Return how much more each head changes with the meaning than in the controls, (head,) in bits.

        Without both kinds of pairs, return the mean change of the kind that is present.
        """
        told = self.across
        if told.has_test:
            return told.apart
        return told.change.mean if told.change.n else told.control.mean

    def as_map(self, values: Numbers) -> FloatArray:
        """Return values per head, (head,), as (layer, head)."""
        found: FloatArray = np.asarray(values, np.float32).reshape(self.shape)
        return found

    def place(self, head: int) -> Place:
        """Return (layer, head) of a head number."""
        return head // self.shape[1], head % self.shape[1]

    def name(self, head: int) -> str:
        """Return the name of a head, such as "3-7"."""
        layer, number = self.place(head)
        return f"{layer}-{number}"


def first_of(choice: ViewState, pairs: Sequence[TextPair]) -> Trace | None:
    """Return the trace of the first text that the model can read, or None with a notice."""
    reason = ""
    for pair in pairs:
        try:
            with st.spinner(_("Running the first pair"), show_time=True):
                return require_readable(get_backend().trace(_request(choice, pair.a)))
        except UserError as refusal:
            if refusal.way_out not in OF_THE_TEXT:
                offer_or_show(refusal, choice)
                return None
            reason = refusal.message
    show_notice(_("The model cannot read these texts. {reason}", reason=reason))
    return None


def measure_set(choice: ViewState, pairs: tuple[TextPair, ...], look: ViewOptions) -> PairSet | None:
    """Compare the pairs until the reader stops; return None if there is no result.

    Pairs that the model cannot read are left out. Raise UserError for errors that concern every pair.
    """
    digest = hashlib.sha256(repr([(pair.a, pair.b, pair.control) for pair in pairs]).encode()).hexdigest()
    mark = f"{digest}:{choice.model}:{choice.revision}:{look.query()}"
    read, bits, left_out = [], [], []
    for at in stoppable_steps(mark, len(pairs), _("Comparing every head")):
        found = _map_cache().get_or_make(
            (choice.model, choice.revision, look, pairs[at].a, pairs[at].b),
            lambda pair=pairs[at]: _head_changes(choice, pair, look),  # type: ignore[misc]
            lambda made: 500 if isinstance(made, str) else made.nbytes + 500,
        )
        if isinstance(found, str):
            left_out.append(found)
        else:
            read.append(pairs[at])
            bits.append(found)
    if not read:
        if left_out:
            show_notice(_("No pair can be compared. {reason}", reason=left_out[-1]))
        return None
    if len(left_out) > len(read):
        many, of = len(left_out), len(left_out) + len(read)
        show_notice(
            _(
                "{many:,} of {of:,} pairs were skipped, too many for a result. {reason}",
                many=many,
                of=of,
                reason=left_out[-1],
            )
        )
        return None
    values = np.stack(bits)
    told, one_word = _verdict_cache().get_or_make(
        (mark, len(read) + len(left_out)), lambda: _summarize(read, values), lambda made: 24 * made[0].p.nbytes
    )
    return PairSet(tuple(read), values, told, one_word, tuple(left_out), digest)


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
        values, np.array([pair.control for pair in pairs], bool), np.array(groups(pairs), np.intp)
    )


@cache
def _map_cache() -> ByteLru[FloatArray | str]:
    return ByteLru(KEPT)


@cache
def _verdict_cache() -> ByteLru[Verdicts]:
    return ByteLru(KEPT_SETS)


def _request(choice: ViewState, text: str) -> TraceRequest:
    return request_of(replace(choice, **FRESH, text=text, pair="", target=""))


def _head_changes(choice: ViewState, pair: TextPair, look: ViewOptions) -> FloatArray | str:
    """Return the change of each head, (layer, head), or the reason if the pair cannot be compared."""
    try:
        left, right = map(require_readable, get_backend().traces([_request(choice, text) for text in (pair.a, pair.b)]))
        views = [get_trace_store().view(trace, look) for trace in (left, right)]
        heads = same_heads(*views)
        assert heads is not None  # both texts are read by the same model
        if not all(view.queries and view.keys for view in views):
            return gettext_lazy("A text has only special tokens, which are hidden; show them in View options.")
        bits = changes(AlignedViews.align(*views), heads).bits
    except UserError as refusal:
        if refusal.way_out not in OF_THE_TEXT:
            raise
        return refusal.message
    except ValueError as error:  # the texts have no words in common
        return error_message(error)
    return gettext_lazy("A head has no row that can be compared.") if np.isnan(bits).any() else bits
