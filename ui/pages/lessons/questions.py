"""A question of a lesson: its control, feedback, hints and the text after the answer."""

from __future__ import annotations

from typing import Any

import streamlit as st

from i18n import LazyMessage, _, gettext_lazy
from inference import UserError
from lessons.answer_key import CheckedAnswer, Unanswerable
from lessons.checks import truth
from lessons.schema import Answer, LessonQuestion
from ui.input.controls import head_name
from ui.pages.lessons.answers import StepAnswer, answer_at, note
from ui.pages.lessons.markdown import draw_markdown, translate_markdown
from ui.pages.lessons.views import StepView
from ui.run.notices import show_notice

Key = tuple[str, int]  # (name of the lesson, index of the step)
LONGEST = 2_000  # characters of a free answer
ENTERED = "lesson_entered"  # session key: slot of the field in which the reader pressed Enter, or which the reader left
NOT_YET = gettext_lazy("Not yet. Look again, or see the answer.")


def draw_question(key: Key, question: LessonQuestion, seen: StepView) -> None:
    """Draw the question with its control, its buttons and the feedback so far."""
    found = answer_at(*key)
    slot = f"lesson_{key[0]}_{key[1]}"
    st.markdown(_("**Question.** {ask}", ask=translate_markdown(question.ask)))
    answer = _control(slot, question, found, seen)
    with st.container(horizontal=True, vertical_alignment="center"):
        checks = question.check is not None or question.right is not None
        label = _("Check") if checks else _("Keep my answer")
        pressed = st.button(label, key=f"{slot}_check", type="primary", help=_("You may answer as often as you like"))
        entered = answer is not None and st.session_state.get(ENTERED) == slot
        if pressed or entered:
            found = _record_answer(key, question, answer, seen)
            st.session_state.pop(ENTERED, None)
        if found.hints < len(question.hints):
            left = len(question.hints) - found.hints
            help = _("{left} left", left=left)
            if st.button(_("A hint"), key=f"{slot}_hint", icon=":material/lightbulb:", help=help):
                found = note(*key, hints=found.hints + 1)
        if (
            found.tries
            and not found.is_over
            and st.button(
                _("Show the answer"), key=f"{slot}_reveal", help=_("Say first what you expect: that is how one learns")
            )
        ):
            found = _reveal_answer(key, question, seen)
    for hint in question.hints[: found.hints]:
        st.markdown(_("*Hint:* {hint}", hint=translate_markdown(hint)))
    if found.answer == answer or found.revealed:
        _draw_verdict(found)
    _draw_solution(question, found)


def right_answer(question: LessonQuestion, seen: StepView) -> CheckedAnswer | None:
    """Return the right answer, computed or from the lesson's file; None if any answer is accepted.

    Raise Unanswerable if the text has no right answer, and UserError if the model cannot answer.
    """
    if question.check is not None:
        found = truth(question.check, seen.asked)
    elif question.right is not None:
        found = CheckedAnswer(question.right, LazyMessage(""))
    else:
        return None
    tolerance = found.tolerance if question.tolerance is None else question.tolerance
    return CheckedAnswer(found.answer, found.said, found.others, tolerance)


def format_answer(question: LessonQuestion, answer: Answer, seen: StepView) -> str:
    """Format an answer for the page."""
    if isinstance(answer, tuple):
        return head_name(*answer)
    if question.kind == "choice":
        return next((translate_markdown(text) for key, text in question.choices if key == answer), str(answer))
    if question.kind == "token" and isinstance(answer, int) and seen.view is not None:
        keys = seen.view.keys
        return keys[answer].label if 0 <= answer < len(keys) else str(answer)
    return f"{answer:.4g}" if isinstance(answer, float) else str(answer)


def _control(slot: str, question: LessonQuestion, found: StepAnswer, seen: StepView) -> Answer | None:
    """Draw the control for this kind of answer and return its value; None if there is no answer yet."""
    before: Any = found.answer
    label = _("Your answer")
    if question.kind == "choice":
        keys = [key for key, _text in question.choices]
        texts = {key: translate_markdown(text) for key, text in question.choices}
        at = keys.index(before) if before in keys else None
        return st.radio(label, keys, index=at, key=f"{slot}_choice", format_func=texts.__getitem__)
    on_enter: Any = {"on_change": _note_entry, "args": (slot,)}
    if question.kind == "number":
        number: float | None = st.number_input(
            label, value=before, key=f"{slot}_number", format="%0.4g", step=None, width=200, **on_enter
        )
        return number
    if question.kind == "head":
        return _head(slot, seen)
    if question.kind == "token":
        return _token(slot, found, seen)
    if question.kind == "word":
        return st.text_input(label, value=before or "", key=f"{slot}_word", max_chars=200, width=300, **on_enter) or None
    return st.text_area(label, value=before or "", key=f"{slot}_text", max_chars=LONGEST, height=100) or None


