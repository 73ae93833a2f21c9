"""Attribution on a page: a widget for the explained label, and the scores of all methods as matrices and tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from attention.agreement import shares
from attention.mask import FloatArray
from attention.trace import Trace
from attention.view import DisplayToken, View
from i18n import _, translate, typeset_number
from inference import TraceRequest
from inference.errors import too_many_tokens
from inference.tasks.attribution import MOST_TOKENS, WordPath
from inference.tasks.labels import NUMBER, LabelAnswer, LabelPlace
from probing.statistics import LEVEL, holm, rank_p_values
from ui.attribution.methods import (
    ATTENTION,
    EFFECT,
    AttributionRequest,
    AttributionSet,
    TargetLabel,
    compute_attributions,
)
from ui.input.controls import bound_widget
from ui.run.notices import show_error, show_notice
from ui.show.chart import draw_notebook_menu, theme
from ui.show.microscope import draw_matrices
from ui.show.tables import csv_table, download_table, page_provenance, request_provenance
from ui.show.text import TOO_FEW, format_comma_list, format_small, join_sentences, percent
from viz.components.matrices.matrices import About
from viz.components.token_strip.token_strip import TokenChip, mount
from viz.figures.theme import sides
from viz.matrix_specs.heads import agreement_matrices
from viz.paper.notebook import Computation


@dataclass(frozen=True, eq=False)
class ExplainedLabel:
    """A label to explain, with the request and the model's predictions for the text."""

    request: TraceRequest
    prediction: LabelAnswer
    index: int  # Index into ``prediction.places``.
    of_word: bool  # True for a word's tag, False for a class of the whole text.
    wanted: int | None  # Index of the label that the visitor selected.

    @property
    def place(self) -> LabelPlace:
        """Return the word or text whose label is explained."""
        return self.prediction.places[self.index]

    @property
    def at(self) -> int | None:
        """Return the index of the token at which the tag is predicted, or None for a label of the whole text."""
        return self.place.reads[0] if self.of_word else None

    @property
    def label(self) -> int:
        """Return the index of the explained label: the visitor's choice, or by default the most probable label."""
        there = self.wanted is not None and self.wanted < len(self.prediction.names)
        return self.wanted if there and self.wanted is not None else self.prediction.likeliest(self.index)

    @property
    def what(self) -> str:
        """Return a phrase for the explained output, such as “the logit of …”."""
        name = f"“{self.prediction.names[self.label]}”"
        of_number = self.prediction.sort == NUMBER
        return _("the number {name}", name=name) if of_number else _("the logit of {name}", name=name)

    @property
    def word(self) -> str:
        """Return the labelled word as it was typed."""
        return word_text(self.request, self.prediction, self.place)


def word_text(request: TraceRequest, said: LabelAnswer, place: LabelPlace) -> str:
    """Return the word at ``place`` as it was typed, or its joined tokens if they have no span in the text."""
    start, stop = place.run
    text = (request.pair or "") if said.row.segments[start] else request.text
    spans = [span for span in said.row.spans[start:stop] if span is not None]
    return text[spans[0][0] : spans[-1][1]] if spans else "".join(said.row.pieces[start:stop])


def surest_label(said: LabelAnswer, outside: str) -> int:
    """Return the index of the word or text whose most probable label has the largest logit.

    Words whose most probable label is ``outside`` (no entity) are skipped. Return 0 if none is left.
    """
    named_ones = [at for at in range(len(said.places)) if said.names[said.likeliest(at)] != outside]
    return max(named_ones, key=lambda at: float(said.logits[at].max()), default=0)


def describe_prediction(asked: ExplainedLabel) -> str:
    """Return a sentence with the two most probable labels, or with the numbers of a regression head."""
    said, at = asked.prediction, asked.index
    shares = said.probabilities
    if shares is None:
        logits = zip(said.names, said.logits[at], strict=True)
        numbers = format_comma_list([f"{name} {number:.2f}" for name, number in logits])
        if asked.of_word:
            return _("Prediction for “{word}”: {labels}.", word=asked.word, labels=numbers[:200])
        return _("Prediction: {labels}.", labels=numbers[:200])
    order = np.argsort(-said.logits[at], kind="stable")[:2]
    likely = [(f"“{said.names[label]}”", percent(float(shares[at, label]))) for label in order]
    what = format_comma_list([_("{name} ({detail})", name=name, detail=share) for name, share in likely])
    if asked.of_word:
        return _("Prediction for “{word}”: {labels}.", word=asked.word, labels=what)
    return _("Prediction: {labels}.", labels=what)


def label_provenance(asked: ExplainedLabel) -> dict[str, Any]:
    """Return the provenance of an explained label for saved files: the model, the texts and the label.

    For a tag, the provenance also has the tagged token.
    """
    at = {} if asked.at is None else {"tagged_token": f"{asked.at} “{asked.word}”"}
    return request_provenance(asked.request) | {"explained": asked.what} | at


