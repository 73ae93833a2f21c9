"""Checks of the tree in docs/ARCHITECTURE.md, of links in documents, and of forbidden strings in files.

The tree is the first fenced block of docs/ARCHITECTURE.md in which every line has the form ``name  meaning``:

    app.py             the launcher
    attention/         numpy only
      mask.py          a line inside a folder has two more spaces
      explore.*        a name may be a pattern, which must match at least a file
    assets/models/     a path may be written in one line

The tree must contain every folder and module at the top, except those that begin with a dot. For each folder it
lists either no contents or all (``__init__.py`` excepted). Packages with subpackages, except tests/, must list
their contents. Every line must match an existing path and have a meaning.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from tests.support.cases import loop_over
from tests.support.repository import ROOT, files, texts

MAP = Path("docs/ARCHITECTURE.md")
FENCE = re.compile(r"^```[a-z]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ENTRY = re.compile(r"(?P<indent> *)(?P<name>\S+)(?:  +(?P<meaning>\S.*))?")


def entries(text: str) -> dict[str, str]:
    """Return the meaning of each path in a document's tree, or {} without a tree.

    Folders end with a slash.
    """
    for block in FENCE.findall(text):
        lines = [line for line in block.splitlines() if line.strip()]
        matched = [ENTRY.fullmatch(line) for line in lines]
        if any(line["name"].endswith("/") for line in matched if line) and all(matched):
            return _paths([line for line in matched if line])
    return {}


def _paths(lines: list[re.Match[str]]) -> dict[str, str]:
    found: dict[str, str] = {}
    above: list[str] = []
    for line in lines:
        depth = len(line["indent"]) // 2
        above = [*above[:depth], line["name"]]
        found["".join(above)] = line["meaning"] or ""
    return found


def real(paths: list[Path]) -> set[str]:
    """Return every file, and every folder with a slash at the end."""
    folders = {f"{folder.as_posix()}/" for path in paths for folder in path.parents if folder != Path()}
    return {path.as_posix() for path in paths} | folders


def halls(there: set[str]) -> set[str]:
    """Return the packages that have subpackages, except tests/.

    >>> halls({"viz/__init__.py", "viz/figures/__init__.py", "attention/__init__.py"})
    {'viz/'}
    """
    return {f"{path.split('/')[0]}/" for path in there if fnmatch(path, "*/*/__init__.py")} - {"tests/"}


def inside(path: str) -> str:
    """Return the parent folder of a path, "" at the top."""
    parent = PurePosixPath(path).parent.as_posix()
    return "" if parent == "." else f"{parent}/"


def tree_faults(root: Path) -> list[str]:
    """Return a sentence for each difference between the documented tree and the real tree."""
    listed, there = entries((root / MAP).read_text(encoding="utf-8")), real(files(root))
    if not listed:
        return [f"{MAP} has no tree: a fenced block of lines `name  meaning`, folders ending in /."]
    found = [f"{path} has no meaning." for path, meaning in listed.items() if not meaning]
    found += [f"{path} is listed and does not exist." for path in listed if not any(fnmatch(it, path) for it in there)]
    for folder in sorted({inside(path) for path in listed} | halls(there)):
        for path in sorted(path for path in there if inside(path) == folder):
            # Makefile, README.md and the like need not be listed.
            loose = not folder and (path.startswith(".") or not path.endswith(("/", ".py")))
            needless = path.endswith("__init__.py") or loose
            above = any(name != path and name.endswith("/") and name.startswith(path) for name in listed)
            if not needless and not above and not any(fnmatch(path, name) for name in listed):
                found.append(f"{path} exists and is not listed.")
    return found


def slug(heading: str) -> str:
    """Return the anchor of a heading.

    >>> slug("Add a *page*: `pages/`")
    'add-a-page-pages'
    """
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def prose(text: str) -> str:
    """Remove the code from a document."""
    return re.sub(r"`[^`\n]*`", "", FENCE.sub("", text))


def anchors(text: str) -> set[str]:
    """Return the anchors of a document's headings."""
    return {slug(heading) for heading in re.findall(r"^#+ +(.+)$", FENCE.sub("", text), re.MULTILINE)}


