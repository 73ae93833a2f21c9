"""Tests of the command from a shell's view: files, exit statuses, and a sentence for each error."""

from __future__ import annotations

import io
import json
import logging
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote_plus

import pytest

from attention.trace import without_attention
from attention.view import View
from headlight import app_process, command, notebook
from headlight.command import main
from headlight.command_input import CommandError, head_of, text_of
from headlight.notebook import FORMATS, Shown
from inference import LocalBackend, TraceRequest
from inference.catalogue.listing import EXTRA_CARDS
from inference.files import embedded
from inference.hub_cards import HUB_CARDS
from inference.settings import Settings
from tests.support import tinymodels
from tests.support.repository import ROOT
from tests.support.traces import hybrid_trace
from viz.export import weights_csv

TEXT = "The cat was tired."
BEGINNINGS = {"html": b"<!doctype html>", "svg": b"<svg ", "png": b"\x89PNG", "csv": b"\xef\xbb\xbf", "json": b"{"}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tinymodels.save(tmp_path_factory.mktemp("models") / "bert", "bert"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder in which the command runs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_every_format_is_written(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for kind, beginning in BEGINNINGS.items():
        file = tmp_path / f"cat.{kind}"
        assert main(["export", TEXT, str(file), "--model", model, "--focus", "cat"]) == 0
        assert file.read_bytes().startswith(beginning)
        told = capsys.readouterr()
        assert told.out.startswith(f"{file}: ")
        assert told.err == ""


@pytest.mark.slow
def test_numbers_are_those_of_the_asked_head(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "numbers"
    assert main(["export", TEXT, str(file), "--format=csv", "--model", model, "--layer=1", "--head=2", "--json"]) == 0
    done = json.loads(capsys.readouterr().out)
    assert (done["layer"], done["head"], done["format"]) == (1, 2, "csv")
    assert done["bytes"] == file.stat().st_size
    backend = LocalBackend(Settings(model_folders=(Path(model).parent,), offline=True))
    view = View(backend.trace(TraceRequest(model=model, text=TEXT)))
    assert file.read_bytes() == weights_csv(view, 1, 2)
    assert done["meta"] == f"{file}.meta.json"
    about = json.loads(Path(done["meta"]).read_text(encoding="utf-8"))
    assert (about["table"], about["model"], about["text"], about["layer"], about["head"]) == (
        "numbers",
        Path(model).name,
        TEXT,
        1,
        2,
    )
    assert done["tokens"] == [cell.label for cell in view.queries]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["cat.gif"], f"cat.gif ends in none of {', '.join(f'.{name}' for name in FORMATS)}; say which"),
        (["no/cat.svg"], "no/cat.svg cannot be written. Give a file in a folder that exists and may be written to."),
        (["cat.svg", "--layer", "1"], "A head has two numbers: give --layer 3 --head 1, or --head 3-1."),
        (["cat.svg", "--layer", "9", "--head", "0"], "There is no layer 9: this model's are 0 to 1."),
        (["cat.svg", "--head", "-1", "--layer", "0"], "There is no head -1: this model's are 0 to 2."),
        (["cat.svg", "--focus", "dog"], "focus='dog' is not a token here: "),
        (["cat.svg", "--format", "gif"], "Argument --format: invalid choice: 'gif'"),
        (["cat.svg", "more"], "Unrecognized arguments: more. See headlight"),
        ([], "The following arguments are required: FILE. See headlight export -h."),
    ],
)
def test_what_is_wrong_is_one_sentence(
    arguments: list[str], said: str, model: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(["export", TEXT, *arguments, "--model", model]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith(said)
    assert told.err.count("\n") == 1
    assert list(folder.iterdir()) == []


def status(arguments: list[str]) -> int:
    """Return the exit status, also if argparse ends the command."""
    try:
        return main(arguments)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else -1


def test_a_text_comes_through_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO("黑猫睡了。\n".encode())))
    assert text_of("-") == "黑猫睡了。"


def test_text_that_is_not_utf8_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"caf\xe9 noir")))
    with pytest.raises(CommandError, match=r"piped.*: byte 4 is 0xE9"):
        text_of("-")
    with pytest.raises(CommandError, match=r"^The .*: byte 6 is 0xFF"):
        text_of("half \udcff")


