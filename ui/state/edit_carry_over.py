"""What of a view stays when the text is edited: the head that is shown, and the words that are still there.

An edited text is one that still has at least half of the old text's tokens, in the same order; its tokens stand beside
the old ones (attention/text_alignment.py). Any other text is a new one, and opens on what its own numbers say.
"""

from __future__ import annotations

from typing import Any

from attention.display_tokens import DisplayToken
from attention.text_alignment import Aligned, align
from attention.trace import Trace
from attention.view import View
from i18n import gettext_lazy
from ui.state.view_state import ViewState

SHARE = 0.5  # of the old text's tokens that an edited text still has


def carry_over(choice: ViewState, old: Trace, new: Trace) -> tuple[dict[str, Any], list[str]] | None:
    """What stays of a choice that was made on the old text, in tokens of the new one; None for a wholly new text.

    With it come sentences: which of the words that were asked about are gone, and what stands there.
    """
    part = choice.part if choice.part in old.parts and choice.part in new.parts else None
    left, right = View(old, part), View(new, part)
    queries, keys = align(left, right)
    if not _is_edit(left.keys, right.keys, keys):
        return None
    found: dict[str, Any] = {name: getattr(choice, name) for name in ("layer", "head", "facing", "pins")}
    notes: list[str] = []
    for name, cells, aligned in (
        ("focus", (left.queries, right.queries), queries),
        ("to", (left.keys, right.keys), keys),
    ):
        found[name] = _new_place(getattr(choice, name), *cells, aligned, notes)
    if found["focus" if choice.facing == "out" else "to"] is None:
        found |= {"focus": None, "to": None}  # the page finds another word to ask about
    return found, notes


def _is_edit(old: tuple[DisplayToken, ...], new: tuple[DisplayToken, ...], aligned: Aligned) -> bool:
    """Whether enough of the old text is still there; special tokens are of no text."""
    same = sum(
        not old[one[0]].special and _text(old, one) == _text(new, other) for one, other in aligned.pairs
    )  # fmt: skip
    return same >= SHARE * sum(not cell.special for cell in old) and same > 0


def _text(cells: tuple[DisplayToken, ...], run: tuple[int, int]) -> str:
    return "".join(cell.text for cell in cells[slice(*run)]).casefold()


def _new_place(
    at: int | None, old: tuple[DisplayToken, ...], new: tuple[DisplayToken, ...], aligned: Aligned, notes: list[str]
) -> int | None:
    """Where a token of the old text stands in the new one; where it is gone, a sentence says so."""
    if at is None or at >= len(old):
        return None
    pair = aligned.pair_of(0, at)
    if pair is None:
        notes.append(gettext_lazy("“{text}”, which was asked about, is gone from the text.", text=old[at].text))
        return None
    one, other = aligned.pairs[pair]
    if _text(old, one) != _text(new, other):
        words = ["".join(cell.text for cell in side[slice(*run)]) for side, run in ((old, one), (new, other))]
        notes.append(
            gettext_lazy(
                "“{old}” is gone from the text; “{new}” stands in its place and is asked about now.",
                old=words[0],
                new=words[1],
            )
        )
    return other[0] + min(at - one[0], other[1] - other[0] - 1)
