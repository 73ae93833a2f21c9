"""The toy example as a CSV file: round trips and refusals."""

import base64
import zlib

import numpy as np
import pytest

from attention.toy_example import ToyExample, ToyRules, compute_example
from i18n import translate, use_language
from inference import UserError
from tests.support.cases import loop_over
from ui.input.controls import LARGEST
from ui.pages.by_hand.as_csv import LARGEST_FILE, pack, read, unpack, write
from ui.pages.by_hand.example import Example, attention_example, example_of, resize

# The tokens include formulas for spreadsheets and characters that CSV must quote.
TOKENS = ("=1+1", "a,b", 'say "x"', "-", "שלום")


def example() -> Example:
    """Return an example of five tokens, four columns and width six, with full-precision numbers."""
    draw = np.random.default_rng(3).normal
    x, w_o, w_1, w_2, e = (draw(size=size) for size in ((5, 4), (6, 4), (4, 3), (3, 4), (2, 4)))
    w_q, w_k, w_v = (draw(size=(4, 6)) * 1e-3 for _ in range(3))
    return Example(x, w_q, w_k, w_v, w_o, w_1, w_2, e, TOKENS, ("=x", "y"))


def worked(small: Example, heads: int = 2) -> ToyExample:
    return compute_example(small, ToyRules(heads, causal=True, positions=True))


@pytest.mark.parametrize(
    "small", [example(), *map(example_of, ("sentence", "tutorial", "lookup"))], ids=lambda e: e.tokens[0]
)
def test_what_is_written_is_read_again_to_the_last_digit(small: Example) -> None:
    assert read(write(small).encode()) == small
    assert read(write(small, worked(small, 1)).encode("utf-8-sig")) == small
    assert unpack(pack(small)) == small


def test_the_file_has_every_result_under_its_name() -> None:
    small = example()
    lines = write(small, worked(small)).splitlines()
    names = list(dict.fromkeys(line.split(",")[0] for line in lines))
    steps = ("Q·Kᵀ", "Q·Kᵀ/√d_k", "masked", "e^s", "sum of e^s", "A", "A·V")
    by_head = [f"{name} head {head}" for name in steps for head in (0, 1)]
    inputs = ["X", "W_Q", "W_K", "W_V", "W_O", "W_1", "W_2", "E"]
    layer = ["X + attention", "LayerNorm", "N·W_1", "ReLU", "·W_2", "sum", "LayerNorm of the sum"]
    last = ["logits", "e^logit", "sum of e^logit", "next word"]
    results = ["P", "X + P", "Q", "K", "V", *by_head, "result", "result·W_O", *layer, *last]
    assert names == ["matrix", *inputs, *results]
    assert lines[1].startswith("X,'=1+1,"), "no spreadsheet runs a token"
    assert next(line for line in lines if line.startswith("masked head 1")).count("-inf") == 4


def test_a_spreadsheet_s_other_ways_to_write_it_are_read() -> None:
    table = write(example_of("tutorial")).replace("0.5", "0.25")
    semicolons = table.replace(",", ";").replace(".", ",")
    tabs = table.replace(",", "\t")
    padded = "\r\n".join(f"{line},," for line in table.splitlines()) + "\r\n\r\n"
    small = read(table.encode())
    assert small.w_q[0, 1] == 0.25
    for other in (semicolons, tabs, padded, table.replace("-", "−"), table.replace("W_", "w_").replace("X,", "x,")):
        assert read(other.encode()) == small


GOOD = "X,a,1\nX,b,2\nW_Q,1,1\nW_K,1,1\nW_V,1,1\n"


