"""Alignment scores of cross-attention heads: selection on one half, report on the other half."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attention.alignment import CrossRowConvention
from attention.record import MapRecord
from attention.tokens import TokenRow
from attention.trace import Trace
from inference import EMBEDDED, LocalBackend, UserError
from inference.settings import Settings
from probing.alignments import CHUNK, AlignmentRun, AlignmentState, advance, parse
from probing.statistics import wilson
from tests.support.tinymodels import save
from tests.support.traces import sentence_trace

PAIRS = 2 * CHUNK + 3
LINES = "".join(f"a b c{at}\tx y z{at}\t0-0 1-1 2-2\n" for at in range(PAIRS))
ALIGNMENTS = parse(LINES.encode())
WORDS = 3


def row(text: Any, special: Any) -> TokenRow:
    """Return a row with a token for each word and a special token at the start or the end."""
    words = text.split()
    spans = [(text.index(word), text.index(word) + len(word)) for word in words]
    tokens: list[Any] = [*zip(words, range(len(words)), spans, strict=True)]
    tokens = [("<s>", None, None), *tokens] if special == "first" else [*tokens, ("</s>", None, None)]
    pieces, numbers, places = zip(*tokens, strict=True)
    return TokenRow(pieces, tuple(range(len(pieces))), numbers, (0,) * len(pieces), places)


class Told:
    """A backend with known cross-attention: a function maps sentence, head and step to a source word."""

    def __init__(self, looks: Any) -> None:
        self.looks = looks
        self.asked: list[Any] = []

    def traces(self, requests: Any) -> list[Any]:
        self.asked.append(len(requests))
        return [self.trace(request) for request in requests]

    def trace(self, request: Any) -> Trace:
        number = int(request.text.split()[-1][1:])
        maps = np.zeros((2, WORDS + 1, WORDS + 1), np.float32)
        for head in range(2):
            for step in range(WORDS):
                maps[head, step, self.looks(number, head, step)] = 1
            maps[head, WORDS, WORDS] = 1
        record = MapRecord(maps)
        return sentence_trace(
            text=request.text,
            target_text=request.target,
            source=row(request.text, "last"),
            target=row(request.target, "first"),
            parts={"cross": (record,)},
        )


def scored(backend: Any, run: Any) -> Any:
    state = AlignmentState()
    for _ in run.chunks():
        state = advance(backend, run, state)
    return state


def right_on_its_half(number: int, head: int, step: int) -> int:
    """Return an alignment that is correct for head 0 on half 0 and for head 1 on half 1, except word 1."""
    return step if step == 1 or number % 2 == head else (step + 1) % WORDS


def test_the_best_head_is_reported_where_it_was_not_chosen() -> None:
    run = AlignmentRun(ALIGNMENTS, "told")
    state = scored(Told(right_on_its_half), run)
    best = state.best(CrossRowConvention.WRITING)
    reported = PAIRS // 2  # Scores are reported on the sentences of half 1.
    assert (best.layer, best.head, best.words) == (0, 0, WORDS * reported)
    np.testing.assert_allclose(best.share, 100 / 3)
    assert (best.low, best.high) == wilson(reported, WORDS * reported)
    assert (best.diagonal, best.diagonal_error) == (100, 0)
    np.testing.assert_allclose(best.chance, 100 / 3)
    assert best.verdict == "less"  # In every sentence, the head aligns two of three words fewer than the diagonal.
    np.testing.assert_allclose(best.p, 2 * 2.0**-reported)
    shares = state.all().share[0, 0]
    first = PAIRS - reported
    np.testing.assert_allclose(shares, [(3 * first + reported) / (3 * PAIRS), (first + 3 * reported) / (3 * PAIRS)])


def test_read_one_step_later_the_same_heads_answer_for_the_next_word() -> None:
    # Each step attends to the source of the word that was just read.
    late = Told(lambda _number, _head, step: max(step - 1, 0))
    state = scored(late, AlignmentRun(ALIGNMENTS, "told"))
    # The last step attends to the end token.
    np.testing.assert_allclose(state.best(CrossRowConvention.OWN).share, 200 / 3)
    np.testing.assert_allclose(state.best(CrossRowConvention.WRITING).share, 100 / 3)


def test_chunks_have_every_pair_once_in_order() -> None:
    run = AlignmentRun(ALIGNMENTS, "told")
    backend = Told(right_on_its_half)
    state = scored(backend, run)
    assert backend.asked == [CHUNK, CHUNK, 3]
    assert [number for chunk in run.chunks() for number, _ in chunk] == list(range(PAIRS))
    assert (state.done, state.scored, state.skipped) == (3, PAIRS, 0)


def test_one_sentence_chooses_nothing() -> None:
    state = scored(Told(right_on_its_half), AlignmentRun(parse(LINES.split("\n")[0].encode()), "told"))
    assert state.best(CrossRowConvention.WRITING) is None
    assert state.all().words.flat[0] == WORDS


class Refusing(Told):
    """A backend that raises for a single text."""

    def __init__(self, way_out: Any) -> None:
        super().__init__(right_on_its_half)
        self.way_out = way_out

    def trace(self, request: Any) -> Any:
        if request.text.endswith("c4"):
            raise UserError("The target text has 99 tokens.", way_out=self.way_out)
        return super().trace(request)


def test_a_text_that_cannot_be_read_is_left_out_and_the_others_count() -> None:
    state = scored(Refusing("text"), AlignmentRun(ALIGNMENTS, "told"))
    assert (state.scored, state.skipped, state.reason) == (PAIRS - 1, 1, "The target text has 99 tokens.")
    assert state.all().words.flat[0] == WORDS * (PAIRS - 1)


class Unknowing(Told):
    """A backend with an unknown word in a source and another in a target."""

    def trace(self, request: Any) -> Any:
        made = super().trace(request)
        lost = ("", "[UNK]", "", "")
        if request.text.endswith("c4"):
            return replace(made, source=replace(made.source, unknown=lost))
        if request.text.endswith("c5"):
            assert made.target is not None
            return replace(made, target=replace(made.target, unknown=lost))
        return made


def test_a_pair_of_unknown_words_is_left_out() -> None:
    state = scored(Unknowing(right_on_its_half), AlignmentRun(ALIGNMENTS, "told"))
    assert (state.scored, state.skipped) == (PAIRS - 2, 2)
    assert "[UNK]" in state.reason
    assert state.all().words.flat[0] == WORDS * (PAIRS - 2)


def test_a_refusal_of_the_model_is_passed_on() -> None:
    with pytest.raises(UserError, match="99 tokens"):
        scored(Refusing("embedded"), AlignmentRun(ALIGNMENTS, "told"))


def test_runs_are_told_apart_by_all_that_they_ask() -> None:
    run = AlignmentRun(ALIGNMENTS, "told")
    others = [replace(run, model="b"), replace(run, revision="c"), replace(run, alignments=parse(b"a\tb\t0-0"))]
    assert len({other.key for other in [run, *others]}) == 4
    assert run.key == AlignmentRun(parse(LINES.encode()), "told").key


@pytest.fixture(scope="module")
def marian(tmp_path_factory: pytest.TempPathFactory) -> Any:
    root = tmp_path_factory.mktemp("aligning")
    folder = save(root / "tiny", "marian")
    return str(folder), LocalBackend(Settings(model_folders=(root,), offline=True))


def test_a_real_model_is_scored_on_every_cross_head(marian: Any) -> None:
    model, backend = marian
    lines = "The cat sat\tLe chat dort\t0-0 1-1 2-2\nA dog barked at it\tEin Hund bellt\t0-0 1-1 2-2\n"
    state = scored(backend, AlignmentRun(parse(lines.encode()), model))
    assert state.all().share.shape == (2, 3, 3)  # The axes are convention, decoder layer and head.
    assert (state.scored, state.skipped) == (2, 0)
    assert state.all().words.flat[0] == 6
    assert np.all(state.all().links == 6), "every word was read, and gives something to some word"


@pytest.mark.slow
def test_a_model_that_writes_nothing_is_said_to_read_none_of_them() -> None:
    state = scored(LocalBackend(Settings(offline=True)), AlignmentRun(ALIGNMENTS, EMBEDDED))
    assert (state.scored, state.skipped, state.heads) == (0, PAIRS, {})
    assert EMBEDDED in state.reason
