"""The worksheet of a lesson: every question with the figures and numbers that it needs, and the reader's answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import streamlit as st

from attention.view import View
from i18n import _, active_language, translate
from inference import UserError
from lessons.answer_key import CheckContext, Unanswerable, check_head, place
from lessons.model_checks import cross_attention
from lessons.schema import LessonQuestion, LessonStep
from lessons.sheet import Block, Choices, Figure, Heading, Prose, Quotation, Room, Table, in_html, in_markdown
from lessons.steps import VIEW, markdown_of
from ui.pages.lessons.views import empty_view, model_title, withheld_part
from ui.run.current_lesson import NamedLesson, choice_of
from ui.run.lesson_answers import StepAnswer, adopt_draft, answer_at, count_answered, forget
from ui.show.sections import open_section
from ui.show.tables import csv_table, download_button
from ui.show.text import escape_markdown, join_sentences
from ui.state.navigation import title_of, view_named
from ui.state.view_state import ViewState
from viz.static.head import picture_of_heads
from viz.static.shapes import svg

MOST = 40  # words of a table
MOST_ROWS = 6  # words whose weights a table has
MOST_CELLS = 100_000  # weights in the maps of all heads together
FREE_LINES = 4  # lines for a free answer on paper
SHEET = "lesson_sheet"  # Session key: the lesson, language and answers of the last worksheets, and their blocks.
# Checks that the printed numbers or maps answer; the other checks need a view of the app
PRINTED = ("most_looked_at", "weight", "usual", "weight_rank", "source_of", "across")
ALL_HEADS = (
    "head_linking", "head_giving_most", "head_at_offset", "heads_preferring", "heads_turning", "most_to_later",
    "share_to_later",
)  # fmt: skip


def draw_worksheet(known: NamedLesson) -> None:
    """Draw the buttons that save the worksheet; its numbers are computed while its section is open."""
    answered, asked = count_answered(known)
    label = _("Worksheet: {answered} of {asked} answered", answered=answered, asked=asked)
    section = open_section(label, "worksheet")
    if section is None:
        return
    with section:
        _draw_files(known)
        with st.popover(_("Forget my answers"), help=_("The lesson starts again")):
            about = _("This cannot be undone")
            st.button(_("Confirm"), key="lesson_forget", on_click=forget, args=(known.name,), help=about)


def _draw_files(known: NamedLesson) -> None:
    empty, blocks = _current_worksheets(known)
    with st.container(horizontal=True):
        draw_print_button(known, empty, "headlight-empty-worksheet.html", _("Print empty sheet"))
        draw_print_button(known, blocks, "headlight-worksheet.html", _("Print my answers"))
        download_button(
            _("Save the worksheet"),
            in_markdown(blocks),
            "headlight-worksheet.md",
            _("Every question with your answer, as text"),
            kind="text/markdown",
            key="worksheet_text",
        )
        rows = [
            (
                at + 1,
                markdown_of(step.title),
                found.text,
                _verdict(found),
                found.tries,
                found.hints,
                _own_text(step, found),
            )
            for at, step, _ask, found in _question_steps(known)
        ]
        names = ("step", "title", "answer", "right", "tries", "hints", "own_text")
        download_button(
            _("Save as CSV"),
            csv_table(names, rows),
            "headlight-worksheet.csv",
            _("Table"),
            key="worksheet_table",
        )


def _current_worksheets(known: NamedLesson) -> tuple[list[Block], list[Block]]:
    """Return the empty worksheet, and the worksheet of the answers so far.

    Their maps take a second, so they are made again only if the lesson, an answer or the language has changed.
    """
    source = (known, active_language(), _question_steps(known))
    if SHEET not in st.session_state or st.session_state[SHEET][0] != source:
        st.session_state[SHEET] = (source, worksheets(known))
    blocks: tuple[list[Block], list[Block]] = st.session_state[SHEET][1]
    return blocks


def draw_print_button(known: NamedLesson, blocks: Sequence[Block], file: str, label: str) -> None:
    """Draw the button that saves a sheet of a lesson as ``file``, an HTML page."""
    page_title, help = markdown_of(known.lesson.title), _("Opens the print dialog, with formulas and figures")
    download_button(label, in_html(page_title, blocks, active_language()), file, help, kind="text/html", key=file)


def worksheets(known: NamedLesson) -> tuple[list[Block], list[Block]]:
    """Return the empty worksheet, and the worksheet with the reader's answers.

    Both contain the text of each step, and each question with its figures and numbers.
    """
    empty: list[Block] = [Heading(markdown_of(known.lesson.title), 1), Room(_("Name"))]
    answered = [*empty]
    for at, step in enumerate(known.lesson.steps):
        question = step.question
        if question is None:
            text = _step_text(at, step)
            empty, answered = [*empty, *text], [*answered, *text]
            continue
        found = adopt_draft(question, answer_at(known.name, at))
        own, views = _own_text(step, found), list(view_blocks(step, question))
        empty += _question_blocks(at, step, question, StepAnswer(), views)
        answered += _question_blocks(
            at, step, question, found, list(view_blocks(step, question, own)) if own else views
        )
    return empty, answered


def _question_blocks(
    at: int, step: LessonStep, question: LessonQuestion, found: StepAnswer, views: list[Block]
) -> Iterator[Block]:
    """Yield a question of the worksheet with its ``views``, and with the answer ``found`` or room for an answer."""
    yield from (*_step_text(at, step), *views)
    yield Prose(_("**Question.** {ask}", ask=markdown_of(question.ask)))
    if own := _own_text(step, found):
        yield Quotation(_("Read: {text}", text=own))
    yield _answer_block(question, found)
    # A word that a class typed may have a verdict without the sentence behind it.
    if said := join_sentences(_verdict(found), translate(found.said) if found.is_over else ""):
        yield Prose(said)


def _step_text(at: int, step: LessonStep) -> tuple[Block, Block]:
    """Return the title and the text of a step."""
    return Heading(f"{at + 1}. {markdown_of(step.title)}", 2), Prose(markdown_of(step.text))


def _own_text(step: LessonStep, found: StepAnswer) -> str:
    """Return the text by which the reader replaced that of the step; "" if the reader did not, or could not."""
    is_replaced = step.view is not None and step.view.yours and found.read != choice_of(step.view).text
    return found.read if is_replaced else ""


def _answer_block(question: LessonQuestion, found: StepAnswer) -> Block:
    """Return the choices with the chosen one ticked, the answer as a quotation, or room for an answer."""
    if question.kind == "choice":
        return Choices(tuple((markdown_of(text), key == found.answer) for key, text in question.choices))
    if found.text:
        return Quotation(found.text)
    return Room(_("Your answer"), FREE_LINES if question.kind == "text" else 1)


def view_blocks(step: LessonStep, question: LessonQuestion, own: str = "") -> Iterator[Block]:
    """Yield the parts of the worksheet that a question needs: the model, the text and the figures.

    If there are no figures to print, name the page of the app that has them. Numbers that would give away the answer of
    a prediction are left out. ``own`` is the reader's own text, which replaces the text of a step that allows it.
    """
    if step.view is None:
        return
    name, asked = view_named(step.view.page), empty_view(step.view).asked
    is_hidden = withheld_part(step) == VIEW
    printed: list[Block] = []
    if "text" in dict(step.view.query) and not own:
        choice = choice_of(step.view)
        yield Prose(_("Model: {name}", name=escape_markdown(model_title(choice.model))))
        yield Quotation(choice.text)
        if choice.pair:
            yield Quotation(choice.pair)
        try:
            printed = [] if step.view.yours or is_hidden else list(_figures(step, question, choice, asked))
        except (Unanswerable, UserError):
            printed = []  # the page of the app has the numbers, or the reason why there are none
    yield from printed
    if not printed and name is not None and not is_hidden:
        link = _("Attention heads") if name == "explore" else translate(title_of(name))
        yield Prose(_("Open this view in the app: {link}", link=link))


def question_tables(step: LessonStep, question: LessonQuestion) -> list[Table]:
    """Return the tables that the worksheet prints for a question, without maps, which take a second."""
    if question.check is not None and question.check.check in ALL_HEADS:
        return []
    return [block for block in view_blocks(step, question) if isinstance(block, Table)]


def _figures(step: LessonStep, question: LessonQuestion, choice: ViewState, asked: CheckContext) -> Iterator[Block]:
    """Yield the tables and maps that a question needs; nothing if only a page of the app has them."""
    assert step.view is not None
    check = question.check.check if question.check is not None else None
    given = dict(question.check.given) if question.check is not None else {}
    if view_named(step.view.page) == "translate" and (check is None or check in PRINTED):
        yield _alignment(asked, choice)
    elif check in ALL_HEADS:
        for text in (choice.text, given["other"]) if "other" in given else (choice.text,):
            view = asked.reads({"text": text}).view()
            if view.layers * view.heads * len(view.queries) * len(view.keys) <= MOST_CELLS:
                yield Figure(text, svg(picture_of_heads(view), 0))
    elif view_named(step.view.page) == "explore" and (check is None or check in PRINTED):
        layer, head = given.get("layer", choice.layer), given.get("head", choice.head)
        words, to = _table_words(step, question, asked.view())
        if layer is not None and head is not None and (words or to):
            yield _weights(asked.view(), (layer, head), words, to)


def _table_words(step: LessonStep, question: LessonQuestion, view: View) -> tuple[list[str], str]:
    """Return the words whose rows a question needs, and the word whose column it needs, or "".

    These are the words of the check, those highlighted in the view, and others that the step's text quotes.
    """
    assert step.view is not None
    given = dict(question.check.given) if question.check is not None else {}
    highlight = (*step.view.highlight, "", "")
    to = str(given.get("to", "" if question.kind == "token" else highlight[1]))  # a token may be the answer
    quoted = re.findall("“([^“”]+)”", markdown_of(step.text) + markdown_of(question.ask))
    others = (word for word in quoted if word.casefold() != to.casefold())
    words: dict[str, str] = {}
    for word in (str(given.get("word", "")), highlight[0], *others):
        words.setdefault(word.casefold(), word)
    return [word for word in words.values() if _has(view, word)][:MOST_ROWS], to


def _has(view: View, word: str) -> bool:
    try:
        place(view.queries, word)
    except Unanswerable:
        return False
    return True


def _weights(view: View, chosen: tuple[int, int], words: Sequence[str], to: str) -> Table:
    """Return a table of a head's weights: a column for the row of each word, and one for the column of ``to``."""
    layer, head = chosen
    check_head(view, layer, head)
    weights = view.weights(layer, head)
    columns = [weights[place(view.queries, word)] for word in words]
    names = [f"{word} →" for word in words]
    if to and len(view.queries) == len(view.keys):
        columns.append(weights[:, place(view.keys, to)])
        names.append(f"→ {to}")
    title = _("Head {layer}-{head}", layer=layer, head=head)
    rows = zip([cell.label for cell in view.keys[:MOST]], *columns, strict=False)
    return Table((title, *names), tuple((label, *map(_format_weight, line)) for label, *line in rows))


