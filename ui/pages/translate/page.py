"""The view Translate: a translation generated step by step, with the cross-attention of each step."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.tokens import TokenRow, is_out_of_vocabulary, word_runs
from i18n import _, translate
from inference import UserError
from inference.catalogue.published_scores import translation_scores as figures
from inference.task_heads import WRITES
from ui.input.composing import compose
from ui.input.controls import control_row
from ui.input.unknown_words import describe_unknown, require_readable
from ui.input.view_options import HELP, NAMES
from ui.pages.translate.ablation import draw_ablation
from ui.pages.translate.beams import beam_tree
from ui.pages.translate.options import SIDES, CrossHead, TranslateOptions, cross_head, keep_head, pick_head
from ui.pages.translate.quality import quality_section
from ui.pages.translate.step import logs_of, one_step, step_of, target_strip
from ui.pages.translate.translation import (
    FRENCH,
    Translation,
    describe_forcing,
    pick_decoding,
    reference,
    request_of,
    run_translation,
    width_of,
    writes_french,
)
from ui.pages.translate.word_alignment import matrix
from ui.run.notices import show_notice
from ui.run.page_model import PageModel, offer_way_out, pick_page_model
from ui.run.services import get_trace_store
from ui.show.microscope import draw_microscope
from ui.show.sections import draw_reading_help
from ui.state.params import get_params, set_params
from ui.state.session import UNSELECTED, get_view_state, set_view_state
from ui.state.view_state import ViewState, example_of


def describe_unread(name: str, source: TokenRow) -> str:
    """Return sentences on source words that the model does not know or spells in bytes; "" if there are none.

    >>> describe_unread("M", TokenRow(("my", "\u732b"), (9, 0), (0, 1), (0, 0), ((0, 2), (3, 4)), ("", "<unk>")))[:46]
    'Not in the vocabulary of M: 1 of 2 words, read'
    """
    many, words = source.unknown_words()
    if many:
        piece = next(unknown for unknown in source.unknown if is_out_of_vocabulary(unknown))
        return _("{unknown} Their translation is made up.", unknown=describe_unknown(name, many, words, piece, None))
    runs = [run for run in word_runs(source.words, source.segments) if source.words[run[0]] is not None]
    spelt = [run for run in runs if any(source.unknown[slice(*run)])]
    if not spelt:
        return ""
    return _(
        "Not in the vocabulary of {name}: {spelt} of {words} words; their translation is probably made up.",
        spelt=len(spelt),
        words=len(runs),
        name=name,
    )


# Frequent words of German, French, Spanish and Italian that English does not have, and frequent English words.
FOREIGN = (
    "der das und ist nicht ein eine auf dem den sie wir ich le les des et est une dans pas que qui pour elle nous el "
    "los las una por del il lo gli di che è non sono della"
)
FREQUENT = "the a an and is was are of to in it that he she they you we not with for at because"


def is_foreign(text: str) -> bool:
    """Return True if a text is certainly not English: by its script, or by its frequent words.

    Most letters are not Latin, or two words and more than the English ones are frequent in another language.

    >>> is_foreign("猫累了。"), is_foreign("Die Katze ist müde und schläft."), is_foreign("Les Halles is a market.")
    (True, True, False)
    """
    letters = [letter for letter in text if letter.isalpha()]
    if 2 * sum(not unicodedata.name(letter, "").startswith("LATIN") for letter in letters) > len(letters):
        return True
    words = set(re.findall(r"\w+", text.casefold()))
    return len(words.intersection(FOREIGN.split())) > max(1, len(words.intersection(FREQUENT.split())))


def warn_of_language(source: str, who: PageModel) -> str:
    """Return a sentence with the languages of the translator if ``source`` is in another language; "" otherwise."""
    if not (writes_french(who.model) and is_foreign(source)):
        return ""
    return _("{model} was made for {language}.", model=who.title, language=FRENCH)


def draw_published(who: PageModel) -> None:
    """Draw the published scores and their data source; draw nothing for models without scores."""
    found = figures(who.model)
    if found is None:
        return
    with st.expander(_("Published scores")):
        show_notice(
            _(
                "{model} on {sentences:,} held-out sentences: BLEU {bleu:.1f}, chrF {chrf:.1f} "
                "(greedy); {beams_bleu:.1f}, {beams_chrf:.1f} (beam search); {copied_bleu:.1f}, "
                "{copied_chrf:.1f} (English copied). BLEU {short_bleu:.1f} up to 7 words, "
                "{long_bleu:.1f} from 12.",
                model=who.title,
                sentences=found.greedy.sentences,
                bleu=found.greedy.bleu,
                chrf=found.greedy.chrf,
                beams_bleu=found.beams.bleu,
                beams_chrf=found.beams.chrf,
                copied_bleu=found.copied.bleu,
                copied_chrf=found.copied.chrf,
                short_bleu=found.short.bleu,
                long_bleu=found.long.bleu,
            ),
            "status",
        )
        st.caption(
            _(
                "Trained on [tatoeba.org](https://tatoeba.org) pairs from "
                "[manythings.org/anki](https://www.manythings.org/anki/), [CC BY 2.0 "
                "FR](https://creativecommons.org/licenses/by/2.0/fr/). Scored like sacrebleu "
                "([arXiv:1804.08771](https://arxiv.org/abs/1804.08771))."
            )
        )


SIDE = "translate_side"


def parts(choice: ViewState, translation: Translation, head: CrossHead, options: TranslateOptions) -> None:
    """Draw the widget that selects the stack, then the microscope on it with the page's cross-attention head."""
    side = options.side
    trace = get_trace_store().by_writing(translation.trace) if side == "cross" else translation.trace
    st.session_state[SIDE] = side
    st.segmented_control(
        _("Attention"),
        list(SIDES),
        key=SIDE,
        format_func=lambda side: translate(NAMES[side]),
        required=True,
        on_change=_another,
        help=translate(HELP),
    )
    if side == "cross":
        choice = replace(choice, layer=head.layer, head=head.head)
    if side != "encoder" and choice.focus is None:
        choice = replace(choice, focus=None if options.step is None else min(options.step, translation.length))

    def on_keep(changes: Mapping[str, Any]) -> None:
        if side == "cross" and changes.get("layer") is not None:
            keep_head(changes["layer"], changes["head"])

    asked = (choice.text, choice.target, choice.model)
    draw_microscope(
        choice,
        trace,
        lambda: trace.id if asked == (get_view_state().text, get_view_state().target, get_view_state().model) else "",
        part=side,
        kept=on_keep,
    )
    if side != "encoder":
        show_notice(which_row(translation, side), "status")