@pytest.mark.parametrize("given", ["3-1", "3.1", "3/1", "L3H1", " l3h1 "])
def test_a_head_is_read_in_every_notation(given: str) -> None:
    assert head_of(None, given) == head_of(3, given) == head_of(3, "1") == (3, 1)


@pytest.mark.parametrize(("layer", "head"), [(2, "3-1"), (None, "1"), (3, None), (3, "one"), (3, "1-2-3")])
def test_half_a_head_is_refused(layer: int | None, head: str | None) -> None:
    with pytest.raises(CommandError):
        head_of(layer, head)


def test_errors_of_the_system_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: Any) -> None:
        raise PermissionError(13, "Permission denied", "cat.json")

    monkeypatch.setattr("headlight.command_input.open_backend", broken)
    assert main(["export", TEXT, str(tmp_path / "cat.json")]) == 2
    said = capsys.readouterr().err
    assert said == "cat.json cannot be used: Permission denied. Check the path and its permissions.\n"


@pytest.mark.slow
@pytest.mark.parametrize(("word", "label"), [("bed", "bed"), ("embeddings", "em"), ("##bed", "##bed")])
def test_focus_is_a_word_before_it_is_a_piece(word: str, label: str) -> None:
    trace = LocalBackend(Settings(offline=True)).trace(TraceRequest(text="The embeddings lie on my bed."))
    shown = Shown(trace, word)
    assert shown.view.queries[shown.selection["focus"]].label == label


def test_scores_are_those_of_probing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "no-such-file", "--format", "conllu"]) == 2
    assert "no-such-file" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["score", "-h"])
    assert capsys.readouterr().out.startswith("usage: headlight score ")


