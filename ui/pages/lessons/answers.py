"""Questions of a lesson: their fields, and the feedback on answers."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

import streamlit as st

from attention.view import DisplayToken
from classroom.question import PERCENT
from i18n import LazyMessage, _, gettext_lazy
from i18n.lists import join_sentences
from inference import UserError
from lessons.answer_key import CheckedAnswer, Unanswerable
from lessons.schema import Answer, LessonQuestion
from lessons.steps import describe_answer, format_answer, markdown_of, right_answer
from ui.input.controls import read_number
from ui.pages.lessons.views import StepView
from ui.run.current_lesson import draw_markdown
from ui.run.lesson_answers import Key, StepAnswer, answer_at, note
from ui.run.notices import show_notice
from ui.state.session import set_view_state

LONGEST = 2_000  # characters of a free answer
PICKED = "lesson_picked"  # session key: slots of the questions whose head the reader picked in the controls
NOT_YET = gettext_lazy("Not right yet. Try again, or see the answer.")


def draw_question(key: Key, question: LessonQuestion, seen: StepView) -> None:
    """Draw a question with the field for its answer, its buttons and the feedback so far.

    ``key`` is (lesson, step), and ``seen`` is the state of the step's view from which the answer is checked.
    """
    found = answer_at(*key)
    slot = _slot(key)
    if found.revealed and not found.said:  # by the class
        found = _reveal_answer(key, question, seen)
    st.markdown(_("**Question.** {ask}", ask=markdown_of(question.ask)))
    answer = _control(key, question, found, seen)
    with st.container(horizontal=True, vertical_alignment="center"):
        label = _("Check") if question.is_checked else _("Keep my answer")
        # Enter in the field presses this button (viz/components/shared/streamlit_internals.js).
        if st.button(label, key=f"{slot}_check", type="primary"):
            found = _record_answer(key, question, answer, seen)
        if found.hints < len(question.hints):
            left = len(question.hints) - found.hints
            help = _("{left} left", left=left)
            if st.button(_("A hint"), key=f"{slot}_hint", icon=":material/lightbulb:", help=help):
                found = note(*key, hints=found.hints + 1)
        if found.tries and not found.is_over and st.button(_("Show the answer"), key=f"{slot}_reveal"):
            found = _reveal_answer(key, question, seen)
    if question.is_checked and answer not in (None, found.answer) and not found.revealed:
        st.caption(_("Not checked yet."))
    for hint in question.hints[: found.hints]:
        st.markdown(_("*Hint:* {hint}", hint=markdown_of(hint)))
    if found.answer in (None, answer):  # The verdict is on the answer in the control, or on one without a control.
        _draw_verdict(found)
    _draw_solution(question, found)


def _control(key: Key, question: LessonQuestion, found: StepAnswer, seen: StepView) -> Answer | None:
    """Draw the control for this kind of answer and return its value; None if there is no answer yet."""
    slot = _slot(key)
    if question.kind == "head":
        return _head(slot, found, seen)
    if question.kind == "token":
        return _token(slot, found, seen)
    field, label = f"{slot}_{question.kind}", _("Your answer")
    before: Any = found.answer if found.draft is None else found.draft
    bound: dict[str, Any] = {"key": field, "on_change": _keep_draft, "args": (key, question.kind)}
    if question.kind == "choice":
        texts = {name: markdown_of(text) for name, text in question.choices}
        st.session_state.setdefault(field, before if before in texts else None)
        return st.radio(label, list(texts), index=None, format_func=texts.__getitem__, **bound)
    st.session_state.setdefault(field, before or "")
    if question.kind in ("number", "word"):
        return st.text_input(label, max_chars=200, width=300, **bound).strip() or None
    return st.text_area(label, max_chars=LONGEST, height=100, **bound) or None


def _slot(key: Key) -> str:
    """Return the beginning of the session keys of a question's controls."""
    return f"lesson_{key[0]}_{key[1]}"


def _keep_draft(key: Key, kind: str) -> None:
    """Store the control's value, which Streamlit deletes when the reader leaves the step."""
    note(*key, draft=st.session_state[f"{_slot(key)}_{kind}"])


def _head(slot: str, found: StepAnswer, seen: StepView) -> Answer | None:
    """Draw the controls of layer and head, which select the head of the view and follow it.

    They are empty until the reader selects a head: that of the step's link is nobody's answer.
    """
    if seen.view is None:
        return None
    layer, head = seen.head or (0, 0)
    is_picked = seen.is_own_head or found.tries > 0 or slot in st.session_state.setdefault(PICKED, set())
    names = f"{slot}_{layer}_{head}_{is_picked}"  # a new key resets the controls when the view's head changes
    bound: dict[str, Any] = {"on_change": _show_head, "args": (slot, names, (layer, head)), "width": 110}
    with st.container(horizontal=True):
        for label, n, at, part in (
            (_("Layer"), seen.view.layers, layer, "layer"),
            (_("Head"), seen.view.heads, head, "head"),
        ):
            index = at if is_picked else None
            st.selectbox(label, range(n), index=index, key=f"{names}_{part}", placeholder="–", **bound)
    return (layer, head) if is_picked else None


