"""The sentences that heads are scored on: a few that come with the app, or a file of one's own."""

from __future__ import annotations

from typing import Any

import streamlit as st

from inference import Refusal
from probing import formats
from probing.corpus import Corpus
from probing.ready_sets import READY, ready
from ui.input.picking import control
from ui.input.text_files import TABLES, pick_encoding
from ui.pages.measure.options import BRINGS, Measure
from ui.run.refusals import say
from wording import _, sentence, told

FILE, SPLIT, PARSED = "measure_file", "measure_split", "measure_parsed"
SUFFIXES = {
    "conllu": ["conllu", "conll", "txt"],
    "gap": ["tsv", "txt"],
    "csv": TABLES,
}
MARKED = sentence("What was marked by hand: which word depends on which, or what a pronoun means")
ABOUT = {
    "grammar": sentence(
        "60 short sentences, written for this app, with every word's head and relation as in Universal"
        " Dependencies. Rare relations have few links: see the intervals, or bring a treebank."
    ),
    "pronouns": sentence(
        "40 sentences, written for this app: a pronoun, what it means, and another candidate of the same text."
    ),
}
WANTED = {
    "conllu": sentence("Bring a treebank in CoNLL-U (universaldependencies.org has them in many languages)."),
    "gap": sentence(
        "Bring a file with GAP's columns: Text, Pronoun, Pronoun-offset, A, A-offset, A-coref, B, B-offset, B-coref."
    ),
    "csv": sentence(
        "Bring a CSV, TSV, JSON Lines or Parquet file with the columns text, source, target, distractor. A word that"
        " stands several times in its text says which is meant: the#2 is the second “the”."
    ),
}


def pick_data(options: Measure) -> tuple[Corpus, Corpus | None] | None:
    """Controls for the data; the corpus, and the one to choose heads on where there is one. None until there is any."""
    left, right = st.columns([3, 2])
    control(Measure, "data", left.segmented_control, _("Annotated sentences"), list(BRINGS), format_func=BRINGS.get,
            required=True, help=told(MARKED))  # fmt: skip
    if options.data in READY:
        say(ABOUT[options.data], role="status")
        return ready(options.data), None
    control(Measure, "format", right.selectbox, _("The file's form"), list(formats.NAMES),
            format_func=formats.NAMES.get, help=_("How the file marks its links"))  # fmt: skip
    suffixes = SUFFIXES[options.format]
    uploaded = left.file_uploader(
        _("Annotated file"), suffixes, key=FILE, max_upload_size=50, help=_("The file stays on this machine")
    )
    if uploaded is None:
        say(WANTED[options.format], role="status")
        return None
    split = right.file_uploader(
        _("Choose heads on (optional)"),
        suffixes,
        key=SPLIT,
        max_upload_size=50,
        help=_(
            "Other sentences in the same format, on which the best heads are chosen. Without it they are chosen on "
            "every other sentence of the file and reported on the rest."
        ),
    )
    try:
        with left:
            found = _parsed(uploaded, options.format, f"{FILE}_encoding")
        with right:
            chooser = None if split is None else _parsed(split, options.format, f"{SPLIT}_encoding")
    except Refusal as refusal:
        say(refusal.message)
        return None
    if chooser is not None and chooser.digest == found.digest:
        say(_("Both files hold the same sentences; heads chosen there would look better than they are."))
        return None
    return found, chooser


def _parsed(file: Any, format: str, key: str) -> Corpus:
    """Return the corpus in a file; parse it once, since the page is drawn again at every click."""
    encoding = "" if format == "conllu" else pick_encoding(key, file.file_id, file.name, file.getvalue)
    kept: dict[tuple[str, str, str], Corpus] = st.session_state.setdefault(PARSED, {})
    asked = file.file_id, format, encoding
    if asked not in kept:
        while len(kept) >= 2:  # a corpus and one to choose on
            kept.pop(next(iter(kept)))
        with st.spinner(_("Reading the file")):
            kept[asked] = formats.parse(file.getvalue(), format, encoding)
    return kept[asked]
