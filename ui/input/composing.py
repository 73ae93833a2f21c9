"""The text box on every page: its content, and the handling of a submitted text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from i18n import _, translate
from inference import EMBEDDED
from ui.input.model_chip import draw_model_chip, is_named_on_page
from ui.input.view_options import draw_view_options
from ui.run.notices import show_notice
from ui.run.page_model import PageModel
from ui.run.services import get_backend
from ui.run.traces import id_of, what_stays
from ui.state.selection import get_last_view
from ui.state.session import (
    FRESH,
    NEW_MODEL,
    get_view_state,
    set_notes,
    set_view_state,
    show_while_typing,
    typing_origin,
)
from ui.state.view_state import EXAMPLES, ViewState, example_of, fits, shared_fields
from viz.components.composer import composer

KEY = "composer"
ROW = "sentence_row"  # Key of the container of the text box, the model and the view options.
READERS = ("encoder", "decoder")  # Kinds of models that do not translate.


def compose(  # noqa: PLR0913  (independent options, by name)
    choice: ViewState,
    kind: str,
    answering: PageModel | None = None,
    *,
    live: bool = False,
    chip: bool = True,
    pairs: bool = True,
    prompts: Sequence[str] = (),
    draw_more: Callable[[], None] | None = None,
) -> None:
    """Draw the text box for a model of the kind ``kind``, such as "encoder".

    If ``chip`` is True, the buttons of the model and of the view options are next to the text box. ``answering`` is the
    model that the page uses if the selected model cannot answer. With ``live`` the page is updated while the visitor
    types. ``pairs`` is False on a page that reads single texts only. ``prompts`` are further texts in the list of
    examples, and ``draw_more`` draws further view options. A substitute of a model that the visitor has chosen is named
    below the text box, and a copied link names it.
    """
    takes_pair, takes_target = kind == "encoder" and pairs, kind == "encoder-decoder"
    examples = [{**example, "title": translate(example["title"])} for example in available_examples(kind)]
    examples += [{"title": prompt, "text": prompt} for prompt in prompts]
    substitute = None if answering is None or not answering.instead or choice.opened else answering
    data = composer.payload(
        choice.text, choice.pair, choice.target, takes_pair, takes_target, examples, live, shared_fields(choice),
        {} if substitute is None else _fields_of_substitute(substitute),
    )  # fmt: skip
    with st.container(key=ROW, horizontal=True, vertical_alignment="bottom"):
        composer.mount(data, KEY, _on_submit)
        if chip:
            draw_model_chip(choice, answering)
            draw_view_options(choice, draw_more)
    if chip and answering is not None and is_named_on_page(choice, answering):
        show_notice(answering.reason, role="status")
    if not fits(choice):
        show_notice(
            _("This text is too long for a link, which has only settings. Save the trace to share it."),
            "status",
        )


def _fields_of_substitute(answering: PageModel) -> dict[str, str]:
    """Return the fields of a link that shows this page's numbers: its model, without the selected model's head."""
    return {**dict.fromkeys(("revision", *NEW_MODEL), ""), "model": answering.model}


def available_examples(kind: str) -> list[dict[str, Any]]:
    """Return the examples for models of the kind ``kind`` that an installed model can read.

    An example names the model that reads it; without a name, it is English text for the embedded model. An example that
    names no kinds suits all models except translators.
    """
    installed = {card.id for card in get_backend().models() if card.downloaded}
    suited = [example for example in EXAMPLES if kind in example.get("kinds", READERS)]
    return [example for example in suited if example.get("model", EMBEDDED) in installed]


def _reader(texts: dict[str, str]) -> dict[str, Any]:
    """Return the changes that select the model of an example if it is listed; {} otherwise."""
    wanted = (example_of(texts["text"], texts["pair"]) or {}).get("model")
    if wanted is None or wanted not in {card.id for card in get_backend().models()}:
        return {}
    return {**NEW_MODEL, "model": wanted, "revision": ""}


def _on_submit() -> None:
    box = st.session_state.get(KEY)  # None if another page was opened at the same moment; its box has the text
    value = None if box is None else box.submitted
    if not isinstance(value, dict) or not all(isinstance(value.get(name), str) for name in ("text", "pair", "target")):
        return
    # A lone surrogate from a broken copy cannot be encoded in an address, so it is replaced.
    value = {name: text.encode("utf-8", "replace").decode() for name, text in value.items()}
    texts = {name: value[name] for name in ("text", "pair", "target")}
    if live := value.get("live"):
        _read_while_typing(texts, continues=live == composer.CONTINUES)
    else:
        read_texts(texts)


def read_texts(texts: dict[str, str]) -> None:
    """Set the given texts of the view state: ``texts`` maps the names of fields, such as "text", to texts.

    If the text was only edited, the selected head and words stay selected.
    """
    now, origin = get_view_state(), typing_origin()
    if texts != {name: getattr(now, name) for name in texts}:
        before = origin or now
        anew: dict[str, Any] = {**FRESH, **texts, **_reader(texts)}
        stays, gone = what_stays(before, replace(before, **anew))
        set_view_state(**{**anew, **stays})
        set_notes(gone)
    elif origin is not None:  # The typed text is on screen already; now it gets an address.
        set_view_state()


def _read_while_typing(texts: dict[str, str], *, continues: bool) -> None:
    """Show a text that the visitor is typing; its edits are those of the text at the beginning of the burst.

    If it ``continues`` the sentence of the burst before, it belongs to that burst: the first words had no choice of the
    visitor's that could stay.
    """
    now = get_view_state()
    origin = typing_origin(continues=continues) or replace(now, **get_last_view(id_of(now)))
    anew: dict[str, Any] = {**FRESH, **texts}
    stays, _gone = what_stays(origin, replace(origin, **anew))
    show_while_typing(origin, **{**anew, **stays})
