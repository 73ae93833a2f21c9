"""Sentence pairs: half are consecutive, half have a second text from another document."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support.cases import loop_over
from tests.support.trainingtexts import library, write_start
from training import corpus
from training.batches import SHORTEST, PretrainingBatches, SentencePair, pair, spans, truncate_pair
from training.corpus import TokenCorpus
from training.model import vocabulary

ROOM = 45


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pairs") / "start"
    write_start(folder)
    corpus.write(library(), folder / "tokenizer.json", folder.parent / "corpus")
    return folder


@pytest.fixture(scope="module")
def text(start: Path) -> TokenCorpus:
    return corpus.read(start.parent / "corpus")


@pytest.fixture(scope="module")
def batches(start: Path, text: TokenCorpus) -> PretrainingBatches:
    return PretrainingBatches(text, vocabulary(start), ROOM + 3, 6, seed=5)


def made(document_lengths: list[list[int]]) -> TokenCorpus:
    """Return a corpus of documents with these sentence lengths; token ids count from 0 and give positions."""
    lengths = np.array([length for document in document_lengths for length in document])
    firsts = np.cumsum([0, *(len(document) for document in document_lengths)])
    return TokenCorpus(np.arange(lengths.sum()), np.cumsum([0, *lengths]), firsts, np.zeros(1, np.int64))


@loop_over(
    ("lengths", "starts"),
    [
        # The first span is cut in sentence 2; the second keeps its end.
        ([[4, 4, 4, 4, 4]], [0, 2]),
        ([[3, 3]], [0]),  # The text is shorter than the limit.
        ([[5]], []),  # No sentence follows.
        ([[10, 4, 6]], [1]),  # The first sentence fills the span.
        ([[30, 30]], []),  # No sentence ends within the limit.
        ([[4, 4, 4], [3, 3]], [0, 3]),  # Spans do not cross documents.
    ],
)
def test_spans_by_hand(lengths: list[list[int]], starts: list[int]) -> None:
    assert spans(made(lengths), 10).tolist() == starts


@pytest.mark.slow
def test_what_follows_follows_and_what_does_not_is_from_another_document(text: TokenCorpus) -> None:
    random = np.random.default_rng(0)
    numbered = TokenCorpus(
        np.arange(len(text.pieces), dtype=text.pieces.dtype), text.sentences, text.documents, text.counts
    )
    document = np.repeat(np.arange(len(text.documents) - 1), np.diff(text.sentences[text.documents]))
    kinds = {True: 0, False: 0}
    for sentence in np.tile(spans(text, ROOM), 20).tolist():
        made = pair(numbered, sentence, ROOM, random)
        kinds[made.random] += 1
        assert len(made.first)
        assert len(made.second)
        assert made.first[0] == text.sentences[sentence]
        assert np.isin([made.first[-1] + 1, made.second[0]], text.sentences).all()
        assert len(made.first) + len(made.second) <= ROOM
        if made.random:
            assert len(set(document[made.second])) == 1
            assert document[made.second[0]] != document[made.first[0]]
        else:
            assert made.second[0] == made.first[-1] + 1
            assert document[made.second[-1]] == document[made.first[0]]
    share = kinds[True] / sum(kinds.values())
    assert abs(share - 0.5) < 2.0 / np.sqrt(sum(kinds.values()))


def test_a_shortened_pair_keeps_where_its_texts_meet() -> None:
    short = truncate_pair(SentencePair(np.arange(10), np.arange(100, 120), False), 8)
    assert short.first.tolist() == [6, 7, 8, 9]
    assert short.second.tolist() == [100, 101, 102, 103]
    narrow = truncate_pair(SentencePair(np.arange(10), np.array([100]), True), 8)
    assert (len(narrow.first), len(narrow.second), narrow.random) == (7, 1, True)


def test_a_batch_is_laid_out_as_bert_reads_it(batches: PretrainingBatches) -> None:
    known = batches.vocabulary
    for step in range(6):
        batch = batches(step, 0.15)
        pieces = batch.masked.pieces.copy()
        pieces.reshape(-1)[batch.masked.places] = batch.masked.labels  # Restore the masked tokens.
        for row in range(6):
            real = pieces[row, batch.real[row] == 1]
            assert real[0] == known.start
            assert real[-1] == known.end
            assert (real == known.end).sum() == 2
            assert (real == known.start).sum() == 1
            first = int(np.flatnonzero(real == known.end)[0]) + 1
            assert batch.segments[row].tolist() == [0] * first + [1] * (len(real) - first) + [0] * (
                pieces.shape[1] - len(real)
            )
            assert (pieces[row, len(real) :] == known.padding).all()
        assert batch.count == (pieces != known.padding).sum()


def test_special_pieces_are_never_asked_for(batches: PretrainingBatches) -> None:
    special = {batches.vocabulary.start, batches.vocabulary.end, batches.vocabulary.padding, batches.vocabulary.mask}
    asked = np.concatenate([batches(step, 0.5).masked.labels for step in range(20)])
    assert len(asked) > 1_000
    assert not special & set(asked.tolist())


def test_a_step_s_batch_depends_on_seed_and_step_alone(
    batches: PretrainingBatches, start: Path, text: TokenCorpus
) -> None:
    again = PretrainingBatches(text, vocabulary(start), ROOM + 3, 6, seed=5)
    again(9, 0.15)
    assert (again(3, 0.15).masked.pieces == batches(3, 0.15).masked.pieces).all()
    other = PretrainingBatches(text, vocabulary(start), ROOM + 3, 6, seed=6)
    assert not np.array_equal(other(3, 0.15).masked.pieces, batches(3, 0.15).masked.pieces)


def test_every_span_is_read_once_a_pass(batches: PretrainingBatches) -> None:
    count = len(batches.spans)
    order = [sentence for step in range(2 * count // 6 + 1) for sentence in batches.sentences(step)]
    assert sorted(order[:count]) == sorted(batches.spans.tolist())
    assert sorted(order[count : 2 * count]) == sorted(batches.spans.tolist())
    assert order[:count] != order[count : 2 * count]


def test_whole_words_are_asked_for_whole(start: Path, text: TokenCorpus) -> None:
    known = vocabulary(start)
    batches = PretrainingBatches(text, known, ROOM + 3, 6, seed=5, whole_words=True)
    for step in range(5):
        batch = batches(step, 0.3)
        pieces = batch.masked.pieces.copy()
        pieces.reshape(-1)[batch.masked.places] = batch.masked.labels
        places = np.zeros(pieces.size, bool)
        places[batch.masked.places] = True
        chosen = places.reshape(pieces.shape)
        continues = known.continues[pieces][:, 1:]
        assert (chosen[:, 1:][continues] == chosen[:, :-1][continues]).all()


def test_some_batches_are_short(start: Path, text: TokenCorpus) -> None:
    batches = PretrainingBatches(text, vocabulary(start), ROOM + 3, 6, seed=5, short=0.5)
    widths = [batches(step, 0.15).real.shape[1] for step in range(40)]
    assert min(widths) >= SHORTEST
    assert 10 < sum(width < 40 for width in widths) < 35
