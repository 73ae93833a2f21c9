"""The exported folder of an encoder: files for transformers, scores, checksums and model card."""

from __future__ import annotations

import json
import shutil
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForPreTraining, AutoTokenizer

from inference.files.packages import sha256
from tests.support.trainingtexts import Setting, setting, setting_in  # noqa: F401  (fixture)
from training.__main__ import main


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a trained and exported run, which the tests copy."""
    folder = tmp_path_factory.mktemp("encoder")
    file = setting_in(folder)(steps=12)
    more = folder / "more.json"
    more.write_text('{"probe": {"accuracy": 0.625}}', encoding="utf-8")
    assert main(["pretrain", str(file)]) == 0
    assert main(["export", str(file), str(folder / "model"), "--pairs", "8", "--further", str(more)]) == 0
    return folder


@pytest.fixture
def exported(finished: Path, tmp_path: Path) -> Path:
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    return tmp_path / "model"


def test_transformers_reads_it_with_both_heads(exported: Path) -> None:
    model, said = AutoModelForPreTraining.from_pretrained(exported, output_loading_info=True)
    assert type(model).__name__ == "BertForPreTraining"
    assert not said["missing_keys"]
    assert not said["unexpected_keys"]
    assert {value.dtype for value in load_file(exported / "model.safetensors").values()} == {torch.float16}
    assert model.dtype == torch.float32
    trained = torch.load(exported.parent / "run" / "checkpoint.pt", weights_only=True)["model"]
    for name, value in model.state_dict().items():
        assert torch.equal(value.float(), trained[name].half().float()), name


def test_its_tokenizer_neither_cuts_nor_pads(exported: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(exported)
    saved = json.loads((exported / "tokenizer.json").read_text(encoding="utf-8"))
    assert saved["truncation"] is None
    assert saved["padding"] is None
    assert tokenizer.model_max_length == 64
    assert tokenizer.mask_token == "[MASK]"


def test_the_card_says_what_was_measured(exported: Path) -> None:
    card = (exported / "README.md").read_text(encoding="utf-8")
    scores = json.loads((exported / "evaluation.json").read_text(encoding="utf-8"))
    farm = scores["sources"]["farm"]
    assert sha256(exported / "model.safetensors") in card
    assert f"| farm | {farm['masked']:,} | {farm['top1']:.1%} | {farm['baseline_top1']:.1%}" in card
    assert "| farm | CC0 | made up |" in card
    assert scores["step"] == 12
    assert scores["further"] == {"probe": {"accuracy": 0.625}}
    assert "### probe\n\n|  |  |\n|---|---|\n| accuracy | 0.625 |\n" in card
    assert str(exported.parent) not in card


def test_its_sums_name_every_other_file(exported: Path) -> None:
    lines = (exported / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    sums = {name: digest for digest, name in (line.split("  ") for line in lines)}
    assert set(sums) == {file.name for file in exported.iterdir()} - {"SHA256SUMS"}
    assert all(sha256(exported / name) == digest for name, digest in sums.items())


def test_curves_are_a_drawing(exported: Path) -> None:
    tree = ElementTree.fromstring((exported / "curves.svg").read_text(encoding="utf-8"))
    lines = tree.findall("{http://www.w3.org/2000/svg}polyline")
    assert len(lines) == 6  # The curves are two training losses, a held-out loss and three shares.
    assert len(str(lines[0].get("points")).split()) == 6  # Each curve has a point every two steps.


def test_without_a_checkpoint_there_is_nothing_to_export(
    setting: Setting,  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["export", str(setting(steps=9)), str(tmp_path / "model")]) == 2
    assert "holds no checkpoint" in capsys.readouterr().err
