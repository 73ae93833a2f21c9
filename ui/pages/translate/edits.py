"""What is removed from a translation model while it writes: heads and looks, picked, listed, typed; in the link too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial, reduce

import streamlit as st

from attention.cause import Set
from attention.cells import Cell
from attention.edits import Ablate, Cut, Edit
from attention.trace import Trace
from attention.view import View
from ui.input.picking import control
from ui.pages.translate.heads import CrossHead, named
from ui.pages.translate.options import CLICKS, SCOPES, SIDES, Translate
from ui.pages.translate.strip import cells_of
from ui.pages.translate.translation import Translation
from ui.removing.edits import Head, edits_of, toggled, told
from ui.removing.listed import keep_edits, listed_and_typed, typed_notes
from ui.run.refusals import say
from ui.state.choice import Choice
from ui.state.options import own
from viz.components.strip import strip
from viz.components.strip.strip import Chip
from wording import _, ngettext, sentence

STRIP = "translate_cut"
PART_NAMES = {"encoder": sentence("Encoder"), "decoder": sentence("Decoder"), "cross": sentence("Cross")}
PARTS = {"encoder": sentence("encoder"), "decoder": sentence("decoder"), "cross": sentence("cross")}  # of a head
put = partial(keep_edits, Translate)  # in a callback: these edits, in the link too


def chosen_edits(options: Translate, head: CrossHead) -> Set:
    """What is removed: without a choice the cross head that is shown, or nothing where looks are cut.

    What cannot be read is said.
    """
    if not options.edits:
        return (Ablate(head.layer, head.head, "cross"),) if options.clicking == "head" else ()
    edits, notes = edits_of(options.edits, (head.layer, head.head))
    typed_notes(notes)
    return edits


def pick_clicks(options: Translate) -> None:
    """What a click does, and on which heads."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        control(
            Translate,
            "side",
            st.segmented_control,
            _("Heads of"),
            list(SIDES),
            format_func=PART_NAMES.get,
            required=True,
            help=_(
                "The encoder reads the source, the decoder looks back at what is written, and across at the source."
            ),
        )
        control(
            Translate,
            "clicking",
            st.segmented_control,
            _("What a click does"),
            list(CLICKS),
            format_func=CLICKS.get,
            required=True,
            help=_(
                "Heads are clicked on the map below. For a look that is cut, click a word of the translation above,"
                " then the source word that it must no longer see."
            ),
        )
        if options.clicking == "cut":
            control(
                Translate,
                "scope",
                st.selectbox,
                _("Cut"),
                list(SCOPES),
                format_func=SCOPES.get,
                width=190,
                help=_("The cross head that is chosen, all cross heads of its layer, or every cross head"),
            )


def pick_look(choice: Choice, translation: Translation, head: CrossHead, at: int, edits: Set) -> None:
    """The source as chips: a click cuts what the chosen step's word sees of it, or lets it see it again."""
    trace = translation.trace
    word = next((cell for cell in cells_of(choice, translation) if cell.pieces[0] <= at < cell.pieces[1]), None)
    if word is None:
        say(_("Click a word of the translation above first; the end is hidden with the special tokens."), "status")
        return
    heads, scope = heads_of(trace, head, own(Translate).scope), edits
    cells = View(trace, "cross", words=choice.words, special=choice.special).keys
    gone = {cut.key for cut in _cross_cuts(edits) if word.pieces[0] <= cut.query < word.pieces[1]}
    chips = [
        Chip(cell.text, special=cell.special, mark="removed" if gone & set(range(*cell.pieces)) else "")
        for cell in cells
    ]

    def keep() -> None:
        place = strip.picked(STRIP)
        if place is not None and place < len(cells):
            put(toggled(scope, cuts(heads, word, cells[place])))

    strip.mount(
        chips,
        STRIP,
        title=_("Now click a source word that “{word}” must not see", word=translation.shown(word)),
        on_pick=keep,
    )