def which_row(translation: Translation, side: str) -> str:
    """Return an example of a row of the map: the decoding step that it shows, and its token.

    ``side`` is the stack. In cross-attention ("cross"), a row is named by the token that the step writes, otherwise by
    the token that the step reads. Return "" if the translation is too short for an example.
    """
    row = translation.trace.target
    if row is None or len(row) < 3:
        return ""
    read, written = row.pieces[1], row.pieces[2]
    if side == "cross":
        return _(
            "Row “{row}”: the step after “{read}”, which writes “{written}”.",
            row=written,
            written=written,
            read=read,
        )
    return _(
        "Row “{row}”: the step after “{read}”, which writes “{written}”.",
        row=read,
        read=read,
        written=written,
    )


def _another() -> None:
    set_view_state(**UNSELECTED)
    set_params(TranslateOptions, side=st.session_state[SIDE])


def how_to_read() -> None:
    """Draw the help text."""
    draw_reading_help(
        _(
            "- The encoder reads the source. The decoder writes token by token and attends to the source "
            "by **cross-attention** ([arXiv:1706.03762](https://arxiv.org/abs/1706.03762)).\n"
            "- A row is the step that writes its word. Some heads align better one step later "
            "([arXiv:2004.14837](https://arxiv.org/abs/2004.14837))."
        )
    )


def draw(choice: ViewState, translation: Translation, row: DeltaGenerator) -> None:
    """Draw the translation, then the chosen view."""
    options = get_params(TranslateOptions)
    require_readable(translation.trace, WRITES)
    if "cross" not in translation.trace.parts:
        show_notice(
            _(
                "{name} has no cross-attention. Pick a model that translates.",
                name=translation.who.title,
            ),
            role="status",
        )
        return
    made_up = describe_unread(translation.who.title, translation.trace.source)
    compared = translation.way != "own" and writes_french(translation.who.model)
    correct = reference(choice.text, translation.text) if compared else ""
    for note in (warn_of_language(choice.text, translation.who), made_up, describe_forcing(translation)):
        if note:
            show_notice(note, "status")
    head = cross_head(translation.trace, options)
    if options.show in ("words", "step", "without"):
        with row:
            pick_head(head, options)
    example = example_of(choice.text, "") or {}
    at = step_of(translation, head, options, str(example.get("focus", "")))
    target_strip(choice, translation, at, logs_of(translation))
    if options.show == "step":
        one_step(translation, head, at, options)
    elif options.show == "beams":
        beam_tree(translation)
    elif options.show == "heads":
        parts(choice, translation, head, options)
    elif options.show == "without":
        draw_ablation(choice, translation, head, at, options)
    elif options.show == "best":
        quality_section(choice, translation.who, keep_head)
    else:
        matrix(choice, translation, head, at, options)
    if correct:
        show_notice(correct, "status")


def page(choice: ViewState, who: PageModel) -> None:
    """Draw the widget that selects the decoding method, then the translation and the published scores."""
    asked = request_of(choice, who)
    row = control_row("translate")
    way = pick_decoding(choice, get_params(TranslateOptions), row)
    translation = run_translation(choice, asked, who, way, width_of(get_params(TranslateOptions)))
    if translation is not None:
        draw(choice, translation, row)
    draw_published(who)


def draw_view() -> None:
    """Draw the view Translate in the page."""
    chosen = get_view_state()
    get_params(TranslateOptions)  # reports invalid parameters before the model runs
    answerer = pick_page_model(WRITES, chosen, TranslateOptions)
    compose(chosen, "encoder-decoder", answerer)
    try:
        page(chosen, answerer)
    except UserError as refusal:
        offer_way_out(refusal, answerer, chosen)
    how_to_read()
