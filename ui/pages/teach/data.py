"""Teach page: the choice of a data set, a preview of its rows and the counts of its labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from i18n import _, gettext_lazy, translate
from probing.labelled import ready_sets
from probing.labelled.data_checks import Balance, Duplicates, balance, duplicates, preview
from probing.labelled.evaluation import spans
from probing.labelled.labeled_texts import LabeledDataset, LabeledText, TaggedText
from probing.labelled.ready_sets import DatasetCard
from ui.input.controls import bound_widget
from ui.pages.teach.options import OWN, TeachOptions
from ui.pages.teach.own_files import OwnData, own_files
from ui.run.notices import show_notice
from ui.show.tables import draw_table
from ui.show.text import join_sentences

CHECKED = "teach_checked"
HEIGHT = 285  # In pixels: seven rows of a table.
SHOWN = 14  # The number of rows in the preview.
NARROW = 52  # In pixels: the width of a column of numbers, so that all columns fit on a phone.


@dataclass(frozen=True, eq=False)
class TaskData:
    """A labelled data set with the results of its checks."""

    key: str  # The key identifies the data in caches.
    title: str
    labels: LabeledDataset
    card: DatasetCard | None  # The card is None for own files.
    source: str  # The names of the files.
    notes: tuple[str, ...]  # A description or the notes from parsing, and the numbers of rows.
    balance: Balance
    duplicates: Duplicates


def pick_data(options: TeachOptions, place: DeltaGenerator) -> TaskData | None:
    """Draw the data set selector in ``place``, with the controls for own files.

    Return the chosen data; None until files are uploaded and parsed.
    """
    titles = {card.id: card.title for card in ready_sets.CARDS} | {OWN: _("Own files")}
    bound_widget(TeachOptions, "data", place.selectbox, options=list(titles), format_func=titles.get)
    if options.data != OWN:
        return _load_card(options.data)
    brought = own_files(options)
    return None if brought is None else _check_own_files(brought)


def show_data(data: TaskData) -> None:
    """Draw the description, the licence and the tables of a data set."""
    _draw_description(data)
    _tables(data)


@cache
def _load_card(card_id: str) -> TaskData:
    """Load a data set that comes with the app, with its checks; the result is cached for all sessions."""
    card, labels = ready_sets.BY_ID[card_id], ready_sets.load(card_id)
    said = (card.sentence, _sizes(labels))
    return TaskData(card_id, card.title, labels, card, "", said, balance(labels), duplicates(labels))


def _check_own_files(brought: OwnData) -> TaskData:
    """Return the visitor's own files with their checks, cached in the session."""
    kept: TaskData | None = st.session_state.get(CHECKED)
    if kept is None or kept.key != brought.key:
        labels, read = brought.content.labels, brought.content.notes
        # The notes of a file that was split already contain the numbers of rows.
        said = (*read, _sizes(labels)) if brought.whole else read
        with st.spinner(_("Checking the data")):
            kept = TaskData(
                brought.key, brought.name, labels, None, brought.source, said, balance(labels), duplicates(labels)
            )
        st.session_state[CHECKED] = kept
    return kept


def _sizes(labels: LabeledDataset) -> str:
    """Return a lazy message with the numbers of train, dev and test rows."""
    return gettext_lazy(
        "Rows: {train:,} train, {dev:,} dev, {test:,} test.",
        train=len(labels.train),
        dev=len(labels.dev),
        test=len(labels.test),
    )


def _draw_description(data: TaskData) -> None:
    """Show the notes and the label balance, and the licence and source of a built-in data set."""
    card = data.card
    parts = map(translate, (*data.notes, data.balance.sentence))
    show_notice(join_sentences(*parts), role="status")
    if card is not None:
        st.caption(
            _(
                "Licence: [{licence}]({licence_address}). Source: {source}. {attribution} {citation}.",
                licence=card.licence,
                licence_address=card.licence_address,
                source=card.source,
                attribution=card.attribution,
                citation=card.citation,
            )
        )


def _tables(data: TaskData) -> None:
    """Draw a preview of the rows, and the counts of each class or entity type in each split."""
    left, right = st.columns([3, 2])
    rows = preview(data.labels, SHOWN)
    tags = data.labels.kind == "tag"
    draw_table(
        place=left,
        columns={
            "names in it" if tags else "label": [answer_of(row) for row in rows],
            "text": [row.text for row in rows],
        },
        height=HEIGHT,
        column_config={
            "names in it": _("entities"),
            "label": _("label"),
            "text": st.column_config.TextColumn(_("text"), width="large"),
        },
        key="teach_preview",
    )
    counts = data.balance.counts
    names = list(counts["train"])
    most = max(counts["train"].values(), default=1)
    draw_table(
        place=right,
        columns={"kind" if tags else "class": names}
        | {part: [found[name] for name in names] for part, found in counts.items()},
        height=HEIGHT,
        column_config={
            "kind": _("kind"),
            "class": _("class"),
            "train": st.column_config.ProgressColumn(format="%d", min_value=0, max_value=most, width=NARROW + 70),
            "dev": st.column_config.NumberColumn(width=NARROW),
            "test": st.column_config.NumberColumn(width=NARROW),
        },
        key="teach_balance",
    )


def answer_of(row: LabeledText | TaggedText) -> str:
    """Return the label of a text, or the entities of a tagged text.

    >>> answer_of(TaggedText("Ann sings", ((0, 3), (4, 9)), ("B-PER", "O"))), answer_of(LabeledText("So good.", "for"))
    ('PER: Ann', 'for')
    """
    if isinstance(row, LabeledText):
        return row.label
    found = [(kind, row.words[first][0], row.words[last - 1][1]) for kind, first, last in spans(row.tags)]
    return " · ".join(f"{kind}: {row.text[start:end]}" for kind, start, end in found)
