"""Mutation test of the repository: small seeded faults that the tests should notice.

python -m tools.mutants                          26 mutants of everything outside tests/ and bench/, seed 0
python -m tools.mutants --from probing --from viz/figures --number 10 --seed 1
python -m tools.mutants --list                   print the mutants and run nothing

A mutant is a change in a single place. For each mutant an operator is drawn first and then a place for it, so that
frequent operators do not crowd out the others; a smaller number gives the beginning of the same list. Only code
that runs is changed: no messages, docstrings, annotations, decorators, f-strings, arguments of `raise`, or blocks
for type checkers and `__main__`.

The mutants run one after another in a temporary copy of the tree, which needs no git. First the selected tests run
without a mutant, and must pass. Then the tests of each mutant run: the test file named after the mutated module
(test_NAME.py for NAME.py) or, if there is none, at most eight test files that import the module or its importers
(`tools/changed_tests.py`). Tests in a browser are left out. A mutant is killed if its tests fail or exceed the time
limit. The limit counts processor time, so that other work on the machine kills no mutant.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from tests.support.repository import ROOT, files
from tools.changed_tests import ImportGraph, importing_tests, own_tests, read_graph
from tools.words import KEYWORDS

LEFT_OUT = ("tests/", "bench/")
LIMIT = 300  # seconds of the processor for a mutant's tests, children included
PATIENCE = 10  # wall-clock limit as a multiple of the time limit, for tests that never end
UNCHANGED_FIELDS = {"annotation", "returns", "decorator_list", "type_params", "pattern"}
CHECKER_NAMES = {"TYPE_CHECKING", "__name__"}  # conditions of blocks that tests do not run
OPPOSITE: dict[type[ast.AST], type[Any]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


@dataclass(frozen=True)
class Mutant:
    """A seeded fault in a file: the bytes from `start` to `end` are replaced."""

    path: str
    line: int
    operator: str
    start: int
    end: int
    before: str
    after: str

    def __str__(self) -> str:
        before, after = (" ".join(text.split()) for text in (self.before, self.after))
        return f"{self.path}:{self.line} {self.operator}: {before[:60]} -> {after[:60]}"

    def apply(self, source: bytes) -> bytes:
        """Return the content of the file with the fault."""
        return source[: self.start] + self.after.encode() + source[self.end :]


def is_message(node: ast.AST) -> bool:
    """Return True if a node is a call that marks a message for translation."""
    return isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in KEYWORDS


def code_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the syntax nodes that run as code, without messages and f-strings."""
    if is_message(node) or isinstance(node, ast.JoinedStr):
        return
    if isinstance(node, ast.If) and any(getattr(inner, "id", "") in CHECKER_NAMES for inner in ast.walk(node.test)):
        return
    yield node
    if isinstance(node, ast.Raise):
        return
    for name, value in ast.iter_fields(node):
        if name not in UNCHANGED_FIELDS:
            for inner in value if isinstance(value, list) else [value]:
                if isinstance(inner, ast.AST):
                    yield from code_nodes(inner)


def with_opposite(node: ast.AST, name: str) -> str | None:
    """Return the code of a node with its operator ``name`` replaced by its opposite, such as `==` by `!=`.

    Return None if the operator has no opposite (OPPOSITE).
    """
    changed = copy.deepcopy(node)
    operator = getattr(node, name)
    if isinstance(operator, list):
        opposite = OPPOSITE.get(type(operator[0]))
        getattr(changed, name)[0] = opposite and opposite()
    else:
        opposite = OPPOSITE.get(type(operator))
        setattr(changed, name, opposite and opposite())
    return ast.unparse(changed) if opposite else None


def is_text(node: ast.AST) -> bool:
    """Return True if an operand is text or a list; another operator would then only raise an error."""
    literal = isinstance(node, ast.JoinedStr | ast.List | ast.Tuple) or is_message(node)
    return literal or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))


def comparison(node: ast.AST) -> Iterator[tuple[ast.AST, str | None]]:
    """Yield (node, new code) for mutants of a comparison: its boundary moved, or its result negated."""
    if isinstance(node, ast.Compare):
        yield node, f"({with_opposite(node, 'ops')})"


