"""Teach page: the data set, a preview of its rows, its label counts and its checks."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from i18n import _, gettext_lazy, translate
from inference import UserError
from inference.tasks.hidden_states import TextSizes
from probing.labelled import ready_sets
from probing.labelled.data_checks import (
    Balance,
    Duplicates,
    LengthFit,
    Measure,
    balance,
    duplicates,
    fit,
    passage_texts,
    preview,
    question_texts,
)
from probing.labelled.evaluation import spans
from probing.labelled.labeled_texts import LabeledDataset, LabeledText, TaggedText
from probing.labelled.ready_sets import DatasetCard
from probing.labelled.squad import QuestionSet
from ui.input.controls import bound_widget
from ui.pages.teach.options import OWN, TeachOptions
from ui.pages.teach.own_files import OwnData, own_files
from ui.run.downloading import draw_offer
from ui.run.notices import show_notice
from ui.run.services import get_backend
from ui.show.tables import draw_table
from ui.show.text import join_sentences
from ui.state.session import get_view_state

CHECKED = "teach_checked"
HEIGHT = 285  # In pixels: seven rows of a table.
SHOWN = 14  # The number of rows in the preview.
MOST_SHOWN = 300  # The number of characters of a passage in the preview.
NARROW = 52  # In pixels: the width of a column of numbers, so that all columns fit on a phone.
FIT = "teach_fit"
ENDS = 2  # The special tokens around a text that is read by characters.


@dataclass(frozen=True, eq=False)
class TaskData:
    """A labelled data set with the results of its checks."""

    key: str  # The key identifies the data in caches.
    title: str
    labels: LabeledDataset | QuestionSet
    card: DatasetCard | None  # The card is None for own files.
    source: str  # The names of the files.
    notes: tuple[str, ...]  # A description or the notes from parsing, and the numbers of rows.
    balance: Balance | None  # The balance is None for questions.
    duplicates: Duplicates


def pick_data(options: TeachOptions, place: DeltaGenerator) -> TaskData | None:
    """Draw the widgets that select the data set in ``place``, with those for own files.

    Return the chosen data; None until files are uploaded and parsed.
    """
    titles = {card.id: card.title for card in (*ready_sets.CARDS, ready_sets.QUESTIONS)} | {OWN: _("Your file")}
    bound_widget(TeachOptions, "data", place.selectbox, options=list(titles), format_func=titles.get)
    if options.data == ready_sets.QUESTIONS.id:
        return _load_questions(options.seed)
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


@lru_cache(4)
def _load_questions(seed: int) -> TaskData:
    """Load our questions, divided with the seed; the result is cached for all sessions."""
    card, labels = ready_sets.QUESTIONS, ready_sets.load_questions(seed)
    said = (card.sentence, *labels.notes)
    return TaskData(f"{card.id} {seed}", card.title, labels, card, "", said, None, duplicates(passage_texts(labels)))


def _check_own_files(brought: OwnData) -> TaskData:
    """Return the visitor's own files with their checks, cached in the session."""
    kept: TaskData | None = st.session_state.get(CHECKED)
    if kept is None or kept.key != brought.key:
        labels = brought.content if isinstance(brought.content, QuestionSet) else brought.content.labels
        read = brought.content.notes
        # The notes of a file that was split already contain the numbers of rows.
        said = (*read, _sizes(labels)) if brought.whole else read
        with st.spinner(_("Checking the data")):
            counted = None if isinstance(labels, QuestionSet) else balance(labels)
            again = duplicates(passage_texts(labels) if isinstance(labels, QuestionSet) else labels)
            kept = TaskData(brought.key, brought.name, labels, None, brought.source, said, counted, again)
        st.session_state[CHECKED] = kept
    return kept


