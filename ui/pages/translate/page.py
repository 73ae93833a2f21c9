"""The view Translate: a translation generated step by step, with the cross-attention of each step."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from i18n import _
from inference import UserError
from inference.task_heads import WRITES
from ui.input.composing import compose
from ui.input.controls import control_row
from ui.input.unknown_words import require_readable
from ui.pages.translate.ablation import draw_ablation
from ui.pages.translate.beams import beam_tree
from ui.pages.translate.heads import cross_head, keep_head, pick_head
from ui.pages.translate.options import TranslateOptions
from ui.pages.translate.parts import parts
from ui.pages.translate.published_scores import draw_published
from ui.pages.translate.quality import quality_section
from ui.pages.translate.step import one_step, step_of
from ui.pages.translate.target_strip import logs_of, target_strip
from ui.pages.translate.teacher_forcing import describe_forcing, reference, writes_french
from ui.pages.translate.translation import Translation, pick_decoding, request_of, width_of
from ui.pages.translate.unknown_source import describe_unread
from ui.pages.translate.word_alignment import matrix
from ui.pages.translate.writing import run_translation
from ui.run.notices import show_notice
from ui.run.page_model import PageModel, offer_way_out, pick_page_model
from ui.show.reading_help import reading_help
from ui.state.examples import example_of
from ui.state.params import get_params
from ui.state.session import get_view_state
from ui.state.view_state import ViewState


def how_to_read() -> None:
    """Draw the help text."""
    with reading_help():
        st.markdown(
            _(
                "- The encoder reads the whole source. The decoder writes one token at a time and attends to the source"
                " by **cross-attention** ([arXiv:1706.03762](https://arxiv.org/abs/1706.03762)).\n"
                "- A row of the matrix shows the step that writes its word; “One step later” shows the next step. Some"
                " heads align better there ([arXiv:2004.14837](https://arxiv.org/abs/2004.14837)); “Head scores”"
                " measures both.\n"
                "- A word with a high weight may still be unnecessary: test it under “Ablation”. Other sentences may"
                " need other heads."
            )
        )


def draw(choice: ViewState, translation: Translation, row: DeltaGenerator) -> None:
    """Draw the translation, then the chosen view."""
    options = get_params(TranslateOptions)
    require_readable(translation.trace, WRITES)
    if "cross" not in translation.trace.parts:
        show_notice(
            _(
                "{name} has no cross-attention, so nothing to align. Pick a model that translates.",
                name=translation.who.title,
            ),
            role="status",
        )
        return
    made_up = describe_unread(translation.who.title, translation.trace.source)
    compared = translation.way != "own" and writes_french(translation.who.model)
    correct = reference(choice.text, translation.text) if compared else ""
    for note in (made_up, describe_forcing(translation)):
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
    """Draw the control of the decoding method, the translation and the published scores."""
    asked = request_of(choice, who)
    row = control_row("translate")
    way = pick_decoding(choice, get_params(TranslateOptions), row)
    translation = run_translation(choice, asked, who, way, width_of(get_params(TranslateOptions)))
    if translation is not None:
        draw(choice, translation, row)
    draw_published(who)


def draw_view() -> None:
    """Draw the view."""
    chosen = get_view_state()
    get_params(TranslateOptions)  # reports invalid parameters before the model runs
    answerer = pick_page_model(WRITES, chosen, TranslateOptions)
    compose(chosen, "encoder-decoder", answerer)
    try:
        page(chosen, answerer)
    except UserError as refusal:
        offer_way_out(refusal, answerer, chosen)
    how_to_read()
