"""How a picture's tokens, and what is changed there, are called: patches by row and column, others by name."""

from __future__ import annotations

from collections.abc import Sequence

from attention.cause import Set
from attention.edits import Ablate, Cut, Edit, Hide
from attention.trace import Trace
from ui.removing.edits import MOST_NAMED
from ui.removing.edits import told as told_plainly
from ui.show.lists import commas
from viz.components.picture.content import seen
from wording import _, ngettext


def place_name(trace: Trace, token: int) -> str:
    """A token's place, counted from 1 as the view of a picture counts, or its name where it has none."""
    grid, _picture = seen(trace)
    place = grid.place(token)
    if place is None:
        return trace.tokens[token] if token < len(trace.tokens) else str(token)
    return _("row {row}, column {column}", row=place[0] + 1, column=place[1] + 1)


def told(edit: Edit, trace: Trace) -> str:
    """One edit in words."""
    if isinstance(edit, Cut):
        return _(
            "head {layer}-{head}: no link from {query} to {key}",
            layer=edit.layer,
            head=edit.head,
            query=place_name(trace, edit.query),
            key=place_name(trace, edit.key),
        )
    if isinstance(edit, Hide):
        return _("layer {layer}: {key} hidden", layer=edit.layer, key=place_name(trace, edit.key))
    return told_plainly(edit, 0)


def in_words(edits: Set, trace: Trace) -> str:
    """All edits in a few words; what is hidden in several layers, once."""
    hidden = dict.fromkeys(edit.key for edit in edits if isinstance(edit, Hide))
    removed = [edit for edit in edits if isinstance(edit, Ablate)]
    rest = [edit for edit in edits if not isinstance(edit, Ablate | Hide)]
    return commas(
        [
            *_few([told(edit, trace) for edit in removed], len(removed)),
            *[_("{key} hidden", key=place_name(trace, key)) for key in hidden],
            *[told(edit, trace) for edit in rest],
        ]
    )


def _few(names: Sequence[str], many: int) -> Sequence[str]:
    """Heads by name, or of many their number."""
    return names if many <= MOST_NAMED else [ngettext("{many} head removed", "{many} heads removed", many, many=many)]
