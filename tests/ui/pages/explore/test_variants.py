"""The switch between the variants of a text: its words, its texts and its sentence."""

from __future__ import annotations

import re

import numpy as np
import pytest

from attention.head_search import flips
from attention.view import View
from inference import TraceRequest
from inference.files.embedded import BERT
from tests.support.asking import asked, notes
from ui.input.probes import LIBRARY
from ui.pages.explore.variants import describe_change, differing_words, variants_of
from ui.run.head_answers import Words, ask_again, ask_heads
from ui.run.services import get_backend
from ui.state.view_state import ViewState

TIRED, WIDE = LIBRARY[0].text, LIBRARY[0].other


@pytest.mark.parametrize(
    ("text", "other", "words"),
    [
        ("It was too tired.", "It was too wide.", ("tired", "wide")),
        ("The boy runs.", "The boys run.", ("boy runs", "boys run")),
        ("Same.", "Same!", ("", "")),
        ("It didn't go.", "It did go.", ("didn't", "did")),
    ],
)
def test_the_words_that_differ_are_found(text: str, other: str, words: tuple[str, str]) -> None:
    assert differing_words(text, other) == words


def test_each_text_of_a_probe_has_the_same_variants() -> None:
    assert variants_of(ViewState(text=TIRED)) == variants_of(ViewState(text=WIDE)) is not None
    assert variants_of(ViewState(text="Another text.")) is None
    assert variants_of(ViewState(text=TIRED, pair="And a second.")) is None


def test_every_variant_of_the_library_has_two_names() -> None:
    found = [variants for probe in LIBRARY if (variants := variants_of(ViewState(text=probe.text))) is not None]
    assert len(found) >= 10
    assert all(first != second for first, second in (variants.words for variants in found))


@pytest.mark.slow
@pytest.mark.parametrize("by", ["excess", "weight"])
def test_the_sentence_has_the_numbers_of_its_measure(by: str) -> None:
    choice = ViewState(text=WIDE, by=by)
    variants = variants_of(choice)
    assert variants is not None
    sentence = describe_change(choice, variants)
    assert sentence is not None
    now, before = (View(get_backend().trace(TraceRequest(BERT, text)), words=True) for text in (WIDE, TIRED))
    cells = [cell.text for cell in now.keys]
    here = ask_heads(now, Words(cells.index("it"), cells.index("animal"), cells.index("street")), False, choice)
    there = ask_again(here, before, choice)
    assert there is not None
    many, size = int(flips(there.preference, here.preference).sum()), here.preference.size
    assert f"{many} of {size} heads switch" in sentence
    assert f"of {BERT} changes most" in sentence
    layer, head = map(int, re.findall(r"(\d+)-(\d+)", sentence)[0])
    changes = re.findall(r"(−?\d+)%? → (−?\d+)(%| percentage points)", sentence)
    assert {unit for *_, unit in changes} == {"%" if by == "weight" else " percentage points"}
    percents = [int(number.replace("−", "-")) for *numbers, _unit in changes for number in numbers]
    shown = [side.strengths[candidate, layer, head] for candidate in (0, 1) for side in (there, here)]
    assert percents == [*(round(100 * float(strength)) for strength in shown)]
    assert abs(shown[1] - shown[3] - (shown[0] - shown[2])) == pytest.approx(
        np.abs(here.preference - there.preference).max()
    )


@pytest.mark.slow
def test_the_switch_reads_the_other_text_in_place() -> None:
    page = asked("explore", layer=3, head=1)
    page.button_group(key="variant").set_value(WIDE).run()
    assert not page.exception
    assert page.query_params["text"] in (WIDE, [WIDE])
    assert (page.query_params["layer"], page.query_params["head"]) in (("3", "1"), (["3"], ["1"]))
    assert any("“tired”" in note for note in notes(page))
