"""Tests that translations of the scripts' messages travel with the payload, with none left in English."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from attention.codec import decode_frame
from attention.measures import summarize_heads
from attention.view import View
from i18n import use_language
from tests.support.cases import loop_over
from tests.support.traces import sentence_trace
from viz.components.composer import composer
from viz.components.explore import explore
from viz.components.explore.options import MicroscopeOptions
from viz.components.matrices.matrices import MatrixSpec, matrices_html, payload
from viz.components.script import HERE, sentences, translated_words
from viz.components.standalone.standalone import standalone_html
from viz.components.token_strip import token_strip

SPEAKING = (
    "block/block",
    "composer/composer",
    "explore/explore",
    "tokenizer_steps/tokenizer_steps",
    "matrices/matrices",
    "picture/picture",
    "picture/regions",
    "stack/stack",
    "token_strip/token_strip",
    "tree/tree",
)
HAN = re.compile("[\u4e00-\u9fff]")
SHEETS = [MatrixSpec("A", np.eye(2))]


@loop_over("name", SPEAKING)
def test_every_sentence_of_a_script_goes_along_in_chinese(name: str) -> None:
    assert translated_words(name) == {}
    with use_language("zh"):
        said = translated_words(name)
    assert set(said) == set(sentences(name))
    assert said
    assert all(HAN.search(text) or not re.search("[A-Za-z]", re.sub(r"\{\w+\}", "", text)) for text in said.values())


def test_no_script_says_anything_that_is_not_gathered() -> None:
    """A template or a concatenated message could not be extracted and would stay English."""
    for file in HERE.glob("*/*.js"):
        source = file.read_text(encoding="utf-8")
        assert not re.search(r"(?<![\w.])(?:_|sentence)\(\s*[`']", source), file.name


def test_in_english_no_words_are_sent() -> None:
    assert "words" not in token_strip.payload([], "t", False, False)
    assert "words" not in decode_frame(payload(SHEETS, True, None))[0]
    with use_language("zh"):
        assert token_strip.payload([], "t", False, False)["words"]["chosen"] == "已选中"
        assert decode_frame(payload(SHEETS, True, None))[0]["words"]["Save"] == "保存"
        drawn = composer.payload("a", "", "", True, False, [], False, {}, {})
    assert drawn["words"]["Run"] == "运行"


def test_explore_s_words_come_with_its_script() -> None:
    assert explore.script_in_language("en") == explore.script()
    assert "\nspeak(" not in explore.script_in_language("en")
    table = json.loads(explore.script_in_language("zh").rsplit("\nspeak(", 1)[1].removesuffix(");\n"))
    assert table["Tokens of the text"] == "文本的词元"


def test_a_file_of_its_own_is_in_the_reader_s_language() -> None:
    view = View(sentence_trace())
    looked = summarize_heads(view, 4)
    chosen = vars(MicroscopeOptions())
    selection: dict[str, Any] = {"layer": 0, "head": 0, "focus": None, "target": None, "pinned": [], **chosen}
    with use_language("zh"):
        data = explore.payload(view, looked, selection, "", "")
        page = standalone_html(view, data, looked, None, explore.script(), "")
        sheet = matrices_html("图", [], SHEETS, [])
    assert '<html lang="zh">' in page
    assert '<html lang="zh">' in sheet
    assert "<dt>架构</dt>" in page
    assert "由 Headlight 制作。" in page
    assert "由 Headlight 制作。" in sheet
    assert "文本的词元" in page
    assert '<html lang="en">' in matrices_html("A", [], SHEETS, [])
