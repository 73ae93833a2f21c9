"""Upload of a file of sentences, parsed once, with a choice of column and encoding."""

from __future__ import annotations

import streamlit as st

from i18n import _, gettext_lazy, translate
from ui.input.text_files import TABLES, decode_table, pick_encoding
from ui.pages.vectors.sentence_files import MOST_SENTENCES, SentenceTable, column, is_table, lines, parse_table
from ui.run.notices import show_notice
from ui.streamlit_internals import UploadedFile

FILE, COLUMN, ENCODING = "vectors_file", "vectors_column", "vectors_encoding"
PARSED, CELLS = "vectors_parsed", "vectors_cells"
WANTED = gettext_lazy("Add a text file with one sentence per line, or a CSV, TSV, JSON Lines or Parquet table.")


def from_file() -> tuple[str, ...]:
    """Draw the upload and return its sentences, () without a file; raise UserError for an unreadable file."""
    uploaded = st.file_uploader(
        _("Text or table"),
        type=TABLES,
        key=FILE,
        max_upload_size=50,
        help=_(
            "One per line, or a column. Up to {most:,} sentences; they stay on this machine.",
            most=MOST_SENTENCES,
        ),
    )
    if uploaded is None:
        show_notice(WANTED, role="status")
        return ()
    encoding = pick_encoding(ENCODING, uploaded.file_id, uploaded.name, uploaded.getvalue)
    found = _parse_once(uploaded, encoding)
    if not isinstance(found, SentenceTable):
        return found
    st.selectbox(
        _("Column"),
        found.texts,
        key=COLUMN,
        format_func=lambda at: translate(found.names[at]),
        help=_("The column of sentences; numeric columns are not listed"),
    )
    return _column((uploaded.file_id, encoding), found, st.session_state[COLUMN])


def _parse_once(uploaded: UploadedFile, encoding: str) -> SentenceTable | tuple[str, ...]:
    """Return the parsed file from the session, or parse it, since every click reruns the page."""
    kept = st.session_state.get(PARSED)
    if kept is None or kept[0] != (uploaded.file_id, encoding):
        with st.spinner(_("Reading the file")):
            text = decode_table(uploaded.getvalue(), encoding)
            kept = ((uploaded.file_id, encoding), parse_table(text) if is_table(uploaded.name) else lines(text))
        st.session_state[PARSED] = kept
    found: SentenceTable | tuple[str, ...] = kept[1]
    return found


def _column(file: tuple[str, str], found: SentenceTable, at: int) -> tuple[str, ...]:
    kept = st.session_state.get(CELLS)
    if kept is None or kept[0] != (file, at):
        kept = st.session_state[CELLS] = ((file, at), column(found, at))
    texts: tuple[str, ...] = kept[1]
    return texts
