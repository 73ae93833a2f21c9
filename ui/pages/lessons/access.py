"""Access to the teacher's key of a lesson, which students may not see."""

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
    """Return whether this visitor attends a class, in this session or in another."""
    return not is_teacher() and (classroom.code() is not None or attends_any())


def may_see_key() -> bool:
    """Return whether this visitor may see the teacher's key.

    On a private machine everybody except students may see the key; if others can reach the app, only teachers of a
    class may.
    """
    return is_teacher() or not (is_student() or is_open())


def is_withheld(options: LessonsOptions) -> bool:
    """Return whether the address requests the key without permission, and show a notice if so."""
    if options.show == PLAY or may_see_key():
        return False
    if is_student():
        show_notice(_("You attend a class: what is for its teacher is not shown here."), role="status")
    else:
        show_notice(
            _("The teacher’s key is shown to who teaches a class here. Open a room on the page A class."), role="status"
        )
    return True
