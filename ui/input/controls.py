"""Widgets for options, stages, heads and numbers, and the character spans of hidden words.

A stage is a step of a computation that a page can show separately. A hidden word is a word that the visitor replaces by
a mask.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import groupby
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.head_names import describe_ambiguous_number
from attention.mask import FloatArray
from attention.tokens import TokenRow
from i18n import _, gettext_lazy, translate
from inference import UserError
from inference.tasks.predictions import Place, lies_in
from inference.text.words import number_words
from ui.show.tour import is_touring
from ui.state.params import get_params, set_params, widget_key
from ui.state.session import set_view_state
from ui.state.view_state import ViewState
from viz.figures import head_maps
from viz.options import options_of


def control_row(name: str) -> DeltaGenerator:
    """Return a container for the widgets above a figure, in a row if the screen is wide enough.

    The labels of lists and text boxes are next to their fields, not above them (assets/app.css). ``name`` is unique on
    the page.
    """
    return st.container(key=f"controls_{name}", horizontal=True, vertical_alignment="center")


def bound_widget(kind: type[Any], name: str, widget: Any, label: str = "", *given: Any, **more: Any) -> Any:
    """Draw the widget for the option ``name`` of a page and return its value.

    A change is stored in the address. ``kind`` is the class of the page's options. ``widget`` is a method of st or of a
    column, which is called with the arguments ``given`` and ``more``. Label, help and choices come from the field's
    declaration (viz/options.py); a caller passes them only if they depend on the data. The argument ``format_func`` may
    return messages that are not translated yet. The argument ``shown`` is a value that the widget shows instead of the
    option's value.
    """
    declared = options_of(kind)[name]
    key = widget_key(kind, name)
    st.session_state[key] = more.pop("shown", getattr(get_params(kind), name))

    def keep() -> None:
        set_params(kind, **{name: st.session_state[key]})

    if declared.help:
        more.setdefault("help", translate(declared.help))
    if declared.choices:
        more.setdefault("format_func", declared.label_of)
        if not given:
            more.setdefault("options", list(declared.choices))
    if (name_of := more.get("format_func")) is not None:
        more["format_func"] = lambda value: translate(name_of(value))
    return widget(label or translate(declared.label), *given, key=key, on_change=keep, **more)


ALL_STAGES = "all"  # Value of an option "stage" that shows every stage, such as for printing.


def pick_stage(kind: type[Any], stages: Mapping[str, str], shown: str, buttons: DeltaGenerator | None = None) -> str:
    """Draw the widget that selects a stage of a computation, with buttons Back and Next; return ``shown``.

    ``kind`` is the class of the page's options, whose field "stage" stores the stage. ``stages`` maps the names of the
    stages to their titles, in order. ``shown`` is the stage in the address, or ALL_STAGES. ``buttons`` is the container
    of the buttons, by default the row of stages.
    """
    names = list(stages)
    at = names.index(shown) if shown in names else len(names)
    row = st.container(key="stages", horizontal=True, vertical_alignment="bottom")
    with row:
        bound_widget(
            kind,
            "stage",
            st.segmented_control,
            options=[*names, ALL_STAGES],
            shown=shown,
            required=True,
            label_visibility="collapsed",
        )
    with row if buttons is None else buttons:
        draw_back_and_next(
            "stage", at, len(names), lambda stage: set_params(kind, stage=names[stage]), not is_touring()
        )
    return shown


def draw_back_and_next(key: str, at: int, count: int, go: Callable[[int], None], keys: bool = True) -> None:
    """Draw the buttons Back and Next for step ``at`` of ``count``; a click calls ``go`` with the new step.

    With ``keys``, Alt+Page Up and Alt+Page Down do the same. If ``at`` is ``count``, all steps are finished, so only
    Back is enabled.
    """
    for label, step, shortcut in ((_("Back"), -1, "Alt+PageUp"), (_("Next"), 1, "Alt+PageDown")):
        st.button(
            label,
            key=f"{key}_back" if step < 0 else f"{key}_next",
            disabled=not 0 <= at + step < count,
            on_click=go,
            args=(at + step,),
            shortcut=shortcut if keys else None,
        )


def head_of(choice: ViewState, values: FloatArray) -> tuple[int, int]:
    """Return the selected (layer, head), or if it has no value, the head with the largest value.

    ``values`` has the shape (layer, head); layers without attention are NaN.

    >>> head_of(ViewState(layer=7, head=0), np.array([[0.1, 0.3, 0.2]]))
    (0, 1)
    """
    layers, heads = values.shape
    if (
        choice.layer is not None
        and choice.head is not None
        and choice.layer < layers
        and choice.head < heads
        and np.isfinite(values[choice.layer, choice.head])
    ):
        return choice.layer, choice.head
    layer, head = np.unravel_index(int(np.nanargmax(values)), values.shape)
    return int(layer), int(head)


def head_name(layer: int, head: int) -> str:
    """Return the name of a head for use in a sentence.

    >>> head_name(3, 1)
    'head 3-1'
    """
    return _("head {layer}-{head}", layer=layer, head=head)


def rank_of(values: FloatArray, layer: int, head: int) -> str:
    """Return a phrase with the rank of a head among all heads, such as "rank 2 of 3".

    ``values`` is (layer, head); rank 1 is the largest value. NaN marks heads that do not count; heads with equal values
    share a rank.

    >>> rank_of(np.array([[0.1, 0.3, 0.2]]), 0, 2)
    'rank 2 of 3'
    """
    more, size = int((values > values[layer, head]).sum()), int(np.isfinite(values).sum())
    return _("rank {rank} of {size}", rank=more + 1, size=size)


def keep_head(key: str) -> None:
    """Select the head that was clicked in the map under ``key``; call this in the map's callback."""
    picked = head_maps.picked_head(st.session_state[key])
    if picked is not None:
        set_view_state(layer=picked[0], head=picked[1])


