"""The teacher's page of a lesson with the answer key, and the editor of the reader's own lesson."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlencode

import streamlit as st

from i18n import _, error_message, translate
from inference import UserError
from lessons.answer_key import CheckedAnswer, Unanswerable
from lessons.checks import CHECKS, Check
from lessons.library import ORDER, check_help, come_along, format_help, pack_lesson, source, template
from lessons.reading import MOST_BYTES, Fault
from lessons.schema import Lesson, LessonQuestion, LessonStep, Teacher
from lessons.sheet import Block, Heading, Prose, Quotation
from lessons.steps import format_answer, markdown_of, right_answer
from ui.input.text_files import decode
from ui.pages.lessons.class_questions import POLLED, is_polled
from ui.pages.lessons.views import StepView, empty_view, model_title, shows_answer
from ui.pages.lessons.worksheet import draw_print_button, question_tables
from ui.run.current_lesson import (
    OWN,
    PLAY,
    LessonsOptions,
    NamedLesson,
    draft,
    draw_markdown,
    is_replaced,
    parse_lesson,
    play_draft,
    replace_draft,
    restore_draft,
    store_draft,
)
from ui.run.network import is_open, shared_origins
from ui.run.notices import show_notice
from ui.run.progress import stoppable_steps
from ui.show.tables import download_button
from ui.show.text import escape_markdown, format_and_list
from ui.show.views import link_to_view
from ui.state.navigation import BY_VIEW, title_of, view_named
from ui.state.params import set_params
from viz.components.base_path import BASE

KeyBlocks = list[Heading | Prose | Quotation]


def draw_teachers_key(known: NamedLesson) -> None:
    """Draw the teacher's key, with the button that saves it as a page to print."""
    with st.container(horizontal=True, key="lesson_key_navigation"):
        st.button(_("To the lesson"), on_click=set_params, args=(LessonsOptions,), kwargs={"show": PLAY},
                  icon=":material/arrow_back:", help=_("As students see it"))  # fmt: skip
        place = st.empty()
    if is_open():
        st.caption(_("Anyone who opens a class can see the answer keys."))
    blocks, printed = teachers_key(known)
    with place:
        title = Heading(markdown_of(known.lesson.title), 1)
        draw_print_button(known, [title, *printed], "headlight-lesson-key.html", _("Page to print"))
    for block in blocks:
        if isinstance(block, Heading):
            st.subheader(block.text)
        elif isinstance(block, Quotation):
            show_notice(block.text, role="status")
        else:
            st.markdown(block.text)


def teachers_key(known: NamedLesson) -> tuple[KeyBlocks, list[Block]]:
    """Return the teacher's key of a lesson on screen and in print: aims, plan, expected answers and common mistakes.

    The models are run to compute the answers. A lesson without notes for the teacher has only the expected answers. The
    key on screen lacks an answer while the class answers the question, because the class may see the page. The printed
    key has the tables of the worksheet, too.
    """
    lesson = known.lesson
    teacher = lesson.teacher
    blocks: KeyBlocks = [] if teacher is None else list(_notes(teacher))
    asked = [(at, step, step.question) for at, step in enumerate(lesson.steps) if step.question is not None]
    if asked:
        blocks += [Heading(_("Expected answers"), 2), *_models_sentence(lesson)]
    printed: list[Block] = [*blocks]
    for at, step, question in asked:
        asking, answer = list(_question_blocks(at, step, question)), list(_answer_blocks(step, question))
        printed += [*asking, *question_tables(step, question), *answer]
        if is_polled((known.name, at), question):
            answer = [Quotation(translate(POLLED))]
        blocks += [*asking, *answer]
    if teacher is not None and teacher.mistakes:
        mistakes: KeyBlocks = [Heading(_("Common mistakes"), 2), Prose(markdown_of(teacher.mistakes))]
        blocks, printed = [*blocks, *mistakes], [*printed, *mistakes]
    return blocks, printed


def _notes(teacher: Teacher) -> Iterator[Heading | Prose | Quotation]:
    """Yield the aims and the plan; a plan without parts has no heading."""
    yield from (Heading(_("Aims"), 2), Prose(markdown_of(teacher.aims)))
    begins = 0
    for part in teacher.plan:
        if not begins:
            yield Heading(_("Plan"), 2)
        ends = begins + part.minutes
        yield Prose(_("**Minutes {begins}–{ends}.** {what}", begins=begins, ends=ends, what=markdown_of(part.what)))
        begins = ends


