"""Tables on a page, and files that are saved with their provenance."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.spreadsheet import MARK, column_names, file_stem, safe_cell, with_provenance
from attention.trace import ModelId
from ui.run.services import get_backend, get_trace_store
from ui.state.session import PAGE, get_view_state


def csv_table(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return the file: numbers keep all digits, texts that look like formulas get an apostrophe.

    The names become unique and not empty. Raises ValueError if a row has more or fewer cells than there are names.

    >>> csv_table(["word", "probability"], [("=it", 0.25), ("he", None)]).splitlines()[1:]
    ["'=it,0.25", 'he,']
    >>> csv_table(["=model"], ())
    "\\ufeff'=model\\r\\n"
    """
    page = io.StringIO(newline="")
    writer = csv.writer(page)
    writer.writerow(column_names(names))
    for row in rows:
        cells = [safe_cell(cell) if isinstance(cell, str) else "" if cell is None else cell for cell in row]
        if len(cells) != len(names):
            raise ValueError(f"A row has {len(cells)} cells; the table has {len(names)} columns.")
        writer.writerow(cells)
    return MARK + page.getvalue()


def frame_csv(table: pd.DataFrame) -> str:
    """A table as it is shown, without its index; what is not known is an empty cell.

    >>> frame_csv(pd.DataFrame({"word": ["=it", "he"], "layers": pd.array([6, None], "Int64")})).splitlines()[1:]
    ["'=it,6", 'he,']
    """
    known = table.astype(object).where(table.notna(), None)
    return csv_table([str(name) for name in known], known.itertuples(index=False))


ANSWERED_BY = "answered_by"  # (page, model, revision): which model answers there, where it may be another


def set_answering_model(model: str, revision: str | None) -> None:
    """This model answers on this page, whichever is chosen in the sidebar."""
    st.session_state[ANSWERED_BY] = (st.session_state.get(PAGE), model, revision)


def page_provenance() -> dict[str, str]:
    """Return the model of the page, its revision or the hash of its weights, and the texts on the page."""
    made, texts = _reading()
    return model_fields(made) | {
        name: text for name, text in zip(("text", "pair", "target"), texts, strict=True) if text
    }


def model_provenance() -> dict[str, str]:
    """Return the model of the page alone, for numbers that do not depend on its text."""
    return model_fields(_reading()[0])


def _reading() -> tuple[ModelId, tuple[str, str, str]]:
    """Return the model that answers on the page, and the text, the second text and the target."""
    choice = get_view_state()
    trace = get_trace_store().find(choice.opened) if choice.opened else None
    if trace is not None:
        return trace.model, (trace.text, trace.pair or "", trace.target_text or "")
    page, model, revision = st.session_state.get(ANSWERED_BY, (None, "", None))
    if page != st.session_state.get(PAGE):
        model, revision = choice.model, choice.revision or None
    return get_backend().identity(model, revision), (choice.text, choice.pair, choice.target)


def model_fields(made: ModelId) -> dict[str, str]:
    """What tells a model from every other.

    >>> model_fields(ModelId("tiny", "main", "encoder", "TinyModel"))
    {'model': 'tiny', 'revision': 'main'}
    """
    told = {"model": made.name, "revision": made.revision or "", "weights_sha256": made.weights or ""}
    return {name: value for name, value in told.items() if value}


def add_header(text: str) -> str:
    """A plain text under the model that it comes from, an empty line between them."""
    return "".join(f"{name}: {value}\n" for name, value in model_provenance().items()) + f"\n{text}"


def download_button(  # noqa: PLR0913  (what a file may be told, by name)
    label: str,
    content: str | bytes,
    name: str,
    about: str,
    *,
    kind: str = "text/csv",
    key: str | None = None,
    place: DeltaGenerator | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> None:
    """A button with ``label`` and ``about`` as its help, that saves ``content`` as ``name``, a file of ``kind``.

    If ``provenance`` is given, ``content`` is a CSV table, and the button saves a zip of the table and its provenance,
    named by ``name``, the model and the text.
    The page is not drawn again by the click. ``place`` is where the button stands, the current container by default.
    The file is made with the page, not on the click: Streamlit lets go of one made on the click as soon as any
    reader's page has been drawn, which in a class is often before the browser has fetched it.
    """
    if provenance is not None:
        stem = file_stem(name.removesuffix(".csv"), provenance)
        content, name, kind = with_provenance(stem, content, provenance), f"{stem}.zip", "application/zip"
    (place or st).download_button(
        label, content, name, kind, key=key, help=about, icon=":material/download:", on_click="ignore"
    )


MISSING = "–"  # Streamlit's own is the English word None


def draw_table(columns: Any, *, place: DeltaGenerator | None = None, **more: Any) -> None:
    """Draws ``columns`` (values by heading, or one mapping for each row) in ``place``, here where none is given.

    ``more`` is as ``st.dataframe`` has it. A missing value is a dash.
    """
    (place or st).dataframe(columns, hide_index=True, placeholder=MISSING, **more)
