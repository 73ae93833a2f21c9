"""docs/RECIPES.md tells the truth: each recipe, followed in a copy of the house, does what it says with few files."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.repository import ROOT, files

RECIPES = (ROOT / "docs" / "RECIPES.md").read_text(encoding="utf-8")
STEP = re.compile(r"^`(?P<file>[^`\n]+)`, (?:new|after `(?P<line>[^\n]+)`):\n\n```\w*\n(?P<code>.*?)^```$", re.M | re.S)
MODELS = Path("assets/models")  # large, and changed by no recipe
TOLD = re.findall(r"^## (.+)$", RECIPES, re.M)
LAWS = ("layers", "circles", "page_folders", "tree", "floors", "glossary")


@dataclass(frozen=True)
class Step:
    """One file of a recipe: its code, which follows ``line`` where the file is there already."""

    file: str
    line: str | None
    code: str


def steps(recipe: str) -> list[Step]:
    """What a recipe, known by its heading, has in its blocks."""
    (section,) = re.findall(rf"^## {re.escape(recipe)}\n(.*?)(?=^## |\Z)", RECIPES, re.M | re.S)
    return [Step(found["file"], found["line"], found["code"]) for found in STEP.finditer(section)]


def follow(recipe: str, house: Path) -> int:
    """Do what a recipe says, and tell how many files that touched."""
    for step in steps(recipe):
        path = house / step.file
        if step.line is None:
            assert not path.exists(), f"{step.file} is there already"
            path.write_text(step.code, encoding="utf-8")
        else:
            lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
            (at,) = (number for number, line in enumerate(lines) if line.strip() == step.line)
            path.write_text("".join([*lines[: at + 1], step.code, *lines[at + 1 :]]), encoding="utf-8")
    return len({step.file for step in steps(recipe)})


def run(house: Path, *command: str) -> str:
    """What Python says in the copy; a failure fails the test with all of it."""
    done = subprocess.run(
        [sys.executable, *command],
        cwd=house,
        env={**os.environ, "PYTHONPATH": f"{house}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def hold_laws(house: Path, *tests: str) -> None:
    """The house's laws, and the linter's of what the recipes touched; and these tests, in the same process."""
    touched = sorted({step.file for recipe in TOLD for step in steps(recipe)})
    run(house, "-m", "pytest", *tests, *(f"tests/house/test_{law}.py" for law in LAWS))
    run(house, "-m", "ruff", "check", *touched)
    run(house, "-m", "ruff", "format", "--check", *touched)


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A copy of the house, without its models' weights, which it looks up here."""
    for file in files():
        if not file.is_relative_to(MODELS):
            (tmp_path / file.parent).mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / file, tmp_path / file)
    (tmp_path / MODELS).symlink_to(ROOT / MODELS, target_is_directory=True)
    return tmp_path


SEE_PAGE = """
from streamlit.testing.v1 import AppTest
app = AppTest.from_file("ui/server/shell.py", default_timeout=240)
app.run()
app.switch_page("../../pages/longest_words.py").run()
assert not app.exception, app.exception
assert app.title[0].value == "Which words are longest?", app.title
assert len(app.get("plotly_chart")) == 1
from tests.browser.test_pages import PAGES, VISITS
assert set(PAGES) == set(VISITS) and "longest_words" in PAGES
"""


def a_page_is_three_files(house: Path) -> None:
    assert follow("Add a page", house) == 3
    run(house, "-c", SEE_PAGE)


def a_figure_is_three_files(house: Path) -> None:
    golden = house / "tests" / "viz" / "goldens" / "figures-word_lengths.json"
    touched = follow("Add a figure", house)
    assert not golden.exists()
    run(house, "-m", "tools.gallery", "--write")
    assert golden.exists()
    assert touched + 1 == 3


def a_measure_is_two_files(house: Path) -> None:
    assert follow("Add a measure per head", house) == 2
    named = "from attention.measures import MEASURES; print(*(measure.name for measure in MEASURES))"
    assert "itself" in run(house, "-c", named).split()


def a_model_is_one_file(house: Path) -> None:
    assert follow("Add a model to the catalogue", house) == 1
    name = steps("Add a model to the catalogue")[0].code.split('"')[1]
    listed = "from inference import LocalBackend; print(*(card.id for card in LocalBackend().models()))"
    assert name in run(house, "-c", listed).split()


@pytest.mark.slow
def test_each_recipe_does_what_it_says_with_its_few_files_and_the_laws_hold(house: Path) -> None:
    """One after the other in one house, so that its laws, which take longest, are asked once."""
    a_page_is_three_files(house)
    a_figure_is_three_files(house)
    a_measure_is_two_files(house)
    a_model_is_one_file(house)
    tests = ("viz/test_goldens", "attention/test_measures", "inference/catalogue/test_listing")
    hold_laws(house, "viz/figures/word_lengths.py", *(f"tests/{name}.py" for name in tests))


def test_every_recipe_is_followed() -> None:
    here = Path(__file__).read_text(encoding="utf-8")
    assert [recipe for recipe in TOLD if f'follow("{recipe}", house)' not in here] == []
    assert all(steps(recipe) for recipe in TOLD)
