"""Teach page: uploaded data files, kept in the session, and the choice of their columns."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from i18n import _, gettext_lazy, translate
from inference import UserError
from probing.labelled.columns import Columns, first_row
from probing.labelled.conll import WordColumns
from probing.labelled.files import File
from probing.labelled.loading import PARTS, ReadResult, TaskFiles, read_labeled, read_tagged
from probing.labelled.squad import QuestionSet, read_questions
from ui.input.controls import bound_widget
from ui.input.text_files import pick_encoding
from ui.pages.teach.options import TeachOptions
from ui.run.notices import show_notice
from ui.state.params import get_params

BROUGHT, READ = "teach_brought", "teach_read"
WANTED = {
    "classify": gettext_lazy("CSV, TSV, JSON Lines or Parquet with a text and a label per row."),
    "tag": gettext_lazy(
        "CoNLL columns (a word and its BIO or BIOES tag per line), or tables with Word and Tag, JSON Lines or "
        "Parquet with lists."
    ),
    "answer": gettext_lazy("JSON in SQuAD's format, version 1.1 or 2.0."),
}
BOXES = {
    "train": gettext_lazy("Train rows"),
    "dev": gettext_lazy("Dev rows"),
    "test": gettext_lazy("Test rows"),
    "classes": gettext_lazy("List of classes"),
}
ABOUT = {
    "train": gettext_lazy(
        "At most 50 MB and 250,000 rows; stays on this machine. Without further files, the seed "
        "draws about 10% dev and 10% test rows per label."
    ),
    "dev": gettext_lazy("Choose the best step."),
    "test": gettext_lazy("Scored once, at the end."),
    "classes": gettext_lazy("One name per line, from label 0."),
}
COLUMN = gettext_lazy("Column name or number, from 1")


@dataclass(frozen=True, eq=False)
class UploadedPart:
    """An uploaded file with the id that Streamlit gave to the upload."""

    file: File
    id: str


@dataclass(frozen=True, eq=False)
class OwnData:
    """The parsed contents of the uploaded files, with their names and a cache key."""

    content: ReadResult | QuestionSet
    name: str
    source: str  # The names of all files, separated by commas.
    whole: bool  # True if train, dev and test are separate files.
    key: str


def own_files(options: TeachOptions) -> OwnData | None:
    """Draw the widgets for files and columns; return the parsed files, or None until they can be parsed."""
    kind = options.kind
    bound_widget(TeachOptions, "kind", st.segmented_control, required=True)
    _draw_uploader("train")
    columns = st.columns(2)
    with st.expander(_("Further files")):
        for part, column in zip(("dev", "test", "classes"), st.columns(3), strict=True):
            if part != "classes" or kind == "classify":
                with column:
                    _draw_uploader(part)
    found: OwnData | None = None
    names: tuple[str, ...] = ()
    if "train" not in _uploaded_files():
        show_notice(WANTED[kind], role="status")
    else:
        try:
            found = _load_own_data(options)
            names = found.content.columns if isinstance(found.content, ReadResult) else ()
        except UserError as refusal:
            show_notice(refusal.message)
            names = _first_row(options)
    if kind == "answer":
        return found
    _pick_column("texts_in", _("Text column"), names, columns[0])
    _pick_column("labels_in", _("Label column"), names, columns[1])
    return found


def _uploaded_files() -> dict[str, UploadedPart]:
    """Return the uploaded files by part, from the session state.

    An uploader widget forgets its file when the visitor leaves the page, so the files are kept separately.
    """
    kept: dict[str, UploadedPart] = st.session_state.setdefault(BROUGHT, {})
    return kept


def _draw_uploader(part: str) -> None:
    """Draw the uploader for a part; name a file from an earlier visit that the widget has forgotten."""
    box, kept = f"teach_file_{part}", _uploaded_files()

    def keep() -> None:
        came = st.session_state[box]
        kept.pop(part, None)
        if came is not None:
            kept[part] = UploadedPart(File(came.name, came.getvalue()), came.file_id)

    def leave() -> None:
        kept.pop(part, None)

    in_the_box = st.file_uploader(
        translate(BOXES[part]), key=box, on_change=keep, max_upload_size=50, help=translate(ABOUT[part])
    )
    if (brought := kept.get(part)) is not None:
        file = brought.file
        encoding = pick_encoding(f"teach_encoding_{part}", brought.id, file.name, lambda: file.content, file.encoding)
        kept[part] = replace(brought, file=replace(file, encoding=encoding))
    if in_the_box is None and part in kept:
        with st.container(horizontal=True, vertical_alignment="center"):
            show_notice(_("Kept from before: {file}", file=kept[part].file.name), role="status")
            st.button(_("Remove"), key=f"teach_leave_{part}", on_click=leave)


def _load_own_data(options: TeachOptions) -> OwnData:
    """Parse the uploaded files with the chosen columns, cached in the session.

    Raise UserError with the position of the error if a file is malformed.
    """
    brought = {part: one for part, one in _uploaded_files().items() if part != "classes" or options.kind == "classify"}
    how = (options.kind, options.texts_in, options.labels_in, options.seed)
    key = repr((how, sorted((part, one.id, one.file.encoding) for part, one in brought.items())))
    kept: OwnData | None = st.session_state.get(READ)
    if kept is None or kept.key != key:
        with st.spinner(_("Checking the data")):
            names = ", ".join(one.file.name for one in brought.values())
            whole = brought.keys() >= set(PARTS)
            kept = OwnData(_read(brought, options), brought["train"].file.name, names, whole, key)
        st.session_state[READ] = kept
    return kept


def _first_row(options: TeachOptions) -> tuple[str, ...]:
    """Return the first row of a table that cannot be parsed yet as possible column names."""
    if options.kind != "classify":
        return ()
    with suppress(UserError):
        return first_row(_uploaded_files()["train"].file.text()[0])
    return ()


def _read(brought: dict[str, UploadedPart], options: TeachOptions) -> ReadResult | QuestionSet:
    file = {part: one.file for part, one in brought.items()}
    files = TaskFiles(file["train"], file.get("dev"), file.get("test"))
    if options.kind == "answer":
        return read_questions(files, options.seed)
    texts, labels = options.texts_in.strip() or None, options.labels_in.strip() or None
    if options.kind == "classify":
        return read_labeled(files, Columns(texts, labels), classes=file.get("classes"), seed=options.seed)
    return read_tagged(files, WordColumns(_number(texts), _number(labels)), seed=options.seed)


def _number(column: str | None) -> int | None:
    """Return the number of a column of words or tags; raise UserError if ``column`` is a name.

    Columns of words have no names.
    """
    if column is None:
        return None
    if not (column.isascii() and column.isdigit() and len(column) < 6):
        raise UserError(
            gettext_lazy(
                "“{column}” is not a column number, from 1.",
                column=column[:40],
            )
        )
    return int(column)


def _pick_column(field: str, label: str, names: tuple[str, ...], place: DeltaGenerator) -> None:
    """Draw a selector for a column.

    The control accepts typed names too, because some files can be parsed only after the column is chosen.
    """
    picked = getattr(get_params(TeachOptions), field)
    bound_widget(
        TeachOptions,
        field,
        place.selectbox,
        label,
        list(dict.fromkeys(("", *names, picked))),
        format_func=lambda name: name or _("automatic"),
        accept_new_options=True,
        help=translate(COLUMN),
    )
