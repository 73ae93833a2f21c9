"""Markup in an address is text on every page: nothing of it works in what Streamlit is given as HTML or Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from tests.support.asking import asked
from ui.paths import ROOT

# Short: Agreement asks of a text of twice as many tokens for 13 s of the processor.
IMAGE, SCRIPT = "<img src=x onerror=a>", "</script><script>window.a</script>"
LINK = "![x](http://a) [y](javascript:a)"
HOSTILE = f"{IMAGE} {SCRIPT} {LINK}"
PAGES = sorted(file.stem for file in (ROOT / "pages").glob("*.py"))
# What pages call a second text, a word, a name of something.
NAMES = (
    "other", "neutral", "relation", "lesson", "carried", "written", "hidden", "edits", "job", "start", "vision",
    "given", "preset", "numbers", "looks",
)  # fmt: skip


def raw(page: AppTest) -> list[str]:
    """Where markup from the address would work: unescaped in HTML, or a picture or link of its in Markdown."""
    html = [element.proto.body for element in page.get("html")]
    html += [element.proto.body for element in page.markdown if element.proto.allow_html]
    html += [json.dumps(json.loads(chart.proto.spec)) for chart in page.get("plotly_chart")]  # its labels and hovers
    found = [body for body in html if "<img src=x" in body or "<script>window" in body]
    return found + [body for body in said(page) if "![x](http" in body or "[y](javascript" in body]


def said(page: AppTest) -> Iterator[str]:
    """All that Streamlit reads as Markdown: texts, alerts, labels, and what comes up beside them."""
    for part in (page.main, page.sidebar):
        for element in part:
            if element.type in ("html", "text"):
                continue  # says nothing in Markdown
            proto = getattr(element, "proto", None)
            for field in ("body", "label", "help"):
                if isinstance(text := getattr(proto, field, None), str):
                    yield text


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_markup_in_a_text_and_in_options_is_text(name: str) -> None:
    page = asked(name, text=HOSTILE, pair=LINK, **dict.fromkeys(NAMES, HOSTILE))
    assert not page.exception
    assert raw(page) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_markup_in_the_names_of_models_is_text(name: str) -> None:
    page = asked(
        name, model=HOSTILE, revision=IMAGE, answering_model=HOSTILE, speaker=HOSTILE, beside=HOSTILE, part=IMAGE
    )
    assert not page.exception
    assert raw(page) == []
