"""Selection of the tests that depend on a change, by the imports between modules.

make test-changed                             run them
make test-changed ARGS="--since HEAD~1"       compare with another commit than the branch's start on main
python -m tools.changed_tests --list          print them

A file is changed if it differs from the commit at which the branch left main, committed or not, or is untracked.
For each changed Python module the selection contains

1. its own tests: `tests/PATH/test_STEM.py`, or a test with this stem that imports the module;
2. the other tests that import it, directly or through a package's `__init__.py`: the nearest in the tree, at most 8;
3. if neither exists, the tests that import its importers, and so on until tests are found, again at most 8. A test in
   `tests/ui/pages/NAME/` runs `pages/NAME.py` and counts as its importer;
4. the examples in its docstrings.

A changed test is selected itself, and a changed `conftest.py` selects its folder. JavaScript, styles and assets
have the tests in `OTHER_FILES`, and a changed script also runs `tools/javascript.py`. Files in `COMPARED` and modules
that declare options have further tests, see `IN_SOURCE`. `tests/house` always runs.
Tests marked slow run only if they are a module's own or changed themselves, tests in a browser never: `make test`
runs everything.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cached_property
from itertools import takewhile
from pathlib import Path, PurePosixPath

from tests.support.imports import Graph, import_graph, module_of
from tests.support.repository import ROOT, files

MOST = 8  # test files, in addition to its own, that run for a module
HOUSE = "tests/house"
OTHER_FILES = {  # tests of files that Python does not import; a pattern matches folders too
    "viz/components/*": ("tests/viz/components",),
    "assets/words/*": ("tests/i18n", "tests/house/test_words.py"),
    "assets/lessons/*": ("tests/lessons",),
    "assets/tasks/*": ("tests/probing",),
    "assets/probes*": ("tests/ui/input/test_probes.py", "tests/ui/pages/find"),
    "assets/rivals/*": ("tests/training/architecture_baselines", "tests/training/jobs/test_baseline_runs.py"),
    "assets/alignments/*": ("tests/probing",),
    "assets/answers/*": ("tests/serving/test_stored_answers.py",),
    "assets/by_hand.json": ("tests/ui/pages/by_hand",),
}
COMPARED = {  # tests that compare a script with Python; they count as the own tests of both
    "attention/measures.py": ("tests/viz/test_site_live.py",),
    "attention/excess.py": ("tests/viz/test_site_live.py",),
    "viz/components/site/live_*.js": ("tests/viz/test_site_live.py",),
}
IN_SOURCE = {"= option(": "tests/ui/pages/test_options.py"}  # tests of modules that contain a text
SCRIPTS = ("viz/components/*.js", "viz/components/*.mjs", "deno.json")


@dataclass(frozen=True)
class ImportGraph:
    """The modules of a source tree by name, with their files and the modules they import."""

    paths: Mapping[str, str]
    imports: Graph

    @cached_property
    def importers(self) -> Mapping[str, frozenset[str]]:
        """Return, for each module, the modules that import it."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for name, others in self.imports.items():
            for other in others:
                found[other].add(name)
            page = f"pages.{name.split('.')[3]}" if name.startswith("tests.ui.pages.") else ""
            if page in self.paths:
                found[page].add(name)
        return {name: frozenset(others) for name, others in found.items()}

    def is_test(self, name: str) -> bool:
        """Return True if a module contains tests that need no browser."""
        path = self.paths[name]
        return fnmatch(path, "tests/*test_*.py") and not path.startswith("tests/browser/")

    def direct(self, names: Iterable[str]) -> frozenset[str]:
        """Return the modules that import any of ``names``, directly or through an `__init__.py`."""
        found: set[str] = set()
        waiting = list(names)
        while waiting:
            new = self.importers.get(waiting.pop(), frozenset()) - found
            found |= new
            waiting += [name for name in new if self.paths[name].endswith("/__init__.py")]
        return frozenset(found)


def read_graph(root: Path = ROOT) -> ImportGraph:
    """Return the import graph of the working tree."""
    paths = {module_of(file): file.as_posix() for file in files(root) if file.suffix == ".py"}
    return ImportGraph(paths, import_graph(root))


def own_tests(graph: ImportGraph, path: str) -> list[str]:
    """Return the test file of a module by its path, or else the tests with its stem that import it."""
    stem = PurePosixPath(path).stem
    mirror = f"tests/{PurePosixPath(path).with_name(f'test_{stem}.py')}"
    if mirror in graph.paths.values():
        return [mirror]
    importers = graph.importers.get(module_of(Path(path)), frozenset())
    return sorted(graph.paths[name] for name in importers if graph.is_test(name) and name.endswith(f".test_{stem}"))