def arithmetic(node: ast.AST) -> Iterator[tuple[ast.AST, str | None]]:
    """Yield (node, new code) for mutants of an arithmetic operation, with another operator.

    The code is None if the operator has no opposite.
    """
    if isinstance(node, ast.BinOp) and not is_text(node.left) and not is_text(node.right):
        changed = with_opposite(node, "op")
        yield node, changed and f"({changed})"
    if isinstance(node, ast.AugAssign) and not is_text(node.value):
        yield node, with_opposite(node, "op")


def constant(node: ast.AST) -> Iterator[tuple[ast.AST, str | None]]:
    """Yield (node, new code) for mutants of a number: 1 more and 1 less."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        for number in (node.value + 1, node.value - 1):
            if number != node.value:  # adding 1 to a float of 2**53 or more changes nothing
                yield node, str(number) if number >= 0 else f"({number})"


def boolean(node: ast.AST) -> Iterator[tuple[ast.AST, str | None]]:
    """Yield (node, new code) for mutants of a condition or flag: negated, or `and` and `or` exchanged."""
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield node, str(not node.value)
    if isinstance(node, ast.BoolOp):
        yield node, f"({with_opposite(node, 'op')})"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node, f"({ast.unparse(node.operand)})"
    if isinstance(node, ast.If | ast.IfExp | ast.While) and isinstance(node.test, ast.Name | ast.Attribute | ast.Call):
        yield node.test, f"(not {ast.unparse(node.test)})"


def result(node: ast.AST) -> Iterator[tuple[ast.AST, str | None]]:
    """Yield (node, new code) for the mutant of a return statement that returns None instead of its value."""
    empty = isinstance(node, ast.Return) and isinstance(node.value, ast.Constant) and node.value.value is None
    if isinstance(node, ast.Return) and node.value is not None and not is_message(node.value) and not empty:
        yield node, "return None"


def statement(node: ast.AST) -> Iterator[tuple[ast.AST, str | None]]:
    """Yield (node, new code) for the mutant in which a statement is deleted.

    Statements that can be deleted are calls, augmented assignments and `raise`; calls that show messages stay.
    """
    call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    if (call and not any(map(is_message, ast.walk(node)))) or isinstance(node, ast.AugAssign | ast.Raise):
        yield node, "pass"


OPERATORS: Mapping[str, Callable[[ast.AST], Iterator[tuple[ast.AST, str | None]]]] = {
    "comparison": comparison,
    "arithmetic": arithmetic,
    "constant": constant,
    "boolean": boolean,
    "return": result,
    "statement": statement,
}


def mutants_of(path: str, source: bytes) -> Iterator[Mutant]:
    """Yield every mutant of a file, in the order of its syntax tree."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in code_nodes(ast.parse(source)):
        for name, operator in OPERATORS.items():
            for place, after in operator(node):
                if after is not None:
                    start, end = (
                        starts[getattr(place, f"{prefix}lineno") - 1] + getattr(place, f"{prefix}col_offset")
                        for prefix in ("", "end_")
                    )
                    before = source[start:end].decode()
                    yield Mutant(path, getattr(place, "lineno", 1), name, start, end, before, after)


def draw(found: Sequence[Mutant], number: int, seed: int) -> list[Mutant]:
    """Draw `number` distinct mutants; for each, the operator is drawn first and then the place."""
    chance = random.Random(seed)
    places: dict[str, list[Mutant]] = {name: [] for name in OPERATORS}
    for mutant in found:
        places[mutant.operator].append(mutant)
    for listed in places.values():
        chance.shuffle(listed)
    drawn: list[Mutant] = []
    while len(drawn) < number and any(places.values()):
        listed = places[chance.choice([name for name, left in places.items() if left])]
        drawn.append(listed.pop())
    return drawn


def source_files(root: Path, packages: Sequence[str]) -> list[Path]:
    """Return the Python files to mutate: the files under the packages, or all except tests and benchmarks."""
    python = [file for file in files(root) if file.suffix == ".py"]
    if not packages:
        return [file for file in python if not file.as_posix().startswith(LEFT_OUT)]
    return [file for file in python if any(file == Path(name) or Path(name) in file.parents for name in packages)]


