"""Logic of the Generate page without a browser: prompts, links and sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attention.tokens import TokenRow
from inference.errors import UserError
from inference.tasks.decoding import DecodingStep, NextCandidate, NextToken
from tests.support.asking import allowed, asked, composer_data
from tests.support.cases import loop_over
from tests.support.tinymodels import save
from ui.pages.generate.next_token import describe_sampling
from ui.pages.generate.next_token import summary as next_summary
from ui.pages.generate.options import (
    PROMPTS,
    GenerateOptions,
    Prompt,
    is_sampling,
    mark_of,
    on_path,
    prompt_of,
    read_path,
    request_of,
    write_path,
)
from ui.pages.generate.step_attention import LEAST, StepAttention, describe_furthest, request_before
from ui.pages.generate.step_attention import summary as looks_summary
from ui.pages.generate.whole_text import law_summary
from ui.pages.generate.writing import WrittenToken, nodes_of
from ui.run.page_model import PageModel
from ui.state.view_state import EXAMPLES, ViewState
from viz.components.tree.tree import payload

ASKED = NextToken(model="m", text="a b")


def row(*pieces: str) -> TokenRow:
    count = len(pieces)
    return TokenRow(pieces, tuple(range(count)), tuple(range(count)), (0,) * count, (None,) * count)


def candidate(token: int, piece: str, probability: float) -> NextCandidate:
    return NextCandidate(token, piece, piece, probability, 1, probability, False)


# The shape is (1 layer, 2 heads, 4 keys).
LOOKS = np.array([[[0.5, 0.125, 0.25, 0.125], [0.25, 0.25, 0.125, 0.375]]], np.float32)
STEP = DecodingStep(
    row=row("a", "b", "c", "d"),
    source=None,
    text="",
    candidates=(candidate(7, "␣x", 0.5), candidate(8, "␣y", 0.25)),
    greedy=candidate(7, "␣x", 0.5),
    chosen=candidate(8, "␣y", 0.25),
    entropy=1.5,
    entropy_drawn=1.25,
    possible=3,
    vocabulary=1234,
    ended=False,
    room=9,
    cached=True,
    looks=LOOKS,
    across=None,
)


def test_an_example_stops_before_its_last_word_and_every_other_text_is_read_whole() -> None:
    for example in EXAMPLES:
        found = prompt_of(ViewState(text=example["text"], pair=example.get("pair", "")), GenerateOptions())
        if " " not in example["text"]:  # The language has no spaces between words.
            assert found == Prompt(example["text"])
            continue
        assert found.whole == example["text"]
        assert f"{found.text} {found.left_out}." == example["text"]
        assert prompt_of(ViewState(text=example["text"]), GenerateOptions(whole=True)) == Prompt(example["text"])
    assert prompt_of(ViewState(text="My own words."), GenerateOptions()) == Prompt("My own words.")
    assert prompt_of(ViewState(text=" one\r\n"), GenerateOptions()) == Prompt(" one\n")


@pytest.mark.parametrize("text", ["", "  \n", "a\x00b", "\ud800"])
def test_a_text_that_no_model_can_read_is_refused(text: str) -> None:
    with pytest.raises(UserError):
        prompt_of(ViewState(text=text), GenerateOptions())


@pytest.mark.parametrize("path", [(), (0,), (5, 5, 1234567), tuple(range(300))])
def test_a_path_goes_through_a_link_unchanged(path: tuple[int, ...]) -> None:
    assert read_path(write_path(path)) == path


@loop_over("raw", ["x", "1.", ".1", "1..2", "12345678", "-1", "1,2", "١", "1.2\n", "0." * 5000 + "0"])
def test_a_damaged_path_is_known(raw: str) -> None:
    assert read_path(raw) is None


def test_written_tokens_belong_to_their_prompt_and_model() -> None:
    mine = GenerateOptions(written="3.4", of=mark_of(ASKED))
    assert on_path(ASKED, mine).written == (3, 4)
    for other in (replace(ASKED, text="a c"), replace(ASKED, model="n"), replace(ASKED, cut=1)):
        assert on_path(other, mine).written == ()
    assert on_path(replace(ASKED, temperature=50, seed=4), mine).written == (3, 4), "a rule may change on the way"
    assert on_path(ASKED, replace(mine, written="3.x")).written == ()


def test_each_token_is_looked_at_in_the_step_before_it() -> None:
    asked = replace(ASKED, written=(7, 8, 9))
    assert request_before(asked, 2, 5) == asked, "the next token"
    assert request_before(asked, 2, 4).written == (7, 8)
    assert request_before(asked, 2, 2) == replace(ASKED, written=()), (
        "the first written token came after the whole prompt"
    )
    assert request_before(asked, 2, 1) == replace(ASKED, cut=1)


def test_the_history_is_a_tree_in_which_one_way_is_kept() -> None:
    history = {
        (5,): WrittenToken("a", 0.5),
        (5, 7): WrittenToken("b", None),
        (6,): WrittenToken("<b>", 0.25),
        (5, 7, 1): WrittenToken("c", 0.125),
    }
    nodes = nodes_of(history, (5, 7))
    assert [node.id for node in nodes] == ["", "5", "6", "5.7", "5.7.1"]
    assert [node.kind for node in nodes] == ["kept", "kept", "other", "kept", "other"]
    assert [node.value for node in nodes] == [None, 0.5, 0.25, None, 0.125]
    payload(nodes, "", "5.7", True, "", {})  # payload raises if the nodes form no tree.


def seen(**changes: Any) -> StepAttention:
    return replace(StepAttention(ASKED, STEP, 4, 0, 0, LOOKS[0, 0]), **changes)


def test_what_was_looked_at_is_said_with_its_numbers() -> None:
    said = looks_summary(seen(), STEP, GenerateOptions())
    assert said == (
        "Before the next token, head 0-0 attends back to “b” (12%; rank 2 of 2)."
        " Previous token: 25%; itself: 12%. First token: 50%."
    )
    other = looks_summary(seen(head=1, weights=LOOKS[0, 1]), STEP, GenerateOptions())
    assert "head 0-1 attends back to “b” (25%; rank 1 of 2" in other
    left_out = looks_summary(
        seen(weights=np.array([0, 0.25, 0.5, 0.25], np.float32)), STEP, GenerateOptions(first=False)
    )
    assert left_out.endswith("itself: 25%.")
    assert "the mean of all heads" in looks_summary(seen(), STEP, GenerateOptions(over="all"))
    short = seen(step=replace(STEP, row=row("a", "b")), place=2, weights=np.array([0.5, 0.5], np.float32))
    assert "Before “c” came, the text is too short" in looks_summary(short, STEP, GenerateOptions())


def test_a_weight_below_the_least_names_no_token() -> None:
    low = seen(weights=np.array([0.5, LEAST / 2, 0.25, 0.25], np.float32))
    found = looks_summary(low, STEP, GenerateOptions())
    assert "“b”" not in found
    assert re.findall(r"\d+%", found) == [f"{LEAST:.0%}", "25%", "25%", "50%"]
    assert "“b”" in looks_summary(seen(weights=np.array([0.5, LEAST, 0.25, 0.24], np.float32)), STEP, GenerateOptions())
    nothing = looks_summary(seen(weights=np.zeros(4, np.float32)), STEP, GenerateOptions(first=False))
    assert "“b”" not in nothing
    assert not re.search(r"\d%", nothing), "no number is left without the first token"


def test_a_text_without_a_token_in_between_says_so() -> None:
    far = np.array([[0.0, 1.5], [0.25, 0.0]], np.float32)
    assert describe_furthest(far).startswith("Head 0-1 attends furthest back: 1.5 tokens on average")
    assert " 0.0 " in describe_furthest(0 * far)
    alone = seen(step=replace(STEP, row=row("a")), place=1, weights=np.zeros(1, np.float32))
    assert looks_summary(alone, STEP, GenerateOptions(first=False)).startswith("Before “b” came, the text is too short")


def test_the_rule_is_the_one_that_the_controls_show() -> None:
    far = GenerateOptions(temperature=250, top_k=5000, top_p=0)
    found = request_of(ViewState(), far, PageModel("m", None, "M", "causal", False), Prompt("a b"))
    assert (found.temperature, found.top_k, found.top_p) == (200, 100, 1)


def test_what_comes_next_is_said_with_its_numbers() -> None:
    rest = "Entropy: 1.50 bits."
    assert next_summary(STEP, None, "") == f"“␣x” comes first (0.50). {rest}"
    own = "The example stops before “xyz”, which has rank 1 (0.50)."
    assert next_summary(STEP, 7, "xyz") == f"“␣x” comes first (0.50). {own} {rest}"
    assert " “yes”, which has rank 2 (0.25). " in next_summary(STEP, 8, "yes")
    assert " “no”, which has rank > 2. " in next_summary(STEP, 9, "no")
    sampled = describe_sampling(STEP)
    assert [*re.findall(r"[\d.,]+\d|“.+?”", sampled)] == ["1,234", "1.25", "“␣y”"]
    assert " 3 of " in sampled


@loop_over(
    ("changes", "sampling"),
    [({}, False), ({"pick": "drawn"}, True), ({"temperature": 50}, True), ({"seed": 1}, True), ({"top": 20}, False)],
)
def test_sampling_matters_if_it_is_chosen_or_set(changes: dict[str, Any], sampling: bool) -> None:
    assert is_sampling(GenerateOptions(**changes)) is sampling


def test_what_the_comparison_found() -> None:
    assert law_summary(3e-7, 0.0, 4, 5, 5) == (
        "Compared: 5 of 5 steps, 4 from the key–value cache. Largest difference from a single pass: 3 × 10⁻⁷;"
        " largest weight on a later token: 0."
    )
    assert "no attention" in law_summary(0, 0, 0, 0, 3)


TEXT = "The cat sat on the mat, and the dog"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    root = tmp_path_factory.mktemp("writers")
    folder = save(root / "gpt2", "gpt2")
    with allowed(root):
        yield str(folder)


@pytest.mark.slow
def test_a_ready_prompt_is_listed_by_its_text(model: str) -> None:
    page = asked("generate", model=model, text=TEXT, lang="zh")
    assert not page.exception
    examples = composer_data(page)["examples"]
    assert [example["title"] for example in examples][-len(PROMPTS) :] == list(PROMPTS)
    assert all(example["text"] == example["title"] for example in examples[-len(PROMPTS) :])