def link_faults(root: Path) -> list[str]:
    """Return the documents' broken links within the repository, as ``file: link``."""
    there, found = real(files(root)), []
    for file in files(root):
        if file.suffix != ".md":
            continue
        text = (root / file).read_text(encoding="utf-8")
        links = re.findall(r"\]\(<?([^)\s>]+)", prose(text)) + re.findall(r"(?:src|href)=\"([^\"]+)\"", prose(text))
        for link in links:
            if re.match(r"[a-z]+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = (root / file.parent / path).resolve() if path else (root / file).resolve()
            name = target.relative_to(root.resolve()).as_posix() if target.is_relative_to(root.resolve()) else ""
            known = name in there or f"{name}/" in there or name == "."
            if not known or (anchor and name.endswith(".md") and anchor not in anchors(target.read_text("utf-8"))):
                found.append(f"{file}: {link}")
    return found


# Folders of a particular machine, and addresses that belong in its configuration. The pattern is written in parts,
# because this file is checked too.
FOREIGN = re.compile(
    r"(?<![\w.:/-])/(?:work|tmp|root|home|Users|mnt)/[\w.]"
    r"|[A-Z]:\\\\?Users\\"
    r"|\b(?:pypi|pythonhosted)\." r"org\b|download\.pytorch\." r"org"
)  # fmt: skip
SECRET = re.compile(
    r"\bhf_[A-Za-z0-9]{30,}|\bgh[pousr]_[A-Za-z0-9]{30,}|\bAKIA[0-9A-Z]{16}\b|-----BEGIN [A-Z ]*PRIVATE KEY|://[^/\s:@]+:[^/\s@]{8,}@"
)


def foreign(root: Path) -> list[str]:
    """Return lines with a machine's absolute path, the address of a package index, or a possible secret.

    Scripts of other projects are left out: a test compares them with their published hashes.
    """
    return [
        f"{file}:{number} {match[0]!r}"
        for file, text in texts(root).items()
        if "vendor" not in file.parts
        for number, line in enumerate(text.splitlines(), 1)
        for pattern in (FOREIGN, SECRET)
        if (match := pattern.search(line))
    ]


documented = pytest.mark.skipif(
    not (ROOT / "README.md").exists() and not (ROOT / MAP).exists(), reason="no documents yet"
)


@documented
def test_the_tree_on_the_map_is_the_real_tree() -> None:
    assert tree_faults(ROOT) == []


def test_every_link_leads_somewhere() -> None:
    assert link_faults(ROOT) == []


@pytest.mark.slow
def test_no_file_knows_a_certain_machine() -> None:
    assert foreign(ROOT) == []


def test_no_page_claims_to_be_longer_than_it_is() -> None:
    """Files end with a line end, and \\n is their only line end."""
    bad = [
        file for file, text in texts().items() if file.suffix in {".py", ".md", ".js", ".css", ".toml"} and "\r" in text
    ]
    assert bad == []


@pytest.fixture
def tree(tmp_path: Path) -> Any:
    for name in (
        "app.py",
        ".ci/run",
        "attention/__init__.py",
        "attention/mask.py",
        "viz/explore.py",
        "viz/explore.js",
        "docs/LOG.md",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")

    def write(block: Any, rest: str = "") -> Path:
        (tmp_path / MAP).write_text(f"# Map\n\n```\ntext ──► trace\n```\n\n```\n{block}\n```\n{rest}")
        return tmp_path

    return write


WHOLE = """app.py      starts
attention/  numbers
  mask.py   keys
viz/        pictures
  explore.*  the grid
docs/       words"""


def test_a_true_tree_passes(tree: Any) -> None:
    assert tree_faults(tree(WHOLE)) == []
    assert tree_faults(tree(WHOLE + "\n.ci/        what continuous integration runs")) == []


@loop_over(
    ("change", "said"),
    [
        (("app.py      starts\n", ""), "app.py exists and is not listed."),
        (("docs/       words", "docs/"), "docs/ has no meaning."),
        (("mask.py", "mesk.py"), "attention/mesk.py is listed and does not exist."),
        (("mask.py", "mesk.py"), "attention/mask.py exists and is not listed."),
        (("explore.*  the", "explore.js  the"), "viz/explore.py exists and is not listed."),
        (("docs/", "dacs/"), "docs/ exists and is not listed."),
        (("attention/  numbers\n  mask.py   keys\n", ""), "attention/ exists and is not listed."),
    ],
)
def test_a_false_tree_is_found(tree: Any, change: Any, said: str) -> None:
    assert said in tree_faults(tree(WHOLE.replace(*change)))


def test_a_room_of_rooms_lists_them(tree: Callable[..., Path]) -> None:
    (tree(WHOLE) / "viz" / "figures").mkdir()
    (tree(WHOLE) / "viz" / "figures" / "__init__.py").write_text("")
    assert tree_faults(tree(WHOLE)) == ["viz/figures/ exists and is not listed."]
    listed = WHOLE.replace("the grid", "the grid\n  figures/  one a module")
    assert tree_faults(tree(listed)) == []
    (tree(listed) / "docs" / "deep").mkdir()
    (tree(listed) / "docs" / "deep" / "__init__.py").write_text("")
    assert "docs/LOG.md exists and is not listed." in tree_faults(tree(listed))


def test_a_missing_tree_is_found(tree: Any) -> None:
    assert "has no tree" in tree_faults(tree("pick → run → draw"))[0]


@loop_over(
    ("link", "whole"),
    [
        ("[a](LOG.md)", True),
        ("[a](../app.py)", True),
        ("[a](../attention)", True),
        ("[a](#map)", True),
        ("[a](ARCHITECTURE.md#map)", True),
        ("[a](https://example.org/none)", True),
        ("`[a](none.md)`", True),
        ("[a](none.md)", False),
        ("![a](../assets/none.png)", False),
        ("[a](#nap)", False),
        ("[a](../../outside.md)", False),
        ('<img src="none.png">', False),
    ],
)
def test_links_that_lead_nowhere_are_found(tree: Any, link: str, whole: bool) -> None:
    assert (link_faults(tree(WHOLE, link)) == []) is whole


@pytest.mark.parametrize(
    "line",
    [
        "/" + "work/x",
        'open("/' + 'tmp/a")',
        "C:" + "\\Users\\me",
        "https://" + "pypi." + "org/simple",
        "hf" + "_" + "a" * 34,
    ],
)
def test_a_line_that_knows_a_machine_is_found(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.py").write_text(f"x = 1\n# {line}\n")
    (found,) = foreign(tmp_path)
    assert found.startswith("a.py:2 ")


@pytest.mark.parametrize(
    "line", ["docs/work/x", "https://example.org/home/a", "/usr/bin/chromium", "tmp_path / 'a'", "/headlight/trace"]
)
def test_an_innocent_line_is_left_alone(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.py").write_text(line)
    assert foreign(tmp_path) == []
