"""The exported folder of a translator: files for transformers and the app, scores and model card."""

from __future__ import annotations

import json
import shutil
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

from inference import LocalBackend
from inference.files import packages
from inference.request import TraceRequest
from inference.settings import Settings
from tests.support.translationtexts import Setting, setting, setting_in  # noqa: F401  (fixture)
from training.__main__ import main
from training.loop import Precision
from training.translation import config, export
from training.translation.export import card


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a trained and exported run, which the tests copy."""
    folder = tmp_path_factory.mktemp("translator")
    file = setting_in(folder)(steps=60)
    assert main(["translate", str(file)]) == 0
    assert main(["export-translator", str(file), str(folder / "model")]) == 0
    return folder


@pytest.fixture
def exported(finished: Path, tmp_path: Path) -> Path:
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    return tmp_path / "model"


def test_transformers_reads_it(exported: Path) -> None:
    model, said = AutoModelForSeq2SeqLM.from_pretrained(exported, output_loading_info=True)
    assert type(model).__name__ == "MarianMTModel"
    assert not said["missing_keys"]
    assert not said["unexpected_keys"]
    assert {value.dtype for value in load_file(exported / "model.safetensors").values()} == {torch.float16}
    assert model.dtype == torch.float32
    trained = torch.load(exported.parent / "run" / "checkpoint.pt", weights_only=True)["model"]
    for name, value in model.state_dict().items():
        computed = "embed_positions" in name  # Sinusoidal positions are computed and not stored.
        assert torch.equal(value, trained[name] if computed else trained[name].half().float()), name
    settings = model.generation_config
    assert (settings.num_beams, settings.max_length, settings.bad_words_ids) == (4, 80, None)


def test_its_tokenizer_neither_cuts_nor_pads(exported: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(exported)
    saved = json.loads((exported / "tokenizer.json").read_text(encoding="utf-8"))
    assert saved["truncation"] is None
    assert saved["padding"] is None
    assert (tokenizer.pad_token, tokenizer.eos_token, tokenizer.unk_token) == ("<pad>", "</s>", "<unk>")
    config = json.loads((exported / "config.json").read_text(encoding="utf-8"))
    assert (config["pad_token_id"], config["eos_token_id"], config["vocab_size"]) == (0, 1, len(tokenizer))


def test_the_app_sees_words_and_cross_attention(exported: Path) -> None:
    backend = LocalBackend(Settings(model_folders=(exported.parent,), offline=True, cache=exported.parent / "cache"))
    text, target = "The cat sleeps today.", "Le chat dort aujourd'hui."
    trace = backend.trace(TraceRequest(model=str(exported), text=text, target=target))
    assert [trace.source.pieces[at] for at in (0, 1, -1)] == ["The", "cat", "</s>"]
    assert trace.target is not None
    assert trace.target.pieces[:3] == ("<pad>", "Le", "chat")
    assert trace.target.words[:3] == (None, 0, 1)
    assert backend.trace(TraceRequest(model=str(exported), text="The cat sleeps today.")).target_text


def test_the_card_says_what_was_measured(exported: Path) -> None:
    card = (exported / "README.md").read_text(encoding="utf-8")
    scores = json.loads((exported / "evaluation.json").read_text(encoding="utf-8"))
    everything = scores["scores"]["all"]
    best, copied = everything["beams"], everything["copy"]
    assert packages.sha256(exported / "model.safetensors") in card
    assert best["sentences"] == scores["held_out"]
    line = (
        f"| all | 4 beams | {best['sentences']:,} | {best['references']:,} | {best['bleu']:.1f} | {best['chrf']:.1f} |"
    )
    assert line in card
    assert f"| {copied['bleu']:.1f} | {copied['chrf']:.1f} |" in card
    assert best["bleu"] > copied["bleu"]
    assert best["bleu_signature"] in card
    assert "| farm | CC0 | made up |" in card
    assert scores["step"] == 60
    assert str(exported.parent) not in card
    for row in scores["samples"]:
        assert f"| {row['source']} |" in card


@pytest.mark.slow
def test_a_model_asked_for_fewer_sentences_says_how_many(exported: Path, setting: Setting) -> None:  # noqa: F811
    folder = exported.parent / "smaller"
    assert main(["export-translator", str(setting(steps=60)), str(folder), "--sentences", "5"]) == 0
    scores = json.loads((folder / "evaluation.json").read_text(encoding="utf-8"))
    assert scores["scores"]["all"]["beams"]["sentences"] < scores["held_out"]


def test_the_card_names_the_languages_of_the_run(exported: Path, setting: Setting) -> None:  # noqa: F811
    file = setting(steps=60)
    scores = json.loads((exported / "evaluation.json").read_text(encoding="utf-8"))
    assert "| given | the model's French |" in card(config.read(file), exported, scores)
    for code, name in (("de", "German"), ("tlh", "tlh")):
        given = file.read_text(encoding="utf-8")
        file.write_text(f'{given}\n[languages]\nsource = "it"\ntarget = "{code}"\n', encoding="utf-8")
        found = card(config.read(file), exported, scores)
        assert f"language: [it, {code}]" in found
        assert f"| given | the model's {name} |" in found
        assert "of the Italian sentences" in found
        assert f"Italian and {name}, and nothing else" in found
        assert found.count("French") == 1  # The alignment sentences are always French.
        file.write_text(given, encoding="utf-8")


def test_the_model_is_scored_where_its_inputs_are(exported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scoring runs on the device of the inputs; "meta" serves as a device other than the CPU."""
    found = set()

    def note(model: torch.nn.Module, *_: object, **__: object) -> list[str]:
        found.add(next(model.parameters()).device.type)
        return []

    monkeypatch.setattr(export, "precision", lambda _: Precision(torch.device("meta"), False))
    for name in ("translate", "teacher_forcing_scores", "alignment", "samples"):
        monkeypatch.setattr(export, name, note)
    monkeypatch.setattr(export, "asdict", dict)
    export.evaluate_folder(exported, [], [])
    assert found == {"meta"}


def test_its_sums_are_whole(exported: Path) -> None:
    assert packages.is_intact(exported)
    listed = {line.split()[1] for line in (exported / "SHA256SUMS").read_text(encoding="utf-8").splitlines()}
    assert listed == {file.name for file in exported.iterdir()} - {"SHA256SUMS"}


def test_curves_are_a_drawing(exported: Path) -> None:
    tree = ElementTree.fromstring((exported / "curves.svg").read_text(encoding="utf-8"))
    lines = tree.findall("{http://www.w3.org/2000/svg}polyline")
    assert len(lines) == 6  # The curves are two losses, two shares and two scores.
    assert len(str(lines[0].get("points")).split()) == 30  # Each curve has a point every two steps.


def test_without_a_checkpoint_there_is_nothing_to_export(
    setting: Setting,  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["export-translator", str(setting(steps=9)), str(tmp_path / "model")]) == 2
    assert "Train first: python -m training translate CONFIG" in capsys.readouterr().err
