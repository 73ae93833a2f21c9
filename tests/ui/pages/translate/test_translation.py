"""Logic of the Translate page without a browser: tree, edits, cancellation, figures and model choice."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attention.alignment import Alignment, CrossRowConvention
from attention.edits import Ablate, MaskEdge, MaskKey
from attention.tokens import TokenRow
from attention.trace import Trace
from attention.view import DisplayToken
from inference.catalogue.listing import ModelCard
from inference.catalogue.published_scores import PublishedBleu, TranslationFigures
from inference.task_heads import CAUSAL, MASKED, WRITES
from inference.tasks.decoding import Beam, BeamBranch, BeamStep, NextTarget
from tests.support.cases import loop_over
from ui.pages.translate import beams
from ui.pages.translate import page as translate_page
from ui.pages.translate import translation as translation_module
from ui.pages.translate.beams import FATES, nodes_of
from ui.pages.translate.beams import summary as beams_summary
from ui.pages.translate.edits import EditEffects, chosen_edits, describe_edits
from ui.pages.translate.edits import summary as effects_summary
from ui.pages.translate.options import CrossHead, TranslateOptions
from ui.pages.translate.translation import BeamSearch, Translation, decoding_of
from ui.pages.translate.word_alignment import step_at
from ui.pages.translate.word_alignment import summary as alignment_summary
from ui.run import page_model, progress
from ui.state.navigation import BY_VIEW
from ui.state.view_state import ViewState
from viz.components.tree import tree

ROW = TokenRow(("a", "cat", "</s>"), (5, 6, 0), (0, 1, None), (0,) * 3, ((0, 1), (2, 5), None))
TRACE = cast("Trace", SimpleNamespace(part="encoder", source=ROW))
HEAD = CrossHead(2, 1, False, np.zeros((3, 4), np.float32))


def card(task: str, kind: str, local: bool = False) -> ModelCard:
    return ModelCard("m", "M", kind, "", task, None, "", local=local)


@loop_over(
    ("model", "kind", "views"),
    [
        (card("masked words", "encoder"), "encoder", ["masked_words", "explore", "roles", "cause"]),
        (card("sentence similarity", "encoder"), "encoder", ["explore", "roles", "cause"]),
        (card("translation", "encoder-decoder"), "encoder-decoder", ["translate", "explore", "roles"]),
        (card("", "decoder", local=True), "decoder", ["generate", "explore", "roles", "cause"]),
        (
            card("translation, text to text", "encoder-decoder", local=True),
            "encoder-decoder",
            ["translate", "explore", "roles"],
        ),
        (None, "encoder", ["explore", "roles", "cause"]),
    ],
)
def test_a_model_is_named_with_the_pages_that_it_fits(model: ModelCard | None, kind: str, views: list[str]) -> None:
    assert page_model.fitting_views(model, kind) == views


@pytest.mark.parametrize(
    ("task", "kind", "views"),
    [
        ("sentence similarity", "encoder", ["masked_words", "next_sentence", "answers", "translate", "generate"]),
        ("masked words, next sentence", "encoder", ["answers", "translate", "generate"]),
        (
            "translation",
            "encoder-decoder",
            ["masked_words", "next_sentence", "answers", "generate", "cause", "agreement"],
        ),
        ("next word", "decoder", ["masked_words", "next_sentence", "answers", "translate"]),
    ],
)
def test_the_pages_that_a_model_does_not_fit(task: str, kind: str, views: list[str]) -> None:
    assert page_model.unfit_views(card(task, kind), kind) == views


def test_a_page_whose_head_a_model_turned_out_to_lack_is_not_named() -> None:
    model = card("translation", "encoder-decoder", local=True)
    assert page_model.fitting_views(model, "encoder-decoder", {WRITES}) == ["explore", "roles"]


def test_every_view_that_a_head_is_needed_for_is_there() -> None:
    assert {MASKED, CAUSAL, WRITES} <= set(page_model.VIEWS)
    assert {*page_model.VIEWS.values(), *page_model.EVERY, *page_model.ONE_TEXT} <= set(BY_VIEW)


SEARCH = BeamSearch(
    (
        BeamStep(
            (Beam((4,), -0.5, "x"), Beam((7,), -1.5, "y")),
            (),
            (
                BeamBranch(0, 4, "x", -0.5, "kept"),
                BeamBranch(0, 7, "y", -1.5, "kept"),
                BeamBranch(0, 9, "z", -2.5, "dropped"),
            ),
            False,
        ),
        BeamStep(
            (Beam((7, 4), -1.75, "y x"),),
            (Beam((4, 0), -0.4, "x"),),
            (
                BeamBranch(0, 0, "</s>", -0.8, "ended"),
                BeamBranch(1, 4, "x", -1.75, "kept"),
                BeamBranch(0, 4, "x", -4.0, "dropped"),
            ),
            True,
        ),
    )
)


def test_beams_become_a_tree_whose_branches_hang_on_their_own_beam() -> None:
    nodes = nodes_of(SEARCH, FATES)
    parents = {node.id: node.parent for node in nodes}
    assert parents == {
        "start": None,
        "start/4": "start",
        "start/7": "start",
        "start/9": "start",
        "start/4/0": "start/4",
        "start/7/4": "start/7",
        "start/4/4": "start/4",
    }
    tree.payload(nodes, "", "start/4/0", False, "", tree.NAMES)  # payload raises if the nodes form no tree.
    kept = nodes_of(SEARCH, ("kept", "ended"))
    assert {node.id for node in kept} == {"start", "start/4", "start/7", "start/4/0", "start/7/4"}
    assert SEARCH.best.tokens == (4, 0)


def test_a_search_that_has_not_ended_has_the_best_way_so_far() -> None:
    assert BeamSearch(SEARCH.steps[:1]).best.tokens == (4,)


def test_a_translation_that_only_begins_like_the_best_way_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beams, "logs_of", lambda _translation: np.array([-1.0, -0.5], np.float32))
    one = cast("Translation", SimpleNamespace(way="greedy", text="x"))
    assert beams_summary(one, SEARCH).endswith("best is “x”.")
    longer = BeamSearch((replace(SEARCH.steps[1], finished=(Beam((4, 5, 0), -0.4, "x z"),)),))
    assert beams_summary(one, longer).endswith("best is “x z”. The translation above has probability 0.22.")
    assert beams_summary(cast("Translation", SimpleNamespace(way="beam", text="x")), longer).endswith("best is “x z”.")


def test_a_cut_is_counted_in_the_heads_that_it_is_made_in() -> None:
    cuts = (MaskEdge(0, 0, 1, 0, "cross"), *(MaskEdge(layer, 0, 2, 1, "cross") for layer in range(3)))
    assert describe_edits(cuts, TRACE) == "“a” hidden from step 2 (heads: 1), “cat” hidden from step 3 (heads: 3)"


def test_the_row_of_the_start_token_has_no_step() -> None:
    cells = tuple(
        DisplayToken(text, text == "<s>", 0, None, (at, at + 1)) for at, text in enumerate(("<s>", "le", "chat"))
    )
    late = Alignment(np.ones((3, 1), np.float32), cells, (), CrossRowConvention.OWN)
    assert [step_at(late, row) for row in range(3)] == [-1, 0, 1]
    assert [step_at(replace(late, read_at=CrossRowConvention.WRITING), row) for row in range(3)] == [0, 1, 2]


@pytest.mark.parametrize("end", [0.88, 0.03])
def test_a_sink_s_share_is_in_the_sentence(end: float) -> None:
    source = tuple(DisplayToken(text, text == "</s>", 0, None, (at, at + 1)) for at, text in enumerate(ROW.pieces))
    row = Alignment(np.array([[0.01, 0.04, end]], np.float32), source[:1], source, CrossRowConvention.WRITING)
    said = alignment_summary(cast("Translation", SimpleNamespace(cell_label=str)), row, HEAD, 0)
    shares = re.findall(r"“([^”]*)”(?: gets most)? \((\d+%)\)", said)
    assert shares == [("</s>", "88%"), ("cat", "4%")][end < 0.04 :]


def test_heads_are_compared_as_far_as_they_were_removed() -> None:
    found = EditEffects(np.array([0.25, -1.5], np.float32), np.array([False, True]))
    places = [(0, 0), (0, 1), (1, 0)]
    assert effects_summary(found, places, "cross") == (
        "Cross head 0-1 matters most: without it, the translation is 4.48 times less probable."
        " 1 of 2 ablations change the likeliest token at some step."
    )


def test_edits_are_told_in_words_with_their_part() -> None:
    assert describe_edits((Ablate(2, 1, "cross"), Ablate(0, 3)), TRACE) == "without cross head 2-1, encoder head 0-3"
    assert describe_edits(tuple(Ablate(0, head, "cross") for head in range(5)), TRACE).endswith("0-3 + 1")
    cuts = tuple(MaskEdge(layer, 0, 2, 1, "cross") for layer in range(3))
    assert describe_edits((*cuts, MaskKey(0, 1)), TRACE) == "“cat” hidden from step 3 (heads: 3), other edits: 1"
    assert describe_edits((MaskEdge(0, 0, 2, 9, "cross"),), TRACE) == "9 hidden from step 3 (heads: 1)"


def test_without_a_choice_the_head_that_is_shown_is_removed() -> None:
    assert chosen_edits(TranslateOptions(), HEAD) == (Ablate(2, 1, "cross"),)
    assert chosen_edits(TranslateOptions(edits="-"), HEAD) == chosen_edits(TranslateOptions(clicking="cut"), HEAD) == ()
    assert chosen_edits(TranslateOptions(edits="ax0-3"), HEAD) == (Ablate(0, 3, "cross"),)


def test_a_typed_translation_is_read_unless_another_way_is_chosen() -> None:
    typed = ViewState(target=" Le chat ")
    assert decoding_of(typed, TranslateOptions()) == "own"
    assert decoding_of(typed, TranslateOptions(way="beam")) == "beam"
    assert decoding_of(ViewState(target="  "), TranslateOptions()) == "greedy"


def writing() -> None:
    import streamlit as st

    from inference.tasks.decoding import NextTarget
    from ui.pages.translate.translation import greedy_tokens

    st.text(f"tokens: {greedy_tokens(NextTarget(text='a cat'))}")


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """Return the queries to a stub model that writes 3, 4, 5 … and ends with 0 after eight tokens."""
    asked: list[tuple[int, ...]] = []

    def predict(question: NextTarget) -> SimpleNamespace:
        asked.append(question.written)
        at = len(question.written)
        token = 0 if at == 8 else at + 3
        ended = question.written[-1:] == (0,)
        greedy = SimpleNamespace(token=token)
        return SimpleNamespace(
            source=ROW, room=90, ended=ended, greedy=greedy, text=" ".join(map(str, question.written))
        )

    monkeypatch.setattr(translation_module, "get_backend", lambda: SimpleNamespace(predict=predict))
    monkeypatch.setattr(translation_module, "ask_model", lambda question, _doing: predict(question))
    return asked


def test_the_translation_comes_token_by_token_until_it_ends(written: list[tuple[int, ...]]) -> None:
    page = AppTest.from_function(writing).run()
    assert page.text[0].value == "tokens: (3, 4, 5, 6, 7, 8, 9, 10, 0)"
    assert written == [(3, 4, 5, 6, 7, 8, 9, 10, 0)[:at] for at in range(10)]


@pytest.mark.usefixtures("written")
def test_it_can_be_stopped_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", -1)
    page = AppTest.from_function(writing).run()
    [mark, _] = page.session_state[progress.DONE]
    page.session_state[progress.STOPPED] = {mark: 3}
    page.run()
    assert page.text[0].value == "tokens: (3, 4, 5)"
    page.button[0].click().run()
    assert page.text[0].value == "tokens: (3, 4, 5, 6, 7, 8, 9, 10, 0)"


def figures() -> None:
    from ui.pages.translate.page import draw_published
    from ui.run.page_model import PageModel

    draw_published(PageModel("m", None, "The model", "writes", False))


def test_published_figures_are_told_with_the_data_s_licence(monkeypatch: pytest.MonkeyPatch) -> None:
    one = PublishedBleu(1234, 41.25, 60.5)
    found = TranslationFigures(
        one, PublishedBleu(1234, 43.0, 61.0), PublishedBleu(1234, 2.0, 19.0), one, PublishedBleu(200, 30.0, 50.0)
    )
    monkeypatch.setattr(translate_page, "figures", lambda _model: found)
    page = AppTest.from_function(figures).run()
    [said] = [element.proto.body for element in page.get("html")]
    for number in ("1,234 held-out sentences", "BLEU 41.2, chrF 60.5 (greedy)", "43.0, 61.0", "2.0"):
        assert number in said
    assert "CC BY 2.0" in page.caption[0].value
    monkeypatch.setattr(translate_page, "figures", lambda _model: None)
    assert not AppTest.from_function(figures).run().caption
