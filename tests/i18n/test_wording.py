"""A message is translated into its reader's language, independent of the place where it was created."""

from __future__ import annotations

import pickle
import threading
from pathlib import Path

import pytest

import i18n
from i18n import (
    ENGLISH,
    LazyMessage,
    _,
    available_languages,
    gettext_lazy,
    ngettext,
    ngettext_lazy,
    translate,
    translation,
    use_language,
)
from tools.words import HEADER


def test_without_a_reader_english_is_spoken() -> None:
    assert i18n.active_language() == ENGLISH
    assert _("Explore") == "Explore"


def test_a_sentence_is_told_where_it_is_shown() -> None:
    made = gettext_lazy("Explore")
    with use_language("zh"):
        assert translate(made) == "探索"
    assert made == "Explore"
    assert isinstance(made, str)


def test_what_a_reader_typed_is_no_sentence_whatever_it_says() -> None:
    with use_language("zh"):
        assert translate("Explore") == "Explore"


def test_a_value_that_is_a_sentence_is_told_too() -> None:
    with use_language("zh"):
        assert _("{page}: 3", page=gettext_lazy("Explore")) == "探索: 3"
        assert _("{page}: 3", page="Explore") == "Explore: 3"  # Values that a reader typed are not translated.


def test_a_number_decides() -> None:
    said = [ngettext("{n} head", "{n} heads", n, n=n) for n in (0, 1, 2)]
    assert said == ["0 heads", "1 head", "2 heads"]
    assert ngettext_lazy("a head", "heads", 1) == "a head"


def test_it_goes_through_a_pickle_and_another_thread() -> None:
    sent: LazyMessage = pickle.loads(pickle.dumps(gettext_lazy("{page}!", page=gettext_lazy("Explore"))))
    found: list[LazyMessage] = []
    worker = threading.Thread(target=lambda: found.append(gettext_lazy("Explore")))
    worker.start()
    worker.join()
    with use_language("zh"):
        assert translate(sent) == "探索!"
        assert translate(found[0]) == "探索"


def test_a_language_that_nobody_translated_is_english() -> None:
    with use_language("tlh"):
        assert _("Explore") == "Explore"
    assert available_languages()[0] == ENGLISH


@pytest.mark.parametrize("text", ["{", "{0}", "a {brace} b", "%s"])
def test_braces_of_a_text_without_values_stay(text: str) -> None:
    assert translate(text) == _(text) == gettext_lazy(text) == text


def test_a_message_without_a_translation_is_english(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plural = 'msgid "{n} new head"\nmsgid_plural "{n} new heads"\nmsgstr[0] ""\n'
    text = HEADER.format(language="zh", plural="nplurals=1; plural=0;") + 'msgid "New"\nmsgstr ""\n\n' + plural
    (tmp_path / "zh.po").write_text(text + '\nmsgid "Old"\nmsgstr "旧"\n', encoding="utf-8")
    monkeypatch.setattr(translation, "FOLDER", tmp_path)
    translation.catalogue.cache_clear()
    try:
        with use_language("zh"):
            assert (_("New"), _("Old")) == ("New", "旧")
            assert ngettext("{n} new head", "{n} new heads", 2, n=2) == "2 new heads"
    finally:
        translation.catalogue.cache_clear()
