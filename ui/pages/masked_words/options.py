"""Options of the view Masked words, its request, and the text in which words are masked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import streamlit as st

from attention.tokens import TokenRow
from i18n import _, gettext_lazy
from inference.tasks.predictions import Filled, MaskedWords, Place, lies_in
from inference.text.encoding import check_text
from ui.input.controls import (
    NOTHING,
    TYPED,
    UNDERSCORES,
    blanks_as_masks,
    bound_widget,
    fingerprint,
    first_place,
    parse,
    toggle_hidden,
    write,
)
from ui.run.notices import show_notice
from ui.run.page_model import PageModel
from ui.show.text import format_comma_list, percent
from ui.state.params import AnsweringOptions, get_params, set_params
from ui.state.session import get_view_state
from ui.state.view_state import ViewState, example_of
from viz.components.token_strip import token_strip
from viz.components.token_strip.token_strip import TokenChip
from viz.options import option

SHOWS = {
    "guesses": gettext_lazy("Predictions"),
    "looks": gettext_lazy("Attention"),
    "layers": gettext_lazy("Layer by layer"),
    "words": gettext_lazy("Attribution"),
    "surprise": gettext_lazy("Surprisal"),
    "two": gettext_lazy("Two sentences"),
    "lesson": gettext_lazy("Training objective"),
}


@dataclass(frozen=True)
class MaskedWordsOptions(AnsweringOptions):
    """Options of the page Masked words."""

    show: str = option(
        "guesses",
        label=gettext_lazy("View"),
        choices=SHOWS,
    )
    hidden: str = ""  # hidden places; "" before the first click, "-" for none
    of: str = ""  # fingerprint of the text of these places
    # Clicks hide tokens instead of words.
    pieces: bool = option(
        False,
        label=gettext_lazy("Mask single tokens"),
        help=gettext_lazy("Masks one token, not the word."),
    )
    blank: int = option(
        0,
        label=gettext_lazy("Blank"),
    )
    top: int = option(
        10,
        label=gettext_lazy("Predictions shown"),
    )
    # Words to score, separated by commas.
    ask: str = option(
        "",
        label=gettext_lazy("Score words"),
        help=gettext_lazy("At most 12 words, separated by commas; each replaces the masked word."),
    )
    # Token whose probability is explained; None is the likeliest.
    piece: int | None = option(
        None,
        label=gettext_lazy("Explained token"),
    )
    seed: int = 1
    first: str = option("The keys to the old cabinet [MASK] on the table.", label=gettext_lazy("One sentence"))
    second: str = option("The key to the old cabinets [MASK] on the table.", label=gettext_lazy("The other sentence"))
    one: str = option("are", label=gettext_lazy("One word"))
    other: str = option("is", label=gettext_lazy("The other word"))


MOST_TOP = 50
STRIP = "masked_strip"


def texts_of(choice: ViewState) -> tuple[str, str | None]:
    """Return the text and the second text, with "[MASK]" in place of underscores.

    The second text is None if it is empty. Raise UserError if a text is invalid.
    """
    text, pair = blanks_as_masks(choice.text), blanks_as_masks(choice.pair)
    return check_text(text), check_text(pair, gettext_lazy("second text")) if pair.strip() else None


def places_of(choice: ViewState, options: MaskedWordsOptions, mask: str) -> tuple[Place, ...]:
    """Return the character spans of hidden words: those of the visitor if they belong to this text, else a default.

    ``mask`` is the mask token of the page's model, which may occur in the text.
    """
    text, pair = texts_of(choice)
    if options.of == fingerprint(text, pair or ""):
        return parse(options.hidden)
    return first_place(text, pair or "", example_of(choice.text, choice.pair), mask)


def request_of(choice: ViewState, options: MaskedWordsOptions, who: PageModel, mask: str) -> MaskedWords:
    """Return the request to the model; ``mask`` is the model's mask token."""
    text, pair = texts_of(choice)
    return MaskedWords(
        model=who.model,
        revision=who.revision,
        text=text,
        pair=pair,
        hidden=places_of(choice, options, mask),
        cut=choice.cut,
        top=max(1, min(options.top, MOST_TOP)),
    )


def text_strip(row: TokenRow, request: MaskedWords, filled: Filled | None, options: MaskedWordsOptions) -> None:
    """Draw the text as chips; a click hides or uncovers a word, and blanks show their likeliest tokens."""
    groups = _groups(row, options.pieces)
    blanks = {blank.position: at for at, blank in enumerate(filled.blanks)} if filled else {}
    chips = [_chip(row, group, request, filled, blanks) for group in groups]
    token_strip.mount(
        chips, STRIP, title=_("Click a word to mask it"), on_pick=lambda: toggle_clicked(groups, row, request)
    )
    _describe_masks(request, filled, options)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(_("Hatched: masked, with the prediction under the word. You can type [MASK] or `___`."))
        bound_widget(MaskedWordsOptions, "pieces", st.checkbox)


