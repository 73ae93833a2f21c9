"""Token counts of texts, as the tokenizer splits each text, without truncation."""

from __future__ import annotations

import pytest

from inference import LocalBackend, UserError
from inference.settings import Settings
from inference.tasks.hidden_states import TextSizes
from inference.tasks.tokenizer_steps import TokenSteps
from tests.support import tinymodels

TEXTS = ("the cat", "a ☃ in the street", "animal " * 90)  # The last text exceeds the model's limit.


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> tuple[LocalBackend, str]:
    root = tmp_path_factory.mktemp("sizes")
    model = tinymodels.save(root / "bert", "bert")
    return LocalBackend(Settings(model_folders=(root,), offline=True)), str(model)


def test_each_text_has_the_tokens_that_it_is_cut_into(tiny: tuple[LocalBackend, str]) -> None:
    backend, model = tiny
    found = backend.inspect(TextSizes(model=model, texts=TEXTS))
    for at, text in enumerate(TEXTS[:2]):
        tokens = backend.inspect(TokenSteps(model=model, text=text)).tokens
        assert found.tokens[at] == len(tokens)
        assert found.unknown[at] == sum(token.unknown for token in tokens)
    assert found.unknown.tolist() == [0, 1, 0]
    assert found.tokens[2] == 92


def test_half_a_character_is_refused(tiny: tuple[LocalBackend, str]) -> None:
    backend, model = tiny
    with pytest.raises(UserError, match="read one"):
        backend.inspect(TextSizes(model=model, texts=("fine", "\ud83d")))
