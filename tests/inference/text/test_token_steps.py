"""The steps of a tokenizer, which end in the tokenizer's own result for every text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from attention.trace import ModelId
from inference import LocalBackend
from inference.errors import UserError
from inference.loaded_model import LoadedModel
from inference.runners import tokenizer_steps as answers
from inference.settings import Settings
from inference.tasks.tokenizer_steps import BestPrefix, Match, Merge, Steps, TokenSteps, WordSteps, WordWalk
from inference.text.tokenizer import SafeTokenizer
from inference.text.tokenizer_steps import bpe, in_words, unigram, wordpiece
from tests.inference.text.test_tokenizer import HOSTILE, KINDS
from tests.support import tinymodels
from tests.support.cases import loop_over

TEXTS = [*HOSTILE, *tinymodels.TEXT, "The café's playing [MASK] [mask] <pad>, isn't it? ÀÉ ﬁ ①"]


def load(folder: Path, name: str, kind: str) -> LoadedModel:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(folder))
    return LoadedModel(
        None, SafeTokenizer(tokenizer, name, kind, 10**6), ModelId(name, None, kind, "X"), 10**9, 1, False, False
    )


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, LoadedModel]:
    root = tmp_path_factory.mktemp("tokenizers")
    tinymodels.wordpiece(root / "wordpiece")
    tinymodels.byte_level(root / "bytes")
    tinymodels.byte_level(root / "roberta", roberta=True)
    tinymodels.unigram(root / "unigram")
    tinymodels.sentencepiece(root / "slow")
    kinds = {**KINDS, "slow": "encoder-decoder"}
    return {name: load(root / name, name, kind) for name, kind in kinds.items()}


def steps_of(loaded: LoadedModel, question: TokenSteps) -> Steps:
    found = answers.answer(loaded, question)
    assert isinstance(found, Steps)
    return found


@pytest.fixture(scope="module")
def backend() -> LocalBackend:
    return LocalBackend(Settings())


@loop_over("kind", KINDS)
@loop_over("text", TEXTS)
def test_the_words_cut_one_by_one_are_the_text_cut_at_once(
    loaded: dict[str, LoadedModel], kind: str, text: str
) -> None:
    steps = steps_of(loaded[kind], TokenSteps(text=text))
    (side,) = steps.sides
    words = [at for word in side.words for at in range(*word.tokens)]
    assert words == [at for at, token in enumerate(steps.tokens) if not token.special]
    spans = [word.span for word in side.words]
    assert all(0 <= start <= end <= len(text) for start, end in spans)
    assert spans == sorted(spans)


@loop_over("kind", KINDS)
@loop_over("text", TEXTS)
def test_every_word_is_followed_to_the_tokenizers_pieces(loaded: dict[str, LoadedModel], kind: str, text: str) -> None:
    steps = steps_of(loaded[kind], TokenSteps(text=text))
    for word in steps.sides[0].words:
        if not word.whole and len(word.text) <= answers.LONGEST:
            walk = answers.answer(loaded[kind], WordWalk(word=word.text))
            assert isinstance(walk, WordSteps)
            assert walk.ids == tuple(token.id for token in steps.tokens[slice(*word.tokens)])


def test_a_pair_is_followed_on_both_sides(loaded: dict[str, LoadedModel]) -> None:
    steps = steps_of(loaded["wordpiece"], TokenSteps(text="the cat [MASK]", pair="It was"))
    assert [[word.text for word in side.words] for side in steps.sides] == [["the", "cat", "[MASK]"], ["it", "was"]]
    assert steps.template == "[CLS] A [SEP] B [SEP]"
    assert [token.segment for token in steps.tokens] == [0] * 5 + [1] * 3
    assert [token.side for token in steps.tokens if not token.special] == [0, 0, 0, 1, 1]
    assert steps.sides[1].normalised == "it was"


def test_what_is_typed_as_a_special_token_is_taken_whole(loaded: dict[str, LoadedModel]) -> None:
    steps = steps_of(loaded["wordpiece"], TokenSteps(text="A [MASK] [UNK] 你"))
    assert [(word.text, word.whole) for word in steps.sides[0].words] == [
        ("a", False),
        ("[MASK]", True),
        ("[UNK]", True),
        ("你", False),
    ]
    # Normalisation puts spaces around 你; both unknown tokens have the same id, but only the first was typed.
    assert steps.sides[0].normalised == "a [MASK] [UNK]  你 "
    assert [token.raw for token in steps.tokens if token.unknown] == ["[UNK]", "[UNK]"]


def test_steps_in_the_embedded_model(backend: LocalBackend) -> None:
    text = "Café: embeddings running 👍"
    steps = backend.inspect(TokenSteps(text=text))
    assert (steps.algorithm, steps.vocabulary, steps.unknown) == ("WordPiece", 30522, "[UNK]")
    assert steps.sides[0].normalised == "cafe: embeddings running 👍"
    pieces = [tuple(token.raw for token in steps.tokens[slice(*word.tokens)]) for word in steps.sides[0].words]
    assert pieces == [("cafe",), (":",), ("em", "##bed", "##ding", "##s"), ("running",), ("[UNK]",)]
    unknown = next(token for token in steps.tokens if token.unknown)
    assert unknown.span is not None
    assert text[slice(*unknown.span)] == "👍"
    assert "accents removed" in steps.normaliser


def test_only_the_tokenizer_is_loaded(backend: LocalBackend) -> None:
    backend = LocalBackend(Settings())
    backend.inspect(TokenSteps(text="no weights"))
    assert backend.status("all-MiniLM-L6-v2") == "here"


def test_a_slow_tokenizer_says_what_it_cannot_show(loaded: dict[str, LoadedModel]) -> None:
    steps = steps_of(loaded["slow"], TokenSteps(text="The cat sat."))
    assert steps.sides == ()
    assert "only its result" in steps.why
    assert steps.template == "A </s>"
    with pytest.raises(UserError, match="its result"):
        answers.answer(loaded["slow"], WordWalk(word="cat"))


@pytest.mark.parametrize("word", ["", "x" * 201])
def test_a_word_that_is_too_long_is_not_followed(loaded: dict[str, LoadedModel], word: str) -> None:
    with pytest.raises(UserError, match=f"This word has {len(word)} characters"):
        answers.answer(loaded["bytes"], WordWalk(word=word))


class Vocabulary:
    unk_token, continuing_subword_prefix, max_input_chars_per_word = "[UNK]", "##", 6

    def token_to_id(self, piece: str) -> int | None:
        known = ["[UNK]", "p", "play", "##in", "##ing", "##g"]
        return known.index(piece) if piece in known else None


def test_wordpiece_by_hand() -> None:
    model = Vocabulary()
    assert wordpiece("play", model).steps == (Match("play", (), "play"),)
    walk = wordpiece("playin", model)
    assert walk.steps == (Match("playin", ("playin", "playi"), "play"), Match("##in", (), "##in"))
    assert (walk.pieces, walk.ids) == (("play", "##in"), (2, 3))
    lost = wordpiece("px", model)
    assert lost.steps == (Match("px", ("px",), "p"), Match("##x", ("##x",), ""))
    assert lost.pieces == ("[UNK]",)
    assert "6 characters" in wordpiece("playing", model).note


def test_bpe_by_hand() -> None:
    merges = [["l", "o"], ["lo", "w"], ["e", "r"], ["o", "w"]]
    stated = {
        "vocab": {piece: at for at, piece in enumerate(["l", "o", "w", "e", "r", "lo", "low", "er", "ow"])},
        "merges": merges,
    }
    walk = bpe("lower", stated)
    assert walk.steps == (
        Merge(("l", "o", "w", "e", "r"), 0, 0, ("lo", "w", "e", "r")),
        Merge(("lo", "w", "e", "r"), 0, 1, ("low", "e", "r")),
        Merge(("low", "e", "r"), 1, 2, ("low", "er")),
    )
    assert walk.ids == (6, 7)


@loop_over(
    ("settings", "word", "pieces"),
    [
        ({"unk_token": "?"}, "xya", ("?", "?", "a")),
        ({"unk_token": "?", "fuse_unk": True}, "xyax", ("?", "a", "?")),
        ({}, "xa", ("a",)),
        ({"byte_fallback": True, "unk_token": "?"}, "é", ("<0xC3>", "<0xA9>")),
        ({"ignore_merges": True}, "aa", ("aa",)),
        ({"end_of_word_suffix": "</w>"}, "aa", ("a", "a</w>")),
        ({"continuing_subword_prefix": "##"}, "aaa", ("a##a", "##a")),
    ],
)
def test_bpe_settings_as_the_library_has_them(settings: dict[str, object], word: str, pieces: tuple[str, ...]) -> None:
    from tokenizers import models

    names = ["a", "aa", "?", "<0xC3>", "<0xA9>", "a</w>", "##a", "a##a"]
    vocab = {piece: at for at, piece in enumerate(names)}
    walk = bpe(word, {"vocab": vocab, "merges": [], **settings})
    if "continuing_subword_prefix" not in settings:
        library = models.BPE(vocab=vocab, merges=[], **settings)
        assert walk.ids == tuple(cut.id for cut in library.tokenize(word))
        assert walk.pieces == pieces


def test_bpe_with_a_prefix_inside_words_joins_without_it() -> None:
    from tokenizers import models

    vocab = {piece: at for at, piece in enumerate(["a", "b", "##b", "ab", "##bb", "abb"])}
    merges = [("##b", "##b"), ("a", "##bb")]
    library = models.BPE(vocab=vocab, merges=merges, continuing_subword_prefix="##")
    walk = bpe("abb", {"vocab": vocab, "merges": merges, "continuing_subword_prefix": "##"})
    assert walk.pieces == ("abb",)
    assert walk.ids == tuple(cut.id for cut in library.tokenize("abb"))


def test_unigram_by_hand() -> None:
    vocab = [["<unk>", 0.0], ["a", -1.0], ["b", -2.0], ["ab", -2.5], ["ba", -4.0]]
    walk = unigram("aba", {"vocab": vocab, "unk_id": 0})
    # a: -1; ab: -2.5 beats a b: -3; ab a: -3.5 beats a ba: -5.
    assert walk.steps == (
        BestPrefix(1, "a", -1.0, -1.0),
        BestPrefix(2, "ab", -2.5, -2.5),
        BestPrefix(3, "a", -1.0, -3.5),
    )
    assert walk.pieces == ("ab", "a")


@loop_over("word", ["aba", "xxa", "axé", "é", "baab", "<unk>"])
@loop_over("fallback", [False, True])
def test_unigram_as_the_library_has_it(word: str, fallback: bool) -> None:
    from tokenizers import models

    vocab = [("<unk>", 0.0), ("a", -1.0), ("b", -2.0), ("ab", -2.5), ("<0xC3>", -3.0), ("<0xA9>", -3.0)]
    library = models.Unigram(vocab, unk_id=0, byte_fallback=fallback)
    walk = unigram(word, {"vocab": vocab, "unk_id": 0, "byte_fallback": fallback})
    assert walk.ids == tuple(cut.id for cut in library.tokenize(word))


def test_parts_in_words() -> None:
    from tokenizers import Regex, normalizers, pre_tokenizers

    assert in_words(None) == ()
    assert in_words(normalizers.BertNormalizer(lowercase=False)) == (
        "control characters removed, white space made spaces",
        "spaces around Chinese characters",
    )
    assert in_words(normalizers.Replace(Regex(" {2,}"), " ")) == ("“ {2,}” replaced by “ ”",)
    both = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.Metaspace()])
    assert in_words(both) == (
        "every digit on its own",
        "spaces written as ▁",
        "▁ before the text",
        "split before each ▁",
    )


def test_every_part_of_the_library_has_words() -> None:
    """Components without a description would be shown by their class names."""
    from tokenizers import normalizers, pre_tokenizers

    given = {
        "Split": (" ", "isolated"),
        "CharDelimiterSplit": ("-",),
        "FixedLength": (3,),
        "Prepend": ("▁",),
        "Replace": ("a", "b"),
    }
    skipped = {"Normalizer", "PreTokenizer", "Sequence", "Precompiled"}
    for module, base in ((normalizers, normalizers.Normalizer), (pre_tokenizers, pre_tokenizers.PreTokenizer)):
        for name, kind in vars(module).items():
            if isinstance(kind, type) and issubclass(kind, base) and name not in skipped:
                made = kind(*given.get(name, ()))
                said = in_words(made)
                assert name not in said, json.loads(made.__getstate__())
