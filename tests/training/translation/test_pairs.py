"""Translation pairs from a file: cleaning, and a split by source without overlap."""

from __future__ import annotations

from pathlib import Path

import pytest

from inference.errors import UserError
from tests.support.translationtexts import phrases, write_pairs
from training.translation.data import clean, key, pairs, split


def test_a_file_is_read_clean(tmp_path: Path) -> None:
    write_pairs(tmp_path / "pairs.tsv.xz")
    read = list(pairs(tmp_path / "pairs.tsv.xz"))
    assert len(read) == len(phrases())
    assert read[1] == ("The cat sleeps today!", "Le chat dort aujourd'hui !")
    (tmp_path / "plain.tsv").write_text("It\u2019s\u00a0me.\tC\u2019est moi\u202f!\n", encoding="utf-8")
    assert list(pairs(tmp_path / "plain.tsv")) == [("It's me.", "C'est moi !")]


def test_cleaning_twice_changes_nothing() -> None:
    for text in ("a\u202f! b\u2009;\u200bc", "E\u0301te\u0301  ", "'\u2018\u2019\u02bc", "\u2010\u2011 \ufeff x"):
        assert clean(clean(text)) == clean(text)
    assert clean("E\u0301te\u0301") == "Été"


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_no_source_is_on_both_sides_in_any_spelling(share: float) -> None:
    given = [pair for source, target in phrases() for pair in ((source, target), (source.upper() + "?", target))]
    train, held = split(given, share)
    assert train
    assert held
    assert {key(source) for source, _ in train}.isdisjoint(key(one.source) for one in held)
    assert len(train) + sum(len(one.references) for one in held) == len(set(given))
    assert len({one.source for one in held}) == len(held)


def test_the_same_sources_are_held_out_whatever_else_the_file_has() -> None:
    everything, half = split(phrases(), 0.3)[1], split(phrases()[::2], 0.3)[1]
    assert {one.source for one in half} == {one.source for one in everything} & {source for source, _ in phrases()[::2]}


def test_every_translation_is_a_reference_once() -> None:
    (held,) = split([("Hi.", "Salut."), ("Hi.", "Bonjour."), ("Hi.", "Salut.")], 1.0)[1]
    assert held.references == ("Salut.", "Bonjour.")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("pairs.csv", "a,b", "Name a .tsv or .tsv.xz file"),
        ("pairs.tsv", "a\tb\nalone\n", r"Line 2 of pairs\.tsv"),
        ("pairs.tsv", "a\t \n", r"Line 1 of pairs\.tsv"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=message):
        list(pairs(tmp_path / name))


@pytest.mark.parametrize(("name", "content"), [("pairs.tsv.xz", b"not packed"), ("pairs.tsv", b"a\tb\xff\n")])
def test_a_damaged_file_is_refused_in_words(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=f"{name} cannot be read as UTF-8 text"):
        list(pairs(tmp_path / name))
