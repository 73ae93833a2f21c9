"""Refusals: everything foreign that is known to be raised becomes one sentence."""

from __future__ import annotations

from pickle import UnpicklingError

import pytest
from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError

from inference.errors import Refusal, refusing

KINDS = [
    OSError,
    ValueError,
    RuntimeError,
    KeyError,
    SafetensorError,
    UnpicklingError,
    TypeError,
    ImportError,
    Exception,
]


@pytest.mark.parametrize("kind", [*KINDS, StrictDataclassError])
def test_foreign_errors_become_a_sentence_that_quotes_nothing(kind: type[Exception]) -> None:
    with pytest.raises(Refusal, match=r"^It cannot be opened\.$") as caught, refusing("It cannot be opened."):
        raise kind("/etc/secret")
    assert "secret" not in str(caught.value)


def test_a_refusal_passes_unchanged() -> None:
    original = Refusal("No.", way_out="cut", details={"tokens": 9})
    with pytest.raises(Refusal) as caught, refusing("It cannot be opened."):
        raise original
    assert caught.value is original
    copy = original.again()
    assert (str(copy), copy.way_out, copy.details) == ("No.", "cut", {"tokens": 9})


def test_running_out_of_memory_is_named() -> None:
    with pytest.raises(Refusal, match="ran out of memory"), refusing("It cannot be opened."):
        raise MemoryError


def test_a_wish_to_stop_is_no_refusal() -> None:
    with pytest.raises(KeyboardInterrupt), refusing("It cannot be opened."):
        raise KeyboardInterrupt