def _format_weight(weight: float) -> str:
    """Return a weight with three digits, so that those of a row sum to 1.00.

    >>> _format_weight(0.0004)
    '0.000'
    """
    return f"{weight:.3f}"


def _alignment(asked: CheckContext, choice: ViewState) -> Table:
    """Return a table of the cross-attention that the view shows."""
    layer = len(asked.trace().records("cross")) - 1 if choice.layer is None else choice.layer
    head = -1 if choice.layer is None or choice.head is None else choice.head
    weights, found = cross_attention(asked, layer, head)
    title = (
        _("Layer {layer} · all heads together", layer=layer)
        if head < 0
        else _("Head {layer}-{head}", layer=layer, head=head)
    )
    columns, rows = ([cell.label for cell in cells[:MOST]] for cells in (found.source, found.target))
    cells = zip(rows, weights[:MOST, :MOST], strict=False)
    return Table((title, *columns), tuple((row, *map(_format_weight, line)) for row, line in cells))


def _verdict(found: StepAnswer) -> str:
    return "" if found.right is None else _("Right.") if found.right else _("Not right.")


def _question_steps(known: NamedLesson) -> list[tuple[int, LessonStep, LessonQuestion, StepAnswer]]:
    """Return (index, step, question, answer) of each step with a question."""
    return [
        (at, step, step.question, adopt_draft(step.question, answer_at(known.name, at)))
        for at, step in enumerate(known.lesson.steps)
        if step.question is not None
    ]