@loop_over(
    ("content", "said"),
    [
        (b"\xff\xfe\x00X", "not CSV"),
        (b'X,"a,1\nX,b', "not CSV"),
        (b"", "X is missing"),
        (b"hello", "Line 1 has the matrix 'hello'"),
        (b"<script>alert(1)</script>," * 9, "Line 1 has the matrix '<script>"),
        (b"x" * (LARGEST_FILE + 1), "100,001 bytes"),
        (GOOD.replace("X,b,2", "X,b,two").encode(), "Line 2: “two” is not a number"),
        (GOOD.replace("X,b,2", "X,b,nan").encode(), "Line 2: “nan” is not a number"),
        (GOOD.replace("X,b,2", "X,b,-inf").encode(), "Line 2: “-inf” is not a number"),
        (GOOD.replace("X,b,2", "X,b,1e7").encode(), "Line 2: “1e7” is out of range"),
        (GOOD.replace("X,b,2", "X,b,=1+1").encode(), "Line 2: “=1[+]1” is not a number"),
        (GOOD.replace("X,b,2", "X,b,2,3").encode(), "X has lines of different lengths"),
        (GOOD.replace("X,b,2", "X,,2").encode(), r"line 2 \(X\) .* 24 "),
        (GOOD.replace("X,b,2", "X").encode(), r"line 2 \(X\) .* 24 "),
        (GOOD.replace("X,b,2", f"X,{'b' * 25},2").encode(), r"line 2 \(X\) .* 24 "),
        (GOOD.replace("X,b,2\n", "").encode(), "X is 1 × 1"),
        ((GOOD + "X,c,1\n" * 7).encode(), "X is 9 × 1"),
        (GOOD.replace("W_K,1,1\n", "").encode(), "W_K is missing"),
        (GOOD.replace("W_K,1,1", "W_K,1,1,1").encode(), "W_K is 1 × 2; expected 1 × 1"),
        (GOOD.replace("W_Q,1,1", "W_Q,1,1\nW_Q,2,1").encode(), "W_Q is 2 × 1; expected 1 × 1"),
        (GOOD.replace("W_Q,1,1", "W_Q,1" + ",1" * 9).encode(), "W_Q has 9 columns"),
        ((GOOD + "W_1,1,1,1").encode(), "W_2 is missing; it maps 2 columns to 1"),
        ((GOOD + "W_O,1,1,1").encode(), "W_O is 1 × 2; expected 1 × 1"),
        ((GOOD + "E,cat,1").encode(), "W_1 1, E 1 rows; expected 2 to 8 tokens and words"),
        ((GOOD + "E,,1").encode(), r"line 6 \(E\) .* 24 "),
        (GOOD.replace("X,b,2", 'X,b,"1,500"').encode(), "Line 2: “1,500” may be thousands or a fraction"),
        (GOOD.replace("W_Q,1,1", "W_Q,1,").encode(), "W_Q has lines of different lengths or none"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_sentence(content: bytes, said: str) -> None:
    with pytest.raises(UserError, match=said) as refused:
        read(content)
    assert "\n" not in refused.value.message
    assert len(refused.value.message) < 250


def test_the_good_file_is_good() -> None:
    assert read(GOOD.encode()).tokens == ("a", "b")
    assert read((GOOD + "E,cat,1\nE,dog,2\nE,cow,3").encode()).words == ("cat", "dog", "cow")
    assert read(GOOD.replace("2", str(LARGEST)).encode()).x[1, 0] == LARGEST


@loop_over("word", ["?", "abc", "A" * 5000, base64.urlsafe_b64encode(b"plain").decode(), "é", pack(example())[:99]])
def test_a_damaged_link_is_refused_in_one_sentence(word: str) -> None:
    with pytest.raises(UserError, match="are damaged"):
        unpack(word)


@pytest.mark.slow
def test_a_link_that_unfolds_to_gigabytes_is_refused() -> None:
    bomb = base64.urlsafe_b64encode(zlib.compress(b"\0" * 50_000_000, 9)).decode()
    with pytest.raises(UserError, match="damaged"):
        unpack(bomb)


def test_the_largest_example_fits_into_a_link() -> None:
    small = resize(example(), 8, 8, 8, 8, 8)
    full = np.random.default_rng(1).normal(size=(8, 8, 8))
    x, w_q, w_k, w_v, w_o, w_1, w_2, e = full
    assert len(pack(attention_example(small.tokens, x, w_q, w_k, w_v))) < 6000
    assert len(pack(Example(x, w_q, w_k, w_v, w_o, w_1, w_2, e, small.tokens, small.words))) < 12_000


def test_a_link_from_before_the_layer_was_there_is_read() -> None:
    """A link of an earlier version has four matrices; the layer after attention is then the identity."""
    old = "matrix,row,1,2\r\nX,a,1,0\r\nX,b,0,1e-05\r\n" + "".join(
        f"{name},{row},{row},0.5\r\n" for name in ("W_Q", "W_K", "W_V") for row in (1, 2)
    )
    small = unpack(base64.urlsafe_b64encode(zlib.compress(old.encode(), 9)).decode().rstrip("="))
    assert small == attention_example(("a", "b"), np.array([[1, 0], [0, 1e-5]]), *[np.array([[1, 0.5], [2, 0.5]])] * 3)


@loop_over(
    ("content", "said"),
    [
        (b"\xff\xfe", "这不是 UTF-8"),
        (b"Z,a,1", "第 1 行的矩阵名是 'Z'"),
        (b"X,,1", "第 1 行（X）的第二格需要一个"),
        (b"X,a,two", "第 1 行：“two”不是数字"),
        (b"X,a,1", "缺少 W_Q"),
        (b"X,a,1\nX,b,1,2", "X 各行长短不一"),
        (b"X,a,1\nW_Q,1,1\nW_K,1,1\nW_V,1,1", "X 是 1 × 1"),
    ],
)
def test_a_file_is_refused_in_chinese(content: bytes, said: str) -> None:
    with pytest.raises(UserError) as refused:
        read(content)
    with use_language("zh"):
        assert translate(refused.value.message).startswith(said)
