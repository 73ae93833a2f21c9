"""Vectors of all words of the text, and of a single word in several contexts."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.mask import FloatArray
from attention.trace import Trace
from attention.vectors import along_levels, cosine, different_words, merge, mix
from attention.view import DisplayToken, View
from i18n import _, gettext_lazy, translate
from i18n.lists import format_comma_list
from inference import UserError
from inference.tasks.hidden_states import HiddenStates, States
from ui.input.controls import bound_widget
from ui.input.unknown_words import refuse_unreadable
from ui.pages.vectors.corpus import csv_rows
from ui.pages.vectors.options import VectorsOptions, level_names, mix_name, pick_mix
from ui.pages.vectors.projection import picture
from ui.run.notices import show_error, show_notice
from ui.run.page_model import kind_of
from ui.run.services import get_backend
from ui.run.traces import request_of
from ui.show.chart import draw_chart, theme
from ui.show.microscope import draw_matrices
from ui.show.sections import open_section
from ui.show.tables import download_button, model_provenance, page_provenance
from ui.state.session import set_view_state
from ui.state.view_state import ViewState, example_of
from viz.components.matrices.matrices import MatrixSpec
from viz.components.token_strip import token_strip
from viz.components.token_strip.token_strip import TokenChip
from viz.figures.theme import sides
from viz.figures.vectors import MOST, context_lines, cosine_map
from viz.paper.notebook import Computation

FIELDS = ("first", "second", "third")
CONTEXTS = """\
states = [backend.inspect(request).levels for request in requests]
words = [np.stack([merge(level, ranges) for level in levels]) for levels, ranges in zip(states, runs, strict=True)]
vectors = [levels[:, place] for levels, place in zip(words, places, strict=True)]
pairs = [along_levels(one, other) for one, other in combinations(vectors, 2)]
numbers = [*pairs, different_words(np.concatenate(words, axis=1), names)]"""
MARKS = gettext_lazy("Embeddings ignore context.")


@dataclass(frozen=True, eq=False)
class SentenceVectors:
    """The words of a sentence without special tokens, and their vectors at each level.

    Level 0 is the embeddings, and each further level the output of a layer. ``runs`` are the token ranges of the words.
    """

    number: int  # counted from 1
    names: tuple[str, ...]
    levels: FloatArray  # (level, word, channel)
    question: HiddenStates
    runs: list[tuple[int, int]]  # the tokens of each word, as ranges (start, stop)

    def index(self, term: str) -> int:
        """Return the index of the first occurrence of ``term``."""
        return [name.casefold() for name in self.names].index(term)

    def vectors_of(self, term: str) -> FloatArray:
        """Return the vectors of the first occurrence of ``term``, shape (level, channel)."""
        vectors: FloatArray = self.levels[:, self.index(term)]
        return vectors


def contexts(choice: ViewState, options: VectorsOptions) -> None:
    """Draw the comparison of a word in several sentences; an unreadable sentence shows an error."""
    st.caption(_("The text above is not used."))
    for number, field in enumerate(FIELDS, 1):
        bound_widget(VectorsOptions, field, st.text_input, _("Sentence {number}", number=number),
                help=_("If empty, only the others are compared"))  # fmt: skip
    texts = [getattr(options, field) for field in FIELDS]
    read = [one for at, text in enumerate(texts, 1) if text.strip() and (one := _read(choice, text, at)) is not None]
    shared = shared_words(read)
    if not shared:
        show_notice(_("No two sentences share a word. Write one in both."), role="status")
        return
    term = options.term.casefold() if options.term.casefold() in shared else shared[0]
    bound_widget(VectorsOptions, "term", st.selectbox, options=shared, shown=term)
    having = [one for one in read if term in {name.casefold() for name in one.names}]
    pairs = {
        _("sentences {one} and {other}", one=one.number, other=other.number): along_levels(
            one.vectors_of(term), other.vectors_of(term)
        )
        for one, other in combinations(having, 2)
    }
    names = [name.casefold() for one in having for name in one.names]
    baseline = different_words(np.concatenate([one.levels for one in having], axis=1), names)
    levels = level_names(len(baseline))
    show_notice(describe_contexts(term, pairs, baseline, levels), role="status")
    ticks = [levels[0], *(_("Layer {layer}", layer=at) for at in range(len(levels) - 1))]
    figure = context_lines(pairs, baseline, ticks, theme(), term)
    about = {"data": " · ".join(f"“{one.question.text}”" for one in having), "word": term}
    draw_chart(
        figure,
        "vectors_contexts",
        about=lambda: model_provenance() | about,
        computation=_contexts_computation(having, term),
    )
    st.caption(translate(MARKS))


def _contexts_computation(having: Sequence[SentenceVectors], term: str) -> Computation:
    """Return the computation of the cosines of ``term`` in pairs of sentences, and of the baseline."""
    return Computation(
        CONTEXTS, requests=[one.question for one in having], runs=[one.runs for one in having],
        places=[one.index(term) for one in having], names=[name.casefold() for one in having for name in one.names],
        along_levels=along_levels, combinations=combinations, different_words=different_words, merge=merge
    )  # fmt: skip


def describe_contexts(term: str, pairs: dict[str, FloatArray], baseline: FloatArray, levels: Sequence[str]) -> str:
    """Describe how similar the vectors of a word are in several sentences, at the last level.

    ``pairs`` has the cosine at each level (level,) for each pair of sentences, and ``baseline`` (level,) the mean over
    different words. The level at which the pairs differ most is named, too.

    >>> levels = ["Embeddings", "After layer 0"]
    >>> describe_contexts("bank", {"sentences 1 and 2": np.array([1, 0.5])}, np.array([0, 0.25]), levels)
    'After layer 0, cosine of “bank”: 0.50 in sentences 1 and 2; different words average 0.25.'
    """
    cosines = [_("{cosine:.2f} in {sentences}", cosine=values[-1], sentences=name) for name, values in pairs.items()]
    first = _(
        "{level}, cosine of “{term}”: {cosines}; different words average {baseline:.2f}.",
        level=levels[-1],
        term=term,
        cosines=format_comma_list(cosines),
        baseline=baseline[-1],
    )
    if len(pairs) < 2:
        return first
    stacked = np.stack(list(pairs.values()))
    apart = np.ptp(stacked, axis=0)
    at = int(apart.argmax())
    least = list(pairs)[int(stacked[:, at].argmin())]
    lowest = stacked[:, at].min()
    return _(
        "{first} Pairs differ most here: {where}, lowest {lowest:.2f} in {sentences}.",
        first=first,
        where=levels[at][0].lower() + levels[at][1:],
        sentences=least,
        lowest=lowest,
    )


def _read(choice: ViewState, text: str, number: int) -> SentenceVectors | None:
    try:
        with st.spinner(_("Computing the vectors")):
            question = HiddenStates(choice.model, choice.revision or None, text)
            states = get_backend().inspect(question)
        refuse_unreadable(states.row, choice.model, kind_of(choice))
    except UserError as refusal:
        show_error(refusal)
        return None
    names, groups = words_of(states, text)
    if not names:
        return None
    levels = np.stack([merge(level, groups) for level in states.levels])
    return SentenceVectors(number, names, levels, question, groups)


def words_of(states: States, text: str) -> tuple[tuple[str, ...], list[tuple[int, int]]]:
    """Return the words of a text and their token ranges (start, stop), without special tokens."""
    row = states.row
    groups = [list(at) for word, at in groupby(range(len(row)), key=lambda at: row.words[at]) if word is not None]
    names = []
    for group in groups:
        first, last = row.spans[group[0]], row.spans[group[-1]]
        whole = text[first[0] : last[1]].strip() if first and last else ""
        names.append(whole or "".join(row.pieces[at] for at in group))
    return tuple(names), [(group[0], group[-1] + 1) for group in groups]


def shared_words(read: Sequence[SentenceVectors]) -> list[str]:
    """Return the words with letters or digits that at least two sentences share, the longest first."""
    count = Counter(name for one in read for name in {name.casefold() for name in one.names})
    found = [name for name, times in count.items() if times > 1 and any(letter.isalnum() for letter in name)]
    return sorted(found, key=lambda name: (-len(name), name))


STRIP = "vectors_strip"


def draw_words(choice: ViewState, trace: Trace, options: VectorsOptions, beside: DeltaGenerator) -> None:
    """Draw the view of word vectors; raise UserError if the model cannot read the text.

    The widget that selects the layers is drawn in the column ``beside``.
    """
    asked = request_of(choice)
    question = HiddenStates(asked.model, asked.revision, asked.text, asked.pair, asked.cut)
    with st.spinner(_("Computing the vectors")):
        states = get_backend().inspect(question)
    cells = View(trace, None, choice.words, choice.special).queries
    if not cells:
        show_notice(
            _("The text has only special tokens. Show them in View options."),
            role="status",
        )
        return
    levels = len(states.levels)
    pick_mix(beside, options, levels)
    mixed = mix(states.levels, options.mix, min(options.level, levels - 1))
    vectors, names = merge(mixed, [cell.pieces for cell in cells]), [cell.text for cell in cells]
    likeness = cosine(vectors, vectors)
    focus = _focus(choice, trace, cells, likeness)
    unit = _("words") if choice.words else _("tokens")
    _strip(cells, likeness[focus], focus)
    read_as = [f"{cell.text} = {cell.unknown}" if cell.unknown else cell.text for cell in cells]
    show_notice(summary(read_as, likeness, focus, mix_name(options, levels)), role="status")
    start = min(max(0, focus - MOST // 2), max(0, len(cells) - MOST))
    window = slice(start, start + MOST)
    if len(cells) > MOST:
        show_notice(
            _("Shown: {drawn:,} of {all:,} {what}.", drawn=MOST, all=len(cells), what=unit),
            role="status",
        )
    where = mix_name(options, levels)
    title = _("{first}, {then}", first=_("Cosine similarity"), then=where)
    figure = cosine_map(likeness[window, window], names[window], theme(), title, marked=focus - start)
    computation = Computation(
        f"mixed = mix(backend.inspect(request).levels, {options.mix!r}, {min(options.level, levels - 1)})\n"
        "vectors = merge(mixed, runs)",
        request=question, runs=[cell.pieces for cell in cells], mix=mix, merge=merge)  # fmt: skip
    shown = f"shown = vectors[{window.start}:{window.stop}]\nnumbers = cosine(shown, shown)"
    unit_name = "word" if choice.words else "token"
    about = {**page_provenance(), "vectors": where, "points": f"{unit_name}s"}
    draw_chart(figure, "vectors_cosine", about=lambda: about, computation=computation.then(shown, cosine=cosine))
    pale = [at for at, cell in enumerate(cells) if cell.special]
    picture(vectors, names, options, unit, marked=focus, pale=pale, about=about, computation=computation)
    _numbers(vectors, [cell.label for cell in cells], unit_name, where, computation)


def summary(names: Sequence[str], likeness: FloatArray, focus: int, where: str) -> str:
    """Return a sentence with the words most and least similar to word ``focus``, and the mean similarity of all pairs.

    >>> summary(["it", "was", "[SEP]"], np.array([[1, 0.5, 0], [0.5, 1, 0.1], [0, 0.1, 1]]), 0, "last layer")
    'Last layer: “it” is most similar to “was” (0.50), least to “[SEP]” (0.00); mean over all pairs 0.20.'
    """
    if len(names) < 2:
        return _("Only one vector, of “{name}”. Write a longer text.", name=names[0])
    others = np.delete(np.arange(len(names)), focus)
    row = likeness[focus, others]
    most, least = others[row.argmax()], others[row.argmin()]
    pairs = likeness[np.triu_indices(len(names), 1)]
    return _(
        "{where}: “{focus}” is most similar to “{nearest}” ({most:.2f}), least to “{farthest}” "
        "({least:.2f}); mean over all pairs {mean:.2f}.",
        where=where[0].upper() + where[1:],
        focus=names[focus],
        nearest=names[most],
        most=row.max(),
        farthest=names[least],
        least=row.min(),
        mean=pairs.mean(),
    )


def _focus(choice: ViewState, trace: Trace, cells: Sequence[DisplayToken], likeness: FloatArray) -> int:
    """Return the index of the chosen word, else of the example's, else of a word in the most similar pair.

    The pair has two different words with letters or digits, without special and unknown tokens.
    """
    example = example_of(trace.text, trace.pair or "") or {}
    for at, cell in enumerate(cells):
        if choice.focus is not None and cell.pieces[0] <= choice.focus < cell.pieces[1]:
            return at
        if choice.focus is None and cell.text.casefold() == example.get("focus", "").casefold():
            return at
    names = np.array([cell.text.casefold() for cell in cells])
    unlike = names[:, None] != names[None, :]
    plain = np.array([not (cell.special or cell.unknown) and any(map(str.isalnum, cell.text)) for cell in cells])
    pairs = np.where(unlike & plain[:, None] & plain[None, :], likeness, -2.0)
    return int(pairs.argmax() // len(cells))


def _strip(cells: Sequence[DisplayToken], row: FloatArray, focus: int) -> None:
    chips = [
        TokenChip(
            cell.text,
            shade=float(row[at]),
            mark="chosen" if at == focus else "",
            glued=cell.goes_on,
            special=cell.special,
            unknown=cell.unknown,
            title=f"{row[at]:.2f}",
        )
        for at, cell in enumerate(cells)
    ]

    def pick() -> None:
        at = token_strip.picked_chip(STRIP)
        if at is not None and at < len(cells):
            set_view_state(focus=cells[at].pieces[0])

    token_strip.mount(chips, STRIP, title=_("Cosine similarity"), on_pick=pick, diverging=True)


def _numbers(vectors: FloatArray, names: Sequence[str], column: str, where: str, computation: Computation) -> None:
    """Draw a folded section with the vectors as a heat map and as CSV and NumPy files.

    ``column`` is the heading of the names in the CSV file, "word" or "token". ``computation`` gives ``vectors``.
    """
    section = open_section(_("Vector values"), "vectors_numbers")
    if section is None:
        return
    with section:
        below, above = sides(theme())
        note = _(
            "{n} {unit} × {channels:,} channels; {below} below zero, {above} above.",
            n=len(names),
            unit=_("words") if column == "word" else _("tokens"),
            channels=vectors.shape[1],
            below=below,
            above=above,
        )
        draw_matrices(
            [MatrixSpec(_("Vector values"), vectors[:MOST], rows=tuple(names[:MOST]), note=note)],
            "vectors_strips",
            computation=computation.then(f"numbers = vectors[:{MOST}]"),
        )
        made_by = {**page_provenance(), "vectors": where}
        table = "".join(csv_rows([(names, vectors)], vectors.shape[1], column))
        left, right = st.columns(2)
        download_button(
            "CSV",
            table,
            "headlight-vectors.csv",
            _("One row per vector"),
            place=left,
            provenance=made_by,
        )
        download_button(
            "NumPy",
            archive(vectors, names, made_by),
            "headlight-vectors.npz",
            _("One row per vector"),
            kind="application/octet-stream",
            place=right,
        )


def archive(vectors: FloatArray, names: Sequence[str], told: Mapping[str, str]) -> bytes:
    """Return a .npz file with the vectors, shape (name, channel), their names and their provenance.

    >>> found = np.load(io.BytesIO(archive(np.eye(2, dtype=np.float32), ["a", "b"], {"model": "tiny"})))
    >>> found["names"].tolist(), str(found["model"]), found["values"].shape
    (['a', 'b'], 'tiny', (2, 2))
    """
    body = io.BytesIO()
    np.savez(body, allow_pickle=False, values=vectors, names=np.array(names), **told)
    return body.getvalue()
