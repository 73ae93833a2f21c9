"""Mutants change code that runs, are reproducible from a seed, and are tested by their module's tests."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.cases import loop_over
from tools.mutants import OPERATORS, Mutant, draw, judge, main, mutants_of, source_files

LIMITS = '''"""Limits."""


def is_within(size, limit):
    """Return whether a size is within the limit."""
    return size < limit
'''
WITHIN = """from packages.limits import is_within


def test_limits():
    assert is_within(1, 2) is True
    assert is_within(2, 1) is False
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Write a package without git for tests of mutants.

    The tests of its first module miss only a moved boundary; the second module has no tests.
    """
    for file, text in {
        "packages/limits.py": LIMITS,
        "packages/lonely.py": "def double(number):\n    return 2 * number\n",
        "tests/packages/test_limits.py": WITHIN,
        "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-q -p no:cacheprovider'\npythonpath = ['.']\n"
        "markers = ['browser: needs a browser']\n",
    }.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    return tmp_path


def changes(source: str) -> set[tuple[str, str]]:
    """Return the operator and the changed line of each mutant."""
    found = set()
    for mutant in mutants_of("a.py", source.encode()):
        changed = mutant.apply(source.encode()).decode()
        ast.parse(changed)
        found.add((mutant.operator, changed.splitlines()[mutant.line - 1].strip()))
    return found


@loop_over(
    ("source", "expected"),
    [
        ("a < b", {("comparison", "(a <= b)")}),
        ("a is not b", {("comparison", "(a is b)")}),
        ("a // b", {("arithmetic", "(a * b)")}),
        ("a += b", {("arithmetic", "a -= b"), ("statement", "pass")}),
        ("x = 0", {("constant", "x = 1"), ("constant", "x = (-1)")}),
        ("x = 'é', 1.5", {("constant", "x = 'é', 2.5"), ("constant", "x = 'é', 0.5")}),
        ("x = 1e30", set()),
        ("x = True", {("boolean", "x = False")}),
        ("a and b", {("boolean", "(a or b)")}),
        ("x = not a", {("boolean", "x = (a)")}),
        ("if a: pass", {("boolean", "if (not a): pass")}),
        ("def f(): return a", {("return", "def f(): return None")}),
        ("def f(): return None", set()),
        ("f(a)", {("statement", "pass")}),
        ("raise ValueError(1 < 2)", {("statement", "pass")}),
    ],
)
def test_each_operator_changes_its_code(source: str, expected: set[tuple[str, str]]) -> None:
    assert changes(source) == expected


@loop_over(
    "source",
    [
        '"""Return 1 < 2."""',
        "def f(a: Literal[1] = x) -> Literal[2]: ...",
        "@dataclass(frozen=True)\nclass A: ...",
        "x: Literal[1]",
        "x = f'{1 + 2}'",
        "x = _('Layer {layer}', layer=base + 1)",
        "say(sentence('No head'))",
        "x = 'a' + b",
        "x = a | b",
        "if TYPE_CHECKING:\n    x = 1",
        "if __name__ == '__main__':\n    f(1)",
    ],
)
def test_messages_and_text_are_left_alone(source: str) -> None:
    assert changes(source) == set()


def test_the_draw_is_seeded_and_takes_turns_of_operators() -> None:
    source = "x = 1\n" * 300 + "a < b\n" * 4
    found = list(mutants_of("a.py", source.encode()))
    drawn = draw(found, 8, 0)
    assert draw(found, 8, 0) == drawn
    assert draw(found, 3, 0) == drawn[:3]
    assert draw(found, 8, 1) != drawn
    assert len(set(drawn)) == 8
    assert {mutant.operator for mutant in drawn} == {"comparison", "constant"}
    assert len(draw(found, 10_000, 0)) == len(found)


def test_tests_and_measurements_are_left_out(tree: Path) -> None:
    (tree / "bench").mkdir()
    (tree / "bench/speed.py").write_text("")
    names = ["packages/limits.py", "packages/lonely.py"]
    assert [file.as_posix() for file in source_files(tree, [])] == names
    assert [file.as_posix() for file in source_files(tree, ["packages/limits.py"])] == names[:1]
    assert [file.as_posix() for file in source_files(tree, ["packages", "bench"])] == ["bench/speed.py", *names]


def outcomes(output: str) -> dict[str, str]:
    """Return the printed outcome of each mutant by its change."""
    lines = [line.split(" packages/") for line in output.splitlines() if " packages/" in line]
    return {rest.split(": ")[1].split("  [")[0]: outcome.strip() for outcome, rest in lines}


@pytest.mark.slow
def test_mutants_are_judged_by_their_tests(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--from", "packages/limits.py", "--number", "100"], tree) == 0
    output = capsys.readouterr().out
    found = outcomes(output)
    assert found == {"return size < limit -> return None": "killed", "size < limit -> (size <= limit)": "survived"}
    assert "killed 1 of 2, " in output
    assert "packages/limits.py:6 comparison" in output
    assert (tree / "packages/limits.py").read_text() == LIMITS


@pytest.mark.slow
def test_a_module_without_tests_survives(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--from", "packages/lonely.py", "--number", "2"], tree) == 0
    assert set(outcomes(capsys.readouterr().out).values()) == {"survived, no test"}


@pytest.mark.slow
def test_an_endless_mutant_is_killed_by_the_limit(tree: Path) -> None:
    source = b"def is_within(size, limit):\n    while limit < 0:\n        pass\n    return size < limit\n"
    (tree / "packages/limits.py").write_bytes(source)
    (endless,) = [mutant for mutant in mutants_of("packages/limits.py", source) if mutant.after == "1"]
    never = replace(endless, before="0", after="9")
    assert judge(tree, never, ["tests/packages/test_limits.py"], 3) == "killed by the time limit"
    assert judge(tree, replace(never, after="0"), ["tests/packages/test_limits.py"], 60) == "survived"
    assert (tree / "packages/limits.py").read_bytes() == source


@pytest.mark.slow
def test_tests_that_fail_without_a_mutant_stop_the_run(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "tests/packages/test_limits.py").write_text(WITHIN.replace("is True", "is False"))
    assert main(["--from", "packages/limits.py", "--number", "1"], tree) == 2
    assert "is_within(1, 2)" in capsys.readouterr().err


def test_the_list_runs_nothing(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "tests/packages/test_limits.py").write_text("raise ValueError")
    assert main(["--list", "--number", "3"], tree) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_every_operator_occurs_in_the_repository() -> None:
    source = Path(__file__).parents[2].joinpath("tools/mutants.py").read_bytes()
    found = {mutant.operator for mutant in mutants_of("a.py", source)}
    assert found == set(OPERATORS)
    assert (
        str(Mutant("a.py", 3, "return", 0, 1, "return\n  x", "return None")) == "a.py:3 return: return x -> return None"
    )
