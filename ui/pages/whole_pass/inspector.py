"""Options of the view Whole pass, and requests for the forward pass with the chosen or the default task head."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from attention.trace import Trace
from i18n import _, gettext_lazy
from inference import UserError
from inference.task_heads import BARE, CAUSAL, CLASSIFY, MASKED, NEXT_SENTENCE, TAG
from inference.tasks.whole_pass import (
    ChangeRequest,
    ChangeResult,
    OneNumber,
    Opened,
    PassOverview,
    PassRequest,
    Stage,
    StageNumbers,
    WholePass,
)
from ui.pages.whole_pass.names import display_name
from ui.run import fine_tuning
from ui.run.notices import show_notice
from ui.run.page_model import may_have, note_lacking
from ui.run.services import get_backend
from ui.run.traces import input_of
from ui.show.tables import page_provenance
from ui.state.params import drop_place
from ui.state.view_state import ViewState
from viz.options import option

ZOOMS = {"stack": gettext_lazy("All layers"), "layer": gettext_lazy("One layer"), "stage": gettext_lazy("One stage")}
TAUGHT = {"classes": gettext_lazy("Classes"), "tags": gettext_lazy("Tags")}  # heads of fine-tuned models
# The heads that a pass may end with, by the kind of model; by default the first that the model has.
HEADS = {
    "encoder": {
        "masked": gettext_lazy("Masked words"),
        "next": gettext_lazy("Next sentence"),
        **TAUGHT,
        "none": gettext_lazy("No head"),
    },
    "decoder": {"causal": gettext_lazy("Next token"), **TAUGHT, "none": gettext_lazy("No head")},
    "encoder-decoder": {"none": gettext_lazy("No head")},
}
QUESTIONED = {"masked": MASKED, "next": NEXT_SENTENCE, "causal": CAUSAL, "classes": CLASSIFY, "tags": TAG, "none": BARE}

CHANGES = {
    "": gettext_lazy("Nothing"),
    "number": gettext_lazy("This number"),
    "token": gettext_lazy("This token's vector"),
    "head": gettext_lazy("This head"),
    "stage": gettext_lazy("Whole stage"),
}


@dataclass(frozen=True)
class WholePassOptions:
    """Options of the page The whole pass.

    ``stage`` counts the stages (calls that compute new numbers) from 0. ``row`` and ``column`` index the stage's result
    as drawn.
    """

    zoom: str = option(
        "stack",
        label=gettext_lazy("Zoom"),
        choices=ZOOMS,
    )
    ends: str = option("", choices=QUESTIONED)  # a key of HEADS; "" selects the first head that the model has
    stage: int | None = None  # None selects the last stage if it has probabilities, else the first
    row: int | None = option(None, of_text=drop_place)  # None selects a decoder's last token, a blank, or token 1
    column: int | None = option(None, of_text=drop_place)  # None selects the largest number of the row
    # A key of CHANGES.
    change: str = option(
        "",
        label=gettext_lazy("Intervention"),
        choices=CHANGES,
    )
    # The new value as typed.
    becomes: str = option("0", label=gettext_lazy("New value"), help=gettext_lazy("Such as 0, -1.5 or 1e2"))
    # The donor text; its values are used instead of ``becomes``.
    lender: str = option(
        "",
        label=gettext_lazy("Donor text"),
        help=gettext_lazy("Activation patching: words take the values of aligned words in the donor text"),
    )
    # The code of a stage includes all code before it.
    whole: bool = option(
        False,
        label=gettext_lazy("Complete program"),
        help=gettext_lazy("PyTorch code up to this stage; it prints its numbers"),
    )


@dataclass(frozen=True, eq=False)
class PassInspector:
    """A forward pass of a model on a text, with requests for the numbers that it computes.

    ``head`` is the task head at the end of the pass, and ``heads`` are the task heads that may replace it.
    """

    trace: Trace
    request: PassRequest[Any]
    result: PassOverview
    head: str  # as the options call it
    heads: tuple[str, ...]  # that it may end with instead

    @property
    def two(self) -> bool:
        """Return True if the model has an encoder and a decoder."""
        return self.trace.model.kind == "encoder-decoder"

    def tokens(self, side: str) -> tuple[str, ...]:
        """Return the tokens that the encoder or the decoder reads."""
        row = self.trace.target if side == "decoder" and self.trace.target is not None else self.trace.source
        return tuple(row.pieces)

    def provenance(self, **settings: Any) -> dict[str, Any]:
        """Return the provenance of numbers of the pass: the model with its task head, the texts and ``settings``."""
        request = self.request
        target = {"target_tokens": list(request.target)} if request.target else {}
        return {**page_provenance(), **target, "tokens_read": request.cut, "task_head": self.head, **settings}

    def numbers(self, stage: Stage) -> tuple[Any, dict[int, str]]:
        """Return the array that a stage computes, and the names of its columns by index.

        A column has a name if it belongs to a vocabulary token or to a class.
        """
        found = get_backend().inspect(self.stage_request(stage))
        return found.by_stage[stage.number], {place: self._display_name(name) for place, name in found.pieces.items()}

    def stage_request(self, stage: Stage) -> StageNumbers:
        """Return the request for a stage's result."""
        request: StageNumbers = self._build_question(StageNumbers, stages=(stage.number,))
        return request

    def open_number(self, stage: Stage, place: tuple[int, ...]) -> Opened:
        """Return a number of a stage's result as a sum of terms; ``place`` is the number's index."""
        found: Opened = get_backend().inspect(self._build_question(OneNumber, stage=stage.number, place=place))
        return found

    def change_request(self, at: int, **change: Any) -> ChangeRequest:
        """Return the request for row ``at`` of the output after a change, with fields of ChangeRequest."""
        request: ChangeRequest = self._build_question(ChangeRequest, at=at, **change)
        return request

    def run_changed(self, request: ChangeRequest) -> ChangeResult:
        """Return the output after a change."""
        found = get_backend().inspect(request)
        return replace(found, ends=tuple(replace(end, name=self._display_name(end.name)) for end in found.ends))

    def _display_name(self, name: str) -> str:
        """Return an output's name; verdicts of next-sentence prediction are translated."""
        return display_name(name) if self.head == "next" else name

    def _build_question(self, kind: Any, **more: Any) -> Any:
        request = self.request
        same = {name: getattr(request, name) for name in ("model", "revision", "text", "pair", "target", "cut", "head")}
        return kind(**same, **more)