def nearest(path: str, tests: Iterable[str]) -> list[str]:
    """Return at most `MOST` of the tests, beginning with those in the folders nearest to the module's.

    >>> nearest("viz/figures/token_bars.py", ["tests/ui/test_a.py", "tests/viz/figures/test_c.py"])
    ['tests/viz/figures/test_c.py', 'tests/ui/test_a.py']
    """
    mirror = ("tests", *PurePosixPath(path).parts)

    def shared_folders(test: str) -> int:
        pairs = zip(mirror, PurePosixPath(test).parts, strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))

    return sorted(tests, key=lambda test: (-shared_folders(test), test))[:MOST]


def importing_tests(graph: ImportGraph, path: str, *, indirect: bool) -> list[str]:
    """Return the tests that import a module, the nearest in the tree first.

    If there are none and ``indirect`` is set, return the tests that import its importers, and so on.
    """
    level = seen = frozenset([module_of(Path(path))])
    while level:
        level = graph.direct(level) - seen
        tests = [graph.paths[name] for name in level if graph.is_test(name)]
        if tests or not indirect:
            return nearest(path, tests)
        seen |= level
    return []


@dataclass(frozen=True)
class Selection:
    """The selected tests: paths for pytest, and a flag for the checks of JavaScript."""

    own: tuple[str, ...]  # tests that run even if they are slow
    others: tuple[str, ...]
    scripts: bool


def select(graph: ImportGraph, changed: Iterable[str], root: Path = ROOT) -> Selection:
    """Return the tests that depend on the changed files."""
    own: set[str] = set()
    others = {HOUSE}
    changed = set(changed)
    for path in changed & set(graph.paths.values()):
        if graph.is_test(module_of(Path(path))):
            own.add(path)
        elif not path.startswith("tests/browser/"):
            mine = own_tests(graph, path)
            own.update(mine)
            others.update(importing_tests(graph, path, indirect=not mine))
            source = "" if path.startswith("tests/") else (root / path).read_text(encoding="utf-8")
            others.update(test for text, test in IN_SOURCE.items() if text in source)
            if ">>> " in source:
                others.add(path)
    for path in changed:
        if PurePosixPath(path).name == "conftest.py":
            others.add(PurePosixPath(path).parent.as_posix())
        others.update(*(tests for pattern, tests in OTHER_FILES.items() if fnmatch(path, pattern)))
        own.update(*(tests for pattern, tests in COMPARED.items() if fnmatch(path, pattern)))
    own = {test for test in own if (root / test).exists()}
    there = {test for test in others - own if (root / test).exists()}
    scripts = any(fnmatch(path, pattern) for path in changed for pattern in SCRIPTS)
    return Selection(tuple(sorted(own)), tuple(sorted(there)), scripts)


def changed_files(root: Path, since: str | None) -> list[str]:
    """Return the untracked files, and the files that differ from the commit ``since``.

    The default is the commit at which the branch left main.
    """

    def git(*arguments: str, check: bool = True) -> list[str]:
        command = ["git", "-C", str(root), *arguments]
        answer = subprocess.run(command, check=check, capture_output=True, text=True).stdout
        return [name for name in answer.split("\0") if name.strip()]

    if since is None:
        since = next(iter(git("merge-base", "HEAD", "main", check=False)), "HEAD").strip()
    changed = git("diff", "--name-only", "-z", "--no-renames", since)
    return sorted({*changed, *git("ls-files", "-z", "--others", "--exclude-standard")})


def run(selection: Selection, options: Sequence[str]) -> int:
    """Run the selected checks; return 1 if any of them fails."""
    pytest = [sys.executable, "-m", "pytest", *options, "-m"]
    commands = [[*pytest, "not slow and not browser", *selection.own, *selection.others]]
    if selection.own:
        commands.append([*pytest, "slow and not browser", *selection.own])
    if selection.scripts:
        commands.append([sys.executable, "tools/javascript.py"])
    failed = 0
    for command in commands:
        status = subprocess.run(command, check=False, cwd=ROOT).returncode
        failed |= status not in (0, 5)  # pytest returns 5 if no test has the mark
    return int(failed)


def main(arguments: Sequence[str], root: Path = ROOT) -> int:
    """List or run the tests that depend on the changed files."""
    parser = argparse.ArgumentParser(prog="make test-changed", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--since", metavar="COMMIT", help="compare with this commit")
    parser.add_argument("--list", action="store_true", help="print the selection and run nothing")
    known, options = parser.parse_known_args(arguments)
    try:
        changed = changed_files(root, known.since)
    except subprocess.CalledProcessError as error:
        print(
            f"git cannot list the changed files: {error.stderr.strip()}. Run make test-fast instead.", file=sys.stderr
        )
        return 2
    selection = select(read_graph(root), changed, root)
    print(f"{len(changed)} changed files; their tests:", *selection.own, *selection.others, sep="\n  ")
    return 0 if known.list else run(selection, options)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
