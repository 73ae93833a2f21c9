"""Errors of other libraries, each translated to a single sentence."""

from __future__ import annotations

import json
import re
from pickle import UnpicklingError
from typing import Any

import pytest
from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError
from tokenizers import Tokenizer

from inference.errors import OUT_OF_MEMORY, UserError, as_user_error
from tests.support.cases import loop_over

OURS = "It cannot be opened."
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


@loop_over("kind", [*KINDS, StrictDataclassError])
def test_foreign_errors_become_a_sentence_that_quotes_nothing(kind: type[Exception]) -> None:
    with pytest.raises(UserError, match=f"^{re.escape(OURS)}$") as caught, as_user_error(OURS):
        raise kind("/etc/secret")
    assert "secret" not in str(caught.value)


def test_a_refusal_passes_unchanged() -> None:
    original = UserError("No.", way_out="cut", details={"tokens": 9})
    with pytest.raises(UserError) as caught, as_user_error(OURS):
        raise original
    assert caught.value is original
    copy = original.copy()
    assert (str(copy), copy.way_out, copy.details) == ("No.", "cut", {"tokens": 9})


def test_running_out_of_memory_is_named() -> None:
    with pytest.raises(UserError, match=re.escape(OUT_OF_MEMORY)), as_user_error(OURS):
        raise MemoryError


PANICS = {  # Tokenizer files that make the library panic, when it loads the file or tokenizes a text.
    "an empty piece": {"pre_tokenizer": {"type": "FixedLength", "length": 0}},
    "no such special token": {
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "[X]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [],
            "special_tokens": {},
        }
    },
    "a prefix longer than a merge": {
        "model": {
            "type": "BPE",
            "continuing_subword_prefix": "abcdef",
            "vocab": {"a": 0, "b": 1, "ab": 2},
            "merges": [["a", "b"]],
        }
    },
}


@pytest.mark.parametrize("stated", PANICS.values(), ids=PANICS)
def test_a_panic_of_the_tokenizers_library_is_a_refusal(stated: dict[str, Any]) -> None:
    model = {"type": "WordLevel", "vocab": {"[UNK]": 0}, "unk_token": "[UNK]"}
    file = {"version": "1.0", "added_tokens": [], "model": model, **stated}
    with pytest.raises(UserError, match=OURS), as_user_error(OURS):
        Tokenizer.from_str(json.dumps(file)).encode("A text.")


def test_a_wish_to_stop_is_no_refusal() -> None:
    with pytest.raises(KeyboardInterrupt), as_user_error(OURS):
        raise KeyboardInterrupt
