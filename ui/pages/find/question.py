"""The question “which head links one word to another” on the page: words picked, every head asked, texts compared."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from attention.find import Flags, flips, follows
from attention.view import View
from ui.pages.find.asked import Asked
from ui.pages.find.options import ROLES, Find
from ui.run.refusals import say
from ui.show.chart import draw_chart, theme
from ui.show.csv_table import csv_table
from ui.state.choice import Choice
from ui.state.options import choose_own, own
from ui.state.session import choose
from viz.components.strip.strip import Chip, Mark, mount
from viz.components.strip.strip import picked as picked_chip
from viz.figures.head_map import head_map, picked

STRIP, CLICKING, INWARD, STRENGTH = "find_strip", "find_clicking", "find_inward", "find_strength"
STRENGTHS = {"excess": "beyond what others get", "weight": "weight alone"}
ROLE_NAMES = {"source": "Source word", "first": "First candidate", "second": "Second candidate"}


def pick_words(asked: Asked, options: Find) -> None:
    """The sentence as chips, and what a click on one sets."""
    left, right = st.columns([3, 2])
    st.session_state[CLICKING], st.session_state[INWARD] = options.clicking, options.inward
    left.segmented_control(
        "A click sets the",
        ROLES,
        key=CLICKING,
        format_func=ROLE_NAMES.__getitem__,
        on_change=lambda: choose_own(Find, clicking=st.session_state[CLICKING] or options.clicking),
        help="Choose what you want to set, then click a word of the sentence.",
    )
    right.toggle(
        "Ask the other way round",
        key=INWARD,
        on_change=lambda: choose_own(Find, inward=st.session_state[INWARD]),
        help="Off: how much the source word looks at each candidate. On: how much each candidate looks at the source.",
    )
    words = asked.words
    labels = {words.source: "source", words.first: "first", words.second: "second"}
    marks: dict[int, Mark] = {words.source: "chosen", words.first: "target", words.second: "target"}
    chips = [
        Chip(cell.text, mark=marks.get(at, ""), special=cell.special, label=labels.get(at, ""))
        for at, cell in enumerate(asked.view.keys)
    ]
    mount(chips, STRIP, title="Click a word", on_pick=lambda: _set(asked.view, options.clicking))


def _set(view: View, role: str) -> None:
    cell = picked_chip(STRIP)
    if cell is None or cell >= len(view.keys) or view.keys[cell].special:
        return
    token = view.keys[cell].pieces[0]
    following = ROLES[(ROLES.index(role) + 1) % len(ROLES)]
    if role == "second":
        choose_own(Find, against=token, clicking=following)
    else:
        choose(**{"source": {"focus": token}, "first": {"to": token}}[role])
        choose_own(Find, clicking=following)


def pick_strength(choice: Choice) -> None:
    """What makes a link strong: the same on every page."""
    st.session_state[STRENGTH] = choice.by
    st.segmented_control(
        "Strong is",
        list(STRENGTHS),
        key=STRENGTH,
        format_func=STRENGTHS.__getitem__,
        required=True,
        on_change=lambda: choose(by=st.session_state[STRENGTH]),
        help="Beyond what others get: the weight less what the text's other words give the same word in that head, or "
        "less what the head gives that place in other texts, whichever is more. Weight alone: as the model has it.",
    )


def answer(asked: Asked, choice: Choice) -> None:
    """One sentence, then a map for each candidate and one of their difference."""
    base, prefers = choice.count, asked.prefers
    first, second = asked.name(asked.words.first), asked.name(asked.words.second)
    say(said(asked, base), role="status")
    verb = "from" if asked.inward else "to"
    limit = max(float(asked.strengths.max()), 0.01)
    what, unit = ("Beyond others", "weight beyond others") if asked.compared else ("Weight", "weight")
    columns = st.columns(3)
    chosen = None if choice.layer is None or choice.head is None else (choice.layer, choice.head)
    for at, (column, name) in enumerate(zip(columns, (first, second), strict=False)):
        shown = np.maximum(asked.strengths[at], 0)
        figure = head_map(shown, theme(), f"{what} {verb} {name}", unit, selected=chosen, base=base, limit=limit)
        draw_chart(figure, f"find_map_{at}", place=column, on_click=_pick)
    figure = head_map(
        prefers, theme(), f"{first} − {second}", "difference", diverging=True, selected=chosen, base=base,
        meaning=(f"more {verb} {second}", f"more {verb} {first}"),
    )  # fmt: skip
    draw_chart(figure, "find_difference", place=columns[2], on_click=_pick)
    st.caption(
        "Each cell is one head. The first two maps share a scale; the third is their difference. A word of several"
        " pieces counts as one: attention to it is the sum over its pieces, attention from it the mean. Click a cell to"
        " select the head on all pages."
    )


def said(asked: Asked, base: int) -> str:
    """How many heads prefer the first candidate, which one the most, and what the other words do there."""
    prefers = asked.prefers
    first, second, source = (asked.name(cell) for cell in (asked.words.first, asked.words.second, asked.words.source))
    layer, head = (int(place) for place in np.unravel_index(int(prefers.argmax()), prefers.shape))
    many, most, usual = int((prefers > 0).sum()), asked.found[:, layer, head], asked.usual[:, layer, head]
    rank = "the most" if many else "comes closest"
    looked = (
        f"look at {source} more from {first} than from {second}"
        if asked.inward
        else f"look from {source} more at {first} than at {second}"
    )
    what = ", beyond what other words and other texts give" if asked.compared else ""
    key, times, others = asked.favourite(layer, head)
    given = "" if np.isnan(usual[0]) else f" Other words give {key} {usual[0]:.2f} there on average."
    anyway = f" There {key} is the favourite of {times} of {others} other words anyway." if others else ""
    return (
        f"{many} of {prefers.size} heads {looked}{what}; head {layer + base}-{head + base} {rank}:"
        f" {most[0]:.2f} against {most[1]:.2f}.{given}{anyway}"
    )


def _pick(key: str) -> None:
    head = picked(st.session_state[key])
    if head is not None:
        choose(layer=head[0], head=head[1])


def compare(asked: Asked, other: Asked, harmless: Sequence[Asked | None], choice: Choice) -> None:
    """What changes with the other text: in words, as a map, and beside what changes that should not matter do."""
    base, before, after = choice.count, asked.prefers, other.prefers
    turned, meaning = flips(before, after), follows(before, after)
    say(_strongest(asked, other, base), role="status")
    say(_turning(asked, turned, meaning, [one for one in harmless if one is not None]), role="status")
    left, right = st.columns(2)
    first, second = asked.name(asked.words.first), asked.name(asked.words.second)
    figure = head_map(
        after - before, theme(), f"Change of {first} − {second}", "change", diverging=True, base=base,
        meaning=(f"towards {second}", f"towards {first}"),
    )  # fmt: skip
    draw_chart(figure, "find_change", place=left, on_click=_pick)
    figure = head_map(
        meaning.astype(np.float32) - (turned & ~meaning), theme(), "Heads that flip", "direction", diverging=True,
        base=base, limit=1.0, kinds={1: f"from {first} to {second}", -1: f"from {second} to {first}", 0: "no flip"},
    )  # fmt: skip
    draw_chart(figure, "find_flips", place=right, on_click=_pick)
    st.caption(
        "The change of each head's preference, and the heads whose preference turns from one word to the other, however"
        " slightly."
    )


def _strongest(asked: Asked, other: Asked, base: int) -> str:
    """What the head that prefers the first candidate most does in the other text."""
    before, after = asked.prefers, other.prefers
    layer, head = (int(place) for place in np.unravel_index(int(before.argmax()), before.shape))
    now = other.strengths[:, layer, head]
    kept = after[layer, head] > 0
    names = other.name(other.words.first), other.name(other.words.second)
    verb = "still prefers" if kept else "now prefers"
    mine, theirs = (0, 1) if kept else (1, 0)
    what = " beyond others" if other.compared else ""
    return (
        f"In the other text, head {layer + base}-{head + base} {verb} {names[mine]}: {now[mine]:.2f}{what} against"
        f" {now[theirs]:.2f} for {names[theirs]}."
    )


def _turning(asked: Asked, turned: Flags, meaning: Flags, harmless: Sequence[Asked]) -> str:
    counts = [int(flips(asked.prefers, one.prefers).sum()) for one in harmless]
    sentence = (
        f"{int(turned.sum())} of {turned.size} heads flip, {int(meaning.sum())} of them from the first candidate to the"
        " second"
    )
    if not counts:
        return f"{sentence}. Add changes that should not matter below, to see how many flip by chance."
    mean = sum(counts) / len(counts)
    listed = ", ".join(map(str, counts))
    return f"{sentence}. By changes that should not matter, {listed} flip ({mean:.1f} on average)."


def table(asked: Asked, other: Asked | None, base: int) -> bytes:
    """Every head's numbers as CSV."""
    both = [asked] if other is None else [asked, other]
    names = [one.view.keys[cell].text for one in both for cell in (one.words.first, one.words.second)]
    suffixes = ["", "", " (other text)", " (other text)"]
    named = [f"{name}{suffix}" for name, suffix in zip(names, suffixes, strict=False)]
    header = ["layer", "head", *(f"weight: {name}" for name in named), *(f"others give: {name}" for name in named)]
    rows = []
    for layer, head in np.ndindex(*asked.prefers.shape):
        weights = [_digits(weight) for one in both for weight in one.found[:, layer, head]]
        given = [_digits(weight) for one in both for weight in one.usual[:, layer, head]]
        rows.append([layer + base, head + base, *weights, *given])
    return csv_table(header, rows).encode()


def _digits(weight: float) -> float | None:
    return None if np.isnan(weight) else float(f"{weight:.6g}")


def options() -> Find:
    """This page's options."""
    return own(Find)
