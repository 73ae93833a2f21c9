"""The worksheet of a lesson: a file with every question, the numbers that it needs, and the reader's answers."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from attention.mask import FloatArray
from i18n import _, translate
from inference import UserError
from lessons.answer_key import CheckContext, Unanswerable, check_head, place
from lessons.model_checks import cross_attention
from lessons.schema import LessonQuestion, LessonStep
from lessons.steps import VIEW, markdown_of
from ui.pages.lessons.answers import StepAnswer, answer_at, count_answered, forget
from ui.pages.lessons.current_lesson import NamedLesson
from ui.pages.lessons.views import choice_of, empty_view, withheld_part
from ui.show.tables import csv_table, download_button
from ui.state.navigation import view_named
from ui.state.view_state import ViewState

ROOM = "_" * 60  # room for an answer on paper
MOST = 40  # words of a table


def draw_worksheet(known: NamedLesson) -> None:
    """Draw the buttons that save the worksheet; its numbers are computed while the part is open."""
    answered, asked = count_answered(known)
    label = _("Worksheet: {answered} of {asked} questions", answered=answered, asked=asked)
    folded = st.expander(label, key="worksheet", on_change="rerun")
    if not folded.open:
        return
    with folded:
        _draw_files(known)
        st.button(
            _("Forget my answers"),
            on_click=forget,
            args=(known.name,),
            help=_("All answers of this lesson are forgotten, and it begins anew"),
        )


def _draw_files(known: NamedLesson) -> None:
    with st.container(horizontal=True):
        download_button(
            _("Save the worksheet"),
            in_markdown(known),
            "headlight-worksheet.md",
            _("Every question with your answer, as text"),
            kind="text/markdown",
            key="worksheet_text",
        )
        rows = [
            (at + 1, markdown_of(step.title), found.text, _verdict(found), found.tries, found.hints, found.read)
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


def in_markdown(known: NamedLesson) -> str:
    """Return the worksheet as Markdown: questions with their step's text and numbers, and answers or room for them."""
    lines = [f"# {markdown_of(known.lesson.title)}", ""]
    for at, step, question, found in _question_steps(known):
        lines += [f"## {at + 1}. {markdown_of(step.title)}", "", markdown_of(step.text).strip(), ""]
        lines += [*_view_lines(step), f"**{markdown_of(question.ask)}**", ""]
        lines += [_("Read: {text}", text=found.read), ""] if found.read else []
        lines += [*_answer_lines(question, found), ""]
        if found.is_over and found.said:
            lines += [f"{_verdict(found)} {translate(found.said)}".strip(), ""]
    return "\n".join(lines)


def _answer_lines(question: LessonQuestion, found: StepAnswer) -> list[str]:
    """Return the choices with the chosen one ticked, the answer as a quotation, or room for an answer."""
    if question.kind == "choice":
        return [f"- [{'x' if key == found.answer else ' '}] {markdown_of(text)}" for key, text in question.choices]
    return [f"> {line}" for line in found.text.splitlines()] or [_("Your answer") + f": {ROOM}"]


def _view_lines(step: LessonStep) -> list[str]:
    """Return the model, the text and the numbers of a step's view; nothing that a prediction must not see."""
    if step.view is None or step.view.yours or withheld_part(step) == VIEW:
        return []
    if "text" not in dict(step.view.query):
        return []
    choice, asked = choice_of(step.view), empty_view(step.view).asked
    lines = [_("Model: {name}", name=choice.model), "", f"> {choice.text}", ""]
    try:
        name = view_named(step.view.page)
        if name == "explore" and step.view.highlight and choice.layer is not None and choice.head is not None:
            return lines + _weights(asked, choice.layer, choice.head, step.view.highlight)
        return lines + _alignment(asked, choice) if name == "translate" else lines
    except (Unanswerable, UserError):
        return lines  # the lesson can be answered without the numbers, in the app


def _weights(asked: CheckContext, layer: int, head: int, words: Sequence[str]) -> list[str]:
    """Return a table of a head's weights from the first of the words, and to the second if there is one."""
    view = asked.view()
    check_head(view, layer, head)
    weights = view.weights(layer, head)
    columns = [weights[place(view.queries, words[0])]]
    names = [f"{words[0]} →"]
    if len(words) > 1 and len(view.queries) == len(view.keys):
        columns.append(weights[:, place(view.keys, words[1])])
        names.append(f"→ {words[1]}")
    shown = [[float(column[at]) for column in columns] for at in range(min(len(view.keys), MOST))]
    title = _("Head {layer}-{head}", layer=layer, head=head)
    return _table(title, names, [cell.label for cell in view.keys], shown)


def _alignment(asked: CheckContext, choice: ViewState) -> list[str]:
    """Return a table of the cross-attention that the view shows."""
    layer = len(asked.trace().records("cross")) - 1 if choice.layer is None else choice.layer
    head = -1 if choice.layer is None or choice.head is None else choice.head
    weights, found = cross_attention(asked, layer, head)
    title = (
        _("Layer {layer} · all heads together", layer=layer)
        if head < 0
        else _("Head {layer}-{head}", layer=layer, head=head)
    )
    return _table(
        title, [cell.label for cell in found.source], [cell.label for cell in found.target], weights[:MOST, :MOST]
    )


def _table(
    title: str, columns: Sequence[str], rows: Sequence[str], weights: FloatArray | list[list[float]]
) -> list[str]:
    """Return a Markdown table of weights with two digits, and an empty line."""
    names = [title, *columns[:MOST]]
    body = [[row, *(f"{weight:.2f}" for weight in line)] for row, line in zip(rows, weights, strict=False)]
    lines = [names, ["---"] * len(names), *body]
    return [*(f"| {' | '.join(map(_escape_cell, line))} |" for line in lines), ""]


def _escape_cell(text: str) -> str:
    """Escape the characters that end a cell or begin a tag.

    >>> _escape_cell("</s>"), _escape_cell("a|b")
    ('\\\\</s>', 'a\\\\|b')
    """
    return text.replace("|", "\\|").replace("<", "\\<")


def _verdict(found: StepAnswer) -> str:
    return "" if found.right is None else _("Right.") if found.right else _("Not right.")


def _question_steps(known: NamedLesson) -> list[tuple[int, LessonStep, LessonQuestion, StepAnswer]]:
    """Return (index, step, question, answer) of each step with a question."""
    return [
        (at, step, step.question, answer_at(known.name, at))
        for at, step in enumerate(known.lesson.steps)
        if step.question is not None
    ]
