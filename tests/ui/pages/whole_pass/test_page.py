"""The page "The whole pass" without a browser: sentences at each zoom level, and links."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from attention.edits import head_patches
from inference import EMBEDDED, LocalBackend
from inference.files.embedded import TRANSLATOR
from inference.task_heads import MASKED, WHAT
from inference.tasks.edit_effects import BlankEffects
from inference.tasks.predictions import MaskedWords
from inference.tasks.whole_pass import ATTENTION, CROSS, WEIGHED, Stage, WholePass
from tests.support.asking import asked, choose, notes, plain_numbers, press, says, stands
from ui.pages.whole_pass.page import step_by_step
from ui.state.view_state import ViewState

BERT: dict[str, Any] = {"model": "headlight-bert", "text": "The cat [MASK] on the mat."}


@pytest.mark.slow
def test_the_stack_is_what_it_opens_with() -> None:
    page = asked("whole_pass", model=EMBEDDED, text="The cat sat.")
    stands(page)
    (found,) = (
        re.findall(r": ([\d.e-]+) of ([\d.e-]+) ", plain_numbers(said)) for said in notes(page) if "recomputed" in said
    )
    away, size = found[0]
    assert float(away) < 2e-5 * float(size)
    says(page, "[CLS] 101, the 1996, cat 4937, sat 2938, . 1012, [SEP] 102.")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ends", "last"), [("masked", "probabilities: softmax"), ("next", "probabilities: softmax"), ("none", "tanh")]
)
def test_each_end_of_a_pass(ends: str, last: str) -> None:
    page = asked("whole_pass", **BERT, pair="It was tired.", ends=ends, zoom="stage", stage=999)
    stands(page)
    says(page, last)
    assert any(re.search(r", column \d+ “" if ends != "none" else r", column \d+:", said) for said in notes(page))


@pytest.mark.slow
def test_it_opens_with_the_hidden_word_s_likeliest() -> None:
    page = asked("whole_pass", **BERT)
    stands(page)
    blank = LocalBackend().predict(MaskedWords(model=BERT["model"], text=BERT["text"])).blanks[0].guesses[0]
    says(page, f"at token 3 “[MASK]”: “{blank.piece}” {blank.probability:.3f}, “")
    says(page, "probabilities: softmax")
    press(page, "Zero position embeddings")
    stands(page)
    says(page, "at token 3 “[MASK]”: ")
    assert page.query_params["change"] in ("stage", ["stage"])
    press(page, "Undo change")
    assert "change" not in page.query_params


def test_every_token_s_likeliest_pieces_are_named() -> None:
    page = asked("whole_pass", **BERT, zoom="stage")
    (table,) = (frame.value for frame in page.dataframe if "1" in frame.value)
    assert list(table["Token"][1:4]) == ["1 the", "2 cat", "3 [MASK]"]
    assert table["1"][2].startswith("cat 0.9"), "it reads what stands there"
    assert float(table["1"][3].split()[-1]) >= float(table["2"][3].split()[-1]) > 0


@pytest.mark.slow
def test_a_judgement_of_two_texts_ends_with_names() -> None:
    page = asked("whole_pass", model="headlight-bert", text="The cat sat.", pair="It was tired.", ends="next")
    says(page, ": “the second ")


def test_a_model_without_an_end_leads_to_one_that_has_one() -> None:
    page = asked("whole_pass", model=EMBEDDED, text="The cat sat.")
    says(page, "numbers, not")
    assert any("headlight-bert" in link.proto.label for link in page.get("page_link"))


def test_all_that_a_stage_needs_is_shown_to_be_run() -> None:
    page = asked("whole_pass", model=EMBEDDED, text="The cat sat.", zoom="stage", stage=5)
    (toggle,) = (one for one in page.toggle if one.label == "Complete program")
    toggle.set_value(True).run()
    assert page.code[0].value.startswith("import torch\n")
    assert page.query_params["whole"] in ("1", ["1"])


@pytest.mark.parametrize(
    ("side", "part", "two", "there"),
    [
        ("encoder", ATTENTION, False, ""),
        ("encoder", ATTENTION, True, "encoder"),
        ("decoder", ATTENTION, True, "decoder"),
        ("decoder", CROSS, True, "cross"),
    ],
)
def test_step_by_step_opens_at_the_same_attention(side: str, part: str, two: bool, there: str) -> None:
    asked_for = SimpleNamespace(two=two)
    stage = Stage(3, "linear", side, 2, part, "", "", (), (), (), (), 0, 0)
    found = step_by_step(ViewState(layer=0, head=1), asked_for, stage, 4)  # type: ignore[arg-type]
    assert found == ViewState(layer=2, head=1, part=there, focus=4)
    usual = step_by_step(ViewState(), asked_for, stage, None)  # type: ignore[arg-type]
    assert usual == ViewState(layer=2, head=0, part=there), "a link to a layer names a head"
    norm = Stage(3, "layer_norm", side, 2, "norm", "", "", (), (), (), (), 0, 0)
    assert step_by_step(ViewState(), asked_for, norm, 4) is None  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_translator_has_both_sides() -> None:
    page = asked("whole_pass", model=TRANSLATOR, text="The cat sleeps.", zoom="layer", stage=60)
    stands(page)
    says(page, "Decoder, layer 0, ")


def test_one_step_on_and_back_again() -> None:
    page = asked("whole_pass", model=EMBEDDED, text="The cat sat.", zoom="stage", stage=5)
    assert "F.layer_norm" in page.code[0].value
    press(page, "Next")
    assert "F.linear" in page.code[0].value
    press(page, "Back")
    assert "F.layer_norm" in page.code[0].value
    assert page.query_params["stage"] in ("5", ["5"])


def test_a_closer_look_is_in_the_address() -> None:
    page = asked("whole_pass", model=EMBEDDED, text="The cat sat.")
    choose(page, "Zoom", "One stage")
    assert page.query_params["zoom"] in ("stage", ["stage"])
    assert any(re.match(r"Row \d+ \S+, column \d+: ", said) for said in notes(page)), "token and number are named"


def test_a_number_leads_into_what_it_is_made_of_down_to_the_file() -> None:
    page = asked("whole_pass", model=EMBEDDED, text="The cat sat.", zoom="stage", stage=2, row=1, column=3)
    for _ in range(4):
        boxes = [box for box in page.selectbox if box.key == "pass_into"]
        if not boxes:
            break
        boxes[0].select_index(0).run()
    stands(page)
    terms = page.dataframe[0].value
    assert re.fullmatch(
        r"-?[\d.e-]+: embeddings\.\w+\.weight\[\d+, 3\] of the file", plain_numbers(terms["Factor 1"][0])
    )
    assert "pass_into" not in [box.key for box in page.selectbox], "all factors are in the model file"


def test_a_head_that_the_model_lacks_is_said_and_the_pass_is_shown_without() -> None:
    page = asked("whole_pass", model=EMBEDDED, text="The cat sat.", ends="masked")
    stands(page)
    says(page, WHAT[MASKED])
    says(page, "from 6 ids")
    assert not [said for said in notes(asked("whole_pass", model=EMBEDDED, text="The cat sat.")) if "no head" in said]


@pytest.mark.slow
def test_numbers_are_changed_and_the_pass_goes_on() -> None:
    page = asked("whole_pass", **BERT, zoom="stage", stage=40, row=3)
    choose(page, "Intervention", "Whole stage")
    stands(page)
    says(page, "at token 3 “[MASK]”: ")
    assert page.query_params["change"] in ("stage", ["stage"])
    (table,) = (frame.value for frame in page.dataframe if "Before" in frame.value)
    assert (table["Before"] != table["After"]).any()
    (box,) = (box for box in page.text_input if box.label == "New value")
    box.set_value("much").run()
    assert "“much” is not a number, such as 0.5, 1e2 or 1/3." in " ".join(notes(page, "refusal"))
    (box,) = (box for box in page.text_input if box.label == "New value")
    assert box.value == "much", "nothing typed is lost"


@pytest.mark.slow
def test_what_another_text_lends() -> None:
    query = {**BERT, "zoom": "stage", "stage": 40, "change": "stage", "lender": "A dog [MASK] in his car."}
    says(asked("whole_pass", **query), "at token 3 “[MASK]”: ")
    page = asked("whole_pass", **{**query, "lender": "The old cat [MASK] there."})
    stands(page)
    says(page, " 6 of 9 tokens")
    page = asked("whole_pass", **{**query, "change": "token", "row": 6, "lender": "The cat [MASK]"})
    assert "“mat” (token 6)" in " ".join(notes(page, "refusal"))


def weighed(layer: int) -> int:
    """Return the index of the stage with the weighted values of ``layer``."""
    passed = LocalBackend().inspect(WholePass(**BERT, head=MASKED))
    return next(at for at, one in enumerate(passed.stages) if one.layer == layer and one.role == WEIGHED)


@pytest.mark.slow
def test_a_head_hands_on_nothing_or_what_it_does_in_another_text() -> None:
    """The selected number determines the head.

    Patching gives the same result as the comparison of two texts.
    """
    page = asked("whole_pass", **BERT, zoom="stage", stage=weighed(4), row=3, column=2 * 32 + 5)
    choose(page, "Intervention", "This head")
    stands(page)
    says(page, "4-2 ablated.")
    says(page, "at token 3 “[MASK]”: ")
    (box,) = (box for box in page.text_input if box.label == "Donor text")
    box.set_value("The dog [MASK] in the car.").run()
    says(page, "4-2 patched at 9 of 9 tokens. ")
    (table,) = (frame.value for frame in page.dataframe if "Before" in frame.value)
    words = tuple(word for word in table["Output"] if word.isalpha())
    other = BlankEffects(model=BERT["model"], text="The dog [MASK] in the car.", words=words)
    edits = ((), head_patches([(4, 2)], [tuple((at, at) for at in range(9))])[0])
    said = LocalBackend().predict(BlankEffects(**BERT, words=words, edits=edits, other=other)).values
    for at, word in enumerate(words):
        shown = table[table["Output"] == word][["Before", "After"]].to_numpy()[0]
        assert shown == pytest.approx(np.exp(said[:, at]), abs=1e-6)


@pytest.mark.slow
def test_a_head_is_changed_only_where_it_hands_on_what_it_weighed() -> None:
    page = asked("whole_pass", **BERT, zoom="stage", stage=weighed(4) + 1, change="head")
    stands(page)
    (control,) = (one for one in page.button_group if one.label == "Intervention")
    assert "This head" not in control.options
    assert control.value == ""
    page = asked("whole_pass", **BERT, zoom="stage", stage=weighed(4), change="head", becomes="1,5")
    assert "Write 0 to ablate a head" in " ".join(notes(page, "refusal"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "heads"),
    [
        (BERT, ["Masked words", "Next sentence", "No head"]),
        ({"model": EMBEDDED, "text": "The cat sat."}, []),
        ({"model": TRANSLATOR, "text": "The cat sat."}, []),
    ],
)
def test_it_ends_only_with_what_the_model_has(query: dict[str, Any], heads: list[str]) -> None:
    page = asked("whole_pass", **query)
    assert [option for one in page.button_group if one.label == "Task head" for option in one.options] == heads
