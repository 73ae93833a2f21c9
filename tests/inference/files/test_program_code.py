"""Program code that a folder names: never run, and named on the card and on the command line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from headlight.command import main
from inference.catalogue.listing import local_card
from inference.errors import UserError
from inference.files.architecture import code_notes, is_known_tokenizer
from inference.files.checkpoint import inspect
from inference.files.sources import ModelSource
from inference.load.loading import load
from inference.settings import Settings
from tests.support.tinymodels import save

CODE = {"auto_map": {"AutoModel": "evil.Model"}}
TOKENIZER = {"tokenizer_class": "EvilTokenizer"}
TOKENIZER_CODE = {"auto_map": {"AutoTokenizer": ["evil.Slow", None]}}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("models") / "bert", "bert")


@pytest.fixture
def folder(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "mine"))


def change(file: Path, **settings: Any) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | settings))


def notes(folder: Path) -> tuple[str, ...]:
    return code_notes(folder, inspect(folder, "mine").config)


@pytest.mark.parametrize(
    ("config", "tokenizer", "named"),
    [
        ({}, {}, []),
        (CODE, {}, ["bert"]),
        ({}, TOKENIZER_CODE, ["bert"]),
        ({}, TOKENIZER, ["EvilTokenizer"]),
        ({}, TOKENIZER | TOKENIZER_CODE, ["EvilTokenizer"]),
        (TOKENIZER, {"tokenizer_class": None}, ["EvilTokenizer"]),
        (TOKENIZER, {}, []),  # the class in tokenizer_config.json precedes
        (CODE, TOKENIZER, ["bert", "EvilTokenizer"]),
        ({}, {"tokenizer_class": "BertTokenizerFast"}, []),
        ({}, {"tokenizer_class": 3}, []),
    ],
)
def test_the_card_and_the_notes_name_the_code(
    folder: Path, config: dict[str, Any], tokenizer: dict[str, Any], named: list[str]
) -> None:
    plain = local_card(folder).summary
    change(folder / "config.json", **config)
    change(folder / "tokenizer_config.json", **tokenizer)
    found = notes(folder)
    assert len(found) == len(named)
    assert all(name in note for name, note in zip(named, found, strict=True))
    assert str(local_card(folder).summary) == " ".join([str(plain), *map(str, found)])


@pytest.mark.slow
def test_export_prints_a_line_for_each_kind_of_code(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(folder / "config.json", **CODE)
    change(folder / "tokenizer_config.json", **TOKENIZER)
    assert main(["export", "The cat was tired.", str(tmp_path / "cat.csv"), "--model", str(folder)]) == 0
    assert capsys.readouterr().err.splitlines() == [f"mine: {note}" for note in notes(folder)]


def test_an_unknown_class_without_a_tokenizer_file_is_refused(folder: Path) -> None:
    vocabulary = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]
    (folder / "vocab.txt").write_text("\n".join(sorted(vocabulary, key=vocabulary.get)))
    (folder / "tokenizer.json").unlink()
    assert load(ModelSource("mine", None, folder), Settings()).records
    change(folder / "tokenizer_config.json", **TOKENIZER)
    assert notes(folder) == ()
    with pytest.raises(UserError, match="EvilTokenizer"):
        load(ModelSource("mine", None, folder), Settings())


def test_every_tokenizer_of_transformers_is_known() -> None:
    from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES

    known = {name for name in TOKENIZER_MAPPING_NAMES.values() if name} | {
        "PreTrainedTokenizerFast",
        "BertTokenizerFast",
    }
    assert [name for name in sorted(known) if not is_known_tokenizer(name)] == []
    assert not is_known_tokenizer("EvilTokenizer")
