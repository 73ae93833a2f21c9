"""Names of picture tokens and edits: patches by row and column, other tokens by name."""

from __future__ import annotations

from collections.abc import Sequence

from attention.edits import Ablate, Edit, EditSet, MaskEdge, MaskKey
from attention.trace import Trace
from i18n import _, ngettext
from ui.ablation.edits import MOST_NAMED
from ui.ablation.edits import describe_edit as told_plainly
from ui.show.text import format_comma_list
from viz.components.picture.content import grid_and_picture


def place_name(trace: Trace, token: int) -> str:
    """Return the row and column of a patch, counted from 1, or the name of a token without a patch."""
    grid, _picture = grid_and_picture(trace)
    place = grid.place(token)
    if place is None:
        return trace.tokens[token] if token < len(trace.tokens) else str(token)
    return _("row {row}, column {column}", row=place[0] + 1, column=place[1] + 1)


def describe_edit(edit: Edit, trace: Trace) -> str:
    """Return a phrase for an edit."""
    if isinstance(edit, MaskEdge):
        return _(
            "head {layer}-{head}: {query} → {key} masked",
            layer=edit.layer,
            head=edit.head,
            query=place_name(trace, edit.query),
            key=place_name(trace, edit.key),
        )
    if isinstance(edit, MaskKey):
        return _("layer {layer}: {key} masked", layer=edit.layer, key=place_name(trace, edit.key))
    return told_plainly(edit)


def describe_edits(edits: EditSet, trace: Trace) -> str:
    """Return a phrase for all edits; a token that is hidden in several layers is named once."""
    hidden = dict.fromkeys(edit.key for edit in edits if isinstance(edit, MaskKey))
    removed = [edit for edit in edits if isinstance(edit, Ablate)]
    rest = [edit for edit in edits if not isinstance(edit, Ablate | MaskKey)]
    return format_comma_list(
        [
            *_name_few([describe_edit(edit, trace) for edit in removed], len(removed)),
            *[_("{key} masked", key=place_name(trace, key)) for key in hidden],
            *[describe_edit(edit, trace) for edit in rest],
        ]
    )


def _name_few(names: Sequence[str], many: int) -> Sequence[str]:
    """Return the names, or the number of heads if there are more than MOST_NAMED."""
    return names if many <= MOST_NAMED else [ngettext("{many} head ablated", "{many} heads ablated", many, many=many)]
