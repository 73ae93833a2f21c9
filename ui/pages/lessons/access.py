"""The teacher's key of a lesson, which no student sees: aims, expected answers, and the lesson's own file."""

from __future__ import annotations

from i18n import _
from ui.pages.lessons.options import PLAY, LessonsOptions
from ui.run.classes import attends_any, store, visitor_secret
from ui.run.network import is_open
from ui.run.notices import show_notice
from ui.state import classroom


def is_teacher() -> bool:
    """Return whether this session teaches the class that it is in."""
    code = classroom.code()
    return code is not None and store().teaches(code, visitor_secret())


def is_student() -> bool:
    """Return whether this visitor attends a class: the one of this session, or any with a seat of theirs."""
    return not is_teacher() and (classroom.code() is not None or attends_any())


def may_see_key() -> bool:
    """Return whether this visitor may see the teacher's key.

    On a machine of one's own that is everybody but a student; if others reach the app, it is who teaches a class there.
    """
    return is_teacher() or not (is_student() or is_open())


def is_withheld(options: LessonsOptions) -> bool:
    """Return whether the key was asked for by a link and is withheld, which is said; the lesson is played instead."""
    if options.show == PLAY or may_see_key():
        return False
    if is_student():
        show_notice(_("You attend a class: what is for its teacher is not shown here."), role="status")
    else:
        show_notice(
            _("The teacher’s key is shown to who teaches a class here. Open a room on the page A class."), role="status"
        )
    return True
