"""The small example's file: what is written is read again, and what cannot be read is refused in one sentence."""

import base64
import zlib

import numpy as np
import pytest

from attention.by_hand import Worked, attend
from inference import Refusal
from ui.pages.by_hand.as_csv import LARGEST_FILE, pack, read, unpack, write
from ui.pages.by_hand.example import LARGEST, Example, example_of, resize

TOKENS = ("=1+1", "a,b", 'say "x"', "-", "שלום")  # what a spreadsheet would run, and what CSV has to quote


def example() -> Example:
    """Five tokens of four columns, width six; numbers with all their digits."""
    draw = np.random.default_rng(3).normal
    return Example(TOKENS, draw(size=(5, 4)), *(draw(size=(4, 6)) * 1e-3 for _ in range(3)))


def worked(small: Example, heads: int = 2) -> Worked:
    return attend(small.x, small.w_q, small.w_k, small.w_v, heads, causal=True)


@pytest.mark.parametrize("small", [example(), example_of("tutorial"), example_of("lookup")], ids=lambda e: e.tokens[0])
def test_what_is_written_is_read_again_to_the_last_digit(small: Example) -> None:
    assert read(write(small).encode()) == small
    assert read(write(small, worked(small, 1)).encode("utf-8-sig")) == small
    assert unpack(pack(small)) == small


def test_the_file_has_every_result_under_its_name() -> None:
    small = example()
    lines = write(small, worked(small)).splitlines()
    names = list(dict.fromkeys(line.split(",")[0] for line in lines))
    by_head = [f"{name} head {head}" for name in ("Q·Kᵀ", "Q·Kᵀ/√d_k", "masked", "A", "A·V") for head in (1, 2)]
    assert names == ["matrix", "X", "W_Q", "W_K", "W_V", "Q", "K", "V", *by_head, "result"]
    assert lines[1].startswith("X,'=1+1,"), "no spreadsheet runs a token"
    assert next(line for line in lines if line.startswith("masked head 2")).count("-inf") == 4


def test_a_spreadsheet_s_other_ways_to_write_it_are_read() -> None:
    table = write(example_of("tutorial")).replace("0.5", "0.25")
    semicolons = table.replace(",", ";").replace(".", ",")
    tabs = table.replace(",", "\t")
    padded = "\r\n".join(f"{line},," for line in table.splitlines()) + "\r\n\r\n"
    small = read(table.encode())
    assert small.w_q[0, 1] == 0.25
    for other in (semicolons, tabs, padded, table.replace("-", "−"), table.lower()):
        assert read(other.encode()) == small


GOOD = "X,a,1\nX,b,2\nW_Q,1,1\nW_K,1,1\nW_V,1,1\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfe\x00X", "no CSV in UTF-8"),
        (b'X,"a,1\nX,b', "no CSV in UTF-8"),
        (b"", "X is missing"),
        (b"hello", "Line 1 is of a matrix called 'hello'"),
        (b"<script>alert(1)</script>," * 9, "Line 1 is of a matrix called '<script>"),
        (b"x" * (LARGEST_FILE + 1), "100,001 bytes"),
        (GOOD.replace("X,b,2", "X,b,two").encode(), "Line 2 holds 'two'"),
        (GOOD.replace("X,b,2", "X,b,nan").encode(), "Line 2 holds 'nan'"),
        (GOOD.replace("X,b,2", "X,b,-inf").encode(), "Line 2 holds '-inf'"),
        (GOOD.replace("X,b,2", "X,b,1e7").encode(), "Line 2 holds '1e7'"),
        (GOOD.replace("X,b,2", "X,b,=1+1").encode(), "Line 2 holds '=1[+]1'"),
        (GOOD.replace("X,b,2", "X,b,2,3").encode(), "X has lines of different lengths"),
        (GOOD.replace("X,b,2", "X,,2").encode(), "Line 2 of X needs a token"),
        (GOOD.replace("X,b,2", "X").encode(), "Line 2 of X needs a token"),
        (GOOD.replace("X,b,2", f"X,{'b' * 25},2").encode(), "Line 2 of X needs a token"),
        (GOOD.replace("X,b,2\n", "").encode(), "X is 1 × 1"),
        ((GOOD + "X,c,1\n" * 7).encode(), "X is 9 × 1"),
        (GOOD.replace("W_K,1,1\n", "").encode(), "W_K is missing"),
        (GOOD.replace("W_K,1,1", "W_K,1,1,1").encode(), "W_K is 1 × 2; X and W_Q ask for 1 × 1"),
        (GOOD.replace("W_Q,1,1", "W_Q,1,1\nW_Q,2,1").encode(), "W_Q is 2 × 1; X and W_Q ask for 1 × 1"),
        (GOOD.replace("W_Q,1,1", "W_Q,1" + ",1" * 9).encode(), "W_Q has 9 columns"),
        (GOOD.replace("W_Q,1,1", "W_Q,1,").encode(), "W_Q has lines of different lengths, or empty ones"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_sentence(content: bytes, said: str) -> None:
    with pytest.raises(Refusal, match=said) as refused:
        read(content)
    assert "\n" not in refused.value.message
    assert len(refused.value.message) < 250


def test_the_good_file_is_good() -> None:
    assert read(GOOD.encode()).tokens == ("a", "b")
    assert read(GOOD.replace("2", str(LARGEST)).encode()).x[1, 0] == LARGEST


@pytest.mark.parametrize(
    "word", ["?", "abc", "A" * 5000, base64.urlsafe_b64encode(b"plain").decode(), "é", pack(example())[:99]]
)
def test_a_damaged_link_is_refused_in_one_sentence(word: str) -> None:
    with pytest.raises(Refusal, match="The link's numbers are damaged"):
        unpack(word)


def test_a_link_that_unfolds_to_gigabytes_is_refused() -> None:
    bomb = base64.urlsafe_b64encode(zlib.compress(b"\0" * 50_000_000, 9)).decode()
    with pytest.raises(Refusal, match="damaged"):
        unpack(bomb)


def test_the_largest_example_fits_into_a_link() -> None:
    small = resize(example(), 8, 8, 8)
    full = np.random.default_rng(1).normal(size=(4, 8, 8))
    assert len(pack(Example(small.tokens, *full))) < 6000
