"""Resolution of names to folders: no model is opened by accident or downloaded without a request."""

from __future__ import annotations

from pathlib import Path

import pytest

from inference.errors import UserError
from inference.files import embedded, hub
from inference.files.download import Download
from inference.files.sources import find, is_local
from inference.request import EMBEDDED
from inference.settings import Settings
from tests.support.fakehub import COMMIT, serving
from tests.support.tinymodels import save


def test_the_embedded_model() -> None:
    assert find(EMBEDDED, None, Settings()).folder == embedded.folder()
    assert is_local(EMBEDDED, None, Settings())


def test_a_local_folder_goes_by_its_name_alone(tmp_path: Path) -> None:
    save(tmp_path / "mine", "bert")
    source = find(str(tmp_path / "mine"), None, Settings(model_folders=(tmp_path,)))
    assert (source.name, source.folder) == ("mine", tmp_path / "mine")


def test_an_existing_relative_path_is_never_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(tmp_path / "gpt2", "bert")
    monkeypatch.chdir(tmp_path)
    settings = Settings(model_folders=(tmp_path,), cache=tmp_path / "cache", offline=True)
    with pytest.raises(UserError, match=r"^gpt2 .* off"):
        find("gpt2", None, settings)


@pytest.mark.slow
def test_a_hub_model_is_offered_not_fetched(tmp_path: Path) -> None:
    model = save(tmp_path / "mine", "bert")
    with serving() as fake:
        fake.add("someone/tiny", model)
        settings = Settings(endpoint=fake.endpoint, cache=tmp_path / "cache")
        with pytest.raises(UserError, match=r"tiny.* Download") as caught:
            find("someone/tiny", None, settings)
        assert caught.value.way_out == "download"
        offer = caught.value.details["offer"]
        assert (offer, caught.value.details["bytes"]) == (hub.fetch_offer("someone/tiny", None, settings), offer.nbytes)
        assert caught.value.copy().details["offer"] is offer
        assert not any(path.endswith(".safetensors") for _, path, _ in fake.asked)
        assert not is_local("someone/tiny", None, settings)
        Download(hub.fetch_offer("someone/tiny", None, settings), settings).start().wait(20)
        found = find("someone/tiny", None, settings)
        assert found.folder.name == found.revision == hub.fetch_offer("someone/tiny", None, settings).commit == COMMIT
        assert is_local("someone/tiny", None, settings)


def test_too_large_is_said_before_the_download(tmp_path: Path) -> None:
    model = save(tmp_path / "mine", "bert")
    with serving() as fake:
        fake.add("someone/tiny", model)
        with pytest.raises(UserError, match="allowed"):
            find("someone/tiny", None, Settings(endpoint=fake.endpoint, cache=tmp_path / "c", model_memory_bytes=1000))


@pytest.mark.parametrize("name", ["", "../x", "/etc", "a/b/c", "x\0"])
def test_here_answers_for_anything(name: str, tmp_path: Path) -> None:
    assert not is_local(name, None, Settings(cache=tmp_path))
