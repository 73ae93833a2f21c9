"""Masked words against the pipeline of transformers with the same weights, and refusals of unsuitable texts."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer, pipeline

from inference import LocalBackend
from inference.errors import UserError
from inference.files import embedded
from inference.settings import Settings
from inference.task_heads import MASKED, WHAT
from inference.tasks.predictions import Filled, MaskedWords, SurprisalRequest
from tests.support.cases import loop_over
from tests.support.present import present
from tests.support.tinyheads import EVERY, save
from tests.support.tinymodels import save as save_bare

TEXT = "The animal was in the street."


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("heads")


@pytest.fixture(scope="module")
def backend(root: Path) -> LocalBackend:
    return LocalBackend(Settings(model_folders=(root,), offline=True, cache=root / "cache"))


def model(root: Path, name: str) -> str:
    folder = root / name.replace(" ", "-")
    return str(folder if folder.exists() else save(folder, name))


def ask(backend: LocalBackend, root: Path, name: str = "BERT", text: str = TEXT, **more: Any) -> Filled:
    return backend.predict(MaskedWords(model=model(root, name), text=text, **more))


@pytest.mark.slow
@loop_over("name", EVERY)
def test_equals_the_pipeline(backend: LocalBackend, root: Path, name: str) -> None:
    found = ask(backend, root, name, "The [MASK] was in the [MASK].", top=7)
    assert found.whole
    assert found.text == f"The {found.mask} was in the {found.mask}."
    folder = model(root, name)
    fill = pipeline(
        "fill-mask",
        model=AutoModelForMaskedLM.from_pretrained(folder),
        tokenizer=AutoTokenizer.from_pretrained(folder),
        device="cpu",
        top_k=7,
    )
    expected = fill(found.text, tokenizer_kwargs={"return_token_type_ids": False})
    assert len(expected) == len(found.blanks)
    for blank, guesses in zip(found.blanks, expected, strict=True):
        assert [guess.token for guess in blank.guesses] == [guess["token"] for guess in guesses]
        for guess, other in zip(blank.guesses, guesses, strict=True):
            assert guess.probability == pytest.approx(other["score"], abs=1e-5)


@pytest.mark.slow
@pytest.mark.skipif(not embedded.own_here(embedded.BERT), reason="the BERT that was trained here is not there")
def test_our_own_bert_equals_the_pipeline(backend: LocalBackend) -> None:
    text = "The [MASK] sat on the [MASK] because it was tired."
    found = backend.predict(MaskedWords(model=embedded.BERT, text=text, top=9))
    folder = embedded.own_folder(embedded.BERT)
    network = AutoModelForMaskedLM.from_pretrained(folder, dtype=torch.float32)
    fill = pipeline("fill-mask", model=network, tokenizer=AutoTokenizer.from_pretrained(folder), device="cpu", top_k=9)
    for blank, guesses in zip(found.blanks, fill(text), strict=True):
        assert [guess.token for guess in blank.guesses] == [guess["token"] for guess in guesses]
        scores = [guess["score"] for guess in guesses]
        assert [guess.probability for guess in blank.guesses] == pytest.approx(scores, abs=1e-5)


@pytest.mark.parametrize("name", ["BERT", "RoBERTa", "ALBERT"])
def test_a_hidden_word_is_the_same_as_a_typed_mask(backend: LocalBackend, root: Path, name: str) -> None:
    hidden = ask(backend, root, name, "The cat was in it.", hidden=((0, 4, 7),))
    typed = ask(backend, root, name, hidden.text)
    assert [b.position for b in hidden.blanks] == [b.position for b in typed.blanks]
    assert hidden.blanks[0].guesses == typed.blanks[0].guesses
    assert typed.blanks[0].original is None
    assert "".join(hidden.row.pieces[b.position] for b in hidden.blanks) == "cat"


def test_places_are_those_of_the_text_as_it_was_given(backend: LocalBackend, root: Path) -> None:
    mask = "<mask>!"
    folder = save(root / "odd-mask", "RoBERTa")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.add_special_tokens({"mask_token": mask})
    tokenizer.save_pretrained(folder)
    network = AutoModelForMaskedLM.from_pretrained(folder)
    network.resize_token_embeddings(len(tokenizer))
    network.save_pretrained(folder)
    text = "A [MASK] sat on the [MASK] mat, cat."
    found = backend.predict(MaskedWords(model=str(folder), text=text, hidden=((0, 32, 35),)))
    assert found.mask == mask
    assert found.text == "A <mask>! sat on the <mask>! mat, <mask>!."
    spans = [text[slice(*span)] for span in found.row.spans if span is not None]
    assert "sat" in "".join(spans)
    assert [text[slice(*present(found.row.spans[b.position]))] for b in found.blanks] == ["[MASK]", "[MASK]", "cat"]


def test_probabilities_ranks_and_entropy_are_those_of_the_whole_distribution(backend: LocalBackend, root: Path) -> None:
    found = ask(backend, root, text="The [MASK] sat.", top=1000, words=("cat",))
    blank = found.blanks[0]
    assert len(blank.guesses) == found.vocabulary
    assert math.fsum(guess.probability for guess in blank.guesses) == pytest.approx(1, abs=1e-5)
    assert [guess.rank for guess in blank.guesses] == list(range(1, found.vocabulary + 1))
    bits = -math.fsum(g.probability * math.log2(g.probability) for g in blank.guesses)
    assert blank.entropy == pytest.approx(bits, abs=1e-4)
    cat = next(guess for guess in blank.guesses if guess.piece == "cat")
    [candidate] = found.candidates
    assert (candidate.rank, candidate.pieces) == (cat.rank, ("cat",))
    assert candidate.log_probability == pytest.approx(math.log(cat.probability), abs=1e-5)


def test_a_word_of_several_pieces_is_filled_from_left_to_right(backend: LocalBackend, root: Path) -> None:
    [candidate] = ask(backend, root, text="The [MASK] was it.", words=("playing",)).candidates
    assert candidate.pieces == ("play", "…ing")
    assert candidate.rank is None
    folder = model(root, "BERT")
    network = AutoModelForMaskedLM.from_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    play, ing = tokenizer.convert_tokens_to_ids(["play", "##ing"])
    total = 0.0
    for text, place, piece in [("The [MASK] [MASK] was it.", 2, play), ("The play [MASK] was it.", 3, ing)]:
        with torch.inference_mode():
            logits = network(**tokenizer(text, return_tensors="pt")).logits
        total += float(logits[0, place].log_softmax(-1)[piece])
    assert candidate.log_probability == pytest.approx(total, abs=1e-5)


def by_hand(folder: str, text: str, at: int, pieces: list[str]) -> float:
    """Return a word's log-probability, with its subwords predicted from left to right.

    Subwords after the predicted subword are masks. ``text`` has {} in place of the word; ``at`` is the position of
    the first subword.
    """
    network, tokenizer = AutoModelForMaskedLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    total = 0.0
    for done, piece in enumerate(tokenizer.convert_tokens_to_ids(pieces)):
        ids = tokenizer(text.format("[MASK]" * len(pieces)), return_tensors="pt").input_ids
        ids[0, at : at + done] = torch.tensor(tokenizer.convert_tokens_to_ids(pieces[:done]))
        with torch.inference_mode():
            total += float(network(ids).logits[0, at + done].log_softmax(-1)[piece])
    return total


def test_a_hidden_word_of_several_pieces_is_scored_as_a_whole(backend: LocalBackend, root: Path) -> None:
    words = ("it", "playing", "saa", "cat")
    found = ask(backend, root, text="We playing it.", hidden=((0, 3, 10), (0, 11, 13)), words=words)
    assert [present(blank.original).piece for blank in found.blanks] == ["play", "…ing", "it"]
    assert [hidden.blanks for hidden in found.hidden] == [(0, 1), (2,)]
    playing, it = (present(hidden.original) for hidden in found.hidden)
    assert (playing.word, playing.pieces, playing.rank, playing.problem) == ("playing", ("play", "…ing"), None, "")
    folder, sentence = model(root, "BERT"), "We {} [MASK]."
    at = found.blanks[0].position
    assert playing.log_probability == pytest.approx(by_hand(folder, sentence, at, ["play", "##ing"]), abs=1e-5)
    assert (it.word, it.rank) == ("it", present(found.blanks[2].original).rank)
    assert math.exp(present(it.log_probability)) == pytest.approx(
        present(found.blanks[2].original).probability, rel=1e-5
    )


def test_an_asked_word_takes_the_place_of_the_whole_hidden_word(backend: LocalBackend, root: Path) -> None:
    """The result does not depend on the selected blank or on the candidate's number of subwords."""
    for blank in (0, 1):
        words = ("it", "playing", "saa")
        found = ask(backend, root, text="We playing it.", hidden=((0, 3, 10),), words=words, blank=blank)
        it, playing, saa = found.candidates
        folder, at = model(root, "BERT"), found.blanks[0].position
        for candidate, pieces in ((it, ["it"]), (playing, ["play", "##ing"]), (saa, ["s", "##a", "##a"])):
            assert len(candidate.pieces) == len(pieces)
            expected = by_hand(folder, "We {} it.", at, pieces)
            assert candidate.log_probability == pytest.approx(expected, abs=1e-5), candidate.word
        assert playing.log_probability == present(found.hidden[0].original).log_probability
        alone = ask(backend, root, text="We [MASK] it.", words=("it",))
        assert it.rank == alone.candidates[0].rank


