"""Markup in addresses: inert on every page, in the HTML and Markdown for Streamlit."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from tests.support.asking import asked, sections_open
from ui.state.navigation import BY_VIEW

# These texts are short, because Agreement needs 13 s of CPU time for twice as many tokens.
IMAGE, SCRIPT = "<img src=x onerror=a>", "</script><script>window.a</script>"
LINK = "![x](http://a) [y](javascript:a)"
HOSTILE = f"{IMAGE} {SCRIPT} {LINK}"
VIEWS = sorted(BY_VIEW)
# Parameters of pages for second texts, words and names.
NAMES = (
    "other", "neutral", "relation", "lesson", "carried", "written", "hidden", "edits", "job", "start", "vision",
    "given", "preset", "numbers", "looks",
)  # fmt: skip


def raw(page: AppTest) -> list[str]:
    """Return the parts of a page with active markup: unescaped HTML, or Markdown images and links."""
    html = [element.proto.body for element in page.get("html")]
    html += [element.proto.body for element in page.markdown if element.proto.allow_html]
    # Charts have labels and hover texts.
    html += [json.dumps(json.loads(chart.proto.spec)) for chart in page.get("plotly_chart")]
    found = [body for body in html if "<img src=x" in body or "<script>window" in body]
    return found + [body for body in said(page) if "![x](http" in body or "[y](javascript" in body]


def said(page: AppTest) -> Iterator[str]:
    """Yield all texts that Streamlit renders as Markdown: texts, alerts, labels and tooltips."""
    for part in (page.main, page.sidebar):
        for element in part:
            if element.type in ("html", "text"):
                continue  # These elements do not render Markdown.
            proto = getattr(element, "proto", None)
            for field in ("body", "label", "help"):
                if isinstance(text := getattr(proto, field, None), str):
                    yield text


@pytest.mark.slow
@pytest.mark.parametrize("name", VIEWS)
def test_markup_in_a_text_and_in_options_is_text(name: str) -> None:
    with sections_open():
        page = asked(name, text=HOSTILE, pair=LINK, **dict.fromkeys(NAMES, HOSTILE))
    assert not page.exception
    assert raw(page) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", VIEWS)
def test_markup_in_the_names_of_models_is_text(name: str) -> None:
    page = asked(
        name, model=HOSTILE, revision=IMAGE, answering_model=HOSTILE, speaker=HOSTILE, beside=HOSTILE, part=IMAGE
    )
    assert not page.exception
    assert raw(page) == []
