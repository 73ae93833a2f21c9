"""Which picture is shown, as which model looked at it: the sample as recorded, unless something else is chosen."""

from __future__ import annotations

from dataclasses import dataclass

from attention.trace import Trace
from inference.pictures.sample import CREDIT, TITLE, difference, photo, sample
from ui.pages.pictures.given import picture_of
from ui.pages.pictures.models import NO_MODEL, at_hand, say_installing, usual
from ui.pages.pictures.options import ASKING, Pictures
from ui.pages.pictures.reading import hold, read_picture
from ui.run.network import hub_in_reach
from ui.run.refusals import say
from ui.state.opened_picture import opened_picture
from wording import _, sentence, told

WAITS = sentence("Your picture waits for a model; until then the recorded sample is shown.")


@dataclass(frozen=True)
class Subject:
    """A trace of a picture, what it is called, whose picture it is where that is known, and what else is to be said."""

    trace: Trace
    title: str
    cited: str = ""
    note: str = ""
    model: str = ""  # which can be asked; "" where this is a recording


def subject(options: Pictures) -> Subject | None:
    """What is shown; None where it was refused, which is then said on the page."""
    if (opened := opened_picture()) is not None:
        return Subject(hold(opened), _("The opened picture"))
    given = picture_of(options)
    if given is None:
        return _sample(options)
    model = options.vision or usual()
    missing = not options.vision and not at_hand()
    trace = None if missing and not hub_in_reach() else read_picture(options, given, model)
    if trace is None and missing:
        say(WAITS, role="status")
        if options.show not in ASKING:
            say_installing(NO_MODEL)
        return _sample(options)
    return None if trace is None else Subject(trace, _("Your picture"), model=model)


def _sample(options: Pictures) -> Subject | None:
    if not options.vision:
        stored = difference()
        note = _(
            "Recorded once, and stored in few bytes: no weight is off by more than {largest:.3f}, and on average "
            "{moved:.1%} of a row's attention lies on other tokens.",
            largest=stored.largest,
            moved=stored.moved,
        )
        return Subject(hold(sample()), told(TITLE), told(CREDIT), note)
    trace = read_picture(options, photo(), options.vision)
    return None if trace is None else Subject(trace, told(TITLE), told(CREDIT), model=options.vision)