def select_tests(graph: ImportGraph, path: str) -> list[str]:
    """Return the test files that are run for a mutant of this module."""
    return own_tests(graph, path) or importing_tests(graph, path, indirect=True)


def run_tests(root: Path, tests: Sequence[str], limit: float) -> tuple[int | None, str]:
    """Run tests; return pytest's exit status, None after the time limit, and the end of its output."""
    command = [sys.executable, "-m", "pytest", "-x", "--tb=short", "-m", "not browser", *tests]
    # Python recognises compiled files by size and second, which a mutant may share with the original.
    quiet = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryFile("w+") as output:
        process = psutil.Popen(command, cwd=root, env=quiet, stdout=output, stderr=subprocess.STDOUT)
        status = wait(process, limit)
        output.seek(0)
        return status, output.read()[-2000:]


def wait(process: psutil.Popen, limit: float) -> int | None:
    """Wait for a process and return its exit status; after the time limit, kill it and return None.

    Its child processes are killed too.
    """
    end = time.monotonic() + PATIENCE * limit
    used = 0.0
    while used < limit and time.monotonic() < end:
        with suppress(psutil.TimeoutExpired):
            return int(process.wait(0.5))
        with suppress(psutil.NoSuchProcess):
            used = sum(sum(each.cpu_times()[:4]) for each in [process, *process.children(recursive=True)])
    for each in [*process.children(recursive=True), process]:
        each.kill()
    process.wait()
    return None


def judge(root: Path, mutant: Mutant, tests: Sequence[str], limit: float) -> str:
    """Apply a mutant, run its tests and restore the file; return the outcome, such as "killed" or "survived"."""
    if not tests:
        return "survived, no test"
    file = root / mutant.path
    original = file.read_bytes()
    try:
        file.write_bytes(mutant.apply(original))
        status, _ = run_tests(root, tests, limit)
    finally:
        file.write_bytes(original)
    if status is None:
        return "killed by the time limit"
    return "survived" if status in (0, 5) else "killed"  # pytest returns 5 if no test is left


def outcomes_of(root: Path, drawn: Sequence[Mutant], limit: float) -> list[str] | None:
    """Print and return the outcome of each mutant; return None if the tests already fail without a mutant."""
    graph = read_graph(root)
    tests = {mutant.path: select_tests(graph, mutant.path) for mutant in drawn}
    every = sorted({test for listed in tests.values() for test in listed})
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copied = Path(folder) / "tree"
        for file in files(root):
            (copied / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / file, copied / file)
        status, output = run_tests(copied, every, limit * len(drawn)) if every else (0, "")
        if status not in (0, 5):
            print("The tests fail without a mutant; repair them first.", output, sep="\n", file=sys.stderr)
            return None
        outcomes = []
        for mutant in drawn:
            outcomes.append(judge(copied, mutant, tests[mutant.path], limit))
            print(f"{outcomes[-1]:9} {mutant}  [{' '.join(tests[mutant.path])}]", flush=True)
    return outcomes


def main(arguments: Sequence[str], root: Path = ROOT) -> int:
    """Draw mutants and print their outcomes; return 2 if the tests fail without a mutant."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--number", type=int, default=26)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--from", action="append", default=[], dest="packages", metavar="PATH")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds of the processor for a mutant's tests")
    parser.add_argument("--list", action="store_true", help="print the mutants and run nothing")
    options = parser.parse_args(arguments)
    sources = source_files(root, options.packages)
    found = [mutant for file in sources for mutant in mutants_of(file.as_posix(), (root / file).read_bytes())]
    drawn = draw(found, options.number, options.seed)
    if options.list:
        print(*drawn, sep="\n")
        return 0
    outcomes = outcomes_of(root, drawn, options.limit)
    if outcomes is None:
        return 2
    killed = sum(outcome.startswith("killed") for outcome in outcomes)
    print(
        f"killed {killed} of {len(drawn)}, seed {options.seed}; {len(found)} mutants possible in {len(sources)} files"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