@loop_over("name", EVERY)
@loop_over("place", [(11, 14), (12, 14)])  # A click hides the preceding space, too.
def test_asking_about_the_hidden_word_gives_its_own_score(
    backend: LocalBackend, root: Path, name: str, place: tuple[int, int]
) -> None:
    found = ask(backend, root, name, "The cat was ii sat.", hidden=((0, *place),), words=("ii",))
    [hidden] = found.hidden
    [asked] = found.candidates
    original = present(hidden.original)
    assert (asked.word, asked.problem) == ("ii", "")
    assert original.word == "ii"
    assert asked.pieces == original.pieces
    assert asked.log_probability == pytest.approx(original.log_probability, abs=1e-6)


def test_a_hidden_words_score_is_its_surprise(backend: LocalBackend, root: Path) -> None:
    """Masked words and surprisal score a word in the same way."""
    for name in ("BERT", "RoBERTa", "ALBERT"):
        [hidden] = ask(backend, root, name, "The cat was catin.", hidden=((0, 11, 17),)).hidden
        scores = backend.predict(SurprisalRequest(model=model(root, name), text="The cat was catin.", stop=99))
        mine = [scores.row.words[at] == scores.row.words[scores.places[-2]] for at in scores.places]
        original = present(hidden.original)
        assert sum(mine) == len(original.pieces) > 1
        assert original.log_probability == pytest.approx(float(scores.log_probabilities[mine].sum()), abs=1e-4)


