"""The BertViz page and its documents in Chinese."""

from __future__ import annotations

import re

import pytest

from attention.view import View
from i18n import use_language
from tests.support.asking import asked, go
from tests.support.traces import sentence_trace
from tests.support.words import english
from ui.pages.bertviz_views.page import KINDS


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(KINDS))
def test_nothing_of_the_page_is_english(kind: str) -> None:
    page = asked("explore", lang="zh", bertviz=kind)
    around = set(english(page))
    go(page, "bertviz_views")
    assert not page.exception
    assert set(english(page)) <= around


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_document_speaks_chinese(kind: str) -> None:
    with use_language("zh"):
        document = KINDS[kind](View(sentence_trace()), prefix="/x")
    assert '<html lang="zh">' in document
    said = re.findall(r"<(?:p|title|label)[^>]*>([^<]*)", document)
    assert len(said) >= 3
    assert all(re.search("[\u4e00-\u9fff]", text) for text in said)
