"""How a picture's tokens, and what is changed there, are called: patches by row and column, others by name."""

from __future__ import annotations

from collections.abc import Sequence

from attention.edits import Ablate, Edit, EditSet, MaskEdge, MaskKey
from attention.trace import Trace
from i18n import _, ngettext
from ui.ablation import MOST_NAMED
from ui.ablation import describe_edit as told_plainly
from ui.show.text import format_comma_list
from viz.components.picture.content import grid_and_picture


def place_name(trace: Trace, token: int) -> str:
    """A token's place, counted from 1 as the view of a picture counts, or its name where it has none."""
    grid, _picture = grid_and_picture(trace)
    place = grid.place(token)
    if place is None:
        return trace.tokens[token] if token < len(trace.tokens) else str(token)
    return _("row {row}, column {column}", row=place[0] + 1, column=place[1] + 1)


def describe_edit(edit: Edit, trace: Trace) -> str:
    """One edit in words."""
    if isinstance(edit, MaskEdge):
        return _(
            "head {layer}-{head}: no link from {query} to {key}",
            layer=edit.layer,
            head=edit.head,
            query=place_name(trace, edit.query),
            key=place_name(trace, edit.key),
        )
    if isinstance(edit, MaskKey):
        return _("layer {layer}: {key} hidden", layer=edit.layer, key=place_name(trace, edit.key))
    return told_plainly(edit)


def describe_edits(edits: EditSet, trace: Trace) -> str:
    """All edits in a few words; what is hidden in several layers, once."""
    hidden = dict.fromkeys(edit.key for edit in edits if isinstance(edit, MaskKey))
    removed = [edit for edit in edits if isinstance(edit, Ablate)]
    rest = [edit for edit in edits if not isinstance(edit, Ablate | MaskKey)]
    return format_comma_list(
        [
            *_name_few([describe_edit(edit, trace) for edit in removed], len(removed)),
            *[_("{key} hidden", key=place_name(trace, key)) for key in hidden],
            *[describe_edit(edit, trace) for edit in rest],
        ]
    )


def _name_few(names: Sequence[str], many: int) -> Sequence[str]:
    """Heads by name, or of many their number."""
    return names if many <= MOST_NAMED else [ngettext("{many} head removed", "{many} heads removed", many, many=many)]
