"""Numbers on the Translate page, compared with the backend, and views restored by links."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attention.alignment import CrossRowConvention, alignment
from attention.edits import Ablate
from inference import TraceRequest
from tests.support.asking import allowed, asked, choose, notes, says
from tests.support.predictors import BARE
from tests.support.savedfiles import Saved, table
from tests.support.translators import TEXT, Translator, best_head, tiny
from tests.support.visitor import known
from ui.pages.translate.word_alignment import MATRIX
from ui.show.text import factor, likelihood, percent


@pytest.fixture(scope="module")
def translator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Translator]:
    root = tmp_path_factory.mktemp("translators")
    folder = tiny(root / "tiny-marian")
    with allowed(root) as backend:
        yield Translator(str(folder), backend)


def opened(translator: Translator, **query: object) -> AppTest:
    return asked("translate", **{"model": translator.model, "text": TEXT, **query})


def told(page: AppTest, words: str) -> str:
    """Return the only note that contains ``words``."""
    (said,) = (note for note in notes(page) if words in note)
    return said


def drawn(page: AppTest, component: str) -> list[dict[str, Any]]:
    """Return the data of each component of that name."""
    parts = (part.proto for part in page.get("bidi_component"))
    return [json.loads(part.json) for part in parts if part.component_name == f"headlight_{component}"]


def weights_of(file: str) -> list[float]:
    return [float(line[-1]) for line in table(file)[1:]]


@pytest.mark.slow
def test_a_model_that_does_not_write_lets_another_one_and_is_named_with_its_pages(translator: Translator) -> None:
    page = opened(translator, model=BARE)
    first = next(card for card in translator.backend.models() if card.downloaded and "writes" in card.heads)
    said = told(page, "has no head that translates")
    assert first.title in said
    assert page.get_by_key(MATRIX).type == "plotly_chart"


@pytest.mark.parametrize("words", [0, 1])
def test_the_matrix_is_read_where_the_page_says(translator: Translator, saved: Saved, words: int) -> None:
    page = opened(translator, words=words, step=1)
    trace = translator.trace(translator.greedy())
    layer, head = best_head(trace)
    for late in (0, 1):
        if late:
            (later,) = (toggle for toggle in page.toggle if toggle.label == "One step later")
            later.set_value(True).run()
        found = alignment(
            trace, layer, head, bool(words), CrossRowConvention.OWN if late else CrossRowConvention.WRITING
        )
        row = next(at for at, cell in enumerate(found.target) if cell.pieces[0] <= 1 + late < cell.pieces[1])
        said = told(
            page, f"{'After reading' if late else 'Before writing'} “{found.target[row].text}”, cross head {layer}-"
        )
        assert f"“{found.source[found.weights[row].argmax()].text}” ({found.weights[row].max():.0%})" in said
        _, *rows = table(saved(page, "Save as CSV"))
        assert [float(line[-1]) for line in rows] == pytest.approx(found.weights.flatten().tolist(), abs=1e-6)
        assert [line[1] for line in rows[:: len(found.source)]] == [cell.text for cell in found.target]


def test_a_head_and_the_mean_live_in_the_link(translator: Translator, saved: Saved) -> None:
    trace = translator.trace(translator.greedy())
    page = opened(translator, cross="1-2")
    says(page, "cross head 1-2")
    assert weights_of(saved(page, "Save as CSV")) == pytest.approx(
        trace.weights(1, 2, "cross").flatten().tolist(), abs=1e-6
    )
    page = opened(translator, cross="mean", step=2)
    says(page, "all cross")
    mean = np.mean([trace.weights(layer, head, "cross") for layer, head in np.ndindex(3, 3)], axis=0)
    assert weights_of(saved(page, "Save as CSV")) == pytest.approx(mean.flatten().tolist(), abs=1e-6)


def test_a_step_is_told_with_what_may_come_next(translator: Translator, saved: Saved) -> None:
    page = opened(translator, show="step", step=1, top=5)
    tokens = translator.greedy()
    trace = translator.trace(tokens)
    step = translator.backend.predict(translator.asked(written=tokens[:1], also=tokens[1:2], top=5))
    layer, head = best_head(trace)
    weights = trace.weights(layer, head, "cross")[1]
    np.testing.assert_allclose(known(step.across)[layer, head], weights, atol=1e-5)
    said = told(page, f"Step 2 of {len(tokens)}")
    assert f"“{step.candidates[0].piece}” is likeliest ({percent(step.candidates[0].probability)})" in said
    assert f"{step.entropy:.2f} bits" in said
    assert f"({weights.max():.0%})" in said
    page.session_state["translate_step_rows"] = True
    _, *rows = table(saved(page.run(), "Save as CSV"))
    assert [float(row[4]) for row in rows] == pytest.approx([c.probability for c in step.candidates], rel=1e-5)


def test_beams_are_searched_as_generate_does(translator: Translator, saved: Saved) -> None:
    page = opened(translator, show="beams", width=3)
    steps = translator.beams(3)
    looked = sum(len(step.branches) for step in steps)
    says(page, f"{looked} continuations in {len(steps)} steps")
    _, *rows = table(saved(page, "Save as CSV"))
    assert [row[1] for row in rows] == [beam.text for beam in steps[-1].finished]
    assert [float(row[2]) for row in rows] == pytest.approx([beam.score for beam in steps[-1].finished], rel=1e-5)
    choose(page, "Decoding", "beam")
    best = translator.trace(steps[-1].finished[0].tokens)
    shown = [chip["text"] for chip in drawn(page, "strip")[0]["chips"]]
    assert shown[: len(known(best.target)) - 1] == [*known(best.target).pieces[1:]]


@pytest.mark.slow
def test_what_a_removed_head_changes(translator: Translator, saved: Saved) -> None:
    page = opened(translator, show="without", edits="ax2-1,ae0-2")
    edits = (Ablate(2, 1, "cross"), Ablate(0, 2, "encoder"))
    tokens = translator.greedy()
    plain, edited = translator.forced(tokens, (), edits).logs.sum(axis=1)
    said = told(page, "Without cross head 2-1, encoder head 0-2")
    assert f"from {likelihood(plain)} to {likelihood(edited)}" in said
    after = translator.greedy(edits=edits)
    _, *rows = table(saved(page, "Save as CSV"))
    new = np.exp(translator.forced(after, edits).logs[0])
    assert [float(row[3]) for row in rows if row[0] == "after"] == pytest.approx(new.tolist(), rel=1e-4)


@pytest.mark.slow
def test_every_head_is_removed_in_turn_and_some_at_random(translator: Translator, saved: Saved) -> None:
    page = opened(translator, show="without", edits="ax1-2")
    says(page, "cross head 1-2")
    says(page, "Of all 8 other heads")
    every = [(Ablate(layer, head, "cross"),) for layer, head in np.ndindex(3, 3)]
    alone = translator.forced(translator.greedy(), (), *every)
    changes = alone.logs[1:].sum(axis=1) - alone.logs[0].sum()
    turned = (alone.likeliest[1:] != alone.likeliest[0]).any(axis=1)
    said = told(page, "matters most")
    place = list(np.ndindex(3, 3))[int(np.abs(changes).argmax())]
    assert f"Cross head {place[0]}-{place[1]} matters most" in said
    times = factor(float(np.abs(changes).max()))
    direction = "less" if changes[int(np.abs(changes).argmax())] < 0 else "more"
    assert f"{times} times {direction} probable. {turned.sum()} of 9 ablations" in said
    _, *rows = table(saved(page, "Save all heads"))
    assert [float(row[3]) for row in rows] == pytest.approx(changes.tolist(), abs=1e-4)
    assert [row[4] == "True" for row in rows] == turned.tolist()


def test_a_translation_of_the_reader_s_own(translator: Translator) -> None:
    page = opened(translator, target="Le chat dort.")
    trace = translator.backend.trace(TraceRequest(translator.model, TEXT, target="Le chat dort."))
    tokens = known(trace.target).ids[1:]
    chances = np.exp(translator.forced(tokens).logs[0])
    chips = drawn(page, "strip")[0]["chips"]
    assert len(chips) == len(tokens) + 1
    assert [chip.get("label", "").strip() for chip in chips] == [*map(percent, chances), ""]
    choose(page, "Decoding", "greedy")
    says(page, "“Your own”")
    assert drawn(page, "composer")[0]["target"] == "Le chat dort."