def _models_sentence(lesson: Lesson) -> Iterator[Prose]:
    """Yield the sentence that names the steps whose answers models compute, if any, and these models."""
    used = {at: model for at, step in enumerate(lesson.steps, 1) if (model := _computing_model(step)) is not None}
    if not used:
        return
    models = format_and_list([escape_markdown(model_title(model)) for model in dict.fromkeys(used.values())])
    steps = format_and_list([str(at) for at in used])
    yield Prose(
        _("Computed by {models} (step numbers: {steps}); other models give other numbers.", models=models, steps=steps)
    )


def _computing_model(step: LessonStep) -> str | None:
    """Return the model that computes the answer of a step; None if the answer is typed or needs no model."""
    if step.question is None or step.question.check is None:
        return None
    given = dict(step.question.check.given)
    query = {} if step.view is None else dict(step.view.query)
    reads_model = bool({"model", "text"} & (query.keys() | given.keys()))
    return empty_view(step.view).asked.reads(given).reading.model if reads_model else None


def minutes(count: int) -> str:
    """Format a duration in minutes."""
    return _("{n} min", n=count)


def _question_blocks(at: int, step: LessonStep, question: LessonQuestion) -> Iterator[Prose]:
    """Yield the title of a step, its question and the choices."""
    yield Prose(_("**Step {at}: {title}**", at=at + 1, title=markdown_of(step.title)))
    yield Prose(markdown_of(question.ask))
    if question.choices:
        yield Prose("\n".join(f"- {markdown_of(text)}" for _key, text in question.choices))


def _answer_blocks(step: LessonStep, question: LessonQuestion) -> Iterator[Prose | Quotation]:
    """Yield the right answer to a question, or the reason why there is none, and the text after the answer."""
    seen = empty_view(step.view)
    try:
        right = right_answer(question, seen.asked)
        if right is not None:
            yield Quotation(_describe_right(question, right, seen))
    except (Unanswerable, UserError) as error:
        yield Quotation(error_message(error))
    yield from (Prose(markdown_of(said)) for said in (question.expected, question.reveal) if said)


def _describe_right(question: LessonQuestion, right: CheckedAnswer, seen: StepView) -> str:
    """Return the right answer to a question, and the sentence with the numbers behind it."""
    keys = seen.asked.view().keys if question.kind == "token" else ()
    answer = format_answer(question, right.answer, keys)
    return " — ".join(part for part in (answer, translate(right.said)) if part)


BOX, UPLOAD, BEGIN = "lesson_box", "lesson_upload", "lesson_begin"


def draw_editor() -> None:
    """Draw the editor of the reader's own lesson, and next to it a preview or the list of its faults."""
    left, right = st.columns(2, gap="medium")
    with left:
        _draw_file_picker()
        _draw_format_help()
        st.session_state[BOX] = draft()
        st.text_area(
            _("The lesson's file"),
            key=BOX,
            height=560,
            max_chars=MOST_BYTES,
            on_change=lambda: store_draft(st.session_state[BOX]),
            help=_("Ctrl+Enter, or leaving the box, reads it. Save the file: a restart of the app loses it."),
        )  # fmt: skip
        download_button(
            _("Save the file"),
            draft(),
            "lesson.toml",
            _("To open here again, or to share"),
            kind="application/toml",
        )
    with right:
        found = parse_lesson(draft())
        if isinstance(found, Lesson):
            _preview(found)
        else:
            _faults(found)


def _draw_file_picker() -> None:
    """Draw the controls that open a file or start from a bundled lesson."""

    def upload() -> None:
        came = st.session_state[UPLOAD]
        if came is None:
            return
        try:
            text = decode(came.getvalue()) if came.size <= MOST_BYTES else ""
        except UserError as refusal:
            st.session_state["lesson_problem"] = refusal.message
            return
        if text:
            replace_draft(text)
        else:
            st.session_state["lesson_problem"] = _(
                "The file is too long; the limit is {most:,} bytes.", most=MOST_BYTES
            )

    def begin() -> None:
        if (name := st.session_state[BEGIN]) is not None:
            replace_draft(source(name) if name else template())

    about = _("TOML in UTF-8, at most {most:,} bytes; stays on this machine", most=MOST_BYTES)
    st.file_uploader(_("Open a file"), type="toml", key=UPLOAD, on_change=upload, max_upload_size=1, help=about)
    if problem := st.session_state.pop("lesson_problem", None):
        show_notice(problem)
    st.session_state[BEGIN] = None
    st.selectbox(_("Included lessons"), ("", *ORDER), index=None, key=BEGIN, on_change=begin,
                 placeholder=_("Pick one"),
                 format_func=lambda name: markdown_of(come_along()[name].title) if name else _("Short template"),
                 help=_("Replaces what is in the box"))  # fmt: skip
    if is_replaced():
        st.button(_("Undo"), icon=":material/undo:", on_click=restore_draft,
                  help=_("Brings back your text"))  # fmt: skip


