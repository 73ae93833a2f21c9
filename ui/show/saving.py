"""The one button that saves a file."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui.show.provenance import captioned, provenance


def save(  # noqa: PLR0913  (what a file may be told, by name)
    label: str,
    content: str | bytes,
    name: str,
    about: str,
    *,
    kind: str = "text/csv",
    key: str | None = None,
    place: DeltaGenerator | None = None,
    told: bool = False,
    of_model: bool = False,
) -> None:
    """A button with ``label`` and ``about`` as its help, that saves ``content`` as ``name``, a file of ``kind``.

    ``told``: the table is about the page's text, and begins with the text and the model that read it; ``of_model``: it
    is about the model whatever the text, or says its texts itself, and begins with the model alone.
    The page is not drawn again by the click. ``place`` is where the button stands, the current container by default.
    The file is made with the page, not on the click: Streamlit lets go of one made on the click as soon as any
    reader's page has been drawn, which in a class is often before the browser has fetched it.
    """
    if told or of_model:
        table = content if isinstance(content, str) else content.decode()
        content = captioned(table, provenance(texts=told))
    (place or st).download_button(
        label, content, name, kind, key=key, help=about, icon=":material/download:", on_click="ignore"
    )
