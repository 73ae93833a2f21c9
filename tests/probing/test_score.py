"""Scoring with tiny models: exact values, independence of batches, and resumption."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attention.annotations import Link
from inference import LocalBackend, TraceRequest, UserError
from inference.runners import blanks, heads
from inference.settings import Settings
from inference.tasks.heads import LinksQuestion, RandomLinksQuestion
from probing import formats
from probing import score as scoring
from probing.results import rows
from probing.score import ScoringRun, ScoringState, score
from tests.attention.test_annotations import by_hand
from tests.support.tinymodels import save

KINDS = {"bert": "encoder", "gpt2": "decoder", "llama": "decoder", "deberta": "encoder", "t5": "encoder"}
SENTENCES = ["the playing cat was tired .", "it crossed the street !", "the animal was it", "a cat saw the mat ."]


def tree(sentences: list[str]) -> bytes:
    """Return CoNLL-U sentences in which each word depends on the next word.

    The relations are "odd" and "even", by the word's position.
    """
    lines = []
    for sentence in sentences:
        words = sentence.split()
        for at, word in enumerate(words, start=1):
            head = at + 1 if at < len(words) else 0
            lines.append(f"{at}\t{word}\t_\t_\t_\t_\t{head}\t{'odd' if at % 2 else 'even'}\t_\t_")
        lines.append("")
    return "\n".join([*lines, ""]).encode()


TABLE = b"""text,source,target,distractor
the cat saw the animal because it was tired,it,cat,animal
the animal saw the street and it was playing,it,street,animal
"""
CORPUS = formats.parse(tree(SENTENCES), "conllu")


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> LocalBackend:
    root = tmp_path_factory.mktemp("models")
    for kind in KINDS:
        save(root / kind, kind)
    return LocalBackend(Settings(model_folders=(root,)))


def final(backend: LocalBackend, run: ScoringRun, **extra: Any) -> ScoringState:
    *_, last = score(backend, run, **extra)
    return last


@pytest.mark.parametrize("kind", KINDS)
def test_scores_equal_the_rule_applied_to_each_trace(backend: LocalBackend, kind: Any) -> None:
    answer = backend.inspect(LinksQuestion(f"./{kind}", items=CORPUS.items))
    assert answer.read.all()
    at = 0
    for item in CORPUS.items:
        trace = backend.trace(TraceRequest(f"./{kind}", item.text, target="it" if kind == "t5" else None))
        for link in item.links:
            for layer in range(len(trace.records(KINDS[kind]))):
                for head in range(3):
                    weights = trace.weights(layer, head, KINDS[kind])
                    for direction in range(2):
                        expected = by_hand(weights, trace.source, item.units, link, direction)
                        # The causal mask of a decoder hides the next word.
                        unmasked = KINDS[kind] == "encoder" or direction == 1
                        assert answer.found[at, direction, layer, head] == (expected and unmasked)
            at += 1
    assert at == len(answer.found)


def test_a_decoder_finds_earlier_words_in_one_direction_only(backend: LocalBackend) -> None:
    answer = backend.inspect(LinksQuestion("./gpt2", items=CORPUS.items))
    assert not answer.found[:, 0].any()
    assert answer.found[:, 1].any()


@pytest.mark.parametrize("workers", [1, 3])
def test_results_do_not_depend_on_batches_and_workers(
    backend: LocalBackend, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = final(backend, ScoringRun(CORPUS, "./bert"))
    monkeypatch.setattr(scoring, "BATCH", 1)
    single = final(backend, ScoringRun(CORPUS, "./bert"), workers=workers)
    assert (single.done, whole.done) == (4, 1)
    assert rows(single.tally, CORPUS) == rows(whole.tally, CORPUS)


def test_equal_texts_are_read_once(backend: LocalBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def noting(loaded: Any, text: str) -> Any:
        read.append(text)
        return blanks.read(loaded, text)

    monkeypatch.setattr(heads, "read", noting)
    broken = " ".join(["cat"] * 60)  # The text exceeds the tiny model's limit of 40 tokens.
    repeated = formats.parse(tree([*SENTENCES, broken, *SENTENCES[1:], broken]), "conllu")
    state = final(backend, ScoringRun(repeated, "./bert"))
    assert sorted(read) == sorted({item.text for item in repeated.items})
    assert (state.items, state.skipped) == (9, 2)
    items = [item for item in repeated.items if item.text != broken]
    alone = [backend.inspect(LinksQuestion("./bert", items=(item,))) for item in items]
    together = backend.inspect(LinksQuestion("./bert", items=tuple(items)))
    np.testing.assert_array_equal(together.found, np.concatenate([answer.found for answer in alone]))
    np.testing.assert_array_equal(together.read, np.concatenate([answer.read for answer in alone]))


def test_one_text_with_other_units_or_links_keeps_its_own(backend: LocalBackend) -> None:
    item = CORPUS.items[0]
    other = replace(item, links=item.links[::-2])
    coarse = replace(item, units=(item.units[0], (item.units[1][0], item.units[-1][1])), links=(Link("r", 0, 1),))
    asked = (item, other, coarse, item)
    together = backend.inspect(LinksQuestion("./bert", items=asked))
    alone = [backend.inspect(LinksQuestion("./bert", items=(each,))).found for each in asked]
    np.testing.assert_array_equal(together.found, np.concatenate(alone))


@pytest.mark.parametrize("most", [1, 3, 64])
def test_batches_divide_the_items_and_never_a_text(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "BATCH", most)
    corpus = formats.parse(tree([*SENTENCES, SENTENCES[2], *SENTENCES[::-1]]), "conllu")
    batches = ScoringRun(corpus).batches()
    assert sorted(at for batch in batches for at in batch) == list(range(len(corpus.items)))
    texts = [{corpus.items[at].text for at in batch} for batch in batches]
    assert sum(map(len, texts)) == len(set().union(*texts))
    assert max(map(len, texts)) <= most


def test_a_stopped_run_goes_on_where_it_was(backend: LocalBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "BATCH", 1)
    run = ScoringRun(CORPUS, "./bert")
    whole = final(backend, run)
    steps: Any = score(backend, run, workers=2)
    next(steps)
    kept = json.dumps(next(steps).to_json())
    steps.close()
    state = ScoringState.from_json(json.loads(kept))
    assert (state.done, state.items) == (2, 2)
    rest = [entry.done for entry in score(backend, run, state)]
    assert rest == [3, 4]
    assert rows(state.tally, CORPUS) == rows(whole.tally, CORPUS)


def test_two_who_bring_one_state_further_count_nothing_twice(
    backend: LocalBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two concurrent runs of a page share a state without double counts."""
    monkeypatch.setattr(scoring, "BATCH", 1)
    run = ScoringRun(CORPUS, "./bert")
    whole, state = final(backend, run), ScoringState(run.key)
    one, other = score(backend, run, state, workers=2), score(backend, run, state)
    for steps in (one, other) * 4:
        next(steps, None)
    assert (state.done, state.items) == (4, 4)
    assert rows(state.tally, CORPUS) == rows(whole.tally, CORPUS)


