"""Attention of a blank: a map of all heads for a word, and the text shaded by a head."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from attention.mask import FloatArray
from attention.trace import Trace
from i18n import _
from inference import TraceRequest
from inference.tasks.predictions import Filled, MaskedWords
from ui.input.controls import head_of, keep_head, rank_of
from ui.run.notices import show_notice
from ui.run.page_model import PageModel
from ui.run.services import get_backend
from ui.show.chart import draw_chart, theme
from ui.show.text import number_duplicates
from ui.show.views import link_to_view
from ui.state.examples import example_of
from ui.state.session import FRESH, set_view_state
from ui.state.view_state import ViewState, to_query
from viz.components.token_strip import token_strip
from viz.components.token_strip.token_strip import Mark, TokenChip
from viz.figures import head_maps

MAP, STRIP = "blank_map", "blank_strip"


def draw_blank_attention(choice: ViewState, who: PageModel, request: MaskedWords, filled: Filled, at: int) -> None:
    """Draw the attention of each head from the blank to the selected word, and the text shaded by a head."""
    asked = TraceRequest(who.model, filled.text, filled.pair, revision=who.revision, cut=request.cut)
    with st.spinner(_("Reading the text"), show_time=True):
        trace = get_backend().trace(asked)
    place = blank_in(trace, filled, at)
    if place is None:
        show_notice(
            _("With mask tokens this text is tokenized differently; no attention map applies."),
            role="status",
        )
        return
    rows = trace.rows(place)  # (layer, head, token)
    words = _word_tokens(trace)
    word = _selected_word(choice, trace, words, rows, place)
    given = rows[:, :, list(words[word])].sum(-1)  # (layer, head)
    layer, head = head_of(choice, given)
    names = number_duplicates([_name(trace, one) for one in words])
    name = names[word]
    show_notice(
        _(
            "Head {layer}-{head}: the blank gives “{word}” {weight:.2f}; {rank}.",
            layer=layer,
            head=head,
            word=name,
            weight=given[layer, head],
            rank=rank_of(given, layer, head),
        ),
        role="status",
    )
    figure = head_maps.head_map(
        given, theme(), _("From the blank to “{word}”", word=name), _("weight"), selected=(layer, head)
    )
    draw_chart(figure, MAP, on_click=keep_head)
    st.caption(_("Each cell is a head. Click one to see its attention."))
    _strip(
        trace,
        rows[layer, head],
        words,
        word,
        place,
        _("Attention of head {layer}-{head}", layer=layer, head=head),
    )
    st.caption(_("Shade: weight from the outlined blank. Click a word to select it."))
    link = {"text": filled.text, "pair": filled.pair or "", "model": who.model, "revision": who.revision or ""}
    view = {"layer": layer, "head": head, "focus": place, "to": words[word][0], "cut": request.cut}
    link_to_view(
        "explore",
        _("Open Attention heads"),
        icon=":material/grid_view:",
        query=to_query(replace(choice, **{**FRESH, **link, **view})),
    )


def blank_in(trace: Trace, filled: Filled, at: int) -> int | None:
    """Return the token of blank ``at`` in the trace; None if the text is tokenized differently with masks."""
    if filled.whole:
        return filled.blanks[at].position
    found = [place for place, piece in enumerate(trace.tokens) if piece.strip() == filled.mask.strip()]
    return found[at] if len(found) == len(filled.blanks) else None


def _word_tokens(trace: Trace) -> list[tuple[int, ...]]:
    """Return the tokens of each word in order; a special token is a word by itself."""
    row = trace.source
    groups: dict[object, list[int]] = {}
    for at, word in enumerate(row.words):
        groups.setdefault((row.segments[at], word) if word is not None else at, []).append(at)
    return [tuple(group) for group in groups.values()]


def _selected_word(choice: ViewState, trace: Trace, words: list[tuple[int, ...]], rows: FloatArray, place: int) -> int:
    """Return the index of the shown word: the reader's, else the example's, else the most attended word."""
    example = example_of(choice.text, choice.pair) or {}
    asked = [at for at, word in enumerate(words) if choice.to in word]
    asked += [at for at, word in enumerate(words) if _name(trace, word) == str(example.get("target")).lower()]
    if asked and place not in words[asked[0]]:
        return asked[0]
    most = np.array([rows[:, :, list(word)].sum(-1).max() for word in words])
    for at, word in enumerate(words):
        if place in word or trace.source.words[word[0]] is None or not _name(trace, word).strip(".,;:!?'\"()"):
            most[at] = -1
    return int(most.argmax())


def _name(trace: Trace, word: tuple[int, ...]) -> str:
    return "".join(trace.tokens[at] for at in word)


def _strip(trace: Trace, row: FloatArray, words: list[tuple[int, ...]], chosen: int, place: int, title: str) -> None:  # noqa: PLR0913  (the parts of a token strip)
    chips = []
    for at, word in enumerate(words):
        weight = float(row[list(word)].sum())
        mark: Mark = "chosen" if place in word else "target" if at == chosen else ""
        special = trace.source.words[word[0]] is None
        chips.append(TokenChip(_name(trace, word), shade=weight, mark=mark, special=special, title=f"{weight:.4f}"))

    def on_pick() -> None:
        at = token_strip.picked_chip(STRIP)
        if at is not None and at < len(words):
            set_view_state(to=words[at][0])

    token_strip.mount(chips, STRIP, title=title, on_pick=on_pick)
