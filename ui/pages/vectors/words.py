"""Vectors of the text's words: cosine similarities, projection and values."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.mask import FloatArray
from attention.trace import Trace
from attention.vectors import cosine, merge, mix
from attention.view import DisplayToken, View
from i18n import _
from inference.tasks.hidden_states import HiddenStates
from ui.pages.vectors.levels import mix_name, pick_mix
from ui.pages.vectors.options import VectorsOptions
from ui.pages.vectors.projection import picture
from ui.pages.vectors.vector_files import csv_rows
from ui.run.notices import show_notice
from ui.run.services import get_backend
from ui.run.traces import request_of
from ui.show.chart import draw_chart, theme
from ui.show.microscope import draw_matrices
from ui.show.tables import download_button, page_provenance
from ui.state.examples import example_of
from ui.state.session import set_view_state
from ui.state.view_state import ViewState
from viz.components.matrices.matrices import MatrixSpec
from viz.components.token_strip import token_strip
from viz.components.token_strip.token_strip import TokenChip
from viz.figures.theme import sides
from viz.figures.vectors import MOST, cosine_map

STRIP = "vectors_strip"


def draw_words(choice: ViewState, trace: Trace, options: VectorsOptions, beside: DeltaGenerator) -> None:
    """Draw the view of word vectors; raise UserError if the model refuses the text.

    The control for the layers is drawn in the column ``beside``.
    """
    asked = request_of(choice)
    with st.spinner(_("Computing the vectors")):
        states = get_backend().inspect(HiddenStates(asked.model, asked.revision, asked.text, asked.pair, asked.cut))
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
    show_notice(summary(names, likeness, focus, mix_name(options, levels)), role="status")
    start = min(max(0, focus - MOST // 2), max(0, len(cells) - MOST))
    window = slice(start, start + MOST)
    if len(cells) > MOST:
        show_notice(
            _("Shown: {shown} of {all} {unit}, around the chosen one.", shown=MOST, all=len(cells), unit=unit),
            role="status",
        )
    where = mix_name(options, levels)
    title = _("Cosine similarity of the {unit}, {where}", unit=unit, where=where)
    figure = cosine_map(likeness[window, window], names[window], theme(), title, marked=focus - start)
    draw_chart(figure, "vectors_cosine")
    st.caption(_("Outlined: the chosen word."))
    picture(vectors, names, options, unit, marked=focus, pale=[at for at, cell in enumerate(cells) if cell.special])
    _numbers(vectors, [cell.label for cell in cells], "word" if choice.words else "token", unit, where)


def summary(names: Sequence[str], likeness: FloatArray, focus: int, where: str) -> str:
    """Return a sentence with the words most and least similar to ``focus``, and the mean of all pairs.

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

    The pair has two different words with letters or digits, without special tokens.
    """
    example = example_of(trace.text, trace.pair or "") or {}
    for at, cell in enumerate(cells):
        if choice.focus is not None and cell.pieces[0] <= choice.focus < cell.pieces[1]:
            return at
        if choice.focus is None and cell.text.casefold() == example.get("focus", "").casefold():
            return at
    names = np.array([cell.text.casefold() for cell in cells])
    unlike = names[:, None] != names[None, :]
    plain = np.array([not cell.special and any(map(str.isalnum, cell.text)) for cell in cells])
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
            title=_("cosine {cosine:.2f}", cosine=row[at]),
        )
        for at, cell in enumerate(cells)
    ]

    def pick() -> None:
        at = token_strip.picked_chip(STRIP)
        if at is not None and at < len(cells):
            set_view_state(focus=cells[at].pieces[0])

    token_strip.mount(chips, STRIP, title=_("Cosine similarity to the chosen word"), on_pick=pick, diverging=True)


def _numbers(vectors: FloatArray, names: Sequence[str], column: str, unit: str, where: str) -> None:
    """Draw a folded section with the vectors as a heat map and as CSV and NumPy files.

    ``column`` is the heading of the names in the CSV file.
    """
    folded = st.expander(_("Vector values"), key="vectors_numbers", on_change="rerun")
    if not folded.open:
        return
    with folded:
        below, above = sides(theme())
        note = _(
            "{n} {unit} × {channels:,} channels; {below} below zero, {above} above.",
            n=len(names),
            unit=unit,
            channels=vectors.shape[1],
            below=below,
            above=above,
        )
        draw_matrices([MatrixSpec(_("Vectors"), vectors[:MOST], rows=tuple(names[:MOST]), note=note)], "vectors_strips")
        made_by = {**page_provenance(), "vectors": where}
        table = "".join(csv_rows([(names, vectors)], vectors.shape[1], column))
        left, right = st.columns(2)
        download_button(
            "CSV",
            table,
            "headlight-vectors.csv",
            _("A row per vector", unit=unit),
            place=left,
            provenance=made_by,
        )
        download_button(
            "NumPy",
            archive(vectors, names, made_by),
            "headlight-vectors.npz",
            _("Arrays “values” and “names”, and provenance", unit=unit),
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
