"""Explanation of a prediction for a masked word: the blank's attention, and attributions to the other words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from attention.mask import FloatArray
from attention.tokens import TokenRow
from attention.trace import Trace
from i18n import LazyMessage, _, gettext_lazy, translate, typeset_number
from inference import TraceRequest
from inference.tasks.attribution import Gradients, OcclusionRequest
from inference.tasks.predictions import Filled, Guess, MaskedWords
from ui.attribution.views import describe_masking
from ui.input.controls import TYPED, bound_widget, head_name, head_of, keep_head, rank_of
from ui.pages.masked_words.guesses import blank_provenance
from ui.pages.masked_words.options import MaskedWordsOptions
from ui.run.notices import show_notice
from ui.run.page_model import PageModel
from ui.run.progress import ask_many
from ui.run.services import get_backend
from ui.show.chart import draw_chart, theme
from ui.show.tables import csv_table, download_table
from ui.show.text import join_sentences, number_duplicates
from ui.show.views import link_to_view
from ui.state.params import get_params
from ui.state.session import FRESH, set_view_state
from ui.state.view_state import ViewState, example_of, to_query
from viz.components.token_strip import token_strip
from viz.components.token_strip.token_strip import Mark, TokenChip
from viz.figures import head_maps, token_bars
from viz.figures.theme import sides
from viz.paper.notebook import Computation

MAP, STRIP = "blank_map", "blank_strip"


def draw_blank_attention(choice: ViewState, who: PageModel, request: MaskedWords, filled: Filled, at: int) -> None:
    """Draw the attention of each head from a blank to the selected word, and the text shaded by a head.

    ``filled`` has the model's predictions, and ``at`` is the index of the blank among them. Show a notice instead if
    the mask changes the tokens of the text.
    """
    asked = TraceRequest(who.model, filled.text, filled.pair, revision=who.revision, cut=request.cut)
    with st.spinner(_("Reading the text"), show_time=True):
        trace = get_backend().trace(asked)
    place = blank_in(trace, filled, at)
    if place is None:
        show_notice(
            _("With the mask, the text is tokenized differently. Mask another word."),
            role="status",
        )
        return
    rows = trace.rows(place)  # (layer, head, token)
    words = _word_tokens(trace)
    word = _selected_word(choice, trace, words, rows, place)
    given = rows[:, :, list(words[word])].sum(-1)  # (layer, head)
    layer, head = head_of(choice, given)
    names = number_duplicates([_word_name(trace, one) for one in words])
    name = names[word]
    show_notice(
        _(
            "Head {layer}-{head}: {looks} gives {at} {share:.0%} of its attention; {rank}.",
            layer=layer,
            head=head,
            looks=TYPED,
            at=f"“{name}”",
            share=given[layer, head],
            rank=rank_of(given, layer, head),
        ),
        role="status",
    )
    figure = head_maps.head_map(
        given, theme(), _("From {looks} to {at}", looks=TYPED, at=f"“{name}”"), _("weight"), selected=(layer, head)
    )
    computation = Computation(
        f"numbers = backend.trace(request).rows({place})[:, :, tokens].sum(-1)", request=asked, tokens=list(words[word])
    )
    query, key = _tokens_and_name(trace, (place,)), _tokens_and_name(trace, words[word])
    about = partial(blank_provenance, filled, at, query=query, key=key)
    draw_chart(figure, MAP, on_click=keep_head, about=about, computation=computation)
    st.caption(_("Click a cell to select its head."))
    _draw_attention(
        trace,
        rows[layer, head],
        words,
        word,
        place,
        head_name(layer, head),
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
    """Return the index in the trace of the token of blank number ``at``.

    Return None if the trace has other tokens than the prediction, because masks changed the tokenization.
    """
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
    asked += [at for at, word in enumerate(words) if _word_name(trace, word) == str(example.get("target")).lower()]
    if asked and place not in words[asked[0]]:
        return asked[0]
    most = np.array([rows[:, :, list(word)].sum(-1).max() for word in words])
    for at, word in enumerate(words):
        if place in word or trace.source.words[word[0]] is None or not _word_name(trace, word).strip(".,;:!?'\"()"):
            most[at] = -1
    return int(most.argmax())


def _tokens_and_name(trace: Trace, word: tuple[int, ...]) -> str:
    """Return the token positions of a word and its text, for the provenance."""
    places = f"{word[0]}" if len(word) == 1 else f"sum of {word[0]} to {word[-1]}"
    return f"{places} “{_word_name(trace, word)}”"


def _word_name(trace: Trace, word: tuple[int, ...]) -> str:
    return "".join(trace.tokens[at] for at in word)


def _draw_attention(  # noqa: PLR0913  (the parts of a token strip)
    trace: Trace, row: FloatArray, words: list[tuple[int, ...]], chosen: int, place: int, title: str
) -> None:
    chips = []
    for at, word in enumerate(words):
        weight = float(row[list(word)].sum())
        mark: Mark = "chosen" if place in word else "target" if at == chosen else ""
        special = trace.source.words[word[0]] is None
        chips.append(
            TokenChip(_word_name(trace, word), shade=weight, mark=mark, special=special, title=f"{weight:.4f}")
        )

    def on_pick() -> None:
        at = token_strip.picked_chip(STRIP)
        if at is not None and at < len(words):
            set_view_state(to=words[at][0])

    token_strip.mount(chips, STRIP, title=title, on_pick=on_pick)


PARTS = 6  # parts of the integration path; each is a request
TOKENS_AT_ONCE = 2048  # tokens in a request, summed over its masked texts
UNIT = gettext_lazy("Log-probability")
ATTRIBUTIONS = """\
found = [backend.predict(request) for request in occluded]
drops = np.concatenate([answer.drops for answer in found])
values = np.sum([backend.predict(request).values for request in steps], axis=0)
integrated = [values[slice(*run)].sum() for answer in found for run in answer.runs]
numbers = np.array([drops, integrated])[:, :most]"""  # code of a notebook
LEFT_OUT, GRADIENTS = gettext_lazy("Occlusion"), gettext_lazy("Integrated gradients")


@dataclass(frozen=True, eq=False)
class ImportanceScores:
    """Attributions of a predicted token to the other words, by two methods, shape (word,), in nats.

    ``left_out`` is by occlusion and ``integrated`` by integrated gradients, with the completeness error ``delta``.
    ``explained`` is the predicted token, and ``runs`` are the token ranges of the words.
    """

    row: TokenRow
    runs: tuple[tuple[int, int], ...]
    explained: Guess
    left_out: FloatArray
    integrated: FloatArray
    delta: float
    path: float  # log-probability of the token, minus that at the baseline
    requests: tuple[list[OcclusionRequest], list[Gradients]]  # of both methods


def draw_importance(request: MaskedWords, filled: Filled, at: int) -> None:
    """Draw how much each word supports a predicted token, by occlusion and by integrated gradients.

    A widget selects the predicted token. The values are drawn on the text and as bars, and can be downloaded as CSV.
    """
    piece = _pick_piece(filled, at)
    found = _find(request, filled, at, piece)
    if found is None:
        return
    if not found.runs:
        show_notice(_("No other word could matter."), role="status")
        return
    names = [_run_name(found.row, run) for run in found.runs]
    places = number_duplicates(names)
    show_notice(describe_attributions(found, places), role="status")
    _draw_shares(found, names, found.left_out, translate(LEFT_OUT), "words_left_out")
    _draw_shares(found, names, found.integrated, translate(GRADIENTS), "words_integrated")
    ways = {translate(LEFT_OUT): found.left_out, translate(GRADIENTS): found.integrated}
    occluded, steps = found.requests
    computation = Computation(ATTRIBUTIONS, occluded=occluded, steps=steps, most=token_bars.MOST)
    about = partial(blank_provenance, filled, at, predicted_token=found.explained.piece,
                    gradients_baseline="all words [MASK]", integration_steps=PARTS * Gradients.steps)  # fmt: skip
    figure = token_bars.importance(places, ways, theme(), translate(UNIT))
    draw_chart(figure, "words_bars", about=about, computation=computation)
    below, above = map(translate, sides(theme()))
    st.caption(
        _(
            "{above}, right: supports; {below}, left: opposes. Occlusion masks the word "
            "([arXiv:1612.08220](https://arxiv.org/abs/1612.08220)). Integrated gradients "
            "([arXiv:1703.01365](https://arxiv.org/abs/1703.01365); baseline: all words [MASK]) sum to {path:.3f}, "
            "completeness delta {delta:.1g}.",
            above=above.capitalize(),
            below=below,
            path=found.path,
            delta=abs(found.delta),
        )
    )
    rows = list(zip(names, found.left_out.tolist(), found.integrated.tolist(), strict=True))
    table = csv_table(("word", LEFT_OUT, GRADIENTS), rows)
    download_table(table, "headlight-words-that-matter.csv", provenance=about())


def describe_attributions(found: ImportanceScores, names: list[str]) -> str:
    """Describe the word with the largest absolute attribution by each method, with its direction."""
    one, other = (int(np.abs(values).argmax()) for values in (found.left_out, found.integrated))
    number = _("the log-probability of “{piece}”", piece=found.explained.piece)
    masked = describe_masking(names[one], number, float(found.left_out[one]))
    largest = float(found.integrated[other])
    return join_sentences(
        masked, _("Integrated gradients: largest for “{word}”, {value:+.2f}.", word=names[other], value=largest)
    )


def _pick_piece(filled: Filled, at: int) -> int:
    """Draw the control of the explained token and return the token, by default the likeliest."""
    blank = filled.blanks[at]
    known = {guess.token: guess.piece for guess in (*blank.guesses, *([blank.original] if blank.original else []))}
    wanted = get_params(MaskedWordsOptions).piece
    shown = wanted if wanted in known else blank.guesses[0].token
    bound_widget(
        MaskedWordsOptions,
        "piece",
        st.selectbox,
        options=list(known),
        shown=shown,
        format_func=lambda token: LazyMessage("{piece}", piece=known[token]),
        width=260,
    )
    return shown


def _find(request: MaskedWords, filled: Filled, at: int, piece: int) -> ImportanceScores | None:
    """Compute both attributions; None if the reader stopped before both were complete."""
    shared: dict[str, Any] = {
        "model": request.model,
        "revision": request.revision,
        "text": request.text,
        "pair": request.pair,
        "hidden": request.hidden,
        "cut": request.cut,
        "blank": at,
        "token": piece,
    }
    tokens = len(filled.row)
    step = max(1, TOKENS_AT_ONCE // tokens)
    most = sum(word is not None for word in filled.row.words)
    parts = [OcclusionRequest(**shared, start=start, stop=start + step) for start in range(0, most, step)]
    out = ask_many(parts, _("Computing attributions"))
    steps = [Gradients(**shared, part=part, parts=PARTS) for part in range(PARTS)]
    along = ask_many(steps, _("Computing attributions"))
    if len(out) < len(parts) or len(along) < PARTS:
        return None
    runs = tuple(run for answer in out for run in answer.runs)
    values = np.sum([answer.values for answer in along], axis=0)
    return ImportanceScores(
        row=filled.row,
        runs=runs,
        explained=out[0].guess,
        left_out=np.concatenate([answer.drops for answer in out]),
        integrated=np.array([values[slice(*run)].sum() for run in runs], np.float32),
        delta=sum(answer.delta for answer in along),
        path=along[-1].end - along[0].start,
        requests=(parts, steps),
    )


def _run_name(row: TokenRow, run: tuple[int, int]) -> str:
    return "".join(row.pieces[slice(*run)])


def _draw_shares(found: ImportanceScores, names: list[str], values: FloatArray, title: str, key: str) -> None:
    """Draw the text shaded by attributions, relative to the largest absolute value."""
    most = float(np.abs(values).max()) or 1.0
    of = {start: at for at, (start, _) in enumerate(found.runs)}
    inside = {at for run in found.runs for at in range(*run)}
    chips = []
    for at, piece in enumerate(found.row.pieces):
        if at in of:
            value = float(values[of[at]])
            unknown = found.row.unknown[at]
            chips.append(
                TokenChip(names[of[at]], shade=value / most, title=typeset_number(f"{value:+.3f}"), unknown=unknown)
            )
        elif at not in inside:
            special = found.row.words[at] is None
            chips.append(TokenChip(piece, special=special, mark="" if special else "masked"))
    token_strip.mount(chips, key, title=title, diverging=True)