def _describe_masks(request: MaskedWords, filled: Filled | None, options: MaskedWordsOptions) -> None:
    """Show which word was masked automatically, and how the model reads typed blanks."""
    choice = get_view_state()
    texts = (request.text, request.pair or "")
    if request.hidden and options.of != fingerprint(*texts):
        ((segment, start, end),) = request.hidden  # A word at most is masked automatically (first_place).
        word = texts[segment][start:end]
        show_notice(
            _("“{word}” was masked automatically: the first click replaces it, later clicks add.", word=word),
            role="status",
        )
    if filled is None:
        return
    typed = UNDERSCORES.search(f"{choice.text} {choice.pair}")
    if typed or (filled.mask != TYPED and TYPED in " ".join(texts)):
        show_notice(
            _("This model reads {typed} as its own {mask}.", mask=filled.mask, typed=typed[0] if typed else TYPED),
            role="status",
        )


def _groups(row: TokenRow, pieces: bool) -> list[list[int]]:
    if pieces:
        return [[at] for at in range(len(row))]
    keys = [(row.segments[at], row.words[at] if row.words[at] is not None else -1 - at) for at in range(len(row))]
    return [list(run) for _, run in groupby(range(len(row)), key=lambda at: keys[at])]


def _chip(
    row: TokenRow, group: list[int], request: MaskedWords, filled: Filled | None, blanks: Mapping[int, int]
) -> TokenChip:
    special = row.words[group[0]] is None
    text = _text(row, group, request)
    mine = [at for at in group if at in blanks]
    before = group[0] - 1
    glued = before >= 0 and not special and row.words[group[0]] == row.words[before] and before not in blanks
    if not mine or filled is None:
        unknown = next(filter(None, (row.unknown[at] for at in group)), "")
        return TokenChip(
            text, special=special, glued=glued, title="" if special else _("Click a word to mask it"), unknown=unknown
        )
    guesses = [filled.blanks[blanks[at]].guesses[0] for at in mine]
    label = " ".join(guess.piece for guess in guesses)
    chances = format_comma_list([f"{guess.piece} {percent(guess.probability)}" for guess in guesses])
    return TokenChip(text, mark="masked", label=label, title=_("Likeliest: {chances}", chances=chances))


def _text(row: TokenRow, group: list[int], request: MaskedWords) -> str:
    """Return a word as it occurs in the text, or its tokens if it has no place there."""
    first, last = row.spans[group[0]], row.spans[group[-1]]
    if len(group) == 1 or first is None or last is None:
        return "".join(row.pieces[at] for at in group)
    return (request.pair or "" if row.segments[group[0]] else request.text)[first[0] : last[1]]


def toggle_clicked(groups: list[list[int]], row: TokenRow, request: MaskedWords) -> None:
    """Hide the clicked word of the drawn text, or show it again if it is hidden.

    ``groups`` are the tokens of each clickable word, and ``request`` is the request that was drawn. Words that were
    clicked after the drawing remain hidden.
    """
    at = token_strip.picked_chip(STRIP)
    if at is None or at >= len(groups) or row.words[groups[at][0]] is None:
        return
    mark, options = fingerprint(request.text, request.pair or ""), get_params(MaskedWordsOptions)
    is_first = options.of != mark
    places = after_click(row, request.hidden if is_first else parse(options.hidden), groups[at], is_first)
    set_params(MaskedWordsOptions, hidden=write(places) if places else NOTHING, of=mark, blank=0, piece=None)


def after_click(row: TokenRow, hidden: Sequence[Place], group: Sequence[int], first: bool) -> tuple[Place, ...]:
    """Return the character spans of hidden words after a click on the word with the tokens ``group``.

    ``first`` is True as long as a default word is hidden. A click on another word then replaces it; otherwise a click
    hides or uncovers the word.
    """
    ours = first and not any(lies_in(row, at, hidden) for at in group)
    return toggle_hidden(row, () if ours else hidden, group)


def pick_blank(filled: Filled) -> int:
    """Return the index of the blank to show; if there are several, draw a widget that selects it."""
    blank = min(get_params(MaskedWordsOptions).blank, len(filled.blanks) - 1)
    if len(filled.blanks) > 1:
        bound_widget(
            MaskedWordsOptions,
            "blank",
            st.selectbox,
            options=list(range(len(filled.blanks))),
            shown=blank,
            format_func=lambda at: str(at + 1),
            width=130,
        )
    return blank
