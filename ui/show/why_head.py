"""The panel "Why this head?": the parts of the model that make a head attend from one token to another.

The score of the selected link is decomposed exactly into the parts from which its query and key were computed
(`inference.tasks.score_decomposition`). If a part is a head, the visitor can decompose that head's score in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from attention.score_terms import BIAS, BLOCKS, POSITION, RELATIVE, SEGMENT, TOKEN, ScoreTerms, side_values
from attention.view import View
from i18n import _, gettext_lazy, translate
from inference import UserError
from inference.tasks.score_decomposition import RANDOM, ScoreAnswer, ScoreRequest, SourceCheck
from ui.run.notices import show_error, show_notice
from ui.run.services import get_backend
from ui.show.chart import draw_chart, theme
from ui.show.sections import open_section
from ui.show.tables import csv_table, download_button, draw_table, model_fields, page_provenance
from ui.show.text import format_comma_list, join_sentences, scientific
from viz.figures.token_bars import source_terms
from viz.paper.notebook import Computation

KEY, TRAIL = "why_head", "why_trail"
SHOWN = 8  # sources in each figure, the largest first
PAIRS = 5  # pairs of sources in the table
SIDES = {"query": gettext_lazy("query side"), "key": gettext_lazy("key side")}
SOURCES = {
    TOKEN: gettext_lazy("token embedding"),
    POSITION: gettext_lazy("position embedding"),
    SEGMENT: gettext_lazy("segment embedding"),
    BIAS: gettext_lazy("all biases"),
    RELATIVE: gettext_lazy("relative positions"),
    RANDOM: gettext_lazy("random control"),
}
FIRST_TOKENS = gettext_lazy("Words count with their first tokens.")
Variant = tuple[ScoreRequest | None, tuple[str, ...]]
TERMS = """\
terms = [backend.inspect(request).terms for request in requests]
numbers = np.transpose([values for source, values in side_values(terms, side)[:shown]])"""  # code of a notebook


@dataclass(frozen=True)
class ExplainedLink:
    """A link in a head: the indices of its query and key tokens, and their words (``source``, ``target``)."""

    layer: int
    head: int
    query: int
    key: int
    source: str
    target: str

    @property
    def name(self) -> str:
        """Return the name of the head, such as "3-1"."""
        return f"{self.layer}-{self.head}"


def is_open() -> bool:
    """Return True if the panel "Why this head?" is open in this run."""
    return bool(st.session_state.get(KEY, False))


@dataclass(frozen=True)
class Explained:
    """Functions of a page that the panel "Why this head?" calls for the selected link.

    ``question`` returns the model request for a link. ``variant`` returns the request for the same link in another text
    (or None), and the words that differ. ``follow`` stores the selection of a click, with the fields ``layer``,
    ``head``, ``focus`` and ``to``.
    """

    question: Callable[[ExplainedLink], ScoreRequest]
    follow: Callable[..., None]
    variant: Callable[[ExplainedLink], Variant] = lambda _link: (None, ("",))


def draw_why(view: View, selection: Mapping[str, Any], explained: Explained) -> None:
    """Draw the panel "Why this head?" if it is open; otherwise nothing is computed."""
    section = open_section(_("Why this head?"), KEY)
    if section is None:
        return
    with section:
        link = selected_link(view, selection)
        if link is None:
            show_notice(_("Select a query and a key above to explain their score."), role="status")
            return
        try:
            with st.spinner(_("Decomposing the score"), show_time=True):
                asked = explained.question(link)
                found = get_backend().inspect(asked)
        except UserError as refusal:
            show_error(refusal)
            return
        _draw(view, link, {asked: found}, explained)


def _answer_if_possible(request: ScoreRequest) -> ScoreAnswer | None:
    """Return the answer for a variant, or None if it is refused: the panel explains the text that is shown."""
    try:
        return get_backend().inspect(request)
    except UserError:
        return None


def selected_link(view: View, selection: Mapping[str, Any]) -> ExplainedLink | None:
    """Return the link from the selected query to the selected key; None if either is not selected.

    For a word of several tokens, the link is that of the first token.
    """
    focus, target = selection.get("focus"), selection.get("target")
    if focus is None or target is None:
        return None
    query, key = view.queries[focus], view.keys[target]
    return ExplainedLink(selection["layer"], selection["head"], query.pieces[0], key.pieces[0], query.text, key.text)


def _draw(view: View, link: ExplainedLink, asked: dict[ScoreRequest, ScoreAnswer], explained: Explained) -> None:
    """Draw the decompositions of a link, ``asked``, in its text and in the variant of the text, if there is one."""
    (found,) = asked.values()
    changed, words = explained.variant(link)
    other = None if changed is None else _answer_if_possible(changed)
    answers = [found] if other is None else [found, other]
    requests = [*asked, *([] if changed is None else [changed])][: len(answers)]
    show_notice(summary(link, found, other, words[-1] if other else ""), role="status")
    about = partial(_provenance, view, link, "" if other is None else requests[-1].text)
    note = _(
        "Each chart divides the same {excess:+.2f}, by the sources of the query or of the key. The {shown} "
        "largest are drawn. From each part, its mean over visible tokens is subtracted; means and variances of "
        "norms are those of this pass.",
        excess=found.score - found.mean_over_keys,
        shown=SHOWN,
    )
    if view.words:
        note = join_sentences(note, translate(FIRST_TOKENS))
    left, right = st.columns(2)
    for place, side in ((left, "query"), (right, "key")):
        title = _("Query: “{word}”", word=link.source) if side == "query" else _("Key: “{word}”", word=link.target)
        found_values = side_values([answer.terms for answer in answers], side)[:SHOWN]
        values = {source_title(name): parts for name, parts in found_values}
        figure = source_terms(values, words[: len(answers)], theme(), title)
        is_text = view.trace.picture is None
        draw_chart(
            figure,
            f"why_{side}",
            place=place,
            about=about,
            computation=Computation(TERMS, requests=requests, side=side, shown=SHOWN, side_values=side_values)
            if is_text
            else None,
            test=note,
        )
    _follow(view, link, found.terms, explained.follow)
    st.caption(note)
    _details(found, about())


def _provenance(view: View, link: ExplainedLink, variant: str) -> dict[str, Any]:
    """Return the provenance of the parts of a score: the model, the text or picture, the head and both tokens.

    ``variant`` is the text of the second series of bars, or "".
    """
    made, picture = view.trace.model, view.trace.picture
    return {
        **(page_provenance() if picture is None else {**model_fields(made), "picture_sha256": picture.key}),
        **({"second_text": variant} if variant else {}),
        "part": view.part or view.trace.part,
        "layer": link.layer,
        "head": link.head,
        "query": link.query,
        "query_word": link.source,
        "key": link.key,
        "key_word": link.target,
    }


def source_title(source: str) -> str:
    """Return the name on screen of a source: a part of the model that contributes to a score.

    >>> source_title("ffn 0"), source_title("cross 2-1"), source_title("head 2-1"), source_title("position")
    ('feed-forward, layer 0', 'cross-attention 2-1', 'head 2-1', 'position embedding')
    """
    if source in SOURCES:
        return translate(SOURCES[source])
    number = source.rpartition(" ")[2]
    if source.startswith(BLOCKS[0]):
        return _("feed-forward, layer {layer}", layer=number)
    if source.startswith(BLOCKS[1]):
        return _("layer {layer}", layer=number)
    if source.startswith("cross "):
        return _("cross-attention {head}", head=number)
    return _("head {head}", head=number)


def summary(link: ExplainedLink, found: ScoreAnswer, other: ScoreAnswer | None, word: str) -> str:
    """Return sentences on the parts of the model that contribute most to the query and the key of a link.

    ``other`` is the answer for the variant of the text, if any, and ``word`` the word that differs there. A sentence
    names the part that the variant changes most.
    """
    said = [
        _(
            "In head {head}, “{target}” scores {excess:+.2f} against the mean over visible tokens. Largest source of "
            "each vector: {parts}.",
            head=link.name,
            target=link.target,
            excess=found.score - found.mean_over_keys,
            parts=format_comma_list(_largest_parts(link, found)),
        )
    ]
    if other is not None:
        changes = [
            (abs(now - before), side, name, now, before)
            for side in SIDES
            for name, (now, before) in side_values([found.terms, other.terms], side)
        ]
        _size, side, name, now, before = max(changes)
        said.append(
            _(
                "With “{word}” the {side} changes most: {name} {now:+.2f} → {before:+.2f}.",
                word=word,
                side=translate(SIDES[side]),
                name=source_title(name),
                now=now,
                before=before,
            )
        )
    return join_sentences(*said)


def _largest_parts(link: ExplainedLink, found: ScoreAnswer) -> list[str]:
    """Describe the largest source of each side, the larger first, with its causal check if that differs."""
    largest = [(side, *side_values([found.terms], side)[0]) for side in SIDES]
    differing = {(check.side, check.source): check for check in found.checks if check.differs}
    parts = []
    for side, name, [value] in sorted(largest, key=lambda part: -abs(part[2][0])):
        word = link.source if side == "query" else link.target
        part = _("{source} of “{word}” {value:+.2f}", source=source_title(name), word=word, value=value)
        if check := differing.get((side, name)):
            part = _("{part} (removal changes the score by {change:+.2f})", part=part, change=-check.measured)
        parts.append(part)
    return parts


def _follow(view: View, link: ExplainedLink, terms: ScoreTerms, follow: Callable[..., None]) -> None:
    """Draw the heads among the largest sources; a click selects the head at its token, with its largest weight.

    Heads of another stack are left out, because they have other tokens.
    """
    kind = "cross " if view.part == "cross" else "head "
    heads = {
        f"{source_title(name)} · {word}": (name, token)
        for side, token, word in (("query", link.query, link.source), ("key", link.key, link.target))
        for name, _values in side_values([terms], side)[:SHOWN]
        if name.startswith(kind)
    }
    if heads:
        st.session_state[TRAIL] = None
        st.pills(
            _("Follow a head"),
            list(heads),
            key=TRAIL,
            help=_("Decomposes this head at this word."),
            on_change=lambda: follow(**strongest_link(view, *heads[st.session_state[TRAIL]])),
        )


def strongest_link(view: View, name: str, token: int) -> dict[str, int]:
    """Return the selection of a head's strongest link from a token.

    ``name`` is the name of the head, such as "head 3-1", and ``token`` the query. The selection has the fields
    ``layer``, ``head``, ``focus`` (the query) and ``to`` (the key with the largest weight).
    """
    layer, head = map(int, name.partition(" ")[2].split("-"))
    cell = next(at for at, one in enumerate(view.queries) if one.pieces[0] <= token < one.pieces[1])
    target = int(view.weights(layer, head)[cell].argmax())
    return {"layer": layer, "head": head, "focus": token, "to": view.keys[target].pieces[0]}


def pair_rows(terms: ScoreTerms) -> list[tuple[str, str, float, float]]:
    """Return a row for each pair of a query source and a key source: the pair's part of the score.

    A source is a part of the model. A row is (query source, key source, term, centred term); the centred term is the
    term minus its mean over the keys. The largest centred term comes first.
    """
    centred = terms.excess_terms
    rows = [
        (query, key, float(terms.values[i, j]), float(centred[i, j]))
        for i, query in enumerate(terms.query_sources)
        for j, key in enumerate(terms.key_sources)
    ]
    return sorted(rows, key=lambda row: -abs(row[3]))


def _details(found: ScoreAnswer, about: Mapping[str, Any]) -> None:
    """Draw the largest pairs, the causal checks, the error of the sum, and the download of all pairs."""
    rows = pair_rows(found.terms)
    left, right = st.columns(2)
    left.markdown(_("**Largest pairs**"))
    draw_table(
        {
            _("Query"): [source_title(row[0]) for row in rows[:PAIRS]],
            _("Key"): [source_title(row[1]) for row in rows[:PAIRS]],
            _("Part"): [round(row[3], 3) for row in rows[:PAIRS]],
        },
        place=left,
    )
    right.markdown(_("**Causal check**"))
    draw_table(_check_columns(found.checks), place=right)
    right.markdown(describe_checks(found.checks))
    st.caption(
        _(
            "Measured: the fall of the score if the source is removed from the query or key, with new norms. Random "
            "control: random vectors as long as the largest source. Parts sum to the score within {error}.",
            error=scientific(found.error),
        )
    )
    download_button(
        _("Save as CSV"),
        csv_table(["query source", "key source", "term", "centred"], rows),
        "headlight-why.csv",
        _("All digits"),
        provenance=about,
    )


def describe_checks(checks: Sequence[SourceCheck]) -> str:
    """Return a sentence that compares the measured effects of removing a source with the source's bar.

    A source is a part of the model, and its bar shows its part of the score. The sentence counts the sources whose
    removal changes the score by over 20 % more or less than their bars.
    """
    sources = [check for check in checks if check.source != RANDOM]
    many = sum(check.differs for check in sources)
    if not many:
        return _("Each removal changes the score as its bar predicts, to within 20%.")
    return _(
        "Removal has another effect than the bar, by over 20%, for {many} of {all} sources. Their bars show where the "
        "score comes from, not an effect.",
        many=many,
        all=len(sources),
    )


def _check_columns(checks: Sequence[SourceCheck]) -> dict[str, list[Any]]:
    return {
        _("Side"): [translate(SIDES[check.side]) for check in checks],
        _("Removed source"): [source_title(check.source) for check in checks],
        _("Predicted"): [round(check.predicted, 3) for check in checks],
        _("Measured"): [round(check.measured, 3) for check in checks],
        _("Difference"): ["> 20%" if check.differs else "" for check in checks],
    }
