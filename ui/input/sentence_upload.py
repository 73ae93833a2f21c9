"""Upload of a file of sentences, parsed once, with a choice of column and encoding."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

import streamlit as st

from i18n import _, gettext_lazy, translate
from probing.sentence_files import MOST_SENTENCES, SentenceTable, column, is_table, lines, parse_table
from ui.input.text_files import TABLES, decode_table, pick_encoding
from ui.run.notices import show_notice
from ui.streamlit_internals import UploadedFile

WANTED = gettext_lazy("Add one sentence per line, or a CSV, TSV, JSON Lines or Parquet table.")


def from_file(view: str) -> tuple[str, ...]:
    """Draw the widgets to upload a file and return its sentences; () if there is no file.

    Raise UserError for an unreadable file. ``view`` is a prefix of the widget keys.
    """
    uploaded = st.file_uploader(
        _("Text or table"),
        type=TABLES,
        key=f"{view}_file",
        max_upload_size=50,
        help=_(
            "One sentence per line, or a table's column. Up to {most:,} sentences; they stay on this machine.",
            most=MOST_SENTENCES,
        ),
    )
    if uploaded is None:
        show_notice(WANTED, role="status")
        return ()
    encoding = pick_encoding(f"{view}_encoding", uploaded.file_id, uploaded.name, uploaded.getvalue)
    found = _parse_once(view, uploaded, encoding)
    if not isinstance(found, SentenceTable):
        return found
    st.selectbox(
        _("Column"),
        found.texts,
        key=f"{view}_column",
        format_func=lambda at: translate(found.names[at]),
        help=_("Numeric columns are not listed"),
    )
    return _column(view, (uploaded.file_id, encoding), found, st.session_state[f"{view}_column"])


def describe_file(view: str, texts: Sequence[str]) -> str:
    """Return the provenance of sentences from ``from_file``: their number and SHA-256, the file's name and column."""
    found = st.session_state[f"{view}_parsed"][1]
    chosen = f", column {found.names[st.session_state[f'{view}_column']]}" if isinstance(found, SentenceTable) else ""
    digest = sha256("\n".join(texts).encode()).hexdigest()
    return f"{len(texts):,} sentences of {st.session_state[f'{view}_file'].name}{chosen} (SHA-256 {digest})"


def _parse_once(view: str, uploaded: UploadedFile, encoding: str) -> SentenceTable | tuple[str, ...]:
    """Return the parsed file from the session, or parse it, since every click reruns the page."""
    kept = st.session_state.get(f"{view}_parsed")
    if kept is None or kept[0] != (uploaded.file_id, encoding):
        with st.spinner(_("Reading the file")):
            text = decode_table(uploaded.getvalue(), encoding)
            kept = ((uploaded.file_id, encoding), parse_table(text) if is_table(uploaded.name) else lines(text))
        st.session_state[f"{view}_parsed"] = kept
    found: SentenceTable | tuple[str, ...] = kept[1]
    return found


def _column(view: str, file: tuple[str, str], found: SentenceTable, at: int) -> tuple[str, ...]:
    kept = st.session_state.get(f"{view}_cells")
    if kept is None or kept[0] != (file, at):
        kept = st.session_state[f"{view}_cells"] = ((file, at), column(found, at))
    texts: tuple[str, ...] = kept[1]
    return texts