def pick_label(kind: type[Any], asked: ExplainedLabel) -> None:
    """Draw the widget that selects the label to explain, which is stored in the field ``label`` of ``kind``.

    ``kind`` is the class of the page's options.
    """
    names = asked.prediction.names
    if len(names) > 1:
        bound_widget(
            kind,
            "label",
            st.selectbox,
            _("Explain the number") if asked.prediction.sort == NUMBER else _("Explain the label"),
            list(range(len(names))),
            shown=asked.label,
            format_func=lambda at: names[at],
            help=_("By default the likeliest label."),
        )


TIED = 1e-4  # Maximum relative difference of tied values.
NUMBERED = 24  # Maximum number of words for which the matrix prints all shares.


def ranks(rows: FloatArray) -> FloatArray:
    """Return Spearman's rank correlation of all pairs of rows (method, word), shape (method, method).

    The correlation with a constant row is NaN.

    >>> ranks(np.array([[1.0, 2.0, 3.0], [10.0, 20.0, 90.0], [3.0, 2.0, 1.0]])).round(6).tolist()
    [[1.0, 1.0, -1.0], [1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]]
    """
    from scipy.stats import spearmanr  # takes a second; most views of this module need no ranks

    found = np.full((len(rows), len(rows)), np.nan)
    for one, left in enumerate(rows):
        for other, right in enumerate(rows):
            if np.ptp(left) > 0 and np.ptp(right) > 0:
                found[one, other] = spearmanr(left, right).statistic
    return found


def draw_methods(  # noqa: PLR0913  (independent options, by name)
    ways: AttributionSet,
    cells: Sequence[DisplayToken],
    key: str,
    on_pick: Callable[[], None] | None = None,
    about: About | None = None,
    computation: Computation | None = None,
) -> None:
    """Draw two matrices: the share of each word by each method, and the rank correlations of the methods.

    ``ways`` are the methods, and ``cells`` the words. ``on_pick`` is called if the visitor picks a cell of the first
    matrix. The widget keys are ``key`` and ``key`` with the suffix “_ways”. ``about`` is the provenance of the scores,
    by default the page's. ``computation`` is the code of a notebook that computes them.
    """
    settings = {"words": str(len(cells)), "integration_steps": str(WordPath.steps)}
    told = tuple({**(page_provenance() if about is None else dict(about)), **settings}.items())
    rows, names = np.stack([way.sizes for way in ways.attributions]), [translate(way.name) for way in ways.attributions]
    marked = [at for at, way in enumerate(ways.attributions) if way.name == EFFECT]
    by_word, by_way = agreement_matrices(names, [cell.label for cell in cells], shares(rows), ranks(rows), marked)
    numbers = True if len(cells) <= NUMBERED else None
    draw_matrices([by_word], key, on_pick=on_pick, numbers=numbers, about=told, computation=computation)
    if computation is None:  # The menu has the methods sentence only.
        draw_notebook_menu(by_word.name, key, lambda: by_word.values, lambda: dict(told), lambda: None)
    draw_matrices([by_way], f"{key}_ways", about=told)


def places_of_largest(values: FloatArray) -> list[int]:
    """Return the indices of the largest value and of all values that are tied with it.

    Values are tied if they differ by a share of at most TIED.

    >>> places_of_largest(np.array([0.1, 0.5, 0.5])), places_of_largest(np.zeros(2))
    ([1, 2], [0, 1])
    """
    return [int(at) for at in np.flatnonzero(np.isclose(values, values.max(), rtol=TIED, atol=0))]


def describe_agreement(ways: AttributionSet) -> str:
    """Return sentences that compare each attribution method with the causal measure, ablation of words.

    They count the methods that rank the same word first as ablation does, and those whose rank correlation with
    ablation differs from 0. They name the methods with the highest and lowest correlation, unless there are so few
    words that not even a perfect correlation would differ from 0. A method with several words in first place does not
    count. Return "" if no rank correlation is defined.
    """
    names, rows = [way.name for way in ways.attributions], np.stack([way.sizes for way in ways.attributions])
    effect = names.index(EFFECT)
    firsts = [places_of_largest(row) for row in rows]
    with_effect = {
        name: float(value)
        for name, value in zip(names, ranks(rows)[effect], strict=True)
        if name != EFFECT and np.isfinite(value)
    }
    if not with_effect:
        return ""
    same = _(
        "{same} of {ways} other methods rank the same word first (tied: {tied}).",
        same=sum(first == firsts[effect] for first in firsts) - 1 if len(firsts[effect]) == 1 else 0,
        ways=len(names) - 1,
        tied=sum(len(first) > 1 for first in firsts),
    )
    return join_sentences(same, _describe_correlations(with_effect, dict(zip(names, rows, strict=True))))


