"""The one button that saves a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.spreadsheet import file_stem, with_provenance


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
