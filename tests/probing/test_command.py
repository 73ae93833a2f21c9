"""The command line of probing: files, exit statuses and error messages."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from inference.files.architecture import code_notes
from probing import command
from probing import score as scoring
from probing.__main__ import main
from probing.score import StateFile
from tests.probing.test_formats import GAP
from tests.probing.test_score import SENTENCES, TABLE, UNKNOWN, tree
from tests.support.tinymodels import save


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("models")
    for kind in ("bert", "mamba"):
        save(root / kind, kind)
    return root


@pytest.fixture
def given(tmp_path: Path, models: Path) -> list[str]:
    """Return the arguments of a valid command."""
    file = tmp_path / "tree.conllu"
    file.write_bytes(tree(SENTENCES))
    return ["score", str(file), "--format", "conllu", "--model", str(models / "bert")]


def test_rows_are_written_and_the_best_are_told(
    given: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, table, control = (tmp_path / name for name in ("rows.json", "rows.csv", "control.json"))
    assert main([*given, "--json", str(out), "--csv", str(table), "--control", str(control)]) == 0
    found = json.loads(out.read_text())
    assert len(found) == 3 * 6  # Three relations ("all", "even" and "odd") times 2 layers of 3 heads.
    assert list(found[0]) == [
        "relation", "layer", "head", "direction", "accuracy", "n", "baseline", "baseline_name", "chance", "low",
        "high", "p",
    ]  # fmt: skip
    assert {row["baseline"] for row in found} == {100}
    assert len(list(csv.DictReader(table.read_text().splitlines()))) == len(found)
    assert len(json.loads(control.read_text())) == len(found)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["control.json", "rows.csv", "rows.json", "tree.conllu"]
    told = capsys.readouterr()
    assert "Best head of each relation, chosen on half of the texts" in told.out
    assert told.err == ""


def test_program_code_of_a_folder_is_named(given: list[str], models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = models / "bert" / "config.json"
    before = config.read_text()
    config.write_text(json.dumps(json.loads(before) | {"auto_map": {"AutoModel": "evil.Model"}}))
    try:
        assert main(given) == 0
        (line,) = capsys.readouterr().err.splitlines()
        assert line == f"bert: {code_notes(config.parent, json.loads(config.read_text()))[0]}"
    finally:
        config.write_text(before)


@pytest.mark.parametrize(("format", "content"), [("csv", TABLE), ("gap", GAP.encode())])
def test_every_format_is_scored(format: str, content: Any, given: list[str], tmp_path: Path) -> None:
    file, out = tmp_path / "data", tmp_path / "rows.json"
    file.write_bytes(content)
    given = ["score", str(file), "--format", format, *given[4:], "--json", str(out)]
    assert main(given) == 0
    assert len(json.loads(out.read_text())) == 6


@pytest.mark.parametrize(("more", "said"), [([], "data was read as cp1252"), (["latin-1"], "")])
def test_a_table_in_another_encoding_is_scored(
    more: list[str], said: str, given: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data").write_bytes(TABLE + "At the café it was the cup.,it,cup,café\n".encode("latin-1"))
    given[1], given[3] = str(tmp_path / "data"), "csv"
    assert main([*given, *(["--encoding", *more] if more else [])]) == 0
    assert said in capsys.readouterr().err
    assert main([*given, "--encoding", "none"]) == 2
    assert "“none” is not a known encoding" in capsys.readouterr().err


def test_heads_are_chosen_on_the_split_file(
    given: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    split = tmp_path / "split.conllu"
    split.write_bytes(tree(SENTENCES[:2]))
    assert main([*given, "--split-file", str(split)]) == 0
    assert "chosen on the split file, reported on the file" in capsys.readouterr().out


def test_a_stopped_command_goes_on(
    given: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, out = tmp_path / "whole.json", tmp_path / "rows.json"
    assert main([*given, "--json", str(whole)]) == 0
    monkeypatch.setattr(scoring, "BATCH", 1)
    counted = []

    def stopping(*args: Any, **kwargs: Any) -> Iterator[Any]:
        for state in scoring.score(*args, **kwargs):
            counted.append(state.done)
            yield state
            if len(counted) == 2:
                raise KeyboardInterrupt

    monkeypatch.setattr(command, "score", stopping)
    assert main([*given, "--json", str(out)]) == 130
    assert "The same command continues" in capsys.readouterr().err
    assert not out.exists()
    assert main([*given, "--json", str(out)]) == 0
    assert counted == [1, 2, 3, 4]
    assert out.read_text() == whole.read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.json", "tree.conllu", "whole.json"]


def test_a_damaged_state_is_begun_anew(tmp_path: Path) -> None:
    file = tmp_path / "rows.json.partial"
    for content in ("", "{", "[3]", '[{"key": 1}]', '{"a": []}'):
        file.write_text(content)
        assert StateFile.open(file).states == {}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({1: "none.conllu"}, "none.conllu cannot be read: no such file."),
        ({3: "gap"}, 'Line 1 lacks the column "Text"'),
        ({5: "./nothing-here"}, '"nothing-here" is not there. Pick a model'),
        ({5: "/etc"}, "etc is not a model: it has no config.json."),
        ({5: "some/model"}, "some/model is not on this machine"),
        ({5: "not a name"}, "not a name"),
    ],
)
def test_what_cannot_be_used_is_said_in_one_sentence(
    change: Any, said: str, given: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for at, value in change.items():
        given[at] = value
    assert main(given) == 2
    told = capsys.readouterr()
    assert said in told.err
    assert len(told.err.strip().splitlines()) == 1
    assert told.out == ""


def test_a_model_without_attention_is_refused(
    given: list[str], models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*given[:-1], str(models / "mamba")]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_an_output_that_cannot_be_written_is_refused_before_the_work(
    given: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*given, "--json", str(tmp_path / "no" / "rows.json")]) == 2
    assert "cannot be written. Give a file in a folder that exists" in capsys.readouterr().err


def test_the_file_itself_is_no_split(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*given, "--split-file", given[1]]) == 2
    assert "The split file holds the same sentences" in capsys.readouterr().err


def test_a_file_that_no_text_of_can_be_read_is_refused(
    given: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tree.conllu").write_bytes(tree([" ".join(["cat"] * 60)]))
    assert main(given) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("tree.conllu: The model could read none of the 1 texts. The text has 62 tokens;")
    assert line.endswith("Change the file, or choose a model that reads these texts: --model.")


@pytest.mark.slow
def test_texts_that_are_too_long_are_counted_with_a_fix(
    given: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    long, other = " ".join(["cat"] * 60), tmp_path / "other.conllu"
    (tmp_path / "tree.conllu").write_bytes(tree([*SENTENCES, long]))
    other.write_bytes(tree([*SENTENCES, long, long]))
    assert main([*given, "--split-file", str(other), "--control", str(tmp_path / "control.json")]) == 0
    told = capsys.readouterr()
    assert "1 texts could not be read by the model." in told.out
    for line, left_out in zip(
        told.err.splitlines(), ("other.conllu: 2 of 6 texts", "tree.conllu: 1 of 5 texts"), strict=True
    ):
        assert line.startswith(f"{left_out} are left out. The text has 62 tokens;")
        assert line.endswith("--model.")
    other.write_bytes(tree([long]))
    assert main([*given, "--split-file", str(other)]) == 2
    assert "other.conllu: The model could read none of the 1 texts." in capsys.readouterr().err


@pytest.mark.parametrize("wrong", [["score"], ["count", "x"], ["score", "x", "--format", "xml"]])
def test_a_wrong_command_exits_with_two(wrong: Any) -> None:
    with pytest.raises(SystemExit) as ended:
        main(wrong)
    assert ended.value.code == 2


def test_unknown_texts_are_counted_or_refused(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    file = Path(given[1])
    file.write_bytes(tree([*SENTENCES, UNKNOWN[0]]))
    assert main(given) == 0
    assert "1 of 5" in capsys.readouterr().err
    file.write_bytes(tree([SENTENCES[0], *UNKNOWN]))
    assert main(given) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    assert "3 of 4" in told.err
    assert "--model" in told.err
