"""All pages with a hybrid model that has attention only in layers 1 and 3 of 4."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attention.edits import Ablate
from attention.record import Unavailable
from attention.roles import largest_weight_back, without_missing
from attention.trace import attention_everywhere, without_attention
from attention.view import View
from inference import LocalBackend, TraceRequest, UserError
from inference.tasks.decoding import NextToken
from inference.tasks.heads import InductionHeads, LinksQuestion
from probing.formats import load_ready_set
from tests.support.asking import allowed, asked, go, notes
from tests.support.cases import loop_over
from tests.support.hybridmodels import ATTENDING, HEADS, hybrid
from ui.pages.find.page import answers_csv
from ui.pages.find.question import describe_preference
from ui.pages.generate.whole_text import sink_summary
from ui.pages.roles.evidence import from_trace
from ui.run.head_answers import Words, ask_heads
from ui.state.navigation import BY_VIEW
from ui.state.view_state import ViewState
from viz.bertviz import views
from viz.bertviz.views import head_html

TEXT = "The animal was tired, it sat."
VIEWS = sorted(BY_VIEW)
LACKING = str(attention_everywhere(4, ATTENDING))
REFUSES = {"block", "measure", "roles"}
NAMED = re.compile(r"head (\d)-(\d)")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("hybrids")
    hybrid(root / "hybrid")
    return root / "hybrid"


@pytest.fixture(scope="module")
def backend(folder: Path) -> Iterator[LocalBackend]:
    with allowed(folder.parent) as found:
        yield found


@pytest.fixture(scope="module")
def view(backend: LocalBackend, folder: Path) -> View:
    return View(backend.trace(TraceRequest(str(folder), TEXT)), words=True)


def heads_named(page: AppTest) -> set[int]:
    """Return the layers of heads in the page's notes, without sentences about other models."""
    own = [note for note in notes(page) if "embedded" not in note and "MiniLM" not in note]
    return {int(layer) for note in own for layer, _head in NAMED.findall(note)}


@pytest.mark.usefixtures("backend")
@loop_over("layer", [None, 2, 3])
@pytest.mark.parametrize(
    "name", [name for name in VIEWS if name not in ("bertviz_views", "by_hand", "classroom", "pictures", "teach")]
)
def test_a_page_shows_heads_that_exist_or_refuses(name: str, layer: int | None, folder: Path) -> None:
    chosen: dict[str, Any] = {} if layer is None else {"layer": layer, "head": 1}
    page = asked(name, model=folder, text=TEXT, **chosen)
    assert not page.exception
    refused = notes(page, "refusal")
    assert len(refused) <= 1
    assert (LACKING in refused) == (name in REFUSES)
    # These pages are about other models.
    if name not in ("atlas_compare", "lessons", "masked_words", "translate", "next_sentence"):
        assert heads_named(page) <= set(ATTENDING)


@pytest.mark.usefixtures("backend")
def test_the_neuron_view_refuses_in_a_sentence(folder: Path) -> None:
    page = go(asked("explore", model=folder, text=TEXT, bertviz="neuron"), "bertviz_views")
    assert not page.exception
    assert LACKING in notes(page)
    assert not page.get("iframe")


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("kind", ["head", "model"])
def test_the_other_views_of_bertviz_are_drawn(kind: str, folder: Path) -> None:
    page = go(asked("explore", model=folder, text=TEXT, bertviz=kind), "bertviz_views")
    assert not page.exception
    assert LACKING not in notes(page)
    assert page.get("iframe")


def test_numbers_of_layers_begin_as_the_page_s_do(view: View) -> None:
    with pytest.raises(Unavailable, match=re.escape(str(attention_everywhere(4, ATTENDING)))):
        views.neuron_html(view)
    with pytest.raises(UserError, match=re.escape(str(attention_everywhere(4, ATTENDING)))):
        from_trace(view.trace, ViewState())
    assert "2" in str(without_attention(2, ATTENDING))
    assert "1, 3" in str(without_attention(2, ATTENDING))
    assert "0, 2" in head_html(view).split('id="payload"')[0]


def test_find_counts_and_lists_heads_that_exist(view: View) -> None:
    found = ask_heads(view, Words(3, 1, 2), False, ViewState())
    assert str(2 * HEADS) in re.findall(r"\d+", describe_preference(found))
    assert str(4 * HEADS) not in re.findall(r"\d+", describe_preference(found))
    assert np.isfinite(found.preference).any(axis=1).tolist() == [False, True, False, True]
    layers = {int(row.split(",")[0]) for row in answers_csv(found, None).decode("utf-8-sig").splitlines()[1:]}
    assert layers == set(ATTENDING)


def test_find_names_no_missing_head_if_none_prefers(view: View) -> None:
    found = ask_heads(view, Words(3, 2, 1), False, ViewState(by="weight"))
    assert {int(layer) for layer, _head in NAMED.findall(describe_preference(found))} <= set(ATTENDING)


def test_the_next_token_s_mean_is_over_heads_that_exist(backend: LocalBackend, folder: Path) -> None:
    looks = backend.predict(NextToken(model=str(folder), text=TEXT)).looks
    assert looks is not None
    known = without_missing(looks)
    assert np.nanmean(known, (0, 1)).sum() == pytest.approx(1, abs=1e-5)
    assert np.isfinite(largest_weight_back(known)).all(axis=1).tolist() == [False, True, False, True]


def test_induction_has_no_number_for_a_missing_head(backend: LocalBackend, folder: Path) -> None:
    found = backend.predict(InductionHeads(model=str(folder), length=10))
    for values in (found.matching, found.control, found.previous, found.first):
        assert np.isfinite(values).all(axis=1).tolist() == [False, True, False, True]


def test_the_share_of_the_first_token_is_over_heads_that_exist(view: View) -> None:
    shares = np.full((4, HEADS), np.nan, np.float32)
    shares[list(ATTENDING)] = 0.75
    assert "75%" in sink_summary(view.trace, shares, 0.5)
    assert re.findall(r"\d+", sink_summary(view.trace, shares, 0.5)).count(str(2 * HEADS)) == 2


def test_links_are_not_counted_for_missing_heads(backend: LocalBackend, folder: Path) -> None:
    with pytest.raises(UserError, match=re.escape(LACKING)):
        backend.inspect(LinksQuestion(str(folder), None, tuple(load_ready_set("grammar").items[:2])))


@pytest.mark.usefixtures("backend")
def test_compare_removes_a_head_that_exists(folder: Path) -> None:
    page = asked("compare", model=folder, text=TEXT, differs="edit")
    removed = [box.value for box in page.multiselect if Ablate(1, 0) in box.value]
    assert removed == [[Ablate(1, 0)]]