def test_typed_blanks_and_parts_of_words_stand_for_themselves(backend: LocalBackend, root: Path) -> None:
    found = ask(backend, root, text="A [MASK][MASK] playing it.", hidden=((0, 19, 22),), words=("cat",), blank=0)
    assert [hidden.blanks for hidden in found.hidden] == [(0,), (1,), (2,)]
    assert [hidden.original and hidden.original.word for hidden in found.hidden] == [None, None, "ing"]
    assert (
        found.candidates[0].rank
        == ask(backend, root, text="A [MASK][MASK] play[MASK] it.", words=("cat",)).candidates[0].rank
    )


def test_a_character_of_several_byte_pieces_can_be_another_word(backend: LocalBackend, root: Path) -> None:
    found = ask(backend, root, "RoBERTa", "a 漢 b", hidden=((0, 2, 3),), words=("cat", "漢"))
    cat, same = found.candidates
    assert cat.problem == same.problem == ""
    assert same.log_probability == pytest.approx(present(found.hidden[0].original).log_probability, abs=1e-5)


def test_a_hidden_word_that_the_vocabulary_lacks_has_no_score(backend: LocalBackend, root: Path) -> None:
    [hidden] = ask(backend, root, "ALBERT", "A cat play it.", hidden=((0, 5, 10),)).hidden
    original = present(hidden.original)
    assert original.word == "play"
    assert original.log_probability is None
    assert "not in the vocabulary" in original.problem


def test_words_that_cannot_stand_there_are_told_why(backend: LocalBackend, root: Path) -> None:
    words = ("漢", "[MASK]", " ", "cat", "cat", "\u200b", "a\0", "i" * 101, "a " * 40)
    found = ask(backend, root, text="We [MASK] it.", words=words).candidates
    problems = {candidate.word: candidate.problem for candidate in found}
    assert list(problems) == ["漢", "[MASK]", "cat", "\u200b", "a\0", "i" * 101, ("a " * 40).strip()]
    assert problems["cat"] == ""
    assert "not in the vocabulary" in problems["漢"]
    assert "blank itself" in problems["[MASK]"]
    assert "reads nothing" in problems["\u200b"]
    assert "control character" in problems["a\0"]
    assert re.search(r"\b101\b.*\b100\b", problems["i" * 101])
    assert "tokens; BERT reads at most 40" in problems[("a " * 40).strip()]


