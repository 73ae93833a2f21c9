"""Role evidence of all heads from a single text or from the sentences of the app."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from attention.mask import FloatArray
from attention.roles import ROLES, RoleEvidence, observe
from attention.trace import Trace, attention_everywhere
from attention.vectors import Divergence, compare
from i18n import _
from inference import TraceRequest, UserError
from inference.text.encoding import explain_unreadable
from probing.formats import load_ready_set
from ui.run.downloading import offer_or_show
from ui.run.notices import show_notice
from ui.run.progress import stoppable_steps
from ui.run.services import get_backend
from ui.state.view_state import ViewState

KEPT = "roles_evidence"
BATCH = 20  # The number of texts in a batch.


@dataclass(frozen=True, eq=False)
class TextEvidence:
    """Mean share of each role in a single text, shape (layer, head).

    NaN marks roles that no token of the text could have.
    """

    text: str
    strengths: Mapping[str, FloatArray]


@dataclass(frozen=True, eq=False)
class HeadEvidence:
    """Role evidence and pairwise divergences of all heads."""

    evidence: RoleEvidence
    likeness: Divergence
    each: tuple[TextEvidence, ...]
    trace: Trace | None = None  # None if the evidence is from several texts.

    @property
    def shape(self) -> tuple[int, int]:
        """Return the numbers of layers and heads."""
        layers, heads = self.evidence.strength("broad").shape
        return layers, heads


def from_trace(trace: Trace, choice: ViewState) -> HeadEvidence:
    """Return the evidence of a single text.

    Cross-attention has no roles, so the trace's first stack is used instead. Raise UserError if a layer has no
    attention, because heads are compared by layer.
    """
    part = part_of(trace, choice)
    if (lacking := attention_everywhere(len(trace.records(part)), trace.attending(part))) is not None:
        raise UserError(lacking, way_out="embedded")
    evidence = observe(trace, part)
    strengths = {role: evidence.strength(role).astype(np.float32) for role in ROLES}
    return HeadEvidence(evidence, compare(trace, part), (TextEvidence(trace.text, strengths),), trace)


def part_of(trace: Trace, choice: ViewState) -> str | None:
    """Return the selected stack (encoder or decoder) if roles are defined for it; None for the first."""
    return choice.part if choice.part in trace.parts and choice.part != "cross" else None


def from_sentences(choice: ViewState) -> HeadEvidence | None:
    """Return the evidence of the app's sentences, read in batches; None if most of them are unreadable.

    A notice shows the reason. None also follows if the model cannot be loaded or the reader stopped before the
    first batch.
    """
    texts = [item.text for name in ("grammar", "pronouns") for item in load_ready_set(name).items]
    key = (choice.model, choice.revision, choice.part)
    kept: dict[tuple[str, str, str], dict[int, tuple[list[HeadEvidence], list[str]]]] = st.session_state.setdefault(
        KEPT, {}
    )
    # Results are stored by batch number, so concurrent reruns of the page do not count a batch twice.
    done = kept.setdefault(key, {})
    steps = range(0, len(texts), BATCH)
    try:
        for at in stoppable_steps(f"roles {key}", len(steps), _("Reading the sentences")):
            if at not in done:
                some = texts[steps[at] : steps[at] + BATCH]
                done[at] = _observe_known(some, choice)
    except UserError as refusal:
        offer_or_show(refusal, choice)
        return None
    found = [known for step, _reasons in done.values() for known in step]
    left_out = [reason for _step, reasons in done.values() for reason in reasons]
    if left_out:
        many, total = len(left_out), len(left_out) + sum(len(known.each) for known in found)
        most = 2 * many > total
        said = _("{many:,} of {texts:,} texts are left out. {reason}", many=many, texts=total, reason=left_out[-1])
        show_notice(said, role="alert" if most else "status")
        if most:
            return None
    return _merge(found) if found else None


def _observe_known(texts: Sequence[str], choice: ViewState) -> tuple[list[HeadEvidence], list[str]]:
    """Return the merged evidence of the readable texts, in a list, and the reasons for the others.

    The first list is empty if no text is readable.
    """
    read = traces(texts, choice)
    reasons = [explain_unreadable(trace.source, trace.model.name) for trace in read]
    found = [from_trace(trace, choice) for trace, reason in zip(read, reasons, strict=True) if not reason]
    return [_merge(found)] if found else [], [reason for reason in reasons if reason]


def traces(texts: Sequence[str], choice: ViewState) -> list[Trace]:
    """Return traces of ``texts`` by the chosen model; raise UserError if the model cannot read them."""
    return get_backend().traces([TraceRequest(choice.model, text, revision=choice.revision or None) for text in texts])


def _merge(found: list[HeadEvidence]) -> HeadEvidence:
    evidence, likeness = found[0].evidence, found[0].likeness
    for other in found[1:]:
        evidence, likeness = evidence + other.evidence, likeness + other.likeness
    return HeadEvidence(evidence, likeness, tuple(seen for some in found for seen in some.each))
