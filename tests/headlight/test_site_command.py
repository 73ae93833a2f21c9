"""The command ``headlight site``: its folder, and its errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from headlight.command import main
from headlight.site_command import FAMOUS, MARK
from tests.support.cases import loop_over


@pytest.mark.slow
def test_a_site_is_replaced_by_the_next(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "site"
    assert main(["site", str(folder), "--text", "A cat sat because it was tired.", "--title", "<Cats>"]) == 0
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert MARK in page
    assert "&lt;Cats&gt;" in page
    assert all(word in page for word in FAMOUS.words)
    assert len(list(folder.glob("texts/*.bin"))) == 3
    assert main(["site", str(folder), "--only", "--text", "A {cat|dog} sat.", "--lang", "zh"]) == 0
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert '<html lang="zh">' in page
    assert FAMOUS.words[0] not in page
    files = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}
    assert len(files) == 6  # the page, its script, its style sheet, the service worker, two texts
    assert all(file in page or file in ("index.html", "worker.js") for file in files)
    assert str(folder) in capsys.readouterr().out


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    for folder in (tmp_path, tmp_path / "thesis.tex"):
        assert main(["site", str(folder)]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.slow
@loop_over(
    "options",
    [
        ["--only"],
        ["--text", "A cat.", "--part", "cross"],
        ["--text", " "],
        ["--text", "{a|b} {c|d}"],
        ["--model", "no/such/folder/"],
    ],
)
def test_an_error_is_one_line(options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["site", str(tmp_path / "site"), *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert not (tmp_path / "site").exists()
