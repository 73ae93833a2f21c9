"""The panel of ablated heads and masked edges, which every page with ablations shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from attention.edits import Ablate, Edit, EditSet, Uniform, pack
from i18n import _, gettext_lazy, translate
from ui.ablation.edits import NOTHING, Head, count_edits, describe_edit, edits_of, toggle_edits
from ui.run.notices import show_notice
from ui.state.params import get_params, set_params, widget_key

LISTED, CODES, CLEAR = gettext_lazy("Ablated"), gettext_lazy("Edit codes"), gettext_lazy("Restore all")
Shortcut = tuple[str, EditSet, str]  # Label, the edits after a click, help.


def chosen_edits(options: Any, head: Head | None, part: str = "") -> EditSet:
    """Return the edits in a page's options; show a notice for each edit code that could not be parsed.

    If the options contain no edits, return the ablation of ``head`` in the stack ``part``, or no edits if ``head`` is
    None.
    """
    edits, notes = edits_of(options.edits, head, part)
    for note in notes:
        show_notice(note, role="status")
    return edits


def keep_edits(kind: type[Any], edits: EditSet) -> None:
    """Store the edits in the page's options ``kind`` and in its address; use it only in a callback."""
    set_params(kind, edits=pack(edits) or NOTHING)


def toggle_kept_edits(kind: type[Any], shown: EditSet, some: Sequence[Edit], part: str = "") -> None:
    """Add the edits ``some`` to a page's stored edits, or remove them if all of them are stored.

    Call this function only in a callback. ``kind`` is the class of the page's options, which store the edits. If they
    contain no edits yet, the edits on the screen, ``shown``, count as stored. An edit code that names no stack refers
    to the stack ``part``.
    """
    codes = get_params(kind).edits
    keep_edits(kind, toggle_edits(edits_of(codes, None, part)[0] if codes else shown, some))


def draw_clear_button(kind: type[Any], edits: EditSet | None = None, key: str = "refused") -> None:
    """Draw a button that removes all edits; it is disabled if ``edits`` is empty, but not if it is None.

    ``kind`` is the class of the page's options, which store the edits. ``key`` distinguishes several such buttons of a
    page.
    """
    st.button(
        translate(CLEAR),
        key=widget_key(kind, f"clear_{key}"),
        icon=":material/undo:",
        on_click=keep_edits,
        args=(kind, ()),
        disabled=edits == (),
        help=_("Undo all edits."),
    )


def draw_panel(  # noqa: PLR0913  (options of a panel, by name)
    kind: type[Any],
    edits: EditSet,
    *,
    offered: Sequence[Ablate] = (),
    describe: Callable[[Edit], str] = describe_edit,
    shortcuts: Sequence[Shortcut] = (),
    form: str = "",
) -> None:
    """Draw the panel of the edits: their names, a list, a text field, and a button that clears them.

    ``kind`` is the class of the page's options. In the list the visitor can ablate each head of ``offered``, or make
    its weights uniform; ``describe`` returns the name of an edit there. Each of ``shortcuts`` becomes a button that
    replaces the edits. ``form`` is the help of the text field: the syntax of edit codes.
    """
    listed, typed = widget_key(kind, "edits"), widget_key(kind, "codes")
    st.caption(count_edits(edits))
    with st.container(horizontal=True):
        draw_clear_button(kind, edits, "panel")
        for label, after, about in shortcuts:
            st.button(label, on_click=keep_edits, args=(kind, after), help=about)
    left, right = st.columns(2)
    st.session_state[listed] = list(edits)
    even = [Uniform(head.layer, head.head, head.part) for head in offered]
    left.multiselect(
        translate(LISTED),
        list(dict.fromkeys((*edits, *offered, *even))),
        key=listed,
        format_func=describe,
        on_change=lambda: keep_edits(kind, tuple(st.session_state[listed])),
        placeholder=_("Nothing picked"),
        help=_("Remove an entry to restore it."),
        select_all=False,  # Enter takes the head that was typed, not all matches
    )
    st.session_state[typed] = pack(edits)
    right.text_input(
        translate(CODES),
        key=typed,
        on_change=lambda: set_params(kind, edits=st.session_state[typed].strip() or NOTHING),
        help=translate(form) or None,
    )