def test_a_part_of_a_word(backend: LocalBackend, root: Path) -> None:
    [ing, e] = ask(backend, root, text="We play[MASK] it.", words=("ing", "e")).candidates
    assert (ing.pieces, e.pieces) == (("…ing",), ("…e",))
    [grown] = ask(backend, root, "RoBERTa", text="A th[MASK] mat.", words=("e",)).candidates
    assert "merges" in grown.problem


@loop_over("name", EVERY)
def test_a_word_is_put_where_any_tokenizer_would(backend: LocalBackend, root: Path, name: str) -> None:
    """A candidate that equals the hidden word has the tokens of the hidden word."""
    found = ask(backend, root, name, "The cat was it.", hidden=((0, 12, 14),), words=("it",))
    hidden = [found.row.pieces[blank.position] for blank in found.blanks]
    if len(hidden) == 1:
        assert found.candidates[0].rank == present(found.blanks[0].original).rank
    assert "".join(piece.removeprefix("…") for piece in found.candidates[0].pieces) == "".join(hidden).replace("␣", "")


def test_a_blank_in_a_pair(backend: LocalBackend, root: Path) -> None:
    found = ask(backend, root, text="The cat sat.", pair="It was [MASK] in the street.", hidden=((1, 21, 27),))
    assert [found.row.segments[blank.position] for blank in found.blanks] == [1] * len(found.blanks)
    assert found.pair == "It was [MASK] in the [MASK]."
    assert found.text == "The cat sat."
    folder = model(root, "BERT")
    network, tokenizer = AutoModelForMaskedLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    with torch.inference_mode():
        chances = network(**tokenizer(found.text, found.pair, return_tensors="pt")).logits[0].softmax(-1)
    for blank in found.blanks:
        assert blank.guesses[0].probability == pytest.approx(float(chances[blank.position].max()), abs=1e-5)


def test_byte_pieces_of_one_character_are_hidden_together(backend: LocalBackend, root: Path) -> None:
    found = ask(backend, root, "RoBERTa", "a 漢 b", hidden=((0, 2, 3),))
    assert len(found.blanks) > 1
    assert not found.whole
    assert found.text == "a <mask> b"


@loop_over(
    ("text", "more", "said"),
    [
        (TEXT, {}, r"^No word is hidden\. Write \[MASK\] in place of a word"),
        (TEXT, {"hidden": ((0, 3, 4),)}, "No word is hidden"),
        (TEXT, {"hidden": ((1, 4, 10),)}, "No word is hidden"),
        ("[MASK] " * 30, {}, "30 tokens are hidden; the limit is 20"),
        ("[MASK] " * 100, {}, "has 102 tokens; BERT reads at most 40"),
        ("", {}, "The text is empty"),
        ("The [MASK].", {"pair": " "}, "second text is empty"),
        ("The [MASK].", {"blank": 1}, "There is no blank 1; the text has 1"),
    ],
)
def test_odd_texts(backend: LocalBackend, root: Path, text: str, more: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        ask(backend, root, text=text, **more)


def test_two_hundred_masks_are_too_many_where_the_text_is_short_enough(backend: LocalBackend, root: Path) -> None:
    folder = save(root / "long", "BERT", max_position_embeddings=256)
    with pytest.raises(UserError, match=r"200 tokens .* 20\b") as caught:
        backend.predict(MaskedWords(model=str(folder), text="[MASK] " * 200))
    assert caught.value.details == {"blanks": 200, "limit": 20}


def test_a_cut_text(backend: LocalBackend, root: Path) -> None:
    found = ask(backend, root, text="The [MASK] " + "cat " * 60, cut=9, words=("it",))
    assert len(found.row) == 9
    assert "whole text" in found.candidates[0].problem
    with pytest.raises(UserError, match="is hidden"):
        ask(backend, root, text="cat " * 60 + "[MASK]", cut=9)


def test_a_pair_for_a_model_that_reads_none(backend: LocalBackend, root: Path) -> None:
    save_bare(root / "gpt2", "gpt2")
    with pytest.raises(UserError, match=f"gpt2 has {WHAT[MASKED]}"):
        backend.predict(MaskedWords(model=str(root / "gpt2"), text="a [MASK]", pair="b"))


def test_a_tokenizer_without_a_mask(backend: LocalBackend, root: Path) -> None:
    folder = save(root / "maskless", "RoBERTa")
    config = (folder / "tokenizer_config.json").read_text().replace('"mask_token": "<mask>",', "")
    (folder / "tokenizer_config.json").write_text(config)
    with pytest.raises(UserError, match=r"maskless.* mask"):
        backend.predict(MaskedWords(model=str(folder), text="a [MASK]"))
