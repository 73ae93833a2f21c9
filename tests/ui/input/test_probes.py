"""The library of ready questions, and safe reading of the reader's own files."""

from __future__ import annotations

import json

import pytest

from attention.comparison import by_words
from attention.view import View
from inference import LocalBackend, TraceRequest
from tests.support.asking import asked
from tests.support.cases import loop_over
from ui.input.probes import LIBRARY, MOST_BYTES, Probe, dump_probes, known_words, parse_probes, probe_of

ENGLISH = [probe for probe in LIBRARY if probe.language == "English"]


@pytest.fixture(scope="module")
def backend() -> LocalBackend:
    return LocalBackend()


def words(view: View) -> list[str]:
    return [cell.text.lower() for cell in view.keys if not cell.special]


@pytest.mark.slow
@loop_over("probe", ENGLISH, ids=[probe.name for probe in ENGLISH])
def test_every_question_has_its_words_in_every_text(probe: Probe, backend: LocalBackend) -> None:
    texts = (probe.text, probe.other, *probe.neutral)
    first, *others = (
        words(View(trace, words=True)) for trace in backend.traces([TraceRequest(text=text) for text in texts])
    )
    asked = [first.index(word.lower()) for word in (probe.source, *probe.candidates)]
    assert len(set(asked)) == 3
    for other in others:
        places = dict(by_words(first, other))
        assert all(place in places for place in asked)
        assert other != first


def test_the_library_is_unambiguous_and_covers_what_it_promises() -> None:
    assert len({probe.text for probe in LIBRARY}) == len(LIBRARY)
    assert {"Pronouns", "Agreement", "Negation", "Determiners", "Prepositions", "Quotes"} <= {p.family for p in LIBRARY}
    assert sum(probe.language == "Chinese" for probe in LIBRARY) >= 3
    assert all(len(probe.neutral) >= 2 and probe.other for probe in LIBRARY)


def test_what_is_saved_is_read_back() -> None:
    mine = [Probe("näme", "The <b>cat</b> sat.", "sat", ("cat", "the"), "A dog sat.", ("One", "Two"), note="x")]
    assert list(parse_probes(dump_probes(mine))) == mine
    assert probe_of(mine[0].text, tuple(mine)) == mine[0]
    assert probe_of("another", tuple(mine)) is None


GOOD = {"name": "n", "text": "t", "source": "s", "candidates": ["a", "b"]}


@loop_over(
    ("data", "sentence"),
    [
        (b"\xff\xfe\x00", "not JSON"),
        (b"[" * 200_000, "not JSON"),
        (b"{}", "Expected a list"),
        (b"[1]", "Probe 1 needs"),
        (json.dumps([GOOD, {**GOOD, "candidates": ["a"]}]).encode(), "Probe 2 needs"),
        (json.dumps([{**GOOD, "candidates": "ab"}]).encode(), "Probe 1"),
        (json.dumps([{**GOOD, "candidates": None}]).encode(), "Probe 1"),
        (json.dumps([{**GOOD, "candidates": 2}]).encode(), "Probe 1"),
        (json.dumps([{**GOOD, "neutral": None}]).encode(), "Probe 1"),
        (json.dumps([{**GOOD, "neutral": [3]}]).encode(), "Probe 1"),
        (json.dumps([{**GOOD, "text": "half of a character \ud800"}]).encode(), "Probe 1"),
        (json.dumps([{**GOOD, "candidates": ["a", "\udfff"]}]).encode(), "Probe 1"),
        (json.dumps([{**GOOD, "text": "x" * 3000}]).encode(), "up to 2,000 characters"),
        (json.dumps([{**GOOD, "source": ""}]).encode(), "needs name"),
        (b" " * (MOST_BYTES + 1), "limit is 1,000,000"),
    ],
)
def test_a_file_that_is_none_is_refused_in_a_sentence(data: bytes, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        parse_probes(data)


@pytest.mark.slow
def test_a_ready_question_is_told_and_one_s_own_is_not() -> None:
    page = asked("find", lang="zh")
    options = page.selectbox(key="probe").options
    assert "代词 · it：tired 还是 wide" in options


def test_a_changed_text_has_the_other_candidate_as_its_noun() -> None:
    for probe in LIBRARY:
        known = known_words(probe.other)
        if probe.other_right:
            assert known is not None
            assert known.right == probe.other_right
            assert {known.right, known.other} == set(probe.candidates)
    assert known_words("One text for all pages.") is None
