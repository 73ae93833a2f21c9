"""Alignment quality of every cross-attention head, scored on hand-aligned sentences."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import numpy as np
import streamlit as st

from attention.alignment import CrossRowConvention
from attention.head_names import head_label
from attention.record import Unavailable
from i18n import _, gettext_lazy, translate
from inference import UserError
from probing.alignments import READINGS, AlignmentRun, Alignments, AlignmentState, BestHead, advance, load, parse
from probing.statistics import wilson
from ui.input.text_files import pick_encoding
from ui.pages.translate.translation import scores_computation
from ui.run.notices import show_notice
from ui.run.page_model import PageModel, offer_way_out
from ui.run.progress import may_begin, stoppable_steps
from ui.run.services import get_backend
from ui.show.chart import draw_chart, theme
from ui.show.sections import open_section
from ui.show.tables import csv_table, data_provenance, download_button, draw_table
from ui.show.text import p_value
from ui.state.view_state import ViewState
from viz.figures import head_maps

FILE, PARSED, ENCODING = "alignments_file", "alignments_parsed", "alignments_encoding"
STATES = "alignments_states"
MOST_STATES = 8  # states kept in a session
MAPS = {CrossRowConvention.WRITING: "alignments_map", CrossRowConvention.OWN: "alignments_late_map"}
TITLES = {
    CrossRowConvention.WRITING: gettext_lazy("Alignment"),
    CrossRowConvention.OWN: gettext_lazy("One step later"),
}
COMPARED = {
    "more": gettext_lazy("more than"),
    "less": gettext_lazy("less than"),
    "not clearly more": gettext_lazy("not clearly more than"),
}
FORM = gettext_lazy(
    "A line per pair: source, target, links, separated by tabs. 0-1: a sure link (from 0); 0?1: a "
    "possible one. Or JSON as assets/alignments/en-fr.json."
)


@cache
def load_alignments() -> Alignments:
    """Load the sentence pairs with word alignments that are shipped with the app; the result is cached."""
    return load()


def quality_section(choice: ViewState, who: PageModel, keep: Callable[[int, int], None]) -> None:
    """Score all cross-attention heads as word aligners; draw the best head on a sentence, the maps and the table.

    ``keep`` is called with (layer, head), in a callback, when a head is clicked.
    """
    sentences = _sentences()
    if sentences is None:
        return
    run = AlignmentRun(sentences, who.model, who.revision)
    total = len(sentences.pairs)
    if not may_begin(run.key, total, _("Score {total:,} pairs", total=total)):
        return
    try:
        state = _score_heads(run)
    except Unavailable as lacking:
        show_notice(str(lacking))
        return
    except UserError as refusal:
        offer_way_out(refusal, who, choice)
        return
    if state.skipped:
        show_notice(_("Pairs skipped: {many:,}. {reason}", many=state.skipped, reason=state.reason), role="status")
    if state.heads:
        _result(run, state, keep)


def _sentences() -> Alignments | None:
    """Return the app's sentences or the uploaded ones; None, with a notice, if these are unreadable."""
    with st.expander(_("Own sentences")):
        uploaded = st.file_uploader(_("Own sentences"), ["tsv", "txt", "json"], key=FILE, max_upload_size=20)
        show_notice(FORM, role="status")
    if uploaded is None:
        show_notice(
            _(
                "{pairs:,} English–French pairs, aligned by hand.",
                pairs=len(load_alignments().pairs),
            ),
            role="status",
        )
        return load_alignments()
    encoding = pick_encoding(ENCODING, uploaded.file_id, uploaded.name, uploaded.getvalue)
    kept = st.session_state.get(PARSED)
    if kept is None or kept[0] != (uploaded.file_id, encoding):
        try:
            content = uploaded.getvalue()
            kept = st.session_state[PARSED] = ((uploaded.file_id, encoding), parse(content, encoding))
        except UserError as refusal:
            show_notice(refusal.message)
            return None
    found: Alignments = kept[1]
    return found


def _score_heads(run: AlignmentRun) -> AlignmentState:
    """Run the scoring until it is done or stopped; the session keeps its state for a later rerun."""
    states: dict[str, AlignmentState] = st.session_state.setdefault(STATES, {})
    state = states.pop(run.key, AlignmentState())
    states[run.key] = state  # moves the state to the end, so that the oldest is dropped first
    while len(states) > MOST_STATES:
        states.pop(next(iter(states)))
    for at in stoppable_steps(run.key, len(run.chunks()), _("Running the model")):
        if at == state.done:
            state = states[run.key] = advance(get_backend(), run, state)
    return state


def _provenance(run: AlignmentRun) -> dict[str, str]:
    """Return the provenance of scores: the model, and the sentence pairs by their number and SHA-256."""
    pairs = run.alignments
    return data_provenance(f"{len(pairs.pairs):,} sentence pairs with gold alignments (SHA-256 {pairs.digest})")


