"""Addresses of a view: restored views, and defaults with a message for invalid addresses."""

from dataclasses import replace
from urllib.parse import parse_qsl, urlencode

import pytest

from tests.support.cases import loop_over
from ui.state.view_state import ViewState, fits, parse, to_query

HOSTILE = "</script><b>\u2028 a=b&c%20 \U0001f469‍\U0001f4bb مرحبا é \0"
VIEWS = [
    ViewState(),
    ViewState(text=""),
    ViewState(text=HOSTILE, pair="b", layer=3, head=1, focus=9, to=2, tab="lines", order="entropy", scale="linear"),
    ViewState(
        model="org/name", revision="v1", part="cross", pins="3-1,4-0", words=True, special=False, renormalise=True
    ),
    ViewState(text="long " * 4000, target="x=y", cut=512, filter="ab"),
]


@pytest.mark.parametrize("choice", VIEWS)
def test_an_address_restores_the_view(choice: ViewState) -> None:
    address = urlencode(to_query(choice))
    assert parse(dict(parse_qsl(address, keep_blank_values=True))) == (choice, [])
    assert len(address) < 30_000


def test_the_first_view_has_a_clean_address() -> None:
    assert to_query(ViewState()) == {}


def test_a_text_too_long_for_a_link_leaves_it_and_says_so() -> None:
    import random

    letters = random.Random(0)
    choice = replace(ViewState(layer=2), text="".join(chr(letters.randrange(0x4E00, 0x9000)) for _ in range(30_000)))
    assert not fits(choice)
    assert parse(to_query(choice)) == (ViewState(layer=2), [])


@loop_over(
    ("query", "said"),
    [
        ({"layer": "x"}, "“layer” is not valid"),
        ({"layer": "-1"}, "“layer” is not valid"),
        ({"head": "9" * 99}, "“head” is not valid"),
        ({"focus": "²"}, "“focus” is not valid"),
        ({"tab": "<script>"}, "“tab” is not valid"),
        ({"words": "yes"}, "“words” is not valid"),
        ({"pins": "3-1,x"}, "“pins” is not valid"),
        ({"pins": ",".join(["1-1"] * 9)}, "“pins” is not valid"),
        ({"packed": "%%%"}, "damaged"),
        ({"packed": "AAAA"}, "damaged"),
    ],
)
def test_a_bad_link_gives_the_default_and_a_sentence(query: dict[str, str], said: str) -> None:
    choice, notes = parse(query)
    assert choice == ViewState()
    assert len(notes) == 1
    assert said in notes[0]


def test_unknown_names_are_left_alone() -> None:
    assert parse({"utm_source": "x"}) == (ViewState(), [])


@pytest.mark.slow
def test_a_compressed_link_cannot_unfold_without_end() -> None:
    import base64
    import zlib

    bomb = base64.urlsafe_b64encode(zlib.compress(b"text=" + b"a" * 50_000_000)).decode()
    choice, _ = parse({"packed": bomb})
    assert len(choice.text) <= 400_000
