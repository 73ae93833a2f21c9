"""The selection of tests follows the imports of a change and stays small."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.cases import loop_over
from tests.support.repository import ROOT, files
from tools.changed_tests import (
    COMPARED,
    IN_SOURCE,
    MOST,
    OTHER_FILES,
    Selection,
    changed_files,
    importing_tests,
    main,
    read_graph,
    run,
    select,
)

TREE = {
    "viz/__init__.py": "from viz.bars import draw",
    "viz/bars.py": 'import viz.colors\n"""\n>>> draw()\n"""',
    "viz/colors.py": "",
    "viz/lonely.py": "",
    "viz/components/tree/tree.js": "",
    "pages/roles.py": "import ui.pages.roles.view",
    "ui/pages/roles/view.py": "import ui.pages.roles.rows",
    "ui/pages/roles/rows.py": "",
    "ui/pages/roles/options.py": "from viz import option\nclass Options:\n    size: int = option(3)",
    "attention/measures.py": "",
    "tools/voice.py": "",
    "tests/viz/test_bars.py": "import viz.bars",
    "tests/viz/test_export.py": "from viz import draw",
    "tests/viz/test_site_live.py": "",
    "tests/ui/pages/test_options.py": "",
    "tests/viz/components/test_tree.py": "",
    "tests/ui/pages/roles/test_page.py": "",
    "tests/house/test_voice.py": "import tools.voice",
    "tests/house/test_links.py": "",
    "tests/browser/test_roles.py": "import ui.pages.roles.rows",
    "tests/support/pages.py": "",
    "tests/viz/conftest.py": "",
    "tests/viz/test_page.py": "import tests.support.pages",
    "docs/LOG.md": "",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Write a small repository with tests that mirror its packages."""
    for file, source in TREE.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(source)
    return tmp_path


@loop_over(
    ("changed", "own", "others"),
    [
        (["docs/LOG.md"], [], []),
        (["viz/bars.py"], ["tests/viz/test_bars.py"], ["tests/viz/test_export.py", "viz/bars.py"]),
        (["viz/colors.py"], [], ["tests/viz/test_bars.py", "tests/viz/test_export.py"]),
        (["viz/__init__.py"], [], ["tests/viz/test_export.py"]),
        (["viz/lonely.py"], [], []),
        (["tools/voice.py"], ["tests/house/test_voice.py"], []),
        (["ui/pages/roles/rows.py"], [], ["tests/ui/pages/roles/test_page.py"]),
        (["pages/roles.py"], [], ["tests/ui/pages/roles/test_page.py"]),
        (["tests/support/pages.py"], [], ["tests/viz/test_page.py"]),
        (["tests/viz/test_export.py"], ["tests/viz/test_export.py"], []),
        (["tests/browser/test_roles.py"], [], []),
        (["tests/viz/conftest.py"], [], ["tests/viz"]),
        (["viz/removed.py", "tests/viz/test_removed.py"], [], []),
        (["viz/components/tree/tree.js"], [], ["tests/viz/components"]),
        (["attention/measures.py"], ["tests/viz/test_site_live.py"], []),
        (["ui/pages/roles/options.py"], [], ["tests/ui/pages/test_options.py"]),
    ],
)
def test_the_selection_follows_the_imports(
    tree: Path, changed: Sequence[str], own: Sequence[str], others: Sequence[str]
) -> None:
    selection = select(read_graph(tree), changed, tree)
    assert selection.own == tuple(own)
    assert selection.others == tuple(sorted(["tests/house", *others]))
    assert selection.scripts is (changed == ["viz/components/tree/tree.js"])


def test_a_module_with_many_importers_keeps_the_nearest(tree: Path) -> None:
    for number in range(20):
        (tree / f"tests/house/test_many_{number:02}.py").write_text("import viz.lonely")
    (tree / "tests/viz/test_near.py").write_text("import viz.lonely")
    found = importing_tests(read_graph(tree), "viz/lonely.py", indirect=False)
    assert (found[0], len(found)) == ("tests/viz/test_near.py", MOST)


def test_committed_and_new_files_are_changed_since_main(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *identity, *arguments], cwd=tree, check=True, capture_output=True)

    git("init", "-b", "main")
    git("add", ".")
    git("commit", "-m", "Begin")
    git("switch", "-c", "branch")
    assert changed_files(tree, None) == []
    (tree / "viz/bars.py").write_text("import viz.colors")
    git("rm", "-q", "viz/lonely.py")
    git("commit", "-a", "-m", "Change")
    (tree / "viz/colors.py").write_text("pass")
    (tree / "viz/new.py").write_text("pass")
    assert changed_files(tree, None) == ["viz/bars.py", "viz/colors.py", "viz/lonely.py", "viz/new.py"]
    assert changed_files(tree, "HEAD") == ["viz/colors.py", "viz/new.py"]
    assert main(["--list", "--since", "HEAD"], tree) == 0
    assert capsys.readouterr().out.split()[-3:] == ["tests/house", "tests/viz/test_bars.py", "tests/viz/test_export.py"]
    assert main(["--list", "--since", "nowhere"], tree) == 2
    assert "nowhere" in capsys.readouterr().err


def test_slow_tests_run_only_if_they_are_a_modules_own(monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []

    def status(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        return subprocess.CompletedProcess(command, 5 if "slow and not browser" in command else 0)

    monkeypatch.setattr(subprocess, "run", status)
    assert run(Selection(("a.py",), ("b.py",), scripts=True), ["-x"]) == 0
    assert [command[-4:] for command in commands[:2]] == [
        ["-m", "not slow and not browser", "a.py", "b.py"],
        ["-x", "-m", "slow and not browser", "a.py"],
    ]
    assert commands[2][-1] == "tools/javascript.py"
    monkeypatch.setattr(subprocess, "run", lambda command, **_: subprocess.CompletedProcess(command, 1))
    assert run(Selection((), ("b.py",), scripts=False), []) == 1


def test_the_map_of_other_files_is_true() -> None:
    there = [file.as_posix() for file in files(ROOT)]
    for pattern, tests in {**OTHER_FILES, **COMPARED}.items():
        assert any(Path(file).match(pattern) or file.startswith(pattern.rstrip("*")) for file in there), pattern
        assert all((ROOT / test).exists() for test in tests), pattern
    assert all((ROOT / test).exists() for test in IN_SOURCE.values())
