"""The trace that the Pictures page shows: an opened file, an uploaded picture or the sample."""

from __future__ import annotations

from dataclasses import dataclass

from attention.trace import Trace
from i18n import _, gettext_lazy, translate
from inference.pictures.sample_picture import CREDIT, TITLE, difference, photo, sample
from ui.pages.pictures.models import NO_MODEL, at_hand, default_model, say_installing
from ui.pages.pictures.options import ASKING, PicturesOptions
from ui.pages.pictures.reading import hold_trace, read_picture
from ui.pages.pictures.upload import picture_of
from ui.run.network import hub_in_reach
from ui.run.notices import show_notice
from ui.state.session import opened_picture

WAITS = gettext_lazy("Your image needs a model; until then the recorded sample is shown.")


@dataclass(frozen=True)
class ShownPicture:
    """A trace of a picture with its title, its credit, a note and its model."""

    trace: Trace
    title: str
    cited: str = ""
    note: str = ""
    model: str = ""  # The model for further requests; "" for a recording.


def get_shown_picture(options: PicturesOptions) -> ShownPicture | None:
    """Return the trace to show; show a notice and return None if the backend refuses.

    The recorded sample replaces an uploaded picture until a model is available.
    """
    if (opened := opened_picture()) is not None:
        return ShownPicture(hold_trace(opened), _("Opened image"))
    given = picture_of(options)
    if given is None:
        return _sample(options)
    model = options.vision or default_model()
    missing = not options.vision and not at_hand()
    trace = None if missing and not hub_in_reach() else read_picture(options, given, model)
    if trace is None and missing:
        show_notice(WAITS, role="status")
        if options.show not in ASKING:
            say_installing(NO_MODEL)
        return _sample(options)
    return None if trace is None else ShownPicture(trace, _("Your image"), model=model)


def _sample(options: PicturesOptions) -> ShownPicture | None:
    if not options.vision:
        stored = difference()
        note = _(
            "Recorded and compressed: weights are off by at most {largest:.3f}; on average {moved:.1%} of a "
            "row's attention moved.",
            largest=stored.largest,
            moved=stored.moved,
        )
        return ShownPicture(hold_trace(sample()), translate(TITLE), translate(CREDIT), note)
    trace = read_picture(options, photo(), options.vision)
    return None if trace is None else ShownPicture(trace, translate(TITLE), translate(CREDIT), model=options.vision)