@pytest.mark.parametrize("arguments", [["-h"], ["export", "-h"], ["open", "-h"], ["serve", "-h"]])
def test_help_fits_on_a_screen(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert status(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 90


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the recorded calls that would serve the app (port, host, folder, quiet) or open an address."""
    asked: list[Any] = []

    def serve(port: int, host: str | None, ready: Any, folder: str | None, quiet: bool) -> int:
        asked.append((port, host, folder, quiet))
        ready()
        return 0

    def show(place: str) -> bool:
        asked.append(place)
        return True

    monkeypatch.setattr(app_process, "serve", serve)
    monkeypatch.setattr(app_process, "port_for", lambda port: port or 8501)
    monkeypatch.setattr(app_process, "show", show)
    return asked


def test_a_text_opens_the_app_at_it(served: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["too tired?", "--model", "gpt2"]) == 0
    place = "http://localhost:8501/?text=too+tired%3F&model=gpt2"
    assert served == [(8501, "localhost", None, False), place]
    assert f"Opened  {place}" in capsys.readouterr().out
    served.clear()
    assert main(["open", "serve", "--no-browser", "--json", "--port", "9000"]) == 0
    assert served == [(9000, "localhost", None, True)]
    assert json.loads(capsys.readouterr().out) == {"address": "http://localhost:9000/?text=serve", "port": 9000}


def test_serving_opens_no_browser_and_the_whole_network_may_ask(
    served: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve"]) == 0
    assert served == [(8501, None, None, False)]
    assert "Open  http://localhost:8501/\n" in capsys.readouterr().out
    assert main([]) == 0
    assert served[1:] == [(8501, "localhost", None, False), "http://localhost:8501/"]


def test_our_own_model_that_is_not_installed_is_told_without_asking_the_hub(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(embedded, "ASSETS", folder)
    assert main(["export", TEXT, "cat.svg", "--model", embedded.TRANSLATOR]) == 2
    assert "pip install headlight-attention-app" in capsys.readouterr().err


def test_a_folder_that_is_given_may_be_opened(
    served: list[Any], folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["A cat.", "--model", "./mine"]) == 2
    assert capsys.readouterr().err.startswith("./mine is not a folder.")
    (folder / "mine").mkdir()
    assert main(["A cat.", "--model", "./mine"]) == 0
    mine = str(folder / "mine")
    assert served[0] == (8501, "localhost", mine, False)
    assert served[1].endswith(f"&model={quote_plus(mine)}")
    monkeypatch.setenv(app_process.FOLDERS, "/others")
    assert app_process.allowing(mine) == {app_process.FOLDERS: f"{mine}{os.pathsep}/others"}


def test_what_is_not_installed_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "probing.__main__", None)
    assert main(["score"]) == 2
    assert 'pip install "headlight-attention[torch]"' in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("module", ["headlight", "probing", "training"])
def test_wrong_arguments_are_refused_in_one_line(module: str) -> None:
    answer = subprocess.run(
        [sys.executable, "-m", module, *(["score"] if module == "probing" else []), "--unknown", "x"],
        cwd=ROOT, check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert answer.returncode == 2
    assert answer.stdout == ""
    assert answer.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_broken_pipe_is_one_line() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    answer = subprocess.run(
        [sys.executable, "-m", "headlight", "-h"], cwd=ROOT, check=False, stdout=writing, stderr=subprocess.PIPE
    )
    os.close(writing)
    assert answer.returncode == 2
    assert answer.stderr == b"The program that reads this output has ended. Write to a file instead.\n"


@pytest.mark.slow
def test_from_the_repository_it_is_a_module_and_no_command_waits_for_torch() -> None:
    heavy = "{'torch', 'transformers', 'streamlit', 'PIL', 'plotly'}"
    probe = f"import sys, headlight.command; print(*sorted({heavy} & set(sys.modules)))"
    answer = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, check=True, capture_output=True, text=True)
    assert answer.stdout.strip() == ""
    answer = subprocess.run(
        [sys.executable, "-m", "headlight", "--version"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert answer.stdout.startswith("headlight")


@pytest.mark.slow
def test_a_long_text_is_refused_or_truncated(model: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    long = "cat " * 300
    assert main(["export", long, "cat.csv", "--model", model]) == 2
    assert "To read the beginning, add --truncate." in capsys.readouterr().err
    note = "40 of 302 tokens"
    for kind in BEGINNINGS:
        assert main(["export", long, f"cat.{kind}", "--model", model, "--truncate"]) == 0
        assert note in capsys.readouterr().out
    for kind in ("meta.json", "json", "svg", "html"):
        assert note in (folder / f"cat.{kind}").read_text(encoding="utf-8"), kind


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("config.json", "{}", "has no model_type"),
        ("config.json", '{"model_type": "bert", "num_attention_heads": 7}', "do not fit its configuration"),
        ("config.json", '{"model_type": "bert", "hidden_size": "wide"}', "is damaged"),
        ("tokenizer.json", "hello", "tokenizer of bert"),
        ("tokenizer_config.json", "[]", "tokenizer of bert"),
    ],
)
def test_a_damaged_folder_is_refused_in_a_line(  # noqa: PLR0913
    file: str,
    content: str,
    said: str,
    model: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(logging.root, "handlers", [])  # Python prints warnings as in a shell.
    damaged = Path(shutil.copytree(model, folder / "bert"))
    (damaged / file).write_text(content, encoding="utf-8")
    assert main(["export", TEXT, "cat.csv", "--model", str(damaged)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
    assert line.endswith((" it.", " them.", "Pick another model."))


def test_a_target_text_needs_a_model_that_writes(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", TEXT, str(tmp_path / "cat.csv"), "--model", model, "--target-text", "Le chat."]) == 2
    assert "does not generate" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_an_export_counts_layers_as_the_model_does(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = hybrid_trace()
    monkeypatch.setattr(command, "read_trace", lambda *_asked: trace)
    monkeypatch.setattr(command, "positional_prior_of", lambda *_asked: None)
    file = tmp_path / "map.csv"
    assert main(["export", trace.text, str(file), "--head", "3-1"]) == 0
    assert file.read_bytes() == weights_csv(View(trace), 3, 1)
    about = json.loads(notebook.meta_file(file).read_text(encoding="utf-8"))
    assert (about["layer"], about["head"]) == (3, 1)
    capsys.readouterr()
    assert main(["export", trace.text, str(file), "--head", "2-1"]) == 2
    assert str(without_attention(2, (1, 3))) in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("also", [[], ["--truncate"], ["--pair", TEXT]])
def test_an_unknown_text_is_refused(
    also: list[str], model: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error is a single line with status 2 that names a listed model for the text; no file is written."""
    assert status(["export", "猫坐在垫子上。", "cat.csv", "--model", model, *also]) == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n"), list(folder.iterdir())) == ("", 1, [])
    (named,) = re.findall(r"--model (\S+?)(?: --download)?\.$", told.err.strip())
    assert named in {card.id for card in (*HUB_CARDS, *EXTRA_CARDS)}