def heads_of(trace: Trace, head: CrossHead, scope: str) -> list[Head]:
    """The cross heads in which a look is cut."""
    records = trace.records("cross")
    every = [(layer, at) for layer, record in enumerate(records) for at in range(record.heads)]
    return {
        "head": [(head.layer, head.head)],
        "layer": [place for place in every if place[0] == head.layer],
        "all": every,
    }[scope]


def cuts(heads: Sequence[Head], word: Cell, source: Cell) -> list[Edit]:
    """Every step of a target word, cut off from every piece of a source word, in those cross heads.

    >>> from attention.edits import pack
    >>> cells = [Cell("did", False, 0, 0, (0, 1)), Cell("chat", False, 0, 1, (3, 5))]
    >>> pack(cuts([(1, 2)], cells[1], cells[0]))
    'cx1-2-3-0,cx1-2-4-0'
    """
    steps, keys = range(*word.pieces), range(*source.pieces)
    return [Cut(*place, step, key, "cross") for place in heads for step in steps for key in keys]


def in_words(edits: Set, trace: Trace, base: int) -> str:
    """All edits in a few words, for a sentence that is shown as text."""
    said = []
    heads = [edit for edit in edits if isinstance(edit, Ablate)]
    if 0 < len(heads) <= 4:
        said.append(
            _(
                "without {heads}",
                heads=_names([part_head(edit.part or trace.part, edit.layer, edit.head, base) for edit in heads]),
            )
        )
    elif heads:
        said.append(_("without {number} heads", number=len(heads)))
    cut = _cross_cuts(edits)
    looks = Counter((edit.query, edit.key) for edit in cut)  # in how many heads each is cut
    for query, key in sorted(looks)[:3]:
        name = f"“{trace.source.pieces[key]}”" if key < len(trace.source) else _("source token {place}", place=key)
        said.append(
            ngettext(
                "with step {step} not seeing {token} in {number} head",
                "with step {step} not seeing {token} in {number} heads",
                looks[query, key],
                step=query + 1,
                token=name,
                number=looks[query, key],
            )
        )
    others = len(edits) - len(heads) - len(cut)
    more = len(looks) - 3
    if more > 0:
        said.append(ngettext("with {number} more look cut", "with {number} more looks cut", more, number=more))
    if others:
        said.append(ngettext("with {number} other edit", "with {number} other edits", others, number=others))
    return _clauses(said)


def _names(names: Sequence[str]) -> str:
    """Names in a row, which Chinese puts apart otherwise than clauses."""
    return reduce(lambda names, name: _("{names}, {name}", names=names, name=name), names)


def _clauses(said: Sequence[str]) -> str:
    """Clauses in a row."""
    return reduce(lambda said, more: _("{said}, {more}", said=said, more=more), said) if said else ""


def part_head(part: str, layer: int, head: int, base: int) -> str:
    """A head with the part of the model that it is in."""
    return _("{part} head {head}", part=PARTS[part], head=named(layer, head, base))


def _cross_cuts(edits: Set) -> list[Cut]:
    return [edit for edit in edits if isinstance(edit, Cut) and edit.part == "cross"]


def listed(edits: Set, trace: Trace, base: int) -> None:
    """The list of what is removed, and edits as typed: what is rarely needed, folded."""
    with st.expander(_("All that is removed")):
        st.button(_("Put all back"), key="translate_back", on_click=put, args=((),), help=_("Nothing is removed"))
        names = [_("{part}: {edit}", part=PARTS[edit.part or trace.part], edit=told(edit, base)) for edit in edits]
        listed_and_typed(
            Translate,
            edits,
            names,
            _(
                "ax2-5: no cross head 2-5. ae0-1: no encoder head 0-1. ad0-1: no decoder head 0-1. ux2-5: it looks"
                " evenly. cx2-5-3-4: there step 3 does not see source token 4. Counted from 0, with commas."
            ),
        )