def test_a_state_of_another_run_is_not_taken_up(backend: LocalBackend) -> None:
    other = final(backend, ScoringRun(CORPUS, "./gpt2"))
    assert other.key != ScoringRun(CORPUS, "./bert").key
    assert final(backend, ScoringRun(CORPUS, "./bert"), state=other).items == len(CORPUS.items)
    assert len({ScoringRun(CORPUS, "./bert", control=control).key for control in (False, True)}) == 2


def test_candidates_are_scored_from_a_table(backend: LocalBackend) -> None:
    corpus = formats.parse(TABLE, "csv")
    found = rows(final(backend, ScoringRun(corpus, "./bert")).tally, corpus)
    assert {row.relation for row in found} == {"link"}
    assert len(found) == 6
    assert {(row.baseline, row.baseline_name) for row in found} == {(50, "nearest candidate")}
    assert {row.n for row in found} == {2}


def test_texts_that_cannot_be_read_stop_nothing(backend: LocalBackend) -> None:
    long = " ".join(["cat"] * 60)  # The text exceeds the tiny model's limit of 40 tokens.
    broken = "the\x07cat saw"
    corpus = formats.parse(tree([SENTENCES[0], long, broken]), "conllu")
    state = final(backend, ScoringRun(corpus, "./bert"))
    assert (state.items, state.skipped, state.tally.unread) == (3, 2, 59 + 1)
    assert "reads at most" in state.reason or "U+0007" in state.reason
    alone = formats.parse(tree([SENTENCES[0]]), "conllu")
    assert [row.accuracy for row in rows(state.tally, corpus)] == [
        row.accuracy for row in rows(final(backend, ScoringRun(alone, "./bert")).tally, alone)
    ]


def test_nothing_readable_at_all_counts_nothing(backend: LocalBackend) -> None:
    corpus = formats.parse(tree([" ".join(["cat"] * 60)]), "conllu")
    state = final(backend, ScoringRun(corpus, "./bert"))
    assert (state.skipped, state.tally.counts) == (1, {})


def test_a_missing_model_is_refused(backend: LocalBackend) -> None:
    with pytest.raises(UserError):
        final(backend, ScoringRun(CORPUS, "./none"))


def test_questions_are_known_by_what_they_ask() -> None:
    asked = LinksQuestion("m", items=CORPUS.items)
    others = [
        RandomLinksQuestion("m", items=CORPUS.items),
        LinksQuestion("n", items=CORPUS.items),
        LinksQuestion("m", "main", items=CORPUS.items),
        LinksQuestion("m", items=CORPUS.items[1:]),
    ]
    assert len({question.key for question in (asked, *others)}) == 5
    assert asked.key == LinksQuestion("m", items=formats.parse(tree(SENTENCES), "conllu").items).key


UNKNOWN = ["猫 坐 在 垫子 上", "它 很 累", "狗 cat 马路 很 宽"]


@pytest.mark.parametrize(("unknown", "refused"), [(1, False), (3, False), (4, True)])
def test_unknown_texts_are_left_out_or_refused(backend: LocalBackend, unknown: int, refused: bool) -> None:
    """Texts with a third of unknown tokens are skipped; the run is refused if most texts are."""
    corpus = formats.parse(tree([*SENTENCES[:3], *UNKNOWN, UNKNOWN[0][2:]][: 3 + unknown]), "conllu")
    state = final(backend, ScoringRun(corpus, "./bert"))
    assert (state.items, state.skipped, state.unknown) == (3 + unknown, unknown, unknown)
    assert bool(state.unreadable) is refused
    assert "[UNK]" in state.reason
    alone = formats.parse(tree(SENTENCES[:3]), "conllu")
    assert [row.accuracy for row in rows(state.tally, corpus)] == [
        row.accuracy for row in rows(final(backend, ScoringRun(alone, "./bert")).tally, alone)
    ]
    assert ScoringState.from_json(state.to_json()).unknown == unknown
