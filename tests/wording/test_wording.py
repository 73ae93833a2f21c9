"""A sentence is told in the language of who reads it, whoever made it and wherever."""

from __future__ import annotations

import pickle
import threading
from pathlib import Path

import pytest

import wording
from tools.words import HEADER
from wording import ENGLISH, Sentence, _, catalogues, languages, ngettext, sentence, sentences, speaking, told


def test_without_a_reader_english_is_spoken() -> None:
    assert wording.language() == ENGLISH
    assert _("Explore") == "Explore"


def test_a_sentence_is_told_where_it_is_shown() -> None:
    made = sentence("Explore")
    with speaking("zh"):
        assert told(made) == "探索"
    assert made == "Explore"
    assert isinstance(made, str)


def test_what_a_reader_typed_is_no_sentence_whatever_it_says() -> None:
    with speaking("zh"):
        assert told("Explore") == "Explore"


def test_a_value_that_is_a_sentence_is_told_too() -> None:
    with speaking("zh"):
        assert _("{page}: 3", page=sentence("Explore")) == "探索: 3"
        assert _("{page}: 3", page="Explore") == "Explore: 3"  # what a reader typed stays


def test_a_number_decides() -> None:
    said = [ngettext("{n} head", "{n} heads", n, n=n) for n in (0, 1, 2)]
    assert said == ["0 heads", "1 head", "2 heads"]
    assert sentences("a head", "heads", 1) == "a head"


def test_it_goes_through_a_pickle_and_another_thread() -> None:
    sent: Sentence = pickle.loads(pickle.dumps(sentence("{page}!", page=sentence("Explore"))))
    found: list[Sentence] = []
    worker = threading.Thread(target=lambda: found.append(sentence("Explore")))
    worker.start()
    worker.join()
    with speaking("zh"):
        assert told(sent) == "探索!"
        assert told(found[0]) == "探索"


def test_a_language_that_nobody_translated_is_english() -> None:
    with speaking("tlh"):
        assert _("Explore") == "Explore"
    assert languages()[0] == ENGLISH


@pytest.mark.parametrize("text", ["{", "{0}", "a {brace} b", "%s"])
def test_braces_of_a_text_without_values_stay(text: str) -> None:
    assert told(text) == _(text) == sentence(text) == text


def test_a_message_without_a_translation_is_english(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plural = 'msgid "{n} new head"\nmsgid_plural "{n} new heads"\nmsgstr[0] ""\n'
    text = HEADER.format(language="zh", plural="nplurals=1; plural=0;") + 'msgid "New"\nmsgstr ""\n\n' + plural
    (tmp_path / "zh.po").write_text(text + '\nmsgid "Old"\nmsgstr "旧"\n', encoding="utf-8")
    monkeypatch.setattr(catalogues, "FOLDER", tmp_path)
    catalogues.catalogue.cache_clear()
    try:
        with speaking("zh"):
            assert (_("New"), _("Old")) == ("New", "旧")
            assert ngettext("{n} new head", "{n} new heads", 2, n=2) == "2 new heads"
    finally:
        catalogues.catalogue.cache_clear()
