"""The set of text pairs to compare: the app's probes, or an uploaded file."""

from __future__ import annotations

import json

import streamlit as st

from i18n import _, gettext_lazy
from inference import UserError
from probing.text_pairs import TextPair, parse
from ui.input.controls import bound_widget
from ui.input.text_files import TABLES, pick_encoding
from ui.pages.compare.options import CompareOptions
from ui.paths import ASSETS
from ui.run.notices import show_notice
from ui.show.tables import csv_table, download_button

FILE, PARSED, ENCODING = "compare_file", "compare_parsed", "compare_encoding"
WANTED = gettext_lazy(
    "CSV, TSV, JSON Lines or Parquet; columns a and b: the two texts. Optional column kind: “change” (new "
    "meaning, default) or “control” (new wording). Changes are compared with controls that share a text."
)


def _ready_pairs() -> tuple[TextPair, ...]:
    found = []
    for probe in json.loads((ASSETS / "probes.json").read_text(encoding="utf-8")):
        if probe["language"] == "English":
            found.append(TextPair(probe["text"], probe["other"]))
            found += [TextPair(probe["text"], neutral, control=True) for neutral in probe["neutral"]]
    return tuple(found)


READY = _ready_pairs()


def pick_pairs(bring: str) -> tuple[TextPair, ...] | None:
    """Draw the controls of the set and return its pairs; None if there are none yet."""
    bound_widget(CompareOptions, "bring", st.segmented_control, required=True)
    if bring == "ready":
        changes = sum(not pair.control for pair in READY)
        show_notice(
            _(
                "{changes} English sentences written for this app, each paired with a new meaning, and "
                "{controls} controls with another word.",
                changes=changes,
                controls=len(READY) - changes,
            ),
            role="status",
        )
        download_button(
            _("Save these pairs"),
            pairs_csv(READY),
            "headlight-pairs.csv",
            _("As a file to edit and open"),
        )
        return READY
    uploaded = st.file_uploader(
        _("File of pairs"),
        TABLES,
        key=FILE,
        max_upload_size=5,
        help=_("At most 500 pairs; the file stays on this machine"),
    )
    if uploaded is None:
        show_notice(WANTED, role="status")
        return None
    try:
        encoding = pick_encoding(ENCODING, uploaded.file_id, uploaded.name, uploaded.getvalue)
        return _parse_once((uploaded.file_id, encoding), uploaded.getvalue())
    except UserError as refusal:
        show_notice(refusal.message)
        return None


def pairs_csv(pairs: tuple[TextPair, ...]) -> str:
    """Return pairs as a CSV file that can be uploaded again."""
    lines = ([pair.a, pair.b, "control" if pair.control else "change"] for pair in pairs)
    return csv_table(["a", "b", "kind"], lines)


def _parse_once(file: tuple[str, str], content: bytes) -> tuple[TextPair, ...]:
    """Parse a file of pairs, once per file and encoding, since the page runs again at every click."""
    kept: tuple[tuple[str, str], tuple[TextPair, ...]] = st.session_state.get(PARSED, (("", ""), ()))
    if kept[0] != file:
        kept = st.session_state[PARSED] = (file, parse(content, file[1]))
    return kept[1]
