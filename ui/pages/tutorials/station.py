"""A station of a tutorial: a text, links into the app, and a common claim with a model's result.

STATION = Station("Pieces", "A model reads …", (to("tokens", "Your words as pieces", yours=True),), "…", running)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from attention.tokens import TokenRow
from attention.trace import Trace
from i18n import _
from inference import EMBEDDED, TraceRequest, UserError
from inference.text.encoding import explain_unreadable
from ui.pages.tutorials.options import TutorialsOptions
from ui.run.services import get_backend
from ui.show.text import join_sentences
from ui.state.examples import EXAMPLES
from ui.state.view_state import ViewState, fits, to_query

TIRED, WIDE = EXAMPLES[0]["text"], EXAMPLES[1]["text"]
Claim = Callable[
    [ViewState, TutorialsOptions], str
]  # returns a sentence or two computed from a model's numbers; may raise UserError


@dataclass(frozen=True)
class StationLink:
    """A link to a view of the app: ``there`` are fields of ViewState, ``own`` URL parameters of the page.
    A link without a model reads its text with the embedded model, whose numbers the tutorials quote.

    ``yours`` links with the reader's own text and second text; with ``two`` only if there is a second text.
    """

    page: str
    label: str
    there: Mapping[str, Any] = field(default_factory=dict)
    own: Mapping[str, str] = field(default_factory=dict)
    yours: bool = False
    two: bool = False

    def query(self, choice: ViewState) -> dict[str, str] | None:
        """Return the URL parameters of the view; None if the reader's text is too long for a URL."""
        there = ViewState(**{"model": EMBEDDED, **self.there})
        if self.yours and (choice.pair.strip() or not self.two):
            there = replace(there, text=choice.text, pair=choice.pair)
        return {**self.own, **to_query(there)} if fits(there) else None


@dataclass(frozen=True)
class Station:
    """A station of a tutorial.

    ``often`` is a common claim, ``shows`` computes a result to compare with it, and ``control`` draws a control
    for the options of that result.
    """

    title: str
    text: str
    links: tuple[StationLink, ...]
    often: str = ""
    shows: Claim | None = None
    control: Callable[[TutorialsOptions], None] | None = None


def link_to(
    page: str,
    label: str,
    own: Mapping[str, str] | None = None,
    *,
    yours: bool = False,
    two: bool = False,
    **there: Any,
) -> StationLink:
    """Return a link; ``there`` are fields of ViewState.

    >>> link_to("tokens", "Pieces", text="A cat.").query(ViewState())
    {'model': 'all-MiniLM-L6-v2', 'text': 'A cat.'}
    """
    return StationLink(page, label, there, own or {}, yours, two)


def get_trace(text: str, model: str = EMBEDDED, target: str | None = None, cut: int | None = None) -> Trace:
    """Return the trace of a text; a translator without a given ``target`` reads its own translation."""
    trace = get_backend().trace(TraceRequest(model=model, text=text, target=target, cut=cut))
    refuse_unread(trace.source, model)
    return trace


def refuse_unread(row: TokenRow, model: str) -> None:
    """Raise UserError if the station's model lacks at least a third of the tokens of a reader's text."""
    title = next((card.title for card in get_backend().models() if card.id == model), model)
    if message := explain_unreadable(row, title):
        raise UserError(
            join_sentences(message, _("This tutorial always asks this model: edit the text.")), way_out="text"
        )
