"""Browser tests of hostile input: text never runs, refusals are clear, foreign origins are rejected."""

from __future__ import annotations

import re
import socket
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Dialog, Page, expect
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from tests.support.atrest import PATIENCE, click, rest
from tests.support.visitor import open_page, painted, read, text_box
from ui.state.view_state import DEFAULT_MODEL

TEXTS = {
    "script": "<script>alert(1)</script> ran over it",
    "end of script": "</script><img src=x onerror=window.pwned=1> and then </title>",
    "template": "{{constructor.constructor('window.pwned=1')()}} ${window.pwned=1}",
    "markdown": "![x](http://192.0.2.7/x.png) [y](javascript:window.pwned=1) :material/home: $x^2$",
    "emoji families": "A \U0001f468‍\U0001f469‍\U0001f467‍\U0001f466 and a \U0001f469\U0001f3fd‍\U0001f4bb met at the lake",
    "Arabic": "لم يعبر الحيوان الشارع لأنه كان متعبا جدا",
    "Chinese": "北京大学，日本人民。",
    "combining marks": "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍a̴̵̜̰͔ͫ͗͢l̠ͨͧͩ͘g̴͈͓̘o and cafe\u0301",
    "zero-width joiners": "zero\u200dwidth\u200b and \ufeff bidi \u202e gnirts",
}


def painted_anew(page: Page, first: dict[str, str]) -> None:
    """Wait until the page has drawn a trace other than that of the ``first`` view."""
    other = page.locator(f"[data-painted]:not([data-painted^='{first['base']}'])").first
    expect(other).to_be_attached(timeout=PATIENCE)


def test_a_hostile_text_is_shown_as_text(page: Page, app_url: str) -> None:
    dialogs: list[str] = []

    def close(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", close)
    open_page(page, app_url)
    for name, text in TEXTS.items():
        last = painted(page)
        read(page, text)
        expect(page).to_have_url(re.compile("[?&]text="))
        painted_anew(page, last)
        expect(text_box(page)).to_have_value(text)
        rest(page)
        assert dialogs == [], name
        assert page.evaluate("window.pwned") is None, name
        assert page.locator("img[src='x']").count() == 0, name


REFUSED = {
    "empty": ("", "empty"),
    # This case separates the two empty texts, so that every case changes the message.
    "control characters": ("a\x07b", "control"),
    "only spaces": ("   ", "empty"),
}


def test_what_cannot_be_read_is_refused_in_a_sentence_and_too_long_a_text_can_be_cut(page: Page, app_url: str) -> None:
    open_page(page, app_url)
    first = painted(page)
    for text, said in REFUSED.values():
        read(page, text)
        expect(page.get_by_role("alert").filter(has_text=said)).to_be_visible()
        expect(text_box(page)).to_have_value(text)
    # The text has 10,360 characters, more than the model's 512 tokens.
    text = "The animal did not cross the street. " * 280
    read(page, text)
    alert = page.get_by_role("alert").filter(has_text="512")
    expect(alert).to_be_visible()
    expect(text_box(page)).to_have_value(text)
    click(page.get_by_role("button", name="Cut to 512 tokens"))
    expect(page).to_have_url(re.compile("cut=512"))
    painted_anew(page, first)


def test_an_unknown_model_is_refused_and_the_text_stays(page: Page, app_url: str) -> None:
    open_page(page, app_url, model="nobody/nothing", text="Some text of mine.")
    expect(page.get_by_role("alert")).to_be_visible()
    expect(text_box(page)).to_have_value("Some text of mine.")
    click(page.get_by_role("button", name=f"Use {DEFAULT_MODEL}"))
    painted(page)
    expect(text_box(page)).to_have_value("Some text of mine.")


def test_the_app_is_served_under_the_loopback_s_other_name_too(page: Page, app_url: str) -> None:
    open_page(page, app_url.replace("127.0.0.1", "localhost"))
    painted(page)


@pytest.mark.parametrize(
    ("host", "origin"),
    [("127.0.0.1", "http://localhost:1"), ("127.0.0.1", "https://other.example"), ("other.example", None)],
)
def test_another_site_s_page_opens_no_connection(app_url: str, host: str, origin: Origin | None) -> None:
    here = urlsplit(app_url)
    # The log is checked at the end, so a request by the app for its own external address would be noticed.
    with socket.create_connection((here.hostname, here.port)) as wire, pytest.raises(InvalidStatus, match="403"):
        connect(f"ws://{host}:{here.port}/_stcore/stream", sock=wire, origin=origin, proxy=None)


def test_a_head_without_an_end_is_cut_off(app_url: str) -> None:
    address = urlsplit(app_url)
    with socket.create_connection((address.hostname, address.port)) as endless:
        endless.sendall(f"GET / HTTP/1.1\r\nHost: {address.netloc}\r\nX: ".encode())
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            endless.sendall(b"a" * 2**26)