SHOWN = 60  # The last of so many words is hidden first, so that it is visible without scrolling.
NOTHING = "-"  # Value in a link for no hidden words.
_PLACES = re.compile(r"[01]:[0-9]{1,7}-[0-9]{1,7}(,[01]:[0-9]{1,7}-[0-9]{1,7}){0,199}")
TYPED = "[MASK]"
# A blank as on paper; the underscores of __init__ are part of a word. Chinese has no spaces beside a blank.
UNDERSCORES = re.compile(r"(?<!\w)__+(?!\w)", re.ASCII)


def fingerprint(text: str, pair: str) -> str:
    """Return a checksum of two texts, 8 hex digits, stored with the places of hidden words.

    The places are only valid for texts with the same checksum.

    >>> fingerprint("a", "") == fingerprint("a", ""), fingerprint("a", "b") == fingerprint("ab", "")
    (True, False)
    """
    both = "\0".join([text, pair])
    return f"{zlib.crc32(both.encode('utf-8', 'replace')):08x}"


def parse(raw: str) -> tuple[Place, ...]:
    """Return the character spans of hidden words from the text of a link; () if the text is malformed.

    >>> parse("0:4-10,1:0-3"), parse("x")
    (((0, 4, 10), (1, 0, 3)), ())
    """
    if not _PLACES.fullmatch(raw):
        return ()
    parts = (re.split("[:-]", place) for place in raw.split(","))
    return tuple((int(text), int(start), int(end)) for text, start, end in parts)


def write(places: Collection[Place]) -> str:
    """Return the character spans of hidden words as text for a link; ``parse`` is the inverse.

    Without spans, return NOTHING.

    >>> write([(0, 4, 10)]), write([])
    ('0:4-10', '-')
    """
    return ",".join(f"{text}:{start}-{end}" for text, start, end in sorted(places)) or NOTHING


def blanks_as_masks(text: str) -> str:
    """Return the text with [MASK] for each run of two or more underscores that is not part of a word.

    >>> blanks_as_masks("She opened the ___, not __init__.")
    'She opened the [MASK], not __init__.'
    >>> blanks_as_masks("她打开了___。")
    '她打开了[MASK]。'
    """
    return UNDERSCORES.sub(TYPED, text)