def _note_entry(slot: str) -> None:
    st.session_state[ENTERED] = slot


def _head(slot: str, seen: StepView) -> Answer | None:
    """Draw the controls of layer and head, which follow the head selected in the view."""
    if seen.view is None:
        return None
    layer, head = seen.head or (0, 0)
    help = _("Follows the head that you choose in the view; counted from 0")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        names = f"{slot}_{layer}_{head}"  # a new key resets the controls when the view's head changes
        picked = (
            st.selectbox(_("Layer"), range(seen.view.layers), index=layer, key=f"{names}_layer", width=110, help=help),
            st.selectbox(_("Head"), range(seen.view.heads), index=head, key=f"{names}_head", width=110, help=help),
        )
        st.caption(_("The view shows head {layer}-{head}.", layer=layer, head=head))
    return picked


def _token(slot: str, found: StepAnswer, seen: StepView) -> Answer | None:
    """Draw the control of the word, which follows the word clicked in the view."""
    if seen.view is None:
        return None
    keys = seen.view.keys
    at = seen.clicked if seen.clicked is not None else found.answer if isinstance(found.answer, int) else None
    return st.selectbox(
        _("Your answer"),
        range(len(keys)),
        index=at if at is not None and at < len(keys) else None,
        key=f"{slot}_{seen.clicked}_token",
        format_func=lambda at: f"{at} · {keys[at].label}",
        placeholder=_("Pick a word, or click one in the view") if seen.clicks else _("Pick a word"),
        help=_("Follows the word that you click in the view") if seen.clicks else None,
        width=320,
    )


def _record_answer(key: Key, question: LessonQuestion, answer: Answer | None, seen: StepView) -> StepAnswer:
    """Check the answer, and store it with the result; the same answer again is not another try."""
    if answer is None:
        show_notice(_("Answer first: pick or type something."), role="status")
        return answer_at(*key)
    before = answer_at(*key)
    changes: dict[str, Any] = {
        "answer": answer,
        "text": format_answer(question, answer, seen),
        "tries": before.tries + (not before.tries or answer != before.answer),
    }
    right = _find_answer(question, seen)
    if isinstance(right, CheckedAnswer):
        changes |= {"right": right.accepts(answer), "said": _describe_answer(question, right, seen)}
    elif right is not None:
        changes |= {"said": right}
    return note(*key, **changes, read=_own_text(seen, question))


def _reveal_answer(key: Key, question: LessonQuestion, seen: StepView) -> StepAnswer:
    right = _find_answer(question, seen)
    return note(
        *key,
        revealed=True,
        said=_describe_answer(question, right, seen) if isinstance(right, CheckedAnswer) else right or "",
    )


def _find_answer(question: LessonQuestion, seen: StepView) -> CheckedAnswer | LazyMessage | str | None:
    """Return the right answer, None if any answer is accepted, or the reason if it cannot be computed."""
    try:
        with st.spinner(_("Asking the model")):
            return right_answer(question, seen)
    except Unanswerable as error:
        reason: LazyMessage | str = error.args[0]
        return reason
    except UserError as refusal:
        return refusal.message  # the view already shows the error's ways out


def _describe_answer(question: LessonQuestion, right: CheckedAnswer, seen: StepView) -> LazyMessage:
    """Describe the right answer and its numbers, in a message that can be translated later."""
    if right.said and question.kind != "choice":
        return right.said
    answer = format_answer(question, right.answer, seen)
    if right.said:
        return gettext_lazy("The answer: {answer}. {numbers}", answer=answer, numbers=right.said)
    return gettext_lazy("The answer: {answer}", answer=answer)


def _own_text(seen: StepView, question: LessonQuestion) -> str:
    return seen.asked.reading.text if question.check is None and question.right is None else ""


def _draw_verdict(found: StepAnswer) -> None:
    """Draw the feedback on the answer."""
    if found.right is True:
        show_notice(_("Right."), role="status")
    elif found.right is False and not found.revealed:
        show_notice(NOT_YET, role="status")
    elif found.tries and found.right is None:
        show_notice(_("Kept for your worksheet."), role="status")


def _draw_solution(question: LessonQuestion, found: StepAnswer) -> None:
    """Draw the numbers behind the right answer and the text after it, if the question is over."""
    if found.is_over:
        if found.said:
            show_notice(found.said, role="status")
        draw_markdown(question.reveal)
