"""The recipes of docs/RECIPES.md work: each is followed in a copy of the repository and changes few files."""

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
WHERE = r"new|(?P<place>after|before|instead of) `(?P<line>[^\n]+)`"
STEP = re.compile(rf"^`(?P<file>[^`\n]+)`, (?:{WHERE}):\n\n```\w*\n(?P<code>.*?)^```$", re.M | re.S)
MODELS = Path("assets/models")  # The folder is large, and no recipe changes it.
TOLD = re.findall(r"^## (.+)$", RECIPES, re.M)
# The other checks of this folder concern the environment, the container and the network, which no recipe touches.
LAWS = ("circles", "glossary", "layers", "page_folders", "security", "spreadsheets", "tree", "voice", "wheel", "words")


@dataclass(frozen=True)
class Step:
    """A file of a recipe: its code, and its place relative to ``line`` if the file exists already."""

    file: str
    place: str | None
    line: str | None
    code: str


def steps(recipe: str) -> list[Step]:
    """Return the code blocks of the recipe with this heading."""
    (section,) = re.findall(rf"^## {re.escape(recipe)}\n(.*?)(?=^## |\Z)", RECIPES, re.M | re.S)
    return [Step(found["file"], found["place"], found["line"], found["code"]) for found in STEP.finditer(section)]


def follow(recipe: str, house: Path) -> int:
    """Apply a recipe; return the number of files that it changes."""
    for step in steps(recipe):
        path = house / step.file
        if step.line is None:
            assert not path.exists(), f"{step.file} is there already"
            path.write_text(step.code, encoding="utf-8")
        else:
            lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
            (at,) = (number for number, line in enumerate(lines) if line.strip() == step.line)
            before, after = at + (step.place == "after"), at + (step.place != "before")
            # The formatter removes blank lines at the start of a block, and wants two before a function.
            gap = "\n\n" if step.code.startswith("def ") else ""
            path.write_text("".join([*lines[:before], gap, step.code, *lines[after:]]), encoding="utf-8")
    return len({step.file for step in steps(recipe)})


def run(house: Path, *command: str) -> str:
    """Run Python in the copy and return its output; fail with the complete output if Python fails."""
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


def hold_laws(house: Path) -> None:
    """Run the linter and the formatter on the files that the recipes change."""
    touched = sorted({step.file for recipe in TOLD for step in steps(recipe)})
    python = [file for file in touched if file.endswith(".py")]
    run(house, "-m", "ruff", "check", *python)
    run(house, "-m", "ruff", "format", "--check", *python)
    run(house, "tools/javascript.py")


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """Copy the repository; link to the models' weights."""
    for file in files():
        if not file.is_relative_to(MODELS):
            (tmp_path / file.parent).mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / file, tmp_path / file)
    (tmp_path / MODELS).symlink_to(ROOT / MODELS, target_is_directory=True)
    return tmp_path


# All checks run in a single process, because importing the libraries takes longer than the checks. The tests come last.
SEE = """
import sys
import pytest
from streamlit.testing.v1 import AppTest
from attention.measures import MEASURES
from inference import LocalBackend
from tools.gallery import main

app = AppTest.from_file("ui/server/shell.py", default_timeout=240)
app.switch_page("../../pages/longest_words.py").run()
assert not app.exception, app.exception
assert app.title[0].value == "Longest words", app.title
assert len(app.get("plotly_chart")) == 1
from tests.browser.test_pages import PAGES, test_every_page_can_be_visited
test_every_page_can_be_visited()
assert "longest_words" in PAGES

from tests.support.asking import asked
assert [len(asked("roles", members=members).dataframe) for members in ("1", "0")] == [2, 1]
assert main(["--write"]) == 0
from headlight.command import main as headlight
assert headlight(["export", "A cat.", "cat.md"]) == 0
assert "itself" in [measure.name for measure in MEASURES]
assert sys.argv[1] in [card.id for card in LocalBackend().models()]
sys.exit(pytest.main(["-W", "ignore:Module already imported:pytest.PytestAssertRewriteWarning", *sys.argv[2:]]))
"""


@pytest.mark.slow
@pytest.mark.timeout(1200)  # it runs the checks of a whole copy, which takes minutes on a busy machine
def test_each_recipe_does_what_it_says_with_its_few_files_and_the_laws_hold(house: Path) -> None:
    """All recipes share a copy, so that the checks of the tree, which take longest, run a single time."""
    golden = house / "tests" / "viz" / "goldens" / "figures-word_lengths.json"
    assert follow("Add a page", house) == 3
    assert follow("Add an option to a page", house) == 2
    assert follow("Add an option to Explore", house) == 3
    run(house, "-m", "tools.contract")
    assert follow("Add a figure", house) + len([golden]) == 3
    assert follow("Add a measure per head", house) == 2
    assert follow("Add a model to the catalogue", house) == 1
    assert follow("Add a key to the microscope", house) == 2
    assert follow("Add an export format", house) == 3
    assert follow("Add a limit", house) == 3
    name = steps("Add a model to the catalogue")[0].code.split('"')[1]
    tests = (
        "ui/pages/test_options",
        "viz/components/test_contract",
        "viz/test_goldens",
        "attention/test_measures",
        "inference/catalogue/test_listing",
    )
    asked = [*tests, *(f"house/test_{law}" for law in LAWS)]
    seen = (
        "tests/browser/test_explore.py::test_large_thumbnails_need_more_room",
        "tests/browser/test_explore.py::test_a_key_pins_the_head",
        "tests/viz/test_export.py::test_a_markdown_table_has_the_weights",
        "tests/inference/test_backend.py::test_too_many_edits_are_refused",
        "tests/viz/test_site_live.py::test_the_browser_computes_the_same_summary",
    )
    assert not golden.exists()
    # The goldens of the other figures have just been written, so comparing them would prove nothing.
    new = ("-k", "not test_a_figure_is_as_it_was_looked_at or word_lengths")
    run(house, "-c", SEE, name, *new, "viz/figures/word_lengths.py", *seen, *(f"tests/{one}.py" for one in asked))
    assert golden.exists()
    hold_laws(house)


def test_every_recipe_is_followed() -> None:
    here = Path(__file__).read_text(encoding="utf-8")
    assert [recipe for recipe in TOLD if f'follow("{recipe}", house)' not in here] == []
    assert all(steps(recipe) for recipe in TOLD)