def first_place(text: str, pair: str, example: Mapping[str, Any] | None, mask: str = TYPED) -> tuple[Place, ...]:
    """Return the span of the word that is hidden when a text is opened, as a tuple of at most one span.

    A span is (text, start, end) in characters. The word is the focus word of ``example``, if the text contains it, and
    otherwise the last of the first SHOWN words. The result is () if a text contains [MASK] or the model's own ``mask``.
    In a script without spaces, each character is a word.

    >>> first_place("A cat sat.", "", None), first_place("A [MASK] sat.", "", None)
    (((0, 6, 9),), ())
    """
    if any(typed in given for typed in (TYPED, mask) for given in (text, pair)):
        return ()
    words = [(start, end) for start, end in _words(text) if text[start].isalnum()]
    asked = [(start, end) for start, end in words if example is not None and text[start:end] == example.get("focus")]
    found = asked or words[:SHOWN][-1:]
    return tuple((0, start, end) for start, end in found[:1])


def _words(text: str) -> Iterator[tuple[int, int]]:
    """Yield the span (start, end) of each word."""
    for number, run in groupby(enumerate(number_words(text)), key=lambda place: place[1]):
        if number is not None:
            places = [at for at, _ in run]
            yield places[0], places[-1] + 1


def toggle_hidden(row: TokenRow, places: Collection[Place], tokens: Collection[int]) -> tuple[Place, ...]:
    """Return the character spans of hidden words after a click on the tokens ``tokens``.

    If all these tokens are hidden, the click uncovers them; otherwise it hides all of them.

    >>> row = TokenRow(("play", "ing"), (1, 2), (0, 0), (0, 0), ((0, 4), (4, 7)))
    >>> toggle_hidden(row, [], [0, 1]), toggle_hidden(row, [(0, 0, 7)], [1])
    (((0, 0, 7),), ((0, 0, 4),))
    """
    hidden = {at for at in range(len(row)) if lies_in(row, at, list(places))}
    clicked = {at for at in tokens if row.spans[at] is not None}
    after = hidden - clicked if clicked <= hidden else hidden | clicked
    found: list[Place] = []
    for at in sorted(after):
        start, end = row.spans[at] or (0, 0)
        segment = row.segments[at]
        if found and found[-1][0] == segment and found[-1][2] >= start:
            found[-1] = (segment, found[-1][1], max(end, found[-1][2]))
        else:
            found.append((segment, start, end))
    return tuple(found)


LARGEST = 1e6  # Maximum absolute value.
_NUMBER = re.compile(r"[+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)(e[+-]?[0-9]{1,3})?", re.IGNORECASE)


def read_number(text: str) -> float:
    """Parse a number; the empty text is 0.

    Raise UserError if the text is malformed or ambiguous, or if the number is larger than LARGEST.

    >>> read_number("1e2"), read_number("1,5"), read_number("−2"), read_number("0.5/2"), read_number(" ")
    (100.0, 1.5, -2.0, 0.25, 0.0)
    """
    plain = text.strip().replace("−", "-")
    shown = f"“{text.strip()[:40]}”"
    if not plain:
        return 0.0
    parts = [part.strip() for part in plain.split("/")]
    if ambiguous := describe_ambiguous_number(plain):
        raise UserError(ambiguous)
    numbers = [float(part.replace(",", ".")) for part in parts if _NUMBER.fullmatch(part)]
    if len(numbers) < len(parts) or len(parts) > 2 or not all(numbers[1:]):
        raise UserError(gettext_lazy("{typed} is not a number, such as 0.5, 1e2 or 1/3.", typed=shown))
    value = numbers[0] / (numbers[1] if numbers[1:] else 1)
    if not abs(value) <= LARGEST:  # NaN is out of range, too
        raise UserError(
            gettext_lazy("{typed} is out of range, from -{most:,.0f} to {most:,.0f}.", typed=shown, most=LARGEST)
        )
    return value


def format_shortest(number: float) -> str:
    """Return the shortest text that parses to the same number.

    >>> format_shortest(2.0), format_shortest(0.1)
    ('2', '0.1')
    """
    return str(int(number)) if number.is_integer() else repr(number)
