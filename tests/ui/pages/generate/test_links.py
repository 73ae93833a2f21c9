"""Invalid links to the Generate page, and their messages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from inference.files import packages
from inference.files.embedded import BERT, SMOLLM
from inference.files.packages import MAKE
from tests.support.asking import allowed, asked, notes, press, says, stands
from tests.support.cases import loop_over
from tests.support.tinymodels import save
from tools.stored_answers import WITHOUT_WRITER
from ui.pages.generate.options import PROMPT_ONLY, GenerateOptions, prompt_of
from ui.pages.generate.page import mask_at_the_end
from ui.state.view_state import ViewState

TEXT = "The cat sat on the mat, and the dog"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    root = tmp_path_factory.mktemp("writers")
    folder = save(root / "gpt2", "gpt2")
    with allowed(root):
        yield str(folder)


@loop_over(
    ("query", "said"),
    [
        ({"text": " "}, "The text is empty"),
        ({"text": "a " * 90}, "reads at most 48"),
        ({"written": "1.x", "of": "0"}, str(PROMPT_ONLY)),
        ({"written": "301.300", "of": "deadbeef"}, str(PROMPT_ONLY)),
        # The model is looked up instead of being treated as an encoder.
        ({"model": "Qwen/Qwen2.5-0.5B"}, "Qwen/Qwen2.5-0.5B is not on this machine"),
        ({"show": "<b>"}, "“show” is not valid"),
        ({"at": "9999999"}, "comes first"),
        ({"temperature": "0", "top_k": "9999999", "top_p": "0"}, "comes first"),
        ({"text": "日本語 العربية 🦊"}, "comes first"),
    ],
)
def test_odd_links(model: str, query: dict[str, str], said: str) -> None:
    page = asked("generate", **{"model": model, "text": TEXT, **query})
    says(page, said)
    stands(page)


def test_tokens_that_the_model_does_not_have_are_refused_in_words(model: str) -> None:
    page = asked("generate", model=model, text=TEXT)
    press(page, "Next token")
    link = {name: value for name, value in page.query_params.items() if name != "written"}
    page = asked("generate", **link, written=999999)
    assert notes(page, "refusal")
    assert not page.exception


@pytest.mark.slow
def test_without_a_writer_one_command_is_shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = packages.packaged_file
    monkeypatch.setattr(
        packages, "packaged_file", lambda package, name: None if package == SMOLLM.package else real(package, name)
    )
    with allowed(tmp_path):
        page = asked("generate")
    assert not page.exception
    assert [code.value for code in page.code] == [MAKE]
    assert len(page.get("plotly_chart")) == 1, "a BERT model fills a mask at the end of the prompt"
    prompt = prompt_of(ViewState(), GenerateOptions())
    assert mask_at_the_end(prompt, BERT) == WITHOUT_WRITER, "the answer is stored, so that the page needs no torch"
    assert not any("openai-community" in button.label for button in page.button), "the hub is out of reach here"
