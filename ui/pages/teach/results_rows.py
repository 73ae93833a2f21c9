"""Teach page: the test rows with true and predicted labels, the most confident errors first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from i18n import _, gettext_lazy, translate
from probing.labelled.evaluation import compare_words
from probing.labelled.labeled_texts import SIDE_BY_SIDE
from probing.labelled.predictions import TagPrediction, TextPrediction, ToldRow, counts, in_cell
from ui.pages.teach.options import TeachOptions
from ui.pages.teach.results_data import EvaluationResults, quote_label, save_table
from ui.run.notices import show_notice
from ui.show.microscope import explore_link
from ui.show.scored_links import ScoredEntry, paginate
from ui.show.text import format_comma_list, join_sentences, percent
from ui.state.params import get_params, set_params
from ui.state.view_state import ViewState
from viz.components.token_strip import token_strip
from viz.components.token_strip.token_strip import TokenChip

ANY = -1
HITS = gettext_lazy("By right and wrong rows")
ORDER = gettext_lazy("Errors come first, the most confident on top.")
MARKS = gettext_lazy("Straight line: right; dashes: missed; waves: wrong.")
FOUND = {"right": gettext_lazy("{n} right"), "wrong": gettext_lazy("{n} wrong"), "missed": gettext_lazy("{n} missed")}


def draw_rows(results: EvaluationResults, model: str) -> None:
    """Draw the filters for the true and the predicted label, and a page of the matching test rows."""
    st.header(_("Test rows"))
    found, options = results.predictions, get_params(TeachOptions)
    true, said = (at if at is not None and at < len(found.labels) else None for at in (options.true, options.said))
    for column, name, at in zip(st.columns(2), ("true", "said"), (true, said), strict=True):
        _pick(column, name, at, found.labels)
    every = in_cell(results.rows, true, said)
    show_notice(select_rows(every), role="status")
    shown = paginate(every, TeachOptions, drop_empty_filter(options, every), translate(HITS))
    for number, row in enumerate(shown):
        chips = (
            _mark_words(row, true, said) if isinstance(row, TagPrediction) else map(TokenChip, _split_words(row.text))
        )
        token_strip.mount(list(chips), f"teach_row_{number}", title=title(row, found.labels))
        explore_link(ViewState(model=model, text=row.text))
    marks = [translate(MARKS), _("Shaded: words that the selected cell counts.")] if found.kind == "tag" else []
    st.caption(join_sentences(translate(ORDER), *marks))
    names, lines = (_by_word if found.kind == "tag" else _by_text)(results.rows, found.labels)
    save_table(names, lines, "rows", found, model)


def drop_empty_filter(options: TeachOptions, rows: Sequence[ScoredEntry]) -> TeachOptions:
    """Return the options, with all rows in place of the errors if no row is an error."""
    without = options.outcome == "misses" and all(row.hit for row in rows)
    return replace(options, outcome="all") if without else options


def select_rows(rows: Sequence[ToldRow]) -> str:
    """Return a sentence on the test rows that match the filters: their number and the number of errors among them."""
    return _("{n:,} test rows, {wrong:,} with errors.", n=len(rows), wrong=sum(not row.hit for row in rows))


def _pick(column: Any, name: str, at: int | None, labels: Sequence[str]) -> None:
    """Draw a selector of a label, with an entry for any label."""
    key = f"teach_{name}"
    st.session_state[key] = ANY if at is None else at

    def keep() -> None:
        chosen = st.session_state[key]
        set_params(TeachOptions, **{name: None if chosen == ANY else chosen}, leaf=1)

    column.selectbox(
        {"true": _("True label"), "said": _("Predicted label")}[name],
        [ANY, *range(len(labels))],
        format_func=lambda at: _("any") if at == ANY else labels[at],
        key=key,
        on_change=keep,
    )


def title(row: ToldRow, labels: Sequence[str]) -> str:
    """Return the heading of a test row: hit or miss, the prediction and the true label with probabilities.

    In token classification, the heading counts the words by verdict instead.

    >>> title(TextPrediction("a", 0, 1, 0.9, 0.05), ["dog", "cat"]).translate({0x2068: "", 0x2069: ""})
    'Miss · predicted “cat” 0.90, true “dog” 0.05'
    """
    if isinstance(row, TagPrediction):
        names = [word.verdict for word in compare_words(row) if word.label]
        found = [_(what, n=names.count(verdict)) for verdict, what in FOUND.items() if verdict in names]
        surest = "" if row.hit else _("top error {sure}", sure=percent(row.sure))
        return " · ".join(
            part for part in (_("Hit") if row.hit else _("Miss"), format_comma_list(found), surest) if part
        )
    true, said = (quote_label(labels[at]) for at in (row.true, row.said))
    if row.hit:
        return f"{_('Hit')} · {said} {percent(row.sure)}"
    predicted = _("predicted {tag} {sure}", tag=said, sure=percent(row.sure))
    return f"{_('Miss')} · {_('{said}, true {tag}', said=predicted, tag=f'{true} {percent(row.due)}')}"


def _mark_words(row: TagPrediction, true: int | None, said: int | None) -> Iterator[TokenChip]:
    """Yield the chips of a tagged sentence, entities marked by verdict, and of the text in between."""
    at, asked = 0, (true, said) != (None, None)
    each = zip(row.words, row.pairs, row.tags, row.told, row.shares, compare_words(row), strict=True)
    for (start, end), pair, tag, got, share, word in each:
        yield from (TokenChip(piece) for piece in row.text[at:start].split())
        sure = _("cut off") if share is None else _("predicted {tag} {sure}", tag=got, sure=percent(share))
        yield TokenChip(
            row.text[start:end],
            shade=0.3 if asked and counts(pair, true, said) else None,
            mark=word.verdict,
            label=translate(word.label),
            title=_("{said}, true {tag}", said=sure, tag=tag) if tag != got else sure if got != "O" else "",
        )
        at = end
    yield from (TokenChip(piece) for piece in row.text[at:].split())


def _split_words(text: str) -> list[str]:
    """Split a text at spaces, and into characters in scripts without spaces.

    >>> _split_words("play 我的歌 now")
    ['play', '我', '的', '歌', 'now']
    """
    return SIDE_BY_SIDE.sub(r" \g<0> ", text).split()


def _by_text(rows: Sequence[ToldRow], labels: Sequence[str]) -> tuple[list[str], Iterator[list[object]]]:
    """Return the column names and a line for each text."""
    lines = (
        [row.text, labels[row.true], labels[row.said], row.sure, row.due]
        for row in rows
        if isinstance(row, TextPrediction)
    )
    return ["text", "true", "predicted", "probability of predicted", "probability of true"], (
        list(line) for line in lines
    )


def _by_word(rows: Sequence[ToldRow], _labels: Sequence[str]) -> tuple[list[str], Iterator[list[object]]]:
    """Return the column names and a line for each word, numbered by the row of its text."""
    lines = (
        [number, row.text[slice(*place)], tag, said, share]
        for number, row in enumerate(rows, 1)
        if isinstance(row, TagPrediction)
        for place, tag, said, share in zip(row.words, row.tags, row.told, row.shares, strict=True)
    )
    return ["row", "word", "true", "predicted", "probability of predicted"], (list(line) for line in lines)