def _show_head(slot: str, names: str, before: tuple[int, int]) -> None:
    """Select the head of the controls in the view; an empty control leaves its part as ``before``."""
    st.session_state[PICKED].add(slot)
    picked = [st.session_state[f"{names}_{part}"] for part in ("layer", "head")]
    layer, head = (was if now is None else now for now, was in zip(picked, before, strict=True))
    set_view_state(layer=layer, head=head)


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
        placeholder=_("Pick one"),
        help=_("Follows the selection in the view") if seen.clicks else None,
        width=320,
    )


def _record_answer(key: Key, question: LessonQuestion, answer: Answer | None, seen: StepView) -> StepAnswer:
    """Check the answer, and store it with the result; the same answer again is not another try."""
    if answer is None:
        show_notice(_("Answer first: pick or type."), role="status")
        return answer_at(*key)
    before = answer_at(*key)
    try:
        typed = _parse_number(answer) if question.kind == "number" and isinstance(answer, str) else None
    except UserError as refusal:
        show_notice(refusal.message)
        return before
    changes: dict[str, Any] = {
        "answer": answer,
        "text": format_answer(question, answer, _keys(seen)),
        "tries": before.tries + (not before.tries or answer != before.answer),
    }
    right = _find_answer(question, seen)
    if isinstance(right, CheckedAnswer):
        is_right, share = (right.accepts(answer), None) if typed is None else _check_number(right, *typed)
        said = describe_answer(question, right, _keys(seen))
        if share is not None:
            hint = gettext_lazy("{percent:g}% is the share {share:g}.", percent=100 * share, share=share)
            said = join_sentences(hint, said)
        changes |= {"right": is_right, "solved": before.solved or is_right, "said": said}
    elif right is not None:
        changes |= {"said": right}
    return note(*key, **changes, read=seen.asked.reading.text)


def _parse_number(typed: str) -> tuple[float, bool]:
    """Return a typed number, and True if it has a percent sign; raise UserError if the text is not a number.

    >>> _parse_number("0,849"), _parse_number("1/3 %"), _parse_number("100%")
    ((0.849, False), (0.3333333333333333, True), (100.0, True))
    """
    plain = unicodedata.normalize("NFKC", typed).strip()
    number = plain.removesuffix(PERCENT).strip()
    return read_number(number or plain), number != plain


def _check_number(right: CheckedAnswer, number: float, is_percentage: bool) -> tuple[bool, float | None]:
    """Return True if a number is correct, and the share that it stands for if it is a percentage of a share."""
    if not is_percentage:
        is_right = right.accepts(number)
        share = None if is_right else right.share(number)
        return is_right or share is not None, share
    is_right = right.accepts_percentage(number)
    return is_right, number / 100 if is_right and right.is_share else None


def _reveal_answer(key: Key, question: LessonQuestion, seen: StepView) -> StepAnswer:
    right = _find_answer(question, seen)
    return note(
        *key,
        revealed=True,
        said=describe_answer(question, right, _keys(seen)) if isinstance(right, CheckedAnswer) else right or "",
    )


def _find_answer(question: LessonQuestion, seen: StepView) -> CheckedAnswer | LazyMessage | str | None:
    """Return the right answer, None if any answer is accepted, or the reason if it cannot be computed."""
    try:
        with st.spinner(_("Running the model")):
            return right_answer(question, seen.asked)
    except Unanswerable as error:
        reason: LazyMessage | str = error.args[0]
        return reason
    except UserError as refusal:
        return refusal.message  # the view already shows the error's ways out


def _keys(seen: StepView) -> Sequence[DisplayToken]:
    return () if seen.view is None else seen.view.keys


def _draw_verdict(found: StepAnswer) -> None:
    """Draw the feedback on the answer, with the answer if no control shows it: a word that was typed in a class."""
    own = _("Your answer: {own}.", own=found.text.rstrip(".。")) if found.text and found.answer is None else ""
    if found.right is True:
        show_notice(join_sentences(own, _("Right.")), role="status")
    elif found.right is False:
        show_notice(join_sentences(own, _("Not right.") if found.is_over else NOT_YET), role="status")
    elif found.tries and found.right is None:
        show_notice(join_sentences(own, _("Kept for your worksheet.")), role="status")


def _draw_solution(question: LessonQuestion, found: StepAnswer) -> None:
    """Draw the numbers behind the right answer and the text after it, if the question is over."""
    if found.is_over:
        if found.said:
            show_notice(found.said, role="status")
        draw_markdown(question.reveal)
