"""Restriction to the allowed models: others are not opened, downloaded or looked up on the hub."""

from __future__ import annotations

from pathlib import Path

import pytest

from inference.errors import UserError
from inference.files import hub, sources
from inference.request import EMBEDDED
from inference.settings import Settings
from tests.support.fakehub import serving
from tests.support.tinymodels import save


@pytest.mark.parametrize(
    ("name", "revision"), [("somebody/something", None), ("openai-community/gpt2", "refs/pr/1"), ("gpt2", "main")]
)
def test_others_are_refused_before_the_hub_is_asked(name: str, revision: str | None, tmp_path: Path) -> None:
    with serving() as fake:
        fake.add(name, save(tmp_path / "model", "bert"))
        settings = Settings(endpoint=fake.endpoint, cache=tmp_path / "cache", only_listed=True)
        for ask in (hub.fetch_offer, sources.find):
            with pytest.raises(UserError, match="listed models"):
                ask(name, revision, settings)
        assert not sources.is_local(name, revision, settings)
        assert not fake.asked


def test_those_of_the_list_and_of_the_operator_are_opened(tmp_path: Path) -> None:
    save(tmp_path / "mine", "bert")
    with serving() as fake:
        fake.add("openai-community/gpt2", save(tmp_path / "gpt2", "gpt2"))
        settings = Settings(
            endpoint=fake.endpoint, cache=tmp_path / "cache", only_listed=True, model_folders=(tmp_path,)
        )
        assert hub.fetch_offer("openai-community/gpt2", None, settings).id == "openai-community/gpt2"
        assert sources.find(EMBEDDED, None, settings)
        assert sources.find(str(tmp_path / "mine"), None, settings)
