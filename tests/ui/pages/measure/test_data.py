"""Uploaded files on the Measure page: a guessed encoding is stated and can be changed."""

from __future__ import annotations

from itertools import pairwise

import pytest

from probing.text_files import guess_message
from tests.support.asking import asked, notes, says
from ui.pages.measure.heads import NO_HEADROOM

TABLE = "text,source,target,distractor\nLe café est là et il est vieux.,il,café,vieux\n"


@pytest.mark.slow
@pytest.mark.parametrize(("encoding", "guessed"), [("utf-8", ""), ("cp1252", "cp1252")])
def test_a_guessed_encoding_is_stated(encoding: str, guessed: str) -> None:
    page = asked("measure", data="file", format="csv", control=0, least=1)
    page.file_uploader(key="measure_file").set_value(("mine.csv", TABLE.encode(encoding), "text/csv")).run()
    assert not page.exception
    assert (guess_message("mine.csv", "cp1252") in notes(page)) is bool(guessed)
    assert ("Encoding" in [box.label for box in page.selectbox]) is bool(guessed)


@pytest.mark.slow
def test_the_format_is_that_of_the_file() -> None:
    page = asked("measure", data="file", control=0, least=1)
    assert page.selectbox(key="measure_format").value == "conllu"
    page.file_uploader(key="measure_file").set_value(("mine.csv", TABLE.encode(), "text/csv")).run()
    assert not page.exception
    assert page.selectbox(key="measure_format").value == "csv"


@pytest.mark.slow
def test_without_held_out_links_the_map_of_all_heads_remains() -> None:
    nouns = ("cat", "dog")
    rows = [f"{one.title()} saw the {two} and it ran {how}.,it,{one.title()},{two}"
            for how in ("off", "home", "away") for one, two in (nouns, nouns[::-1])]  # fmt: skip
    page = asked("measure", data="file", format="csv", control=0, least=1)
    content = "\n".join(["text,source,target,distractor", *rows]).encode()
    page.file_uploader(key="measure_file").set_value(("mine.csv", content, "text/csv")).run()
    assert not page.exception
    says(page, "other candidates")
    says(page, "0 of 72 heads")
    assert any("6 links" in note and "72 heads" in note for note in notes(page))
    says(page, NO_HEADROOM)
    assert len(page.get("plotly_chart")) == 1


@pytest.mark.slow
def test_a_rule_that_finds_all_links_leaves_heads_no_room() -> None:
    nouns = ("cat", "dog", "horse", "bird", "child", "king", "queen", "boy", "girl", "man")
    rows = [f"The {one} near the {other} was {how}.,was,{one},{other}"
            for one, other in pairwise([*nouns, "cat"]) for how in ("old", "young")]  # fmt: skip
    page = asked("measure", data="file", format="csv", control=0, least=1)
    content = "\n".join(["text,source,target,distractor", *rows]).encode()
    page.file_uploader(key="measure_file").set_value(("mine.csv", content, "text/csv")).run()
    says(page, "100.0%")
    says(page, NO_HEADROOM)


@pytest.mark.slow
def test_only_relations_in_few_sentences_have_the_warning() -> None:
    page = asked("measure", control=0, least=1, relation="det")
    assert not any(NO_HEADROOM in note for note in notes(page))
    rare = asked("measure", control=0, least=1, relation="iobj")
    says(rare, NO_HEADROOM)
