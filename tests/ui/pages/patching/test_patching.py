"""Activation patching between two texts: the outcome, places beyond chance, and the sentences."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from attention.edits import PatchHead, PatchResidual
from attention.mask import FloatArray
from attention.view import View
from inference import LocalBackend, TraceRequest
from inference.tasks.edit_effects import BlankEffects, Effect, NextTokenEffects, VectorEffects, WrittenEffects
from probing.statistics import COMPARED, RandomChanges
from tests.support.asking import allowed, asked, notes, says, stands
from tests.support.tinymodels import save
from tests.support.traces import sentence_trace
from ui.pages.patching.metric import PatchingMetric, has_tokens, hidden_in_both
from ui.pages.patching.page import describe_columns, describe_random_changes
from ui.pages.patching.results import (
    PatchingResult,
    describe_answer,
    describe_patching,
    describe_shift,
    describe_site,
)
from ui.show.text import times

REQUESTS = TraceRequest(text="a"), TraceRequest(text="b")
NAMES = ("dog", "road")
TIRED = "The animal didn't cross the street because it was too tired."


def logs(first: float, second: float) -> Effect:
    return Effect(np.log(np.array([[first, second]], np.float32)), NAMES)


def random_changes(effects: FloatArray, largest: float = 0.2) -> RandomChanges:
    """Return random changes with the effect ``largest``: all of them at sites that exceed it, else one."""
    return RandomChanges(np.where(effects > largest, COMPARED, 1), np.full(effects.shape, largest, np.float32))


def carried(states: FloatArray, heads: FloatArray) -> PatchingResult:
    question = NextTokenEffects(words=NAMES)
    view = View(sentence_trace())
    return PatchingResult(
        PatchingMetric(question, question, REQUESTS, NAMES, "animal"), (view, view), ("it", "tired → wide"), (((0, 0),),
        ((1, 1), (2, 2))), logs(0.4, 0.1), logs(0.1, 0.2), states, heads, random_changes(states),
        random_changes(heads), "",
    )  # fmt: skip


STATES = np.array([[0, 1], [0.1, 0.8], [0.3, 1]], np.float32)
HEADS = np.array([[0.1, -0.3, 0.0], [0.25, 0.1, 0.0]], np.float32)


def test_both_answers_the_way_and_the_heads_are_said() -> None:
    answers, way, heads = describe_patching(carried(STATES, HEADS))
    assert re.findall(r"“(\w+)”", answers) == ["animal", "dog", "road", "road", "dog"], "the masked word comes first"
    assert re.findall(r"\d\.\d+", answers) == ["4.00", "2.00"]
    assert way == (
        "Word vectors with the largest effect (first → last layer): “tired → wide” into layer 0–1 (1.00 → 0.80)."
    )
    assert re.findall(r"[\d.-]*\d", heads) == ["1-0", "0.25", "1", "6", str(COMPARED), "0", "95", "0", "2"]


def test_where_another_word_takes_over_it_is_said() -> None:
    moved = np.array([[0, 1], [0.9, 0.8], [0.3, 1]], np.float32)
    assert (
        "“tired → wide” into layer 0 (1.00), “it” into layer 1 (0.90)." in describe_patching(carried(moved, HEADS))[1]
    )


def test_what_is_not_known_yet_is_not_said() -> None:
    stopped = np.full((2, 3), np.nan, np.float32)
    assert len(describe_patching(carried(STATES, stopped))) == 2
    unknown = replace(carried(STATES, HEADS), head_changes=replace(random_changes(HEADS), complete=False))
    assert describe_patching(unknown)[2] == "Head with the largest effect: 1-0, 0.25."


def test_the_head_with_the_largest_effect_may_be_within_random_changes() -> None:
    known = carried(STATES, HEADS)
    within = replace(known, head_changes=random_changes(HEADS, largest=0.2504))
    texts = [describe_patching(one)[2] for one in (known, within)]
    assert ["not beyond" in text for text in texts] == [False, True]
    said = describe_site(within, "h", (1, 0), logs(0.2, 0.2))
    assert re.findall(r"0\.25\d*", said)[:2] == ["0.25", "0.2504"]


def test_one_place_names_what_is_taken() -> None:
    found = carried(STATES, HEADS)
    assert found.set_of("h", (1, 2)) == (PatchHead(1, 2, ((0, 0), (1, 1), (2, 2))),)
    assert found.set_of("s", (1, 1)) == (PatchResidual(1, ((1, 1), (2, 2))),)
    assert found.set_of("s", (2, 0)) == (PatchResidual(0, ((0, 0),)), PatchResidual(1, ((0, 0),)))
    said = describe_site(found, "s", (1, 1), logs(0.2, 0.2))
    assert re.findall(r"[\d.]*\d", said)[:4] == ["1", "0.80", str(COMPARED), "0.20"]
    assert said.endswith("“dog” 0.40 → 0.20 → 0.10, “road” 0.10 → 0.20 → 0.20."), "first text, patched, second text"
    assert "in every layer" in describe_site(found, "s", (2, 0), logs(0.2, 0.2))
    assert "head 1-2 " in describe_site(found, "h", (1, 2), logs(0.2, 0.2))


def test_a_vector_has_no_words() -> None:
    vector = PatchingMetric(VectorEffects(), VectorEffects(), REQUESTS)
    found = replace(carried(STATES, HEADS), metric=vector)
    effect = Effect(np.ones((2, 4), np.float32))
    assert describe_answer(found, effect) == ""
    np.testing.assert_array_equal(vector.numbers(effect), effect.values)
    assert describe_patching(found)[0].endswith("sentence vector.")


@pytest.mark.parametrize(
    ("text", "other", "subjects", "words"),
    [
        ("it was too tired", "it was too wide", [], ("too", "too")),
        ("The animal was tired", "The animal was wide", ["was", "animal"], ("was", "was")),
        ("The animal was tired", "The old animal was wide", ["it", "animal"], ("animal", "animal")),
        ("The animal was tired", "the street was tired", ["animal"], ("tired", "tired")),
    ],
)
def test_the_hidden_word_is_one_that_both_texts_have(
    text: str, other: str, subjects: list[str], words: tuple[str, str]
) -> None:
    found = hidden_in_both(text, other, subjects)
    assert found is not None
    assert (text[slice(*found[0][1:])], other[slice(*found[1][1:])]) == words


@pytest.mark.slow
@pytest.mark.parametrize(("word", "known"), [("animal", True), ("hippogriff", False)])
def test_nouns_of_several_tokens_are_not_compared(word: str, known: bool) -> None:
    blank = BlankEffects("headlight-bert", text="The [MASK] sat.")
    assert has_tokens(PatchingMetric(blank, blank, REQUESTS), ("street", word)) is known


def test_the_file_states_how_random_changes_were_drawn() -> None:
    found = carried(STATES, HEADS)
    drawn = describe_random_changes(found)
    assert "until one is larger, at most 19" in drawn["random_changes"]
    assert drawn["random_seeds"].startswith("(site × 19 + draw) × 2 + patch")
    assert set(describe_columns(found)) == {"part_of_the_way", "largest_random_effect"}
    shifted = replace(found, shift="Some words have other positions.")
    assert describe_random_changes(shifted) == {}
    assert set(describe_columns(shifted)) == {"part_of_the_way"}


# -- Page


@pytest.mark.slow
def test_the_pair_about_it_compares_its_two_nouns() -> None:
    page = asked("patching", text=TIRED)
    logs = [
        float(np.diff(LocalBackend().predict(
            BlankEffects("headlight-bert", text=text.replace(" it ", " [MASK] "), words=("street", "animal"))
        ).values)[0, 0])
        for text in (TIRED, TIRED.replace("tired", "wide"))
    ]  # fmt: skip
    first, second = (times(log, "animal", "street") for log in logs)
    (answers,) = (said for said in notes(page) if first in said)
    assert answers.startswith("“it”")
    assert second in answers
    assert any("[MASK] it" in said for said in notes(page))
    stands(page)


@pytest.mark.slow
def test_a_translation_s_next_word_is_followed() -> None:
    given = {
        "model": "headlight-en-fr",
        "text": "The cat sleeps on the table.",
        "other": "The dog sleeps on the table.",
    }
    page = asked("patching", **given)
    backend = LocalBackend()
    rows = [backend.trace(TraceRequest("headlight-en-fr", text=given[name])).target for name in ("text", "other")]
    ids = [() if row is None else row.ids[1:] for row in rows]
    at = next(at for at, pair in enumerate(zip(*ids, strict=False)) if pair[0] != pair[1])
    words = ids[0][at], ids[1][at]
    odds = [
        -float(np.diff(backend.predict(WrittenEffects("headlight-en-fr", text=given[name], written=ids[0][:at],
                                                      words=words)).values)[0, 0])
        for name in ("text", "other")
    ]  # fmt: skip
    first, second = (times(log, "chat", "chien") for log in odds)
    says(page, f"In the first text, {first}; in the second, {second}.")
    says(page, "into layer 0–2")
    stands(page)
    across = asked("patching", part="cross", **given)
    says(across, "largest effect")
    stands(across)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"text": "A cat sat.", "other": "A cat sat.", "watch": "vector"}, "Both texts have the same answer"),
        ({"text": "A cat.", "other": "Some dogs!"}, "[MASK]"),
        ({"text": "A [MASK] sat.", "other": "A cat ran."}, "[MASK]"),
        ({"text": "word " * 70, "other": "word " * 69 + "cat", "watch": "vector"}, "is 64"),
        ({"text": TIRED, "first": "street", "second": "street"}, "Type two different words"),
        ({"text": "A cat sat.", "other": ""}, "Type a second text"),
    ],
)
def test_what_cannot_be_followed_is_said(query: dict[str, str], sentence: str) -> None:
    page = asked("patching", **query)
    says(page, sentence)
    stands(page)


@pytest.mark.slow
def test_a_place_that_is_not_there_is_said() -> None:
    page = asked("patching", text="A cat sat.", other="A dog sat.", watch="vector", lent="h99-1")
    says(page, "not exist")
    says(page, "5-10")  # the head with the largest effect is shown instead
    stands(page)


@pytest.mark.slow
def test_a_decoder_s_next_token_is_followed(tmp_path: Path) -> None:
    folder = save(tmp_path / "gpt2", "gpt2")
    text, other = "the cat was a", "xyz qrs tuv z"
    with allowed(tmp_path) as backend:
        given = {"model": str(folder), "first": "b", "second": "c"}
        page = asked("patching", text=text, other=other, lent="s0-1", **given)
        here, there = (NextTokenEffects(str(folder), text=one, words=("b", "c")) for one in (text, other))
        odds = [-float(np.diff(backend.predict(one).values)[0, 0]) for one in (here, there)]
        first, second = (times(log, "b", "c") for log in odds)
    says(page, f"In the first text, {first}; in the second, {second}.")
    says(page, "vector of")
    stands(page)


def test_words_at_other_positions_and_without_a_counterpart_are_named() -> None:
    view = View(sentence_trace(), words=True)
    cells = [cell.pieces[0] for cell in view.queries if not cell.special]
    same = [((at, at),) for at in cells]
    assert describe_shift((view, view), same) == ""
    said = describe_shift((view, view), [((cells[0], cells[1]),), *same[2:]])
    names = [cell.text for cell in view.queries if not cell.special]
    assert said.count(f"“{names[1]}”") == 1, "the second word of the first text"
    assert said.count(f"“{names[0]}”") == 1, "the first word of the second text"
    assert f"“{names[2]}”" not in said