def _draw_format_help() -> None:
    """Draw the description of the file format, and the checks with their answers and the names that they need."""
    with st.expander(_("File format")):
        st.markdown(format_help())
        answers = check_help()
        st.markdown("\n".join(f"- {_describe_check(name, check, answers[name])}" for name, check in CHECKS.items()))


def _describe_check(name: str, check: Check, answer: str) -> str:
    """Return a check's name, its kind of question, its answer and the names that it takes, as Markdown.

    >>> _describe_check("tokens", CHECKS["tokens"], "the number of tokens")
    '**`tokens`** (number): the number of tokens'
    """
    parameters = _parameters(check)
    return f"**`{name}`** ({check.kind}): {answer}{f' — {parameters}' if parameters else ''}"


def _parameters(check: Check) -> str:
    """Return the names that a check takes as Markdown, those with a default in brackets."""
    return " ".join(f"`{name}`" if one.default is one.empty else f"[`{name}`]" for name, one in check.needs.items())


def _draw_link(query: dict[str, str]) -> None:
    """Draw the link of a lesson, with an address by which other machines reach the app, if they can."""
    label, icon, help = _("Lesson link"), ":material/link:", _("The address holds the whole lesson")
    here = st.context.url or ""
    origins = shared_origins(here)
    if origins and not here.startswith(f"{origins[0]}/"):
        path = f"{BASE}/{BY_VIEW['lessons'].path}"
        st.page_link(f"{origins[0]}{path}?{urlencode(query)}", label=label, icon=icon, help=help)
    else:
        link_to_view("lessons", label, icon=icon, query=query, help=help)


def _preview(lesson: Lesson) -> None:
    """Draw the lesson, with the button to play it and the link to share it."""
    st.subheader(markdown_of(lesson.title))
    link = pack_lesson(draft())
    with st.container(horizontal=True, vertical_alignment="center", key="lesson_preview"):
        st.button(
            _("Play it"),
            on_click=play_draft,
            icon=":material/play_arrow:",
            type="primary",
            help=_("As students see it"),
        )
        if link is not None:
            _draw_link({"lesson": OWN, "carried": link})
    if link is None:
        show_notice(_("This lesson is too long for a link; share the file."), role="status")
    _check_answers(lesson)
    draw_markdown(lesson.about)
    for at, step in enumerate(lesson.steps):
        with st.expander(f"{at + 1}. {markdown_of(step.title)}", expanded=at == 0):
            draw_markdown(step.text)
            if step.view is not None:
                view = view_named(step.view.page)
                st.caption(step.view.page if view is None else translate(title_of(view)))
            if step.question is not None:
                draw_markdown(step.question.ask)
                for _key, text in step.question.choices:
                    st.markdown(f"- {markdown_of(text)}")


CHECKED = "lesson_checked"  # session key: the draft whose answers the reader had computed


def _check_answers(lesson: Lesson) -> None:
    """Draw the button that computes the right answers, or these and the steps without an answer, with the reasons."""
    asked = [(at, step, step.question) for at, step in enumerate(lesson.steps, 1) if step.question is not None]
    if not asked:
        return
    text = draft()
    if st.session_state.get(CHECKED) != text:
        st.button(_("Check answers"), key="lesson_check_answers", on_click=st.session_state.update,
                  args=({CHECKED: text},), help=_("Computes the answer to every question"))  # fmt: skip
        return
    computed, found = 0, []
    for nth in stoppable_steps(f"lesson_answers:{hash(text)}", len(asked), _("Running the model")):
        at, step, question = asked[nth]
        try:
            seen = empty_view(step.view)
            if (right := right_answer(question, seen.asked)) is not None:
                found.append(_("Step {at}: {reason}", at=at, reason=_describe_right(question, right, seen)))
            computed += 1
        except (Unanswerable, UserError) as error:
            show_notice(_("Step {at}: {reason}", at=at, reason=error_message(error)))
        for earlier, before in enumerate(lesson.steps[: at - 1], 1):
            if shows_answer(before, step):
                reason = _("The view of step {earlier} shows the answer.", earlier=earlier)
                show_notice(_("Step {at}: {reason}", at=at, reason=reason), role="status")
    st.markdown("\n".join(f"- {escape_markdown(line)}" for line in found))
    if computed == len(asked):
        show_notice(_("All checks are computed; answers in the lesson's file are not checked."), role="status")


def _faults(faults: list[Fault]) -> None:
    """Draw the faults of the file with their lines."""
    st.subheader(_("What is wrong"))
    for fault in faults[:20]:
        show_notice(_("Line {line}: {reason}", line=fault.line, reason=fault.reason))
    if len(faults) > 20:
        show_notice(f"… (+ {len(faults) - 20})", role="status")
