"""Which words a label rests on, where the model has a head for labels: of the text, or of the word asked about."""

from __future__ import annotations

from attention.trace import Trace
from attention.view import View
from inference.questions.labels import TextLabel, WordTags
from ui.explaining.asked import Asked, pick_label, told
from ui.explaining.label_words import draw_words
from ui.pages.agreement.explanations import focus_of, pick_focus
from ui.pages.agreement.options import Agreement
from ui.run.answering import ask
from ui.run.reading import request_of
from ui.run.refusals import say
from ui.state.choice import Choice
from ui.state.options import own
from wording import _


def draw_label(choice: Choice, trace: Trace) -> None:
    """The label in words, which one is explained, and what it rests on. Raises Refusal for a model without the head."""
    request, options = request_of(choice), own(Agreement)
    kind = WordTags if options.explain == "tag" else TextLabel
    said = ask(
        kind(request.model, request.revision, text=request.text, pair=request.pair, cut=request.cut),
        _("Asking the model"),
    )
    index = 0
    if options.explain == "tag":
        view = View(trace, words=True)
        focus = focus_of(choice, view)[0]
        pick_focus(view, focus, {})
        run = view.keys[focus].pieces
        index = next((at for at, place in enumerate(said.places) if place.run == run), 0)
    asked = Asked(request, said, index, options.explain == "tag", options.label)
    say(told(asked), role="status")
    pick_label(Agreement, asked)
    draw_words(asked, trace)