def _result(run: AlignmentRun, state: AlignmentState, keep: Callable[[int, int], None]) -> None:
    best = {read_at: state.best(read_at) for read_at in READINGS}
    show_notice(summary(best), role="status")
    counts = state.all()
    limit = 100 * float(counts.share.max()) or 1.0
    for column, (at, read_at) in zip(st.columns(2), enumerate(READINGS), strict=True):
        found, key = best[read_at], MAPS[read_at]
        figure = head_maps.head_map(
            100 * counts.share[at],
            theme(),
            translate(TITLES[read_at]),
            _("% found"),
            selected=None if found is None else (found.layer, found.head),
            limit=limit,
        )
        computation = scores_computation(run, state, at)
        draw_chart(
            figure,
            key,
            place=column,
            on_click=partial(_keep, keep),
            about=partial(_provenance, run),
            computation=computation,
        )
    st.caption(
        _(
            "Share of {words:,} target words whose strongest source word is a gold link, without "
            "special tokens. Frame: the head above, chosen on half of the sentences.",
            words=int(counts.words.flat[0]),
        )
    )
    _table(run, state)


def _keep(keep: Callable[[int, int], None], key: str) -> None:
    place = head_maps.picked_head(st.session_state[key])
    if place is not None:
        keep(*place)


def summary(best: dict[CrossRowConvention, BestHead | None]) -> str:
    """Return sentences on the head that aligns words best, on baselines without a model, and on the other convention.

    A convention is the decoder step whose attention is read for a target token (CrossRowConvention).
    """
    first, other = best[CrossRowConvention.WRITING], best[CrossRowConvention.OWN]
    if first is None or other is None:
        return _("One pair cannot rank the heads. Add pairs.")
    return _(
        "Head {head} aligns {share:.1f}% ({low:.1f} to {high:.1f}) of {words:,} held-out words "
        "(alignment error rate {error:.2f}): {compared} the diagonal, {diagonal:.1f}% (error rate "
        "{diagonal_error:.2f}; two-sided paired test, {sentences:,} sentences, p {p}). Chance: {chance:.1f}%. "
        "One step later: {later_share:.1f}% (head {later_head}).",
        head=head_label(first.layer, first.head),
        share=first.share,
        low=first.low,
        high=first.high,
        words=first.words,
        error=first.error,
        compared=COMPARED[first.verdict],
        diagonal=first.diagonal,
        diagonal_error=first.diagonal_error,
        sentences=first.sentences,
        p=p_value(first.p),
        chance=first.chance,
        later_head=head_label(other.layer, other.head),
        later_share=other.share,
    )


def rows(state: AlignmentState) -> list[tuple[str, int, int, int, float, float, float, float]]:
    """Return a row for every head and each of the two conventions, the best first.

    A convention is the decoder step whose attention is read for a target token. The columns are convention, layer,
    head, words, % found, the 95 % interval (Wilson) and the alignment error rate.
    """
    counts = state.all()
    found: list[tuple[str, int, int, int, float, float, float, float]] = []
    for at, layer, head in sorted(np.ndindex(counts.share.shape), key=lambda place: -counts.share[place]):
        place = (at, layer, head)
        words = int(counts.words[place])
        low, high = wilson(int(counts.found[place]), words)
        share, error = 100 * float(counts.share[place]), float(counts.error[place])
        found.append((TITLES[READINGS[at]], layer, head, words, share, low, high, error))
    return found


def _table(run: AlignmentRun, state: AlignmentState) -> None:
    section = open_section(_("Every head"), "alignments_open")
    if section is None:
        return
    names = (
        gettext_lazy("View"),
        gettext_lazy("Layer"),
        gettext_lazy("Head"),
        gettext_lazy("Words"),
        gettext_lazy("% found"),
        gettext_lazy("Low"),
        gettext_lazy("High"),
        gettext_lazy("Alignment error rate"),
    )
    every = rows(state)
    with section:
        shown = [(translate(read), layer, head, *map(_two_decimals, figures)) for read, layer, head, *figures in every]
        draw_table(
            {translate(name): [row[at] for row in shown] for at, name in enumerate(names)},
            key="alignments_table",
        )
        download_button(
            _("Save as CSV"),
            csv_table(names, every),
            "headlight-alignment-quality.csv",
            _("All digits"),
            provenance=_provenance(run),
        )
        st.caption(
            _(
                "All sentences; 95% interval (Wilson). Alignment error rate: 1 - (|A∩S| + |A∩P|) / "
                "(|A| + |S|), links A of the head, sure S, all P ([Och and Ney, "
                "2003](https://doi.org/10.1162/089120103321337421)); 0 is perfect."
            )
        )


def _two_decimals(value: float) -> float:
    return round(value, 2)
