"""What a notebook's cell shows of a trace, and what Python can go on with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex, get_args

from attention.default_head import head_of_link
from attention.external_maps import InvalidAttention
from attention.head_summary import HeadSummary, summarize_heads
from attention.mask import BoolArray
from attention.positional_prior import PositionalPrior, positional_prior
from attention.trace import Trace
from attention.view import View
from headlight import page
from headlight.token_rows import whole_number
from i18n import _
from viz.components.explore.contract import choices
from viz.components.standalone.standalone import Theme

if TYPE_CHECKING:
    from headlight.widget import Widget

SMALL_MAP = 48  # cells on a side


@dataclass(frozen=True, eq=False)
class Shown:
    """A trace as a notebook shows it, opened at a word: ``focus`` is a word of the text, a token's number, or None.

    Without a word it opens at the link that is most the text's own, as the app does. ``known`` is what the model's
    heads do whatever the text says, where that was told from other texts; else this one alone says it. ``theme`` is
    "light" or "dark" where pages are not to look as the system does, which is all that their frame can know.
    """

    trace: Trace
    focus: str | SupportsIndex | None = None
    known: PositionalPrior | None = None
    theme: Theme = "auto"

    def __post_init__(self) -> None:
        if self.theme not in get_args(Theme):
            raise InvalidAttention(
                _("theme={theme!r}: it is one of {known}.", theme=self.theme, known=", ".join(get_args(Theme)))
            )
        self._word  # noqa: B018  # a word that is not there is refused now, not where a cell is drawn

    def _repr_html_(self) -> str:
        """A sandboxed page of at most a megabyte, which asks no network."""
        return page.notebook_frame(self.view, self._survey, self.selection, self.theme)

    def widget(self) -> Widget:
        """The same for a text of any length: the kernel answers what is looked at, `.selection` says what is chosen.

        Raises ImportError in one sentence where anywidget is not installed.
        """
        try:
            from headlight.widget import Widget
        except ModuleNotFoundError as error:
            raise ImportError(
                _("A widget needs anywidget: pip install anywidget, and start the notebook again.")
            ) from error
        return Widget(self.view, self._survey, self.selection, repr(self))

    @property
    def html(self) -> str:
        """The page as a string, with as much room for maps as the file that ``save`` writes."""
        return page.standalone_page(self.view, self._survey, self.selection, self.theme)

    def save(self, path: str | Path) -> Path:
        """The page as a file of its own, with more room for maps than a notebook's cell; where it lies."""
        place = Path(path)
        place.write_text(self.html, encoding="utf-8")
        return place

    def __repr__(self) -> str:
        model, view = self.trace.model, self.view
        return _(
            "{name}: {layers} layers × {heads} heads, {tokens} tokens. {architecture}.",
            name=model.name,
            layers=view.layers,
            heads=view.heads,
            tokens=len(view.queries),
            architecture=model.architecture,
        )

    @cached_property
    def view(self) -> View:
        """Every token and every head."""
        return View(self.trace)

    @cached_property
    def selection(self) -> dict[str, Any]:
        """What is chosen when the page opens, by the names of the app's addresses."""
        focus, head = self._word, (self.view.attending[0], 0)
        if focus is None:
            link = self._survey.own.best(self.view, self.known, self._free)
            words = [at for at, cell in enumerate(self.view.queries) if not cell.special]
            focus, head = (words[0] if words else 0, head) if link is None else (link.query, (link.layer, link.head))
        else:
            head = head_of_link(self.view, self._survey, self.known, focus, heads=self._free)
        usual = {name: names[0] for name, names in choices(self.view).items()}
        return {**usual, "layer": head[0], "head": head[1], "focus": focus, "target": None, "pinned": []}

    @cached_property
    def _survey(self) -> HeadSummary:
        return summarize_heads(self.view, SMALL_MAP)

    @cached_property
    def _free(self) -> BoolArray | None:
        """The heads that do more in this text than look at a place, (layer, head); None: all."""
        if self.known is not None or self.view.is_signed or all(cell.special for cell in self.view.queries):
            return None
        free = ~positional_prior([self.trace], self.trace.part).positional
        return free if free.any() else None

    @cached_property
    def _word(self) -> int | None:
        if self.focus is None:
            return None
        cells = self.view.queries
        if isinstance(self.focus, str):
            found = self._place(self.focus.strip().casefold())
        else:
            number = whole_number(self.focus)
            found = number if number is not None and 0 <= number < len(cells) else None
        if found is None:
            raise InvalidAttention(
                _(
                    "focus={focus!r} is no token of this text, which has {cells}. Give a word of it, or a "
                    "number from 0 to {last}.",
                    focus=self.focus,
                    cells=_name_some(cells),
                    last=len(cells) - 1,
                )
            )
        return found

    def _place(self, asked: str) -> int | None:
        """Return the token that a word begins at, or the token with such a text or label if no word is like it."""
        words = ((cell.text, cell.pieces[0]) for cell in replace(self.view, words=True).queries)
        tokens = ((name, at) for at, cell in enumerate(self.view.queries) for name in (cell.text, cell.label))
        return next((at for name, at in (*words, *tokens) if name.strip().casefold() == asked), None)


def _name_some(cells: Any, most: int = 12) -> str:
    names = [cell.label for cell in cells[:most]]
    return ", ".join(names) + (_(" and {many} more", many=len(cells) - most) if len(cells) > most else "")
