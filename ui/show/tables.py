"""Tables on a page, and downloads that contain the origin of their numbers (provenance)."""

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
from i18n import _
from inference import TraceRequest
from ui.run.services import get_backend, get_trace_store
from ui.state.session import VIEW, get_view_state


def csv_table(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as CSV; texts that look like formulas get an apostrophe, and numbers keep all digits.

    The column names become unique and not empty. Raise ValueError if the length of a row differs from the number
    of names.

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
    """Return a data frame as CSV without its index; missing values are empty cells.

    >>> frame_csv(pd.DataFrame({"word": ["=it", "he"], "layers": pd.array([6, None], "Int64")})).splitlines()[1:]
    ["'=it,6", 'he,']
    """
    known = table.astype(object).where(table.notna(), None)
    return csv_table([str(name) for name in known], known.itertuples(index=False))


ANSWERED_BY = "answered_by"  # Session key of (view, model, revision), the answering model of a view.


def set_answering_model(model: str, revision: str | None) -> None:
    """Store the model whose answers this page shows, for the provenance of its downloads."""
    st.session_state[ANSWERED_BY] = (st.session_state.get(VIEW), model, revision)


def page_provenance() -> dict[str, str]:
    """Return the provenance of the page's numbers: the model with its revision or hash, and the texts."""
    made, texts = _reading()
    return model_fields(made) | {
        name: text for name, text in zip(("text", "pair", "target"), texts, strict=True) if text
    }


def model_provenance() -> dict[str, str]:
    """Return the page's provenance without the texts, for numbers that depend on the model only."""
    return model_fields(_reading()[0])


def texts_provenance(text: str, pair: str | None = "") -> dict[str, str]:
    """Return the provenance of numbers that were computed from other texts than the page's, such as an example."""
    return model_provenance() | {name: value for name, value in (("text", text), ("pair", pair)) if value}


def request_provenance(request: TraceRequest) -> dict[str, Any]:
    """Return the provenance of numbers that were computed from the texts and the model of a request."""
    texts = {"text": request.text, "pair": request.pair, "target": request.target, "written_tokens": request.written}
    made = model_fields(get_backend().identity(request.model, request.revision))
    return made | {name: value for name, value in texts.items() if value}


def data_provenance(data: str) -> dict[str, str]:
    """Return the provenance of numbers that were computed from many texts; ``data`` names these texts."""
    return model_provenance() | {"data": data}


def _reading() -> tuple[ModelId, tuple[str, str, str]]:
    """Return the model that answers on the page, and the text, the second text and the target."""
    choice = get_view_state()
    trace = get_trace_store().find(choice.opened) if choice.opened else None
    if trace is not None:
        return trace.model, (trace.text, trace.pair or "", trace.target_text or "")
    return get_backend().identity(*answering_model()), (choice.text, choice.pair, choice.target)


def answering_model() -> tuple[str, str | None]:
    """Return the name and the revision of the model whose answers this page shows, by default the selected model."""
    view, model, revision = st.session_state.get(ANSWERED_BY, (None, "", None))
    if view == st.session_state.get(VIEW):
        return model, revision
    choice = get_view_state()
    return choice.model, choice.revision or None


def model_fields(made: ModelId) -> dict[str, str]:
    """Return the non-empty fields that identify a model.

    >>> model_fields(ModelId("tiny", "main", "encoder", "TinyModel"))
    {'model': 'tiny', 'revision': 'main'}
    """
    told = {"model": made.name, "revision": made.revision or "", "weights_sha256": made.weights or ""}
    return {name: value for name, value in told.items() if value}


def add_header(text: str) -> str:
    """Return ``text`` below the provenance of the page's model, with an empty line between them."""
    return "".join(f"{name}: {value}\n" for name, value in model_provenance().items()) + f"\n{text}"


def download_button(  # noqa: PLR0913  (independent options of a file, by name)
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
    """Draw a download button for ``content`` as the file ``name`` of the media type ``kind``.

    ``about`` is the help text, and ``place`` the container. If ``provenance`` is given, ``content`` is a CSV table. The
    download is then a zip file of the table and its provenance, named by ``name``, the model and the text; the label
    then ends in "(zip)". A click does not rerun the page.

    The content is created with the page, not at the click. Streamlit would drop a file created at a click after the
    next run of any session. In a class, this is often before the browser has fetched it.
    """
    if provenance is not None:
        stem = file_stem(name.removesuffix(".csv"), provenance)
        content, name, kind = with_provenance(stem, content, provenance), f"{stem}.zip", "application/zip"
        label = _("{name} ({detail})", name=label, detail="zip")
    (place or st).download_button(
        label, content, name, kind, key=key, help=about, icon=":material/download:", on_click="ignore"
    )


def download_table(
    content: str,
    name: str,
    *,
    key: str | None = None,
    place: DeltaGenerator | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> None:
    """Draw a download button for a CSV table; ``provenance`` is the page's if it is None."""
    about = page_provenance() if provenance is None else provenance
    download_button(_("Save as CSV"), content, name, _("All digits"), key=key, place=place, provenance=about)


MISSING = "–"  # Streamlit's default is the English word None.


def draw_table(columns: Any, *, place: DeltaGenerator | None = None, **more: Any) -> None:
    """Draw a table of ``columns`` in ``place`` or the current container.

    ``columns`` maps headings to values, or is a list with a mapping for each row. ``more`` is passed to
    ``st.dataframe``. A missing value is shown as a dash.
    """
    (place or st).dataframe(columns, hide_index=True, placeholder=MISSING, **more)
