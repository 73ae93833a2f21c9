"""The annotated sentences on which heads are scored: bundled sets or an uploaded file."""

from __future__ import annotations

from typing import Any

import streamlit as st

from i18n import _, gettext_lazy
from inference import UserError
from probing import formats
from probing.corpus import AnnotatedCorpus
from probing.formats import READY, load_ready_set
from ui.input.controls import bound_widget
from ui.input.text_files import TABLES, pick_encoding
from ui.pages.measure.options import MeasureOptions
from ui.run.notices import show_notice

FILE, SPLIT, PARSED = "measure_file", "measure_split", "measure_parsed"
SUFFIXES = {
    "conllu": ["conllu", "conll", "txt"],
    "gap": ["tsv", "txt"],
    "csv": TABLES,
}
ABOUT = {
    "grammar": gettext_lazy(
        "60 short sentences with dependency relations (Universal Dependencies). Rare relations have wide intervals."
    ),
    "pronouns": gettext_lazy("40 sentences, each with a pronoun, its antecedent and another candidate."),
}
WANTED = {
    "conllu": gettext_lazy("Upload a treebank in CoNLL-U, for example from universaldependencies.org."),
    "gap": gettext_lazy(
        "Upload a file with the columns of GAP: Text, Pronoun, Pronoun-offset, A, A-offset, A-coref, B, "
        "B-offset, B-coref."
    ),
    "csv": gettext_lazy(
        "Upload CSV, TSV, JSON Lines or Parquet with the columns text, source, target, distractor. Write the#2 "
        "for the second “the”."
    ),
}


def pick_data(options: MeasureOptions) -> tuple[AnnotatedCorpus, AnnotatedCorpus | None] | None:
    """Draw the controls of the data; return the corpus, and a separate corpus for choosing heads or None.

    Return None if there are no data yet.
    """
    left, right = st.columns([3, 2])
    bound_widget(MeasureOptions, "data", left.segmented_control, required=True)
    if options.data in READY:
        show_notice(ABOUT[options.data], role="status")
        return load_ready_set(options.data), None
    bound_widget(MeasureOptions, "format", right.selectbox)
    suffixes = SUFFIXES[options.format]
    uploaded = left.file_uploader(
        _("Annotated file"), suffixes, key=FILE, max_upload_size=50, help=_("The file stays on this machine")
    )
    if uploaded is None:
        show_notice(WANTED[options.format], role="status")
        return None
    split = right.file_uploader(
        _("Selection file"),
        suffixes,
        key=SPLIT,
        max_upload_size=50,
        help=_("Optional sentences for choosing heads; otherwise every second sentence of the file is used."),
    )
    try:
        with left:
            found = _parse_once(uploaded, options.format, f"{FILE}_encoding")
        with right:
            chooser = None if split is None else _parse_once(split, options.format, f"{SPLIT}_encoding")
    except UserError as refusal:
        show_notice(refusal.message)
        return None
    if chooser is not None and chooser.digest == found.digest:
        show_notice(_("Both files contain the same sentences, so scores would be too high. Use different sentences."))
        return None
    return found, chooser


def _parse_once(file: Any, format: str, key: str) -> AnnotatedCorpus:
    """Return the corpus in a file, parsed once, since the page runs again at every click."""
    encoding = "" if format == "conllu" else pick_encoding(key, file.file_id, file.name, file.getvalue)
    kept: dict[tuple[str, str, str], AnnotatedCorpus] = st.session_state.setdefault(PARSED, {})
    asked = file.file_id, format, encoding
    if asked not in kept:
        while len(kept) >= 2:  # room for the corpus and the corpus for choosing heads
            kept.pop(next(iter(kept)))
        with st.spinner(_("Reading the file")):
            kept[asked] = formats.parse(file.getvalue(), format, encoding)
    return kept[asked]
