"""Attribution of a predicted label (of the text, or of a word's tag) to the words of the text."""

from __future__ import annotations

from attention.trace import Trace
from attention.view import View
from i18n import _
from inference.tasks.labels import TextLabel, WordTags
from ui.attribution.views import ExplainedLabel, describe_prediction, draw_words, pick_label
from ui.pages.agreement.explanations import focus_of, pick_focus
from ui.pages.agreement.options import AgreementOptions
from ui.run.notices import show_notice
from ui.run.page_model import ask_model
from ui.run.traces import request_of
from ui.state.params import get_params
from ui.state.view_state import ViewState


def draw_label(choice: ViewState, trace: Trace) -> None:
    """Draw the predicted label, the control for the label to explain, and its attribution to words.

    Raise UserError if the model lacks the head.
    """
    request, options = request_of(choice), get_params(AgreementOptions)
    kind = WordTags if options.explain == "tag" else TextLabel
    said = ask_model(
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
    asked = ExplainedLabel(request, said, index, options.explain == "tag", options.label)
    show_notice(describe_prediction(asked), role="status")
    pick_label(AgreementOptions, asked)
    draw_words(asked, trace)
