"""Who plays a lesson in a class is not shown what only the teacher should see."""

from __future__ import annotations

from ui.pages.lessons.options import PLAY, Lessons
from ui.run.classes import myself, store
from ui.run.refusals import say
from ui.state import attending
from wording import _


def is_student() -> bool:
    """Whether this session attends a class that it does not teach."""
    code = attending.code()
    return code is not None and not store().teaches(code, myself())


def kept_from(options: Lessons) -> bool:
    """Whether a student asks for the answers by a link: that is said, and the lesson is played instead."""
    if options.show == PLAY or not is_student():
        return False
    say(_("You attend a class: what is for its teacher is not shown here. Leave the class to see it."), role="status")
    return True
