"""The sample of docstrings depends only on tree and seed, and covers public names outside the tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.language_sample import CHOICES, count, draw, entries, main, sheet

MODULE = '''"""Labels."""

class Label(Base, total=False):
    """A label.

    >>> Label()
    Label()
    """

    def text(self, *, short: bool = False) -> str:
        """Return the text."""

    def _hidden(self):
        """Hide."""

def parse(text: str) -> Label:
    """Return the label.

    Case is ignored.
    """
    def inner():
        """Inner."""

def bare(): ...
'''
MANY = [(f"attention/m{number}.py", f'"""Module {number}."""') for number in range(40)]


def test_public_docstrings_have_signature_and_line() -> None:
    found = {entry.name: (entry.line, entry.signature, entry.text) for entry in entries("viz/labels.py", MODULE)}
    assert found == {
        "": (1, "module viz.labels", "Labels."),
        "Label": (4, "class Label(Base, total=False)", "A label."),
        "Label.text": (11, "def text(self, *, short: bool=False) -> str", "Return the text."),
        "parse": (17, "def parse(text: str) -> Label", "Return the label.\n\nCase is ignored."),
    }


def test_a_package_is_named_without_its_file() -> None:
    (found,) = entries("viz/figures/__init__.py", '"""Figures."""')
    assert found.signature == "module viz.figures"


@pytest.mark.parametrize(("pages", "paths"), [(True, {"a.py", "pages/b.py", "ui/pages/c/d.py"}), (False, {"a.py"})])
def test_tests_are_left_out_and_pages_on_request(pages: bool, paths: set[str]) -> None:
    sources = [(path, '"""Text."""') for path in ("a.py", "pages/b.py", "ui/pages/c/d.py", "tests/e.py")]
    sample, found = draw(sources, 10, 0, pages=pages)
    assert ({entry.path for entry in sample}, found) == (paths, len(paths))


def test_the_sample_depends_on_seed_and_names_only() -> None:
    sample = draw(MANY, 10, 0, pages=True)
    assert draw(reversed(MANY), 10, 0, pages=True) == sample
    assert draw(MANY, 10, 1, pages=True) != sample
    assert draw(MANY, 5, 0, pages=True)[0] == sample[0][:5]
    reworded = [(path, source.replace("Module", "New text of module")) for path, source in MANY]
    assert [entry.path for entry in draw(reworded, 10, 0, pages=True)[0]] == [entry.path for entry in sample[0]]


def test_ratings_of_a_sheet_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = sheet(*draw(MANY, 4, 0, pages=True), 0)
    first, *parts = empty.split(CHOICES)
    marks = [CHOICES.replace(f"[ ] {rating}", f"[X] {rating}") for rating in ("clear", "unclear", "second", "clear")]
    rated = first + "".join(mark + part for mark, part in zip(marks, parts, strict=True))
    assert count(rated) == {"clear": 2, "second": 1, "unclear": 1}
    file = tmp_path / "sheet.md"
    file.write_text(rated, encoding="utf-8")
    assert main(["--count", str(file)]) == 0
    assert [line.split()[1] for line in capsys.readouterr().out.splitlines()] == ["2", "1", "1"]
    file.write_text(empty, encoding="utf-8")
    assert main(["--count", str(file)]) == 1


@pytest.mark.parametrize("mark", [" ", "x"])
def test_an_entry_with_no_or_two_ratings_is_named(mark: str) -> None:
    line = "[x] clear · [ ] second · [ ] unclear"
    with pytest.raises(ValueError, match="Entry 2 "):
        count(f"{line}\n[{mark}] clear · [{mark}] second · [ ] unclear\n")


@pytest.mark.slow
def test_the_repository_has_enough_docstrings(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--number", "7"]) == 0
    first = capsys.readouterr().out
    assert first.count("\n## ") == 7
    assert main(["--number", "7"]) == 0
    assert capsys.readouterr().out == first
