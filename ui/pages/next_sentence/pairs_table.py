"""Next sentence page: a table of the visitor's pairs, typed or from a file, with predictions and CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from i18n import _, gettext_lazy, translate
from inference import UserError
from inference.task_heads import NEXT_SENTENCE
from inference.tasks.model_request import PredictRequest
from inference.tasks.predictions import NextSentence, NextSentenceAnswer
from probing.delimited import JSON_LINES, find_delimiter, table_records
from ui.input.text_files import TABLES, decode_table, pick_encoding
from ui.input.unknown_words import refuse_unreadable
from ui.run.notices import show_notice
from ui.run.page_model import PageModel
from ui.run.progress import map_questions
from ui.run.services import get_backend
from ui.show.tables import csv_table, download_table, draw_table, model_provenance

PAIRS, ASKED, SAID, ROUND = "own_pairs", "own_pairs_asked", "own_pairs_said", "own_pairs_round"
# Session keys: the picked encoding; the file and encoding behind the table.
ENCODING, READ_AS = "own_pairs_encoding", "own_pairs_read_as"
MOST = 500  # The maximum number of pairs.
FIRST, SECOND = "first text", "second text"
NAMED = (  # Usual names of both columns in lower case.
    (FIRST, SECOND), ("first_text", "second_text"), ("first", "second"), ("a", "b"), ("text_a", "text_b"),
    ("sentence1", "sentence2"), ("sentence_a", "sentence_b"), ("sentence a", "sentence b"), ("text1", "text2"),
    ("premise", "hypothesis"), ("question1", "question2"), ("question", "sentence"), ("question", "answer"),
    ("text", "pair"), ("text", "text_pair"),
)  # fmt: skip
HEADINGS = {
    FIRST: gettext_lazy("First text"),
    SECOND: gettext_lazy("Second text"),
    "probability": gettext_lazy("Probability"),
    "texts swapped": gettext_lazy("Texts swapped"),
    "remark": gettext_lazy("Remark"),
}
Row = tuple[str, str, float | None, float | None, str]  # Both texts, the probabilities of both orders, the remark.
STARTERS = (  # In each two rows, the second text continues the first text in the first row only.
    ("The kitchen window was broken.", "Somebody had thrown a stone through it."),
    ("The kitchen window was broken.", "The team won the league in 1987."),
    ("The lamp went out.", "We looked for a candle in the dark."),
    ("The lamp went out.", "The party lost nine seats in the election."),
    ("My sister plays the violin.", "She practises every evening."),
    ("My sister plays the violin.", "The river is 90 kilometres long."),
)


def parse(data: bytes, encoding: str = "") -> list[tuple[str, str]]:
    """Return the pairs in a CSV, JSON Lines or Parquet file; raise UserError if it is malformed.

    Pairs come from two columns with usual names, such as premise and hypothesis, else from the first two columns.
    A first row of names is not a pair.

    >>> parse("first text,second text\\na,b\\n".encode())
    [('a', 'b')]
    """
    text = decode_table(data, encoding)
    delimiter = find_delimiter(text)
    rows = list(table_records(text, delimiter))
    names = [name.strip().lower() for name in rows[0][1]] if rows else []
    at = next((places for pair in NAMED if (places := _places(names, pair))), None)
    if at is not None or delimiter == JSON_LINES:
        rows = rows[1:]
    first, second = at or (0, 1)
    width = len(names)
    for line, row in rows:
        if len(row) != width:
            raise UserError(
                gettext_lazy("Line {number} has {fields} columns; the first has {width}.", number=line, fields=len(row),
                         width=width)
            )  # fmt: skip
        if width < 2 or not (row[first].strip() and row[second].strip()):
            raise UserError(gettext_lazy("Line {line} lacks a text; each row needs two.", line=line))
    pairs = [(row[first].strip(), row[second].strip()) for _, row in rows]
    if not pairs:
        raise UserError(gettext_lazy("The file has no pairs; give two texts per row."))
    if len(pairs) > MOST:
        raise UserError(
            gettext_lazy(
                "The file has {pairs:,} pairs; the limit is {most:,}. Split it.",
                pairs=len(pairs),
                most=MOST,
            )
        )
    return pairs


def _places(names: Sequence[str], pair: tuple[str, str]) -> tuple[int, int] | None:
    """Return the indices of both columns of ``pair``; None if a column is missing."""
    return (names.index(pair[0]), names.index(pair[1])) if set(pair) <= set(names) else None


def complete_pairs(rows: Sequence[Mapping[str, Any]]) -> tuple[list[tuple[str, str]], int]:
    """Return the rows in which both texts are filled in, and the number of rows with a single text.

    >>> complete_pairs([{FIRST: "a", SECOND: "b"}, {FIRST: "a", SECOND: None}, {FIRST: None, SECOND: None}])
    ([('a', 'b')], 1)
    """
    cells = [(str(row.get(FIRST) or "").strip(), str(row.get(SECOND) or "").strip()) for row in rows]
    return [pair for pair in cells if all(pair)], sum(any(pair) and not all(pair) for pair in cells)


def own_pairs(who: PageModel) -> None:
    """Draw the table in which the visitor types or uploads pairs of texts, and the predictions for them."""
    state = st.session_state
    given = state.setdefault(PAIRS, list(STARTERS))
    st.header(_("Your own pairs"))
    edited = st.data_editor(
        [{FIRST: first, SECOND: second} for first, second in given],
        key=f"own_pairs_{state.setdefault(ROUND, 0)}",
        num_rows="dynamic",
        hide_index=True,
        column_config={name: st.column_config.TextColumn(translate(HEADINGS[name])) for name in (FIRST, SECOND)},
        alt=_("Pairs of texts, editable"),
    )
    pairs, halves = complete_pairs(edited)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.button(
            _("Judge these pairs"),
            key="judge_pairs",
            type="primary",
            on_click=lambda: state.update({ASKED: tuple(pairs[:MOST])}),
            help=_("Judges each pair in both orders; you can stop and continue."),
        )
        with st.popover(_("Open a file"), help=_("CSV, TSV, JSON Lines or Parquet")):
            st.file_uploader(
                _("File of pairs"),
                type=TABLES,
                key="pairs_file",
                max_upload_size=5,
                help=_("Two columns of texts; at most {most} rows", most=MOST),
            )
            if (uploaded := state.get("pairs_file")) is not None:
                encoding = pick_encoding(ENCODING, uploaded.file_id, uploaded.name, uploaded.getvalue)
                if state.get(READ_AS) != (uploaded.file_id, encoding):
                    state[READ_AS] = uploaded.file_id, encoding
                    _take_file(uploaded.getvalue(), encoding)
                    st.rerun()
    for problem in state.pop(SAID, []):
        show_notice(problem)
    show_notice(_describe_counts(len(pairs), halves), role="status")
    asked = state.get(ASKED)
    if asked:
        _judge(who, asked)


def _describe_counts(pairs: int, halves: int) -> str:
    """Return a sentence on the number of pairs and of incomplete rows."""
    return _("{pairs} pairs (at most {most}); incomplete rows: {halves}.", pairs=pairs, most=MOST, halves=halves)


def summary(title: str, rows: Sequence[Row]) -> str:
    """Return a sentence on the number of pairs with a probability of at least 0.5.

    Pairs without a prediction are not counted.

    >>> summary("BERT", [("a", "b", 0.9, 0.8, ""), ("c", "d", None, None, "It is too long.")])
    'In 1 of 1 pairs, BERT gives at least 0.5 that the second text follows.'
    """
    chances = [chance for _, _, chance, _, _ in rows if chance is not None]
    if not chances:
        return _("{model} cannot judge these pairs; see the remarks.", model=title)
    likely = sum(chance >= 0.5 for chance in chances)
    return _(
        "In {likely} of {pairs} pairs, {model} gives at least 0.5 that the second text follows.",
        model=title,
        likely=likely,
        pairs=len(chances),
    )


def _judge_pair(question: PredictRequest[NextSentenceAnswer]) -> tuple[float | None, str]:
    """Return the probability of a pair and ""; None and the reason if the text is refused.

    Raise UserError for refusals that concern all pairs, such as a missing model.
    """
    try:
        judged = get_backend().predict(question)
        refuse_unreadable(judged.row, question.model, "encoder", NEXT_SENTENCE)
        return judged.probability, ""
    except UserError as refusal:
        if refusal.way_out not in ("text", "cut", "reads"):
            raise
        return None, refusal.message


def _take_file(content: bytes, encoding: str) -> None:
    """Put the pairs of an uploaded file into the table, or keep its error for the next run."""
    state = st.session_state
    try:
        state[PAIRS] = parse(content, encoding)
    except UserError as refusal:
        state[SAID] = [refusal.message]
        return
    state[ROUND] += 1  # A new widget key resets the editor, so that earlier typing does not apply to the new rows.
    state[ASKED] = ()


def _judge(who: PageModel, pairs: Sequence[tuple[str, str]]) -> None:
    """Request predictions for both orders of every pair and draw the results so far."""
    questions = [
        NextSentence(model=who.model, revision=who.revision, text=first, pair=second)
        for pair in pairs
        for first, second in (pair, pair[::-1])
    ]
    found = map_questions(questions, _("Running the model"), _judge_pair)
    rows = [
        (*pair, found[2 * at][0], found[2 * at + 1][0], found[2 * at][1])
        for at, pair in enumerate(pairs)
        if len(found) >= 2 * at + 2
    ]
    if not rows:
        return
    show_notice(summary(who.title, rows), "status")
    columns = tuple(HEADINGS)
    draw_table(
        {name: [row[at] for row in rows] for at, name in enumerate(columns)},
        column_config={name: translate(heading) for name, heading in HEADINGS.items()},
    )
    download_table(csv_table(columns, rows), "headlight-pairs.csv", key="pairs_save", provenance=model_provenance())
