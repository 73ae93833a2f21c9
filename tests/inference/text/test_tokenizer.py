"""Tokenization of all kinds of texts."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from inference.errors import UserError
from inference.text.encoding import shift, shorten
from inference.text.tokenizer import SafeTokenizer
from tests.support import tinymodels
from tests.support.cases import loop_over
from tests.support.present import present

KINDS = {"wordpiece": "encoder", "bytes": "decoder", "roberta": "encoder", "unigram": "encoder-decoder"}
HOSTILE = [
    "👨‍👩‍👧‍👦 family 🇫🇷 👍🏽",
    "שלום עולם \u202eright to left\u202c مرحبا",
    "Z̷̡̛a̴͝l̵g̶o̸ e\u0301\u0301\u0301",
    "<script>alert('x')</script>",
    "a\u200db\u200c\ufeffc",
    "</s> [SEP] <pad> <|endoftext|> ▁ Ġ ## ##a",
    "你好，世界。ありがとう",
    "x" * 3000,
    "x \u0301",
    "\U0010ffff \ue000",
    " spaces   and\nlines\n\n\tand tabs ",
]


@pytest.fixture(scope="module")
def readers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, SafeTokenizer]:
    from transformers import AutoTokenizer

    root = tmp_path_factory.mktemp("tokenizers")
    tinymodels.wordpiece(root / "wordpiece")
    tinymodels.byte_level(root / "bytes")
    tinymodels.byte_level(root / "roberta", roberta=True)
    tinymodels.unigram(root / "unigram")
    return {
        name: SafeTokenizer(AutoTokenizer.from_pretrained(str(root / name)), name, kind, 10_000)
        for name, kind in KINDS.items()
    }


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> SafeTokenizer:
    from transformers import AutoTokenizer

    folder: Path = tmp_path_factory.mktemp("slow") / "marian"
    tinymodels.sentencepiece(folder)
    return SafeTokenizer(AutoTokenizer.from_pretrained(str(folder)), "marian", "encoder-decoder", 10_000)


@loop_over("kind", KINDS)
@loop_over("text", [*HOSTILE, *tinymodels.TEXT])
def test_any_text_gives_a_sound_row(readers: dict[str, SafeTokenizer], kind: str, text: str) -> None:
    row = readers[kind].read(text, None, None).row
    words = [word for word in row.words if word is not None]
    assert words == sorted(words)
    assert set(words) == set(range(words[-1] + 1))
    assert all(span is None or 0 <= span[0] < span[1] <= len(text) for span in row.spans)
    starts = [span[0] for span in row.spans if span]
    assert starts == sorted(starts)
    assert all(row.pieces)


def test_random_texts_of_every_plane(readers: dict[str, SafeTokenizer]) -> None:
    dice = random.Random(5)
    for _ in range(20):
        points = [dice.choice([dice.randrange(32, 0x250), dice.randrange(0xE000, 0x2FFFF)]) for _ in range(60)]
        for reader in readers.values():
            try:
                reader.read("a" + "".join(map(chr, points)), None, None)
            except UserError as refusal:
                pytest.fail(str(refusal))


@pytest.mark.slow
def test_ten_thousand_characters(readers: dict[str, SafeTokenizer]) -> None:
    text = (" ".join(tinymodels.TEXT) * 50)[:10_000]
    for reader in readers.values():
        assert len(reader.read(text, None, None).row) > 1000


def test_pieces_of_one_word_share_its_number(readers: dict[str, SafeTokenizer]) -> None:
    text = "The café didn't play"
    for name, reader in readers.items():
        row = reader.read(text, None, None).row
        joined: dict[int, str] = {}
        for word, span in zip(row.words, row.spans, strict=True):
            if word is not None and span is not None:
                joined[word] = joined.get(word, "") + text[slice(*span)].strip()
        assert [w.replace("éé", "é") for w in joined.values()][:2] == ["The", "café"], name
        assert next(w for w in reversed(joined.values())).endswith("play"), name


def test_special_tokens_are_those_the_tokenizer_added(readers: dict[str, SafeTokenizer]) -> None:
    row = readers["wordpiece"].read("the [MASK] cat", None, None).row
    assert row.pieces == ("[CLS]", "the", "[MASK]", "cat", "[SEP]")
    assert row.special == (True, False, False, False, True)
    assert not any(readers["bytes"].read("the cat", None, None).row.special)


def test_pairs(readers: dict[str, SafeTokenizer]) -> None:
    row = readers["wordpiece"].read("the cat", "it was", None).row
    assert row.segments == (0,) * (row.pieces.index("[SEP]") + 1) + (1,) * 3
    last, first = present(row.words[row.pieces.index("[SEP]") - 1]), present(row.words[-3])
    assert row.words[-3:-1] == (last + 1, first + 1)
    assert row.spans[-3:] == ((0, 2), (3, 6), None)
    roberta = readers["roberta"].read("a", "b", None).row
    assert roberta.segments == (0, 0, 0, 0, 1, 1)
    with pytest.raises(UserError, match=r"^bytes ") as caught:
        readers["bytes"].read("a", "b", None)
    assert caught.value.way_out == "pair"


def test_too_long_says_how_many_and_how_to_go_on(readers: dict[str, SafeTokenizer]) -> None:
    reader = readers["wordpiece"]
    with pytest.raises(UserError, match=r"602 tokens; wordpiece .* 512\.") as caught:
        reader.read("it " * 600, None, 512)
    assert (caught.value.way_out, caught.value.details) == ("cut", {"tokens": 602, "limit": 512})
    row = reader.read("it " * 600, None, 512, cut=512).row
    assert len(row) == 512
    assert (row.pieces[0], row.pieces[-1]) == ("[CLS]", "[SEP]")
    assert len(reader.read("it " * 600, None, 512, cut=9999).row) == 512
    assert len(reader.read("it " * 600, None, 512, cut=1).row) == 3


def test_of_a_pair_the_longer_text_is_cut_first(readers: dict[str, SafeTokenizer]) -> None:
    row = readers["wordpiece"].read("it was", "it " * 50, 20, cut=10).row
    assert row.pieces == ("[CLS]", "it", "was", "[SEP]", "it", "it", "it", "it", "it", "[SEP]")
    assert shorten(readers["wordpiece"].read("it", None, None), 3).row.pieces == ("[CLS]", "it", "[SEP]")


def test_a_text_without_anything_in_reach(readers: dict[str, SafeTokenizer]) -> None:
    with pytest.raises(UserError, match="reads nothing"):
        readers["wordpiece"].read("\u0301", None, None)


def test_a_tokenizer_of_another_model(readers: dict[str, SafeTokenizer]) -> None:
    other = SafeTokenizer(readers["wordpiece"].tokenizer, "mixed", "encoder", 6)
    with pytest.raises(UserError, match=r"mixed .*token 8\b.* 0 to 5\b"):
        other.read("the cat", None, None)


def test_switches_truncation_and_padding_off(readers: dict[str, SafeTokenizer]) -> None:
    backend = readers["wordpiece"].tokenizer.backend_tokenizer
    backend.enable_truncation(8)
    backend.enable_padding(length=8)
    assert len(readers["wordpiece"].read("it " * 20, None, None).row) == 22
    assert len(readers["wordpiece"].read("it", None, None).row) == 3


@pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses")
def test_tokenizers_without_a_fast_version(slow: SafeTokenizer) -> None:
    assert not slow.fast
    for text in [*HOSTILE, *tinymodels.TEXT]:
        row = slow.read(text, None, None).row
        assert row.words[-1] is None
        assert all(span is None or 0 <= span[0] < span[1] <= len(text) for span in row.spans)
    row = slow.read("The cat sat", None, None).row
    words = {word: "" for word in row.words if word is not None}
    for word, span in zip(row.words, row.spans, strict=True):
        if word is not None and span is not None:
            words[word] += "The cat sat"[slice(*span)]
    assert list(words.values()) == ["The", "cat", "sat"]


def test_what_a_decoder_reads_is_the_target_moved_by_one(readers: dict[str, SafeTokenizer]) -> None:
    target = readers["unigram"].read_target("The cat")
    moved = shift(target, [0, *target.ids[:-1]], "<pad>")
    assert moved.row.pieces == ("<pad>", *target.row.pieces[:-1])
    assert moved.row.special[0]
    with pytest.raises(ValueError, match="target's"):
        shift(target, [0, *target.ids[1:]], "<pad>")


def test_written_tokens_get_words_and_places(readers: dict[str, SafeTokenizer]) -> None:
    target = readers["unigram"].read_target("The cat sat.")
    ids = [0, *target.ids[:-1]]
    reading, text = readers["unigram"].from_ids(ids, [True] + [False] * (len(ids) - 1))
    assert text.strip() == "The cat sat."
    assert reading.row.words[0] is None
    assert max(word for word in reading.row.words if word is not None) == 3


def test_a_number_that_the_vocabulary_lacks_is_shown_as_such(readers: dict[str, SafeTokenizer]) -> None:
    reading, _ = readers["unigram"].from_ids([0, 5, 99_999], [True, False, False])
    assert reading.row.pieces[2] == "[99999]"
    assert reading.ids == (0, 5, 99_999)


@pytest.mark.slow
def test_threads_do_not_disturb_each_other(readers: dict[str, SafeTokenizer]) -> None:
    texts = [*HOSTILE, *tinymodels.TEXT] * 3
    for reader in readers.values():
        alone = [reader.read(text, None, None) for text in texts]
        with ThreadPoolExecutor(8) as pool:
            together = list(pool.map(lambda text, r=reader: r.read(text, None, None), texts))
        assert together == alone


def test_what_the_vocabulary_lacks_stays_as_the_reader_wrote_it(readers: dict[str, SafeTokenizer]) -> None:
    row = readers["wordpiece"].read("The 猫 plays, [UNK]", "Öß 猫", None).row
    unknown = [(row.pieces[at], row.unknown[at]) for at in range(len(row)) if row.unknown[at]]
    assert unknown == [("猫", "[UNK]"), ("Öß", "[UNK]"), ("猫", "[UNK]")], "the one that was typed is known"
    assert row.unknown_words()[0] == 3


def test_what_a_slow_tokenizer_does_not_know_stands_for_a_word(slow: SafeTokenizer) -> None:
    row = slow.read("cat 猫 cat", None, None).row
    unknown = [at for at, token in enumerate(row.ids) if token == slow.tokenizer.unk_token_id]
    assert unknown
    assert all(row.words[at] is not None for at in unknown)
    assert [(row.pieces[at], row.spans[at]) for at in unknown] == [("猫", (4, 5))]


@pytest.mark.parametrize("kind", ["bytes", "roberta"])
def test_a_vocabulary_of_bytes_knows_every_word(readers: dict[str, SafeTokenizer], kind: str) -> None:
    assert not any(readers[kind].read(text, None, None).row.unknown_words()[0] for text in HOSTILE)


@pytest.mark.parametrize("kind", ["bytes", "roberta"])
def test_a_vocabulary_of_bytes_shows_the_readers_own_characters(readers: dict[str, SafeTokenizer], kind: str) -> None:
    text = "The 天 👍"
    row = readers[kind].read(text, None, None).row
    places = [at for at in range(len(row)) if row.unknown[at]]
    assert [row.pieces[at] for at in places] == [
        "天 1/3",
        "天 2/3",
        "天 3/3",
        *(f"👍 {byte}/4" for byte in range(1, 5)),
    ]
    assert [row.unknown[at] for at in places][:3] == ["<0xE5>", "<0xA4>", "<0xA9>"]
    assert {text[slice(*present(row.spans[at]))] for at in places} == {"天", "👍"}


def test_bytes_of_a_character_are_parts_of_it() -> None:
    """ByT5 and Perceiver have a token for each byte, written as the character with that number."""
    import transformers

    for tokenizer in (transformers.ByT5Tokenizer(), transformers.PerceiverTokenizer()):
        row = SafeTokenizer(tokenizer, "bytes", "encoder", 400).read("Caf\u00e9 yo", None, None).row
        words = [at for at, special in enumerate(row.special) if not special]
        assert [row.labels[at].removeprefix("##") for at in words] == [*"Caf", "\u00e9 1/2", "\u00e9 2/2", "␣", *"yo"]
        assert [row.words[at] for at in words] == [0, 0, 0, 0, 0, 1, 1, 1]