def _describe_correlations(with_effect: dict[str, float], rows: dict[str, FloatArray]) -> str:
    """Return a sentence on the rank correlations with ablation, ``with_effect``, of methods with these rows (word,)."""
    effect, tested = rows[EFFECT], len(with_effect)
    *chances, perfect = rank_p_values(np.stack([*(rows[name] for name in with_effect), effect]), effect)
    if tested * perfect > LEVEL:  # the least p-value of any method
        return translate(TOO_FEW)
    ordered = sorted(with_effect, key=with_effect.__getitem__)
    shown = dict.fromkeys([ordered[-1], ordered[0], *({ATTENTION} & set(ordered))])  # each method once
    clauses = [f"{translate(name).lower()} {typeset_number(f'{with_effect[name]:.2f}')}" for name in shown]
    return _(
        "Rank correlation with ablation (n = {words}; highest, lowest, attention): {methods}; "
        "{clear} of {tested} differ from 0 (two-sided permutation, Holm).",
        words=len(effect),
        methods=format_comma_list(clauses),
        clear=int((holm(np.array(chances)) <= LEVEL).sum()),
        tested=tested,
    )


def words_csv(ways: AttributionSet, cells: Sequence[DisplayToken]) -> str:
    """Return a CSV table with a row for each word: its score and its share by each method.

    The share is the absolute value of the score, divided by the sum of the method's absolute scores.
    """
    names = [_("Word")]
    for way in ways.attributions:
        names += [translate(way.name), _("{way}, share of the row", way=way.name)]
    columns = [column for way in ways.attributions for column in (way.values, shares(way.sizes))]
    rows = [[cell.label, *(float(column[at]) for column in columns)] for at, cell in enumerate(cells)]
    return csv_table(names, rows)


WAYS, STRIP = "label_ways", "label_words"


def draw_words(asked: ExplainedLabel, trace: Trace) -> None:
    """Draw the attribution of the explained label to each word, by all methods."""
    if len(trace.source) > MOST_TOKENS:
        show_error(too_many_tokens(len(trace.source), MOST_TOKENS))
        return
    place = asked.place
    cells = [cell for cell in View(trace, words=True).keys if not cell.special]
    cells = [cell for cell in cells if not asked.of_word or cell.pieces != place.run]
    if not cells:
        show_notice(_("No other word could matter."), role="status")
        return
    runs = tuple(cell.pieces for cell in cells)
    focus = place.run if asked.of_word else place.reads
    ways = compute_attributions(
        AttributionRequest(trace, asked.request, focus, runs, TargetLabel(asked.label, asked.at))
    )
    for problem in ways.problems:
        show_notice(problem, role="status")
    draw_word_effects(ways, cells, asked.what, STRIP)
    if not ways.attributions:
        return
    origin, (against, for_it) = label_provenance(asked), sides(theme())
    draw_methods(ways, cells, WAYS, about=tuple(origin.items()))
    st.caption(
        _(
            "{for_it}: the word raises the logit; {against}: it lowers it (masked in every layer). "
            "*Gradient*, *Integrated gradients* and *Ablated* explain the logit, other methods the vector of "
            "{reader}.",
            against=translate(against),
            for_it=translate(for_it),
            reader=_reader(asked),
        )
    )
    download_table(words_csv(ways, cells), "headlight-label-words.csv", key="label_save_words", provenance=origin)


def _reader(asked: ExplainedLabel) -> str:
    """Return a phrase for the tokens that the head reads."""
    first, stop = asked.place.reads
    return (
        f"“{asked.word}”"
        if asked.of_word
        else asked.prediction.row.pieces[first]
        if stop - first == 1
        else _("the text")
    )


def describe_masking(word: str, number: str, fall: float) -> str:
    """Return a sentence on the word whose masking changes a number most.

    ``number`` is the name of the number, and ``fall`` its decrease.
    """
    values = {"word": word, "number": number, "change": format_small(abs(fall))}
    if fall > 0:
        return _("Masking “{word}” lowers {number} most: by {change}.", **values)
    return _("Masking “{word}” raises {number} most: by {change}.", **values)


def draw_word_effects(ways: AttributionSet, cells: Sequence[DisplayToken], name: str, key: str) -> None:
    """Show the word whose masking changes the explained number most, and shade all words by their change.

    ``name`` is the name of the explained number on the page, and ``key`` the widget key of the row of shaded words.
    Draw nothing if ``ways`` has no effects of masking.
    """
    falls = ways.values(EFFECT)
    if falls is None:
        return
    best, most = int(np.abs(falls).argmax()), float(np.abs(falls).max()) or 1.0
    first = describe_masking(cells[best].text, name, float(falls[best]))
    show_notice(join_sentences(first, describe_agreement(ways)), role="status")
    chips = [
        TokenChip(
            cell.text,
            shade=float(fall) / most,
            label=_format_signed(fall),
            title=typeset_number(f"{-fall:+.3f}"),
        )
        for cell, fall in zip(cells, falls, strict=True)
    ]
    mount(chips, key, title=_("Decrease of {number} without each word", number=name), diverging=True)


def _format_signed(fall: float) -> str:
    return typeset_number(f"{fall:+.2f}") if abs(fall) >= 0.005 else "0"
