"""One station of a tutorial: what it is about, where the app shows it, and what is often told beside what is true here.

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
]  # a sentence or two, made from a model's numbers; may raise Refusal


@dataclass(frozen=True)
class StationLink:
    """A way to a view of the app. ``there`` are fields of the choice, ``own`` what the page calls its own in addresses.

    ``yours``: the reader's own text and second text are read there; ``two``: only where both are given.
    """

    page: str
    label: str
    there: Mapping[str, Any] = field(default_factory=dict)
    own: Mapping[str, str] = field(default_factory=dict)
    yours: bool = False
    two: bool = False

    def query(self, choice: ViewState) -> dict[str, str] | None:
        """The address of that view; None where the reader's text is too long for one."""
        there = ViewState(**self.there)
        if self.yours and (choice.pair.strip() or not self.two):
            there = replace(there, text=choice.text, pair=choice.pair)
        return {**self.own, **to_query(there)} if fits(there) else None


@dataclass(frozen=True)
class Station:
    """``often`` is what is often told; ``shows`` computes what a model shows instead, or as well.

    ``control`` draws what a reader may change of it.
    """

    title: str
    text: str
    links: tuple[StationLink, ...]
    often: str = ""
    shows: Claim | None = None
    control: Callable[[TutorialsOptions], None] | None = None


def link_to(  # all that a link may say, by name
    page: str,
    label: str,
    own: Mapping[str, str] | None = None,
    *,
    yours: bool = False,
    two: bool = False,
    **there: Any,
) -> StationLink:
    """A link in one line.

    >>> link_to("tokens", "Pieces", text="A cat.").query(ViewState())
    {'text': 'A cat.'}
    """
    return StationLink(page, label, there, own or {}, yours, two)


def get_trace(text: str, model: str = EMBEDDED, target: str | None = None, cut: int | None = None) -> Trace:
    """Return a text as a model reads it; a translator's target is its own translation if none is given."""
    trace = get_backend().trace(TraceRequest(model=model, text=text, target=target, cut=cut))
    refuse_unread(trace.source, model)
    return trace


def refuse_unread(row: TokenRow, model: str) -> None:
    """Raise Refusal if the model of a station does not know at least a third of the tokens of a reader's text."""
    title = next((card.title for card in get_backend().models() if card.id == model), model)
    if message := explain_unreadable(row, title):
        raise UserError(
            join_sentences(message, _("This tutorial always asks this model: edit the text.")), way_out="text"
        )


def head_name(layer: int, head: int) -> str:
    """A head as the reader counts.

    >>> head_name(3, 1)
    'head 3-1'
    """
    return _("head {layer}-{head}", layer=layer, head=head)