def inspect_pass(choice: ViewState, trace: Trace, options: WholePassOptions) -> PassInspector | None:
    """Run the forward pass; if it fails, show a notice and return None.

    If the model lacks the chosen task head, the pass runs without a head. If none is chosen, the heads that the model
    may have are tried in order.
    """
    heads = HEADS[trace.model.kind]
    wanted = options.ends if options.ends in heads else ""
    request = WholePass(**input_of(choice, trace))
    for head in dict.fromkeys((wanted, "none")) if wanted else _may_end(choice, heads):
        asked = replace(request, head=QUESTIONED[head])
        try:
            with st.spinner(_("Running the model"), show_time=True):
                passed = get_backend().inspect(asked)
        except UserError as refusal:
            if refusal.way_out == "head":
                note_lacking(asked.head, choice)
            if wanted or head == "none":
                show_notice(refusal.message)
        else:
            return PassInspector(trace, asked, passed, head, _may_end(choice, heads, head))
    return None


def _may_end(choice: ViewState, heads: Iterable[str], has: str = "") -> tuple[str, ...]:
    """Return the heads that the model is not known to lack.

    Once the model is known to have ``has``, classifiers and taggers are included only if the model's card lists
    them.
    """
    cards = {card.id: card for card in fine_tuning.cards(choice.model)}
    told = cards[choice.model].heads if choice.model in cards else ()

    def may(head: str) -> bool:
        if head in (has, "none"):
            return True
        if has and head in TAUGHT and QUESTIONED[head] not in told:
            return False
        return may_have(QUESTIONED[head], choice, cards)

    return tuple(filter(may, heads))