def _sizes(labels: LabeledDataset | QuestionSet) -> str:
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
    balanced = () if data.balance is None else (data.balance.sentence,)
    parts = map(translate, (*data.notes, *balanced))
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
    if isinstance(data.labels, QuestionSet):
        _draw_questions(data.labels)
        return
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
            "names in it": _("Label"),
            "label": _("Label"),
            "text": st.column_config.TextColumn(_("Text"), width="large"),
        },
        key="teach_preview",
    )
    counts = {} if data.balance is None else data.balance.counts
    names = list(counts["train"])
    most = max(counts["train"].values(), default=1)
    draw_table(
        place=right,
        columns={"kind" if tags else "class": names}
        | {part: [found[name] for name in names] for part, found in counts.items()},
        height=HEIGHT,
        column_config={
            "kind": _("Label"),
            "class": _("Label"),
            "train": st.column_config.ProgressColumn(format="%d", min_value=0, max_value=most, width=NARROW + 70),
            "dev": st.column_config.NumberColumn(width=NARROW),
            "test": st.column_config.NumberColumn(width=NARROW),
        },
        key="teach_balance",
    )


def _draw_questions(questions: QuestionSet) -> None:
    """Draw a preview of the questions with their answers and passages."""
    shown = questions.train[:SHOWN]
    answers = [" · ".join(dict.fromkeys(answer.text for answer in row.answers)) or _("no answer") for row in shown]
    draw_table(
        columns={
            "question": [row.question for row in shown],
            "answer": answers,
            "passage": [row.passage[:MOST_SHOWN] for row in shown],
        },
        height=HEIGHT,
        column_config={"question": _("Question"), "answer": _("Answer"), "passage": _("Passage")},
        key="teach_preview",
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


def checks(data: TaskData, model: str | None, revision: str | None, length: int) -> None:
    """Show notices about duplicates, truncated texts and unknown tokens.

    Offer the download of the tokenizer if it is missing. ``model`` is None for the character-level model, which has no
    tokenizer before its training.
    """
    show_notice(data.duplicates.sentence, role="status")
    try:
        found = _fit(data, model, revision, length)
        if not isinstance(data.labels, QuestionSet):  # Passages are read in windows and never cut.
            show_notice(found.sentence, role="status")
        if found.unreadable and model is not None:
            show_notice(found.unreadable)
    except UserError as refusal:
        if refusal.way_out == "download" and model is not None:
            draw_offer(replace(get_view_state(), model=model, revision=revision or ""), refusal.details["offer"])
        else:
            show_notice(refusal.message)


def _fit(data: TaskData, model: str | None, revision: str | None, length: int) -> LengthFit:
    """Return how the texts fit the model's length and vocabulary, cached in the session.

    Raise UserError if the tokenizer cannot be read.
    """
    key = (data.key, model, revision, length)
    kept: tuple[object, LengthFit] | None = st.session_state.get(FIT)
    if kept is None or kept[0] != key:
        texts = question_texts(data.labels) if isinstance(data.labels, QuestionSet) else data.labels
        measure = by_characters(texts.train) if model is None else _count_tokens_with(model, revision)
        with st.spinner(_("Checking the data")):
            kept = st.session_state[FIT] = (key, fit(texts, measure, length))
    return kept[1]


def _count_tokens_with(model: str, revision: str | None) -> Measure:
    """Return a measure that counts the tokens and unknown tokens of texts with the model's tokenizer."""

    def measure(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
        sizes = get_backend().inspect(TextSizes(model=model, revision=revision, texts=tuple(texts)))
        return zip(sizes.tokens.tolist(), sizes.unknown.tolist(), strict=True)

    return measure


def by_characters(train: Sequence[LabeledText] | Sequence[TaggedText]) -> Measure:
    """Return a function that yields (characters, unknown characters) of each text.

    A character is unknown if it occurs fewer than two times in the train rows; Unicode width and case are ignored. ENDS
    is added to the number of characters for the special tokens.

    >>> list(by_characters([LabeledText("大家好", "a"), LabeledText("大好", "b")])(["大 家"]))
    [(4, 1)]
    """
    seen = Counter(character for row in train for character in _read(row.text))

    def measure(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
        for text in map(_read, texts):
            yield len(text) + ENDS, sum(seen[character] < 2 for character in text)

    return measure


def _read(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).lower().split())
